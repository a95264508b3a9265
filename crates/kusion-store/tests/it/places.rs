//! Where the tests keep their stacks.

use kusion_model::StackKey;
use kusion_store::Store;
use std::path::PathBuf;

/// Makes a test of each law on each backend.
macro_rules! on_every_backend {
    ($($law:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $law() {
                super::$law(crate::places::Place::in_file()).await;
            })*
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $law() {
                if let Some(place) = crate::places::Place::on_server("KUSION_TEST_POSTGRES") {
                    super::$law(place).await;
                }
            })*
        }
        mod s3 {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $law() {
                if let Some(place) = crate::places::Place::on_server("KUSION_TEST_S3") {
                    super::$law(place).await;
                }
            })*
        }
    };
}
pub(crate) use on_every_backend;

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

    /// Makes a place on a server whose address a variable holds; none, with a word, where it is
    /// not set.
    pub(crate) fn on_server(variable: &str) -> Option<Self> {
        let url = testkit::server(variable)?;
        let mut place = Self::in_file();
        place.url = url;
        Some(place)
    }

    pub(crate) async fn open(&self) -> Store {
        Store::open(&self.url, &self.home).await.expect("the store opens")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.home);
    }
}

/// Makes the key of a stack that no other test uses.
pub(crate) fn new_key() -> StackKey {
    StackKey {
        project: format!("p{:016x}", fastrand::u64(..)),
        stack: "dev".into(),
        cell: String::new(),
        cluster: "c".into(),
    }
}

/// Tells who runs the tests.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub(crate) fn say(text: &str) {
    eprintln!("{text}");
}
