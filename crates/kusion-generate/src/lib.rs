//! From the folder of a stack to its Spec.
//!
//! API boundary, and the only place where the engine meets the language. [`compile`] finds
//! stacks, runs their programs, and reads resources from any accepted form of output; ids,
//! references and dependencies of the result are checked.

mod annotations;
mod cells;
mod compile;
mod compile_cells;
mod crds;
mod error;
mod files;
mod find;
mod git;
mod identity;
mod infer;
mod keys;
mod link;
mod options;
mod origins;
mod rules;
mod scope;
mod secrets;
mod shapes;
mod source;
mod targets;
mod terraform;
mod waiting;
mod write;

pub use cells::{CellSetting, Dims, LayerReader, StackCell, StackLayers, today};
pub use compile::{Compiled, Outcome, compile, compile_each};
pub use compile_cells::{LayeredStack, layered_stacks};
pub use error::GenerateError;
pub use files::{
    BackendSetting, ConfirmSetting, Extension, FileError, GeneratorSetting, MetadataExtension,
    NamespaceExtension, ProjectFile, StackFile,
};
pub use find::{BrokenStack, Project, Stack, find, find_cells};
pub use git::git_revision;
pub use kcl_driver::{Confinement, FindError, Limits, NamedPlugin, Plugins, named_plugins};
pub use options::CompileOptions;
pub use rules::{ClusterPin, Timeouts};
pub use source::sources;
pub use write::{spec_json, spec_yaml};
