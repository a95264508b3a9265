//! Programs: files, packages, imports and global names.
//!
//! [`Program`] is what type checker and evaluator work on. It holds the trees of all files
//! that a program reaches, sorted into packages, with every import resolved. It does no
//! I/O of its own but through [`base_system::System`], and knows neither types nor values.
//!
//! [`resolve_entries`] turns inputs into files, [`load`](fn@load) files into a program.

mod blocks;
mod cycle;
pub mod entry;
mod find;
mod glob;
mod identity;
mod index;
pub mod load;
pub mod names;
pub mod program;
mod reduce;
mod store;
mod usage;

pub use blocks::{Block, EntryOrder, entry_name};
pub use entry::{Entries, EntryFile, Input, LoadError, PackageMap, resolve_entries};
pub use load::assembly::{Assembly, AssemblyKey, load_assembled};
pub use load::{
    Known, LoadOptions, Loaded, NoPlugin, PluginFinder, load, load_reduced, load_whole,
};
pub use program::{
    Global, GlobalKind, Grafted, Import, ImportTarget, Package, PackageId, Program, SourceFile,
};
pub use store::PackageStore;
