//! The types of a program, for tools.

use crate::scope::PackageScope;
use crate::ty::{NameMap, SchemaId, SchemaType, Type};
use base_text::{FileId, Name};
use kcl_hir::{PackageId, Program};
use kcl_syntax::ast::ExprId;

/// The types of expressions, globals and schemas.
#[derive(Clone, Debug, Default)]
pub struct TypeTable {
    exprs: Vec<Vec<Option<Type>>>,
    globals: Vec<NameMap<Type>>,
    schemas: Vec<SchemaType>,
}

impl TypeTable {
    pub(crate) fn new(program: &Program) -> Self {
        let exprs = program.files.iter().map(|file| vec![None; file.module.exprs.len()]).collect();
        Self { exprs, ..Self::default() }
    }

    pub(crate) fn set(&mut self, file: FileId, expr: ExprId, ty: Type) {
        self.exprs[file.0 as usize][expr.index()] = Some(ty);
    }

    pub(crate) fn fill(&mut self, packages: Vec<PackageScope>, schemas: Vec<SchemaType>) {
        let types = |scope: PackageScope| scope.objects.map(|object| object.ty);
        self.globals = packages.into_iter().map(types).collect();
        self.schemas = schemas;
    }

    /// The type of an expression; `None` if the check did not come by it.
    pub fn expr(&self, file: FileId, expr: ExprId) -> Option<&Type> {
        self.exprs.get(file.0 as usize)?.get(expr.index())?.as_ref()
    }

    /// The names at the top level of a package, imports included, with their types.
    pub fn globals(&self, package: PackageId) -> impl Iterator<Item = (Name, &Type)> {
        let globals = self.globals.get(package.0 as usize);
        globals.into_iter().flat_map(NameMap::iter)
    }

    /// A schema by number.
    pub fn schema(&self, id: SchemaId) -> Option<&SchemaType> {
        self.schemas.get(id.0 as usize)
    }
}
