//! What stores promise, and servers that do not keep it.

use crate::places::{Place, new_key, own_stores, root, run, store_key};
use crate::proxy::{Proxy, careless_s3};
use crate::records::noted;
use kusion_store::{Backend, Expected, Holder, LockWait, Session, Store, StoreError};
use sqlx::Connection as _;
use std::path::Path;
use std::time::Duration;
use testkit::Suite;

/// Adds the tests of this module.
pub(crate) fn add(suite: &mut Suite) {
    suite.add("promises::a_server_that_is_down_is_reported_with_the_reason", || {
        run(a_server_that_is_down_is_reported_with_the_reason());
    });
    // These need the credentials that belong to the server of the tests.
    let with_keys = || Place::on_server("KUSION_TEST_S3");
    suite.add_with("promises::s3::services_without_conditional_writes", with_keys(), |_| {
        run(a_service_without_conditional_writes_is_refused());
    });
    for (backend, variable) in [("postgres", "KUSION_TEST_POSTGRES"), ("s3", "KUSION_TEST_S3")] {
        let name = format!("promises::{backend}::a_server_that_stops_answering_is_reported");
        suite.add_with(name, Place::on_server(variable), |place| {
            run(a_server_that_stops_answering_is_reported(place));
        });
    }
    suite.add_with("promises::s3::a_missing_bucket_is_reported", with_keys(), |_| {
        run(a_bucket_that_does_not_exist_is_reported());
    });
    let database = Place::on_server("KUSION_TEST_POSTGRES");
    suite.add_with("promises::postgres::writes_are_synchronous", database, |place| {
        run(writes_are_synchronous(place.with_own_store()));
    });
    let database = Place::on_server("KUSION_TEST_POSTGRES");
    suite.add_with(
        "promises::postgres::a_database_that_can_only_be_read_is_read",
        database,
        |it| {
            run(a_database_that_can_only_be_read_is_read(it.with_own_store()));
        },
    );
    own_stores(suite, "promises", "a_store_that_was_set_back_is_noticed", |place| {
        run(a_store_that_was_set_back_is_noticed(place));
    });
}

async fn held(store: &Store, key: &kusion_model::StackKey) -> Session {
    let session = store.lock(key, Holder::current("test"), LockWait::No).await;
    session.expect("nobody has it")
}

async fn refusal(url: &str) -> String {
    let opened = Store::open(url, Path::new("/nowhere"), store_key()).await;
    opened.err().expect("refused").to_string()
}

async fn a_server_that_is_down_is_reported_with_the_reason() {
    let text = refusal("postgres://user:SECRET@127.0.0.1:1/db").await;
    assert!(text.contains("postgres://127.0.0.1:1/db") && text.contains("refused"), "{text}");
    assert!(!text.contains("SECRET") && !text.contains("pool"), "{text}");
}

async fn a_service_without_conditional_writes_is_refused() {
    for (honours, missing) in [
        (&[][..], Some("`If-None-Match`")),
        (&["if-none-match"], Some("`If-Match`")),
        (&["if-none-match", "if-match"], None),
    ] {
        let address = careless_s3(honours);
        let url = format!("s3://b/p?endpoint=http://{address}&region=r&allow_http=true");
        let opened = Store::open(&url, Path::new("/nowhere"), store_key()).await;
        match missing {
            None => drop(opened.map_err(|error| error.to_string()).expect("all it needs")),
            Some(missing) => {
                let text = opened.err().expect("refused").to_string();
                assert!(text.contains(missing) && text.contains("s3://b/p"), "{text}");
            }
        }
    }
}

async fn a_bucket_that_does_not_exist_is_reported() {
    let address = careless_s3(&["no-bucket"]);
    let text = refusal(&format!("s3://b/p?endpoint=http://{address}&allow_http=true")).await;
    assert!(text.contains("s3://b/p") && text.contains("does not exist"), "{text}");
}

async fn a_server_that_stops_answering_is_reported(mut place: Place) {
    // The address of the server is between `@` or `//` and the next `/` or `&`.
    let is_s3 = place.url.starts_with("s3");
    let mark = if is_s3 { "endpoint=http://" } else { "@" };
    let (before, rest) = place.url.split_once(mark).expect("a server");
    let end = rest.find(['/', '&']).expect("an end");
    let proxy = Proxy::start(&rest[..end]);
    place.url = format!("{before}{mark}{}{}", proxy.address, &rest[end..]);
    let key = new_key();
    let store = place.open().await;
    let session = held(&store, &key).await;
    session.append(vec![noted("a", 5)]).await.expect("written");
    proxy.freeze(true);
    let text = session.append(vec![noted("b", 5)]).await.expect_err("no answer").to_string();
    // A pool that asks for a new connection waits for the handshake only.
    let limits = ["did not answer within 10 s", "did not answer within 5 s"];
    assert!(limits.iter().any(|it| text.contains(it)), "{text}");
    assert!(text.contains(store.place()), "{text}");
    proxy.freeze(false);
    // The answer that was lost may be that of a write.
    let state = place.open().await.read(&key).await.expect("readable");
    assert!(state.resources.contains_key("a"));
}

