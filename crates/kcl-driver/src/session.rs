//! Many programs in one process.

use crate::options::RunOptions;
use base_cache::Cache;
use base_system::System;
use kcl_hir::PackageStore;

/// Names the build: what one build keeps on disk, another does not trust.
const BUILD: &str = env!("KCL_BUILD");

/// What programs that run one after the other, or on several threads at once, share: the
/// packages that they import are read, parsed and checked once.
///
/// Results are the same as those of [`run`](crate::run) for each program alone. A session
/// takes files as it saw them first: begin a new one when files may have changed.
///
/// ```
/// use base_system::MemorySystem;
/// use kcl_driver::{RunOptions, Runner, Session, Sharing};
///
/// let system = MemorySystem::new()
///     .with_file("/m/kcl.mod", "")
///     .with_file("/m/app/app.k", "schema App:\n    image: str\n")
///     .with_file("/m/a.k", "import app\na = app.App {image = \"a:1\"}\n")
///     .with_file("/m/b.k", "import app\nb = app.App {image = \"b:1\"}\n");
/// let session = Session::new();
/// let mut runner = Runner::new(&session, &system, Sharing::Evaluated);
/// let mut run = |file: &str| {
///     let result = runner.run(&RunOptions::files([file]), |output| output.result.clone());
///     result.expect("the program is valid")
/// };
/// assert_eq!(run("/m/a.k"), "a:\n  image: a:1");
/// assert_eq!(run("/m/b.k"), "b:\n  image: b:1");
/// ```
#[derive(Debug)]
pub struct Session {
    pub(crate) store: PackageStore,
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}

impl Session {
    /// Begins a session.
    pub fn new() -> Self {
        Self { store: PackageStore::shared() }
    }

    /// Begins a session that also takes what earlier processes kept on disk, and keeps what it
    /// finds out for later ones, unless the environment says `KCL_CACHE=off`.
    pub fn cached(system: &dyn System) -> Self {
        Self { store: PackageStore::shared().with_cache(system, disk_cache(system)) }
    }

    /// Begins a session for one program.
    pub(crate) fn single(system: &dyn System, options: &RunOptions) -> Self {
        let cache = if options.use_cache { disk_cache(system) } else { None };
        Self { store: PackageStore::default().with_cache(system, cache) }
    }
}

fn disk_cache(system: &dyn System) -> Option<Cache> {
    Cache::from_env(system, BUILD.parse().unwrap_or(0))
}
