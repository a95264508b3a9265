//! Names in scope.

use crate::ty::{FunctionType, NameMap, Type};
use base_text::{FileSpan, Name};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What a name in scope stands for.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) ty: Type,
    pub(crate) at: FileSpan,
}

/// The names of one block.
#[derive(Default)]
pub(crate) struct Scope {
    pub(crate) objects: NameMap<Object>,
}

/// The names of one package.
#[derive(Default)]
pub(crate) struct PackageScope {
    /// Whether checking of the package has begun.
    pub(crate) is_open: bool,
    /// Imports, schemas, aliases and variables.
    pub(crate) objects: NameMap<Object>,
    /// Names defined by the statements walked so far.
    pub(crate) globals: FxHashMap<Name, FileSpan>,
    /// Lambdas that globals hold, known before their statements are walked.
    pub(crate) lambdas: FxHashMap<Name, Arc<FunctionType>>,
}