async fn writes_are_synchronous(place: Place) {
    let name = place.url.rsplit('/').next().expect("a database").to_owned();
    let mut connection = sqlx::PgConnection::connect(&place.url).await.expect("a server");
    place.open().await.close().await;
    for statement in [
        format!("ALTER DATABASE {name} SET synchronous_commit = off"),
        "CREATE FUNCTION check_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         IF current_setting('synchronous_commit') = 'off' THEN RAISE 'not durable'; END IF; \
         RETURN NEW; END $$"
            .to_owned(),
        "CREATE TRIGGER check_commit BEFORE INSERT OR UPDATE ON kusion_item \
         FOR EACH ROW EXECUTE FUNCTION check_commit()"
            .to_owned(),
    ] {
        let statement = sqlx::query(sqlx::AssertSqlSafe(statement));
        statement.execute(&mut connection).await.expect("changed");
    }
    let mut fresh = sqlx::PgConnection::connect(&place.url).await.expect("a server");
    let insert = "INSERT INTO kusion_item VALUES ('x', 1, '')";
    assert!(sqlx::query(insert).execute(&mut fresh).await.is_err(), "the default is off");
    let store = place.open().await;
    let session = held(&store, &new_key()).await;
    session.append(vec![noted("a", 5)]).await.expect("written");
    session.close().await.expect("closed");
}

async fn a_database_that_can_only_be_read_is_read(place: Place) {
    let name = place.url.rsplit('/').next().expect("a database").to_owned();
    let mut connection = sqlx::PgConnection::connect(&place.url).await.expect("a server");
    let mut set = async |value: &str| {
        let set = format!("ALTER DATABASE {name} SET default_transaction_read_only = {value}");
        let set = sqlx::query(sqlx::AssertSqlSafe(set));
        set.execute(&mut connection).await.expect("changed");
    };
    let key = new_key();
    set("on").await;
    let store = place.open().await;
    assert_eq!(store.read(&key).await.expect("readable").seq, 0);
    assert!(store.stacks().await.expect("readable").is_empty());
    store.close().await;
    set("off").await;
    let store = place.open().await;
    let session = held(&store, &key).await;
    session.append(vec![noted("a", 5)]).await.expect("written");
    session.close().await.expect("closed");
    store.close().await;
    set("on").await;
    let store = place.open().await;
    assert_eq!(store.read(&key).await.expect("readable").resources.len(), 1);
    let refused = store.lock(&key, Holder::current("test"), LockWait::No).await.err();
    let refused = refused.expect("it cannot be written");
    assert_eq!(refused.code(), "store-read-only", "{refused}");
}

/// A server fails over to one that lagged behind: the latest segment and renewals are missing.
async fn a_store_that_was_set_back_is_noticed(place: Place) {
    let key = new_key();
    let store = place.open().await;
    let backend = store.backend();
    let session = held(&store, &key).await;
    session.append(vec![noted("a", 5)]).await.expect("written");
    let lease = format!("{}/lease", root(&key));
    let (older, _) = backend.get(&lease).await.expect("readable").expect("there");
    // Until it is renewed.
    let renewed = async {
        loop {
            let (now, version) = backend.get(&lease).await.expect("readable").expect("there");
            if now != older {
                return version;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let version = renewed.await;
    session.append(vec![noted("b", 5)]).await.expect("written");
    set_back(&**backend, &key, &lease, older, version).await;
    if place.url.starts_with("s3") {
        // Only the next renewal notices it.
        while session.check().is_ok() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    let refused = session.append(vec![noted("c", 5)]).await.expect_err("writes were lost");
    assert!(matches!(refused, StoreError::SetBack { .. }), "{refused}");
    let checked = session.check().expect_err("the lock is lost");
    assert_eq!(checked.code(), "store-set-back", "{checked}");
    drop(session);
    let state = store.read(&key).await.expect("readable, as of before");
    assert!(state.resources.contains_key("a") && !state.resources.contains_key("b"));
}

async fn set_back(
    backend: &dyn Backend,
    key: &kusion_model::StackKey,
    lease: &str,
    older: bytes::Bytes,
    version: kusion_store::Version,
) {
    let log = backend.list(&format!("{}/log/", root(key))).await.expect("readable");
    let last = log.last().expect("segments").clone();
    backend.delete(&[last]).await.expect("removed");
    backend.put(lease, older, Expected::Is(version)).await.expect("written");
}
