//! Programs: files, packages, imports and global names.
//!
//! [`Program`] is what type checker and evaluator work on. It holds the trees of all files
//! that a program reaches, sorted into packages, with every import resolved. It does no
//! I/O of its own but through [`base_system::System`], and knows neither types nor values.

pub mod program;

pub use program::{
    Global, GlobalKind, Import, ImportTarget, Package, PackageId, Program, SourceFile,
};
