//! Modules and their dependencies: `kcl.mod`, `kcl.mod.lock`, and the folders of packages.
//!
//! [`ModFile`] is the content of a `kcl.mod`, [`LockFile`] that of its lock file. [`resolve`] finds
//! one version of each dependency and its folder, and checks what the lock file records. Packages
//! that are not on disk come from a [`Provider`], which the program that calls this crate may give:
//! this crate itself never uses the network. Knows nothing of programs or syntax.

mod disk;
mod edit;
mod lock_file;
mod mod_file;
mod provider;
mod requirement;
mod resolve;
mod source;
mod sum;
mod verify;

pub use disk::{package_folder, package_home, store_home};
pub use edit::{dependency_line, remove_dependency, set_dependency};
pub use lock_file::{LOCK_FILE, LockFile, Locked, Origin, read_lock_file};
pub use mod_file::{
    Dependency, MOD_FILE, ModFile, ModFileError, PluginCommand, Profile, read_mod_file,
};
pub use provider::{Fetched, Provider, Wanted};
pub use requirement::{Requirement, newest, parse_version};
pub use resolve::{
    Demand, Missing, Package, Request, Resolution, ResolveError, Update, import_name, resolve,
};
pub use source::{
    DEFAULT_REGISTRY, DEFAULT_REPOSITORY, GitReference, Repository, Source, is_safe_word,
};
pub use sum::{SumError, Sums, sums};
pub use verify::{VerifyError, verify};
