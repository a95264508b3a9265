//! Where the tests keep their stacks.

use kusion_model::StackKey;
use kusion_store::{Store, StoreKey};
use sqlx::Connection as _;
use std::path::PathBuf;
use testkit::{Missing, Suite};

/// Makes a function `add` that adds a test of each law on each backend.
macro_rules! on_every_backend {
    ($($law:ident),* $(,)?) => {
        /// Adds the tests of this module.
        pub(crate) fn add(suite: &mut testkit::Suite) {
            let module = module_path!().rsplit("::").next().unwrap_or_default();
            $(crate::places::add_law(suite, module, stringify!($law), $law);)*
        }
    };
}
pub(crate) use on_every_backend;

/// Adds a test of a law on each backend; those without a server are ignored.
pub(crate) fn add_law<F>(suite: &mut Suite, module: &str, name: &str, law: fn(Place) -> F)
where
    F: Future<Output = ()> + 'static,
{
    suite.add(format!("{module}::sqlite::{name}"), move || run(law(Place::in_file())));
    for (backend, variable) in [("postgres", "KUSION_TEST_POSTGRES"), ("s3", "KUSION_TEST_S3")] {
        let place = Place::on_server(variable);
        suite.add_with(format!("{module}::{backend}::{name}"), place, move |it| run(law(it)));
    }
}

/// Adds a test on each backend that has a store for itself: a file, another prefix of the bucket,
/// another database.
pub(crate) fn own_stores(suite: &mut Suite, module: &str, name: &str, test: fn(Place)) {
    suite.add(format!("{module}::sqlite::{name}"), move || test(Place::in_file()));
    for (backend, variable) in [("postgres", "KUSION_TEST_POSTGRES"), ("s3", "KUSION_TEST_S3")] {
        let place = Place::on_server(variable);
        let test = move |it: Place| test(it.with_own_store());
        suite.add_with(format!("{module}::{backend}::{name}"), place, test);
    }
}

/// Runs a test to its end.
pub(crate) fn run(test: impl Future<Output = ()>) {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(test);
}

/// A store for one test: an address and a folder that goes with it.
pub(crate) struct Place {
    pub(crate) url: String,
    pub(crate) home: PathBuf,
}

impl Place {
    /// Makes a place in a fresh folder.
    pub(crate) fn in_file() -> Self {
        let name = format!("kusion-store-{}-{:016x}", std::process::id(), fastrand::u64(..));
        let home = std::env::temp_dir().join(name);
        Self { url: String::new(), home }
    }

    /// Makes a place on a server whose address a variable holds.
    pub(crate) fn on_server(variable: &str) -> Result<Self, Missing> {
        let url = testkit::server(variable)?;
        let mut place = Self::in_file();
        place.url = url;
        Ok(place)
    }

    /// Takes another prefix of a bucket: another store.
    fn with_own_prefix(mut self) -> Self {
        self.url = self.url.replacen('?', &format!("/own-{:016x}?", fastrand::u64(..)), 1);
        self
    }

    /// Takes a store of its own: another prefix of the bucket, or another database.
    pub(crate) fn with_own_store(self) -> Self {
        if self.url.starts_with("postgres") {
            self.with_own_database()
        } else {
            self.with_own_prefix()
        }
    }

    /// Creates a database. It goes with the server.
    fn with_own_database(mut self) -> Self {
        let name = format!("own_{:016x}", fastrand::u64(..));
        let (url, create) = (self.url.clone(), format!("CREATE DATABASE {name}"));
        // The test may run in a runtime already.
        let done = std::thread::spawn(move || {
            run(async move {
                let mut connection = sqlx::PgConnection::connect(&url).await.expect("a server");
                let create = sqlx::query(sqlx::AssertSqlSafe(create));
                create.execute(&mut connection).await.expect("created");
            });
        });
        done.join().expect("created");
        let (server, _) = self.url.rsplit_once('/').expect("a database");
        self.url = format!("{server}/{name}");
        self
    }

    pub(crate) async fn open(&self) -> Store {
        Store::open(&self.url, &self.home, store_key()).await.expect("the store opens")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.home);
    }
}

/// Makes the key of a stack that no other test uses.
pub(crate) fn new_key() -> StackKey {
    StackKey::new(format!("p{:016x}", fastrand::u64(..)), "dev", kusion_model::Place::Main)
}

/// Returns the key of the stores of all tests, also of other crates: they share servers.
pub(crate) fn store_key() -> StoreKey {
    let sealer = kusion_secret::Sealer::new([7; 32], "a test");
    StoreKey::new(sealer.fingerprint(), sealer.store_key())
}

/// Returns where the values of a stack lie.
pub(crate) fn root(key: &StackKey) -> String {
    format!("stacks/{}", key.store_path())
}

/// Tells who runs the tests.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub(crate) fn say(text: &str) {
    eprintln!("{text}");
}
