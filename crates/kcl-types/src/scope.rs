//! What is known of names in scope.

use crate::assignable::Relations;
use crate::ty::{DictAttr, FunctionType, NameMap};
use base_text::{FileId, FileSpan, Name};
use kcl_hir::names::Held;
use kcl_syntax::ast::ExprId;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What a name in scope stands for. The names of a config become the known keys of its type.
pub(crate) type Object = DictAttr;

impl Object {
    /// Turns the type of a value into that of a variable, if that is still to be done.
    pub(crate) fn widen(&mut self, types: Relations<'_>) {
        if std::mem::take(&mut self.is_narrow) {
            self.ty = types.widen(&self.ty);
        }
    }
}

impl Held for Object {
    fn is_definition(&self) -> bool {
        self.is_own
    }
}

/// The names of one package.
#[derive(Default)]
pub(crate) struct PackageScope {
    /// Whether checking of the package has begun.
    pub(crate) is_open: bool,
    /// Whether it is checked at all; see [`kcl_hir::Program::needed_packages`].
    pub(crate) is_needed: bool,
    /// Imports, schemas, aliases and variables.
    pub(crate) objects: NameMap<Object>,
    /// Globals that hold plain data, whose types are found when they are first read.
    pub(crate) literals: FxHashMap<Name, (FileId, ExprId)>,
    /// Names defined by the statements walked so far.
    pub(crate) globals: FxHashMap<Name, FileSpan>,
    /// Lambdas that globals hold, known before their statements are walked.
    pub(crate) lambdas: FxHashMap<Name, Arc<FunctionType>>,
}
