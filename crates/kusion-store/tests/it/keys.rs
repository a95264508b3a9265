//! Whose key it is, and which version wrote it.

use crate::places::{Place, new_key, own_stores, root, run, store_key};
use crate::records::noted;
use kusion_store::{Backend as _, Expected, Holder, LockWait, Memory, Store, StoreError, StoreKey};
use std::sync::Arc;
use testkit::Suite;

/// Adds the tests of this module. Those that change the key or the format of a store need a store
/// of their own.
pub(crate) fn add(suite: &mut Suite) {
    own_stores(suite, "keys", "a_lost_key_is_replaced", |it| run(a_lost_key_is_replaced(it)));
    let bucket = Place::on_server("KUSION_TEST_S3");
    suite.add_with("keys::s3::other_versions_are_refused_and_set_aside", bucket, |place| {
        run(a_bucket_of_another_version_is_set_aside(place.with_own_store()));
    });
    let database = Place::on_server("KUSION_TEST_POSTGRES");
    suite.add_with("keys::postgres::other_versions_are_refused_and_set_aside", database, |place| {
        run(a_database_of_another_version_is_set_aside(place.with_own_store()));
    });
    suite.add("keys::another_key_is_refused_at_once", || run(another_key_is_refused_at_once()));
    suite.add("keys::other_versions_are_refused_and_set_aside", || {
        run(other_versions_are_refused_and_set_aside());
    });
    suite.add("keys::what_is_forged_is_refused", || run(what_is_forged_is_refused()));
}

fn other_key() -> StoreKey {
    StoreKey::new("fedcba9876543210", [8; 32])
}

fn me() -> Holder {
    Holder::current("test")
}

async fn another_key_is_refused_at_once() {
    let place = Place::in_file();
    let store = place.open().await;
    assert_eq!(store.id().await.expect("readable"), None, "reading makes no store");
    Store::open("", &place.home, other_key()).await.expect("nobody has written yet").close().await;
    let session = store.lock(&new_key(), me(), LockWait::No).await.expect("nobody has it");
    session.close().await.expect("closed");
    assert!(store.id().await.expect("readable").is_some());
    let refused = Store::open("", &place.home, other_key()).await.err().expect("another key");
    let ours = store_key().fingerprint();
    let StoreError::OtherKey { expected: wanted, found, .. } = &refused else {
        panic!("{refused}")
    };
    assert_eq!((wanted.as_str(), found.as_str()), (ours.as_str(), "fedcba9876543210"));
}

async fn a_lost_key_is_replaced(place: Place) {
    let key = new_key();
    let url = place.url.clone();
    let open = |with: StoreKey| Store::open(&url, &place.home, with);
    let store = open(store_key()).await.expect("it opens");
    let session = store.lock(&key, me(), LockWait::No).await.expect("nobody has it");
    session.append(vec![noted("a", 5)]).await.expect("written");
    session.close().await.expect("closed");
    store.close().await;
    assert!(matches!(open(other_key()).await.err(), Some(StoreError::OtherKey { .. })));
    let replace = |with: StoreKey| {
        let (url, home) = (url.clone(), place.home.clone());
        async move { Store::replace_key(&url, &home, &with).await.expect("replaced") }
    };
    assert_eq!(replace(other_key()).await.as_deref(), Some(store_key().fingerprint().as_str()));
    assert_eq!(replace(other_key()).await, None, "once is enough");
    assert!(matches!(open(store_key()).await.err(), Some(StoreError::OtherKey { .. })));
    let store = open(other_key()).await.expect("it opens");
    assert_eq!(store.read(&key).await.expect("readable").resources.len(), 1);
    let session = store.lock(&key, me(), LockWait::No).await.expect("nobody has it");
    session.append(vec![noted("b", 5)]).await.expect("written");
    session.close().await.expect("closed");
    assert_eq!(store.read(&key).await.expect("readable").resources.len(), 2);
}

async fn other_versions_are_refused_and_set_aside() {
    for (version, is_newer) in [(1, false), (3, true)] {
        let place = Place::in_file();
        let store = place.open().await;
        let session = store.lock(&new_key(), me(), LockWait::No).await.expect("nobody has it");
        session.close().await.expect("closed");
        store.close().await;
        let file = place.home.join("state.db");
        // The number of the format lies at byte 60 of the file.
        let mut bytes = std::fs::read(&file).expect("a file");
        bytes[60..64].copy_from_slice(&i32::to_be_bytes(version));
        std::fs::write(&file, bytes).expect("written");
        let refused = Store::open("", &place.home, store_key()).await.err().expect("refused");
        let is_expected = match &refused {
            StoreError::Newer { found, .. } => is_newer && *found == 3,
            StoreError::Older { found, .. } => !is_newer && *found == 1,
            _ => false,
        };
        assert!(is_expected, "{refused}");
        assert!(refused.to_string().contains("state.db"), "{refused}");
        if is_newer {
            let refused = Store::set_aside("", &place.home).await.expect_err("it is newer");
            assert_eq!(refused.code(), "newer-format");
            continue;
        }
        let aside = Store::set_aside("", &place.home).await.expect("moved");
        let again = Store::set_aside("", &place.home).await.expect_err("it is new");
        assert_eq!(again.code(), "not-older");
        assert!(std::path::Path::new(&aside).is_file(), "{aside}");
        let store = place.open().await;
        assert!(store.stacks().await.expect("readable").is_empty());
    }
}

