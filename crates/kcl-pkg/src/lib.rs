//! Modules and their dependencies: `kcl.mod` and the folders that packages lie in.
//!
//! [`ModFile`] is the content of a `kcl.mod`, [`resolve_dependencies`] finds the folders of
//! what it names. Dependencies are looked for on disk only, never in the network. Knows
//! nothing of programs or syntax.

mod dependency;
mod mod_file;

pub use dependency::{package_home, resolve_dependencies};
pub use mod_file::{Dependency, ModFile, ModFileError, Profile, Source, read_mod_file};
