//! From the folder of a stack to its Spec.
//!
//! API boundary, and the only place where the engine meets the language. [`compile`] finds
//! stacks, runs their programs, and reads resources from any accepted form of output; ids,
//! references and dependencies of the result are checked.

mod compile;
mod crds;
mod error;
mod files;
mod find;
mod identity;
mod infer;
mod link;
mod options;
mod origins;
mod scope;
mod secrets;
mod shapes;
mod source;
mod targets;
mod write;

pub use compile::{Compiled, compile};
pub use error::GenerateError;
pub use files::{
    BackendSetting, Extension, FileError, GeneratorSetting, MetadataExtension, NamespaceExtension,
    ProjectFile, StackFile,
};
pub use find::{Project, Stack, find};
pub use kcl_driver::{Confinement, Limits};
pub use options::CompileOptions;
pub use source::sources;
pub use write::{spec_json, spec_yaml};