/// The number of the format is an object of the bucket.
async fn a_bucket_of_another_version_is_set_aside(place: Place) {
    let store = place.open().await;
    let session = store.lock(&new_key(), me(), LockWait::No).await.expect("nobody has it");
    session.close().await.expect("closed");
    let backend = store.backend();
    let (_, version) = backend.get("kusion.format").await.expect("readable").expect("there");
    backend.put("kusion.format", "1".into(), Expected::Is(version)).await.expect("written");
    let count = backend.list("").await.expect("readable").len();
    let refused = Store::open(&place.url, &place.home, store_key()).await.err();
    assert_eq!(refused.map(|it| it.code()), Some("older-format"));
    let aside = Store::set_aside(&place.url, &place.home).await.expect("moved");
    let store = place.open().await;
    assert!(store.stacks().await.expect("readable").is_empty());
    let folder = aside.rsplit('/').next().expect("a folder").to_owned();
    let kept = store.backend().list(&format!("{folder}/")).await.expect("readable");
    assert_eq!(kept.len(), count, "everything is there: {kept:?}");
}

/// The number of the format is in a table.
async fn a_database_of_another_version_is_set_aside(place: Place) {
    use sqlx::{Connection as _, Row as _};
    let key = new_key();
    let store = place.open().await;
    let session = store.lock(&key, me(), LockWait::No).await.expect("nobody has it");
    session.append(vec![noted("a", 5)]).await.expect("written");
    session.close().await.expect("closed");
    let count = store.backend().list("").await.expect("readable").len();
    store.close().await;
    let mut connection = sqlx::PgConnection::connect(&place.url).await.expect("a server");
    for (format, code) in [(3, "newer-format"), (1, "older-format")] {
        let change = format!("UPDATE kusion_format SET format = {format}");
        let change = sqlx::query(sqlx::AssertSqlSafe(change));
        change.execute(&mut connection).await.expect("changed");
        let refused = Store::open(&place.url, &place.home, store_key()).await.err();
        assert_eq!(refused.map(|it| it.code()), Some(code));
    }
    let aside = Store::set_aside(&place.url, &place.home).await.expect("moved");
    let again = Store::set_aside(&place.url, &place.home).await.expect_err("it is new");
    assert_eq!(again.code(), "not-older");
    let store = place.open().await;
    assert!(store.stacks().await.expect("readable").is_empty());
    let session = store.lock(&key, me(), LockWait::No).await.expect("nobody has it");
    session.close().await.expect("closed");
    let table = aside.split('`').nth(1).expect("a table").to_owned();
    let kept = sqlx::query(sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {table}")));
    let kept: i64 = kept.fetch_one(&mut connection).await.expect("readable").get(0);
    assert_eq!(kept as usize, count, "everything is there: {aside}");
}

/// Somebody who may write the store, but has not the key, copies and changes values.
async fn what_is_forged_is_refused() {
    let memory = Arc::new(Memory::default());
    let store = Store::with_backend(Arc::clone(&memory) as _, store_key());
    let forger = Arc::new(Memory::default());
    let other = Store::with_backend(Arc::clone(&forger) as _, other_key());
    let (key, second) = (new_key(), new_key());
    for (store, name) in [(&store, "ours"), (&other, "theirs")] {
        for stack in [&key, &second] {
            let session = store.lock(stack, me(), LockWait::No).await.expect("nobody has it");
            session.append(vec![noted(name, 5)]).await.expect("written");
            session
                .put_spec(1, &kusion_model::Spec::default(), &kusion_model::SpecOrigins::default())
                .await
                .expect("written");
            session.close().await.expect("closed");
        }
    }
    let copy = async |from: &Memory, name: &str, to: &str| {
        let (bytes, _) = from.get(name).await.expect("readable").expect("there");
        let (_, version) = memory.get(to).await.expect("readable").expect("there");
        memory.put(to, bytes, Expected::Is(version)).await.expect("written");
    };
    let own = |stack: &kusion_model::StackKey, name: &str| format!("{}/{name}", root(stack));
    let segment = format!("log/{:020}", 2);
    copy(&forger, &own(&key, &segment), &own(&key, &segment)).await;
    let refused = store.read(&key).await.expect_err("another key").to_string();
    assert!(refused.contains("another key") && refused.contains(&segment), "{refused}");
    // Metadata of a store that names our key, but was written with another one.
    let (theirs, _) = forger.get("store").await.expect("readable").expect("there");
    let ours = store_key().fingerprint();
    let text = String::from_utf8_lossy(&theirs).into_owned();
    assert!(text.contains(&other_key().fingerprint()));
    let reopened = Store::with_backend(Arc::clone(&memory) as _, store_key());
    copy(&forger, "store", "store").await;
    let refused = reopened.read(&second).await.expect_err("another key").to_string();
    assert!(refused.contains(&ours), "{refused}");
    let spec = format!("spec/{:020}", 1);
    copy(&memory, &own(&second, &spec), &own(&key, &spec)).await;
    let refused = store.spec(&key, 1).await.expect_err("of another stack").to_string();
    assert!(refused.contains(&spec), "{refused}");
    assert_eq!(store.read(&second).await.expect("untouched").resources.len(), 1);
}
