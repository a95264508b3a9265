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
mod impact;
mod infer;
mod keys;
mod link;
mod options;
mod origins;
mod policies;
mod rules;
mod scope;
mod secrets;
mod set;
mod shapes;
mod source;
mod targets;
mod terraform;
mod waiting;
mod write;

pub use cells::{CellSetting, Dims, LayerReader, ListedCluster, StackCell, StackLayers, today};
pub use compile::{Compiled, Outcome, Work, compile, compile_each};
pub use compile_cells::{LayeredStack, layered_stacks};
pub use error::GenerateError;
pub use files::{
    BackendSetting, ConfirmSetting, Extension, FileError, GeneratorSetting, MetadataExtension,
    NamespaceExtension, ProjectFile, StackFile,
};
pub use find::{BrokenStack, Project, Stack, find, find_cells};
pub use git::git_revision;
pub use impact::{AffectedValue, ChangedFile, Impact, UnaffectedValue, impact};
pub use kcl_driver::{Confinement, FindError, Limits, NamedPlugin, Plugins, named_plugins};
pub use options::CompileOptions;
pub use policies::{
    CaseOutcome, FixedField, PolicyFolder, RepositoryPolicies, RuleCoverage, TestReport,
    check_subject, fix_spec, layer_inputs, plain_resource, run_tests, stack_facts,
};
pub use rules::{ClusterPin, Timeouts};
pub use set::{FileEdit, SetRequest, edit_value};
pub use source::sources;
pub use write::{spec_json, spec_yaml};
