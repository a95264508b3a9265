//! The state of a check, and what all its parts share.

use crate::Checked;
use crate::assignable::Relations;
use crate::builtins::Builtins;
use crate::cycles::Dependencies;
use crate::diagnostics::{self, Findings};
use crate::lineage::Lineage;
use crate::merge::Merges;
use crate::scope::{Blocks, FileScope, Object, PackageScope};
use crate::suggest;
use crate::table::TypeTable;
use crate::ty::{NameMap, SchemaId, SchemaType, Type};
use base_diag::Diagnostic;
use base_text::{FileId, FileSpan, Name, Span};
use kcl_hir::names::Meaning;
use kcl_hir::{PackageId, Program};
use kcl_syntax::ast::{ExprId, Ident, Module, StmtId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// How deep expressions may nest; what lies deeper is not checked.
const MAX_DEPTH: u32 = 4_000;

/// How many names are compared with unknown ones in search of similar ones.
const MAX_COMPARED: usize = 1_000_000;

/// What a value is expected to be, in the stack of enclosing configs.
#[derive(Clone)]
pub(crate) struct Expected {
    pub(crate) ty: Type,
    /// Where that is declared.
    pub(crate) at: Option<FileSpan>,
}

/// The schema whose body is being walked.
pub(crate) struct SchemaBody {
    pub(crate) id: SchemaId,
    /// The types of names that the body assigns to without declaring them.
    pub(crate) assigned: FxHashMap<Name, Type>,
}

/// Checks one program.
pub(crate) struct Checker<'p> {
    pub(crate) program: &'p Program,
    pub(crate) findings: Findings,
    pub(crate) schemas: Vec<SchemaType>,
    /// How the schemas stand in their lines of bases.
    pub(crate) lineages: Vec<Lineage>,
    pub(crate) packages: Vec<PackageScope>,
    pub(crate) file_imports: Vec<FxHashMap<Name, Type>>,
    pub(crate) used_imports: FxHashSet<(FileId, Name)>,
    pub(crate) builtins: Builtins,
    pub(crate) schema_cycles: Dependencies,
    pub(crate) module_cycles: Dependencies,
    pub(crate) merges: Merges<'p>,

    pub(crate) package: PackageId,
    pub(crate) file: FileId,
    pub(crate) module: &'p Module,
    /// The local names of each file.
    pub(crate) locals: Vec<FileScope>,
    /// The top-level statement being walked, if its names are not resolved yet.
    pub(crate) unit: Option<(FileId, StmtId)>,
    /// Statements whose entries are checked with those of a later one, and whose names are not
    /// resolved yet.
    pub(crate) merged_units: Vec<(FileId, StmtId)>,
    /// The blocks around the place.
    pub(crate) blocks: Blocks,
    pub(crate) schema: Option<SchemaBody>,
    /// The statement or identifier walked last.
    pub(crate) place: Span,
    /// Whether required attributes may be missing.
    pub(crate) is_partial: bool,
    pub(crate) expected: Vec<Option<Expected>>,
    /// Attributes that other entries with the same key set.
    pub(crate) set_beside: Option<Rc<FxHashSet<Name>>>,
    pub(crate) depth: u32,
    /// How many names were compared with unknown ones.
    compared: usize,
    /// How many fixes rename something.
    pub(crate) n_renames: u32,
    /// Where types are kept for tools.
    pub(crate) table: Option<TypeTable>,
}

impl<'p> Checker<'p> {
    pub(crate) fn new(
        program: &'p Program,
        module: &'p Module,
        merges: Merges<'p>,
        table: Option<TypeTable>,
    ) -> Self {
        let scope = |is_needed| PackageScope { is_needed, ..PackageScope::default() };
        let packages = program.needed_packages().into_iter().map(scope).collect();
        let mut file_imports = Vec::new();
        file_imports.resize_with(program.files.len(), FxHashMap::default);
        let mut locals = Vec::new();
        locals.resize_with(program.files.len(), FileScope::default);
        Self {
            program,
            findings: Findings::default(),
            schemas: Vec::new(),
            lineages: Vec::new(),
            packages,
            file_imports,
            used_imports: FxHashSet::default(),
            builtins: Builtins::default(),
            schema_cycles: Dependencies::default(),
            module_cycles: Dependencies::default(),
            merges,
            package: PackageId(0),
            file: FileId(0),
            module,
            locals,
            unit: None,
            merged_units: Vec::new(),
            blocks: Blocks::default(),
            schema: None,
            place: Span::default(),
            is_partial: false,
            expected: Vec::new(),
            set_beside: None,
            depth: 0,
            compared: 0,
            n_renames: 0,
            table,
        }
    }

    /// What was found out.
    pub(crate) fn finish(self) -> Checked {
        let types = self.table.map(|mut table| {
            let mut packages = self.packages;
            for object in packages.iter_mut().flat_map(|scope| scope.objects.values_mut()) {
                object.widen(Relations { schemas: &self.schemas });
            }
            table.fill(packages, self.schemas);
            table
        });
        Checked { diagnostics: self.findings.into_vec(), types: types.unwrap_or_default() }
    }

    /// The relations between types.
    pub(crate) fn types(&self) -> Relations<'_> {
        Relations { schemas: &self.schemas }
    }

    /// The smallest type that holds two types.
    pub(crate) fn join2(&self, a: Type, b: Type) -> Type {
        self.types().join([a, b])
    }

    /// A place in the file being checked.
    pub(crate) fn at(&self, span: Span) -> FileSpan {
        FileSpan { file: self.file, span }
    }

    /// Adds a finding.
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        self.findings.add(diagnostic);
    }

    /// Goes to a file of the program.
    pub(crate) fn enter_file(&mut self, file: FileId) {
        self.file = file;
        self.module = &self.program.file(file).module;
    }

    /// Runs `walk` unless expressions nest too deep.
    pub(crate) fn nested(&mut self, walk: impl FnOnce(&mut Self) -> Type) -> Type {
        if self.depth >= MAX_DEPTH {
            return Type::Any;
        }
        self.depth += 1;
        let ty = walk(self);
        self.depth -= 1;
        ty
    }

    fn scope(&self) -> &NameMap<Object> {
        let globals = &self.packages[self.package.0 as usize].objects;
        self.blocks.innermost().unwrap_or(globals)
    }

    /// The names of the current block, to change them.
    pub(crate) fn scope_mut(&mut self) -> &mut NameMap<Object> {
        let globals = &mut self.packages[self.package.0 as usize].objects;
        self.blocks.innermost_mut().unwrap_or(globals)
    }

    /// Defines a name in the current block.
    pub(crate) fn define(&mut self, name: Name, ty: Type, at: FileSpan) {
        let object = Object { ty, at, is_own: true, is_declared: false, is_narrow: false };
        self.scope_mut().insert(name, object);
    }

    /// What a name stands for in the current block alone.
    pub(crate) fn own(&self, name: Name) -> Option<&Object> {
        self.scope().get(name)
    }

    /// What is known of the local names of the file being checked, and what names mean.
    pub(crate) fn file_scope(&mut self) -> &mut FileScope {
        if self.unit.is_some() {
            self.resolve_names();
        }
        &mut self.locals[self.file.0 as usize]
    }

    /// Resolves the names of the statement being walked.
    fn resolve_names(&mut self) {
        for (file, stmt) in self.merged_units.drain(..).chain(self.unit.take()) {
            self.locals[file.0 as usize].names.add_unit(self.program, file, stmt);
        }
        self.blocks.set_definitions(&mut self.locals);
    }

    /// What an identifier or schema expression means. Outside all blocks there are no local
    /// names, so that the names of many statements need not be resolved for the check.
    pub(crate) fn meaning(&mut self, expr: ExprId, name: Name) -> Meaning {
        if self.blocks.is_empty() {
            return self.program.global_meaning(self.file, name);
        }
        let meaning = self.file_scope().names.meaning(expr);
        meaning.unwrap_or_else(|| self.program.global_meaning(self.file, name))
    }

    /// The local name that is bound or set there.
    pub(crate) fn bound_at(&mut self, ident: Ident) -> Option<u32> {
        if self.blocks.is_empty() { None } else { self.file_scope().names.bound_at(ident.span) }
    }

    /// Defines a parameter, a variable of a lambda or of a loop.
    pub(crate) fn define_local(&mut self, ident: Ident, ty: Type, at: FileSpan) {
        let object = Object { ty, at, is_own: true, is_declared: false, is_narrow: false };
        if let Some(definition) = self.bound_at(ident) {
            self.locals[self.file.0 as usize].set(definition, object);
        }
        self.blocks.add_local(ident.name);
    }

    /// What is known of the name that is bound or assigned to there: a local one, else one of
    /// the current block.
    fn target_object(&mut self, ident: Ident) -> Option<&mut Object> {
        if let Some(definition) = self.bound_at(ident) {
            return self.locals[self.file.0 as usize].get_mut(definition);
        }
        self.scope_mut().get_mut(ident.name)
    }

    /// What a name that is assigned to stands for there, as variables are seen.
    pub(crate) fn own_variable(&mut self, ident: Ident) -> Option<Object> {
        if self.blocks.is_empty() {
            self.read_literal(self.package, ident.name);
        }
        let schemas = std::mem::take(&mut self.schemas);
        let object = self.target_object(ident).map(|object| {
            object.widen(Relations { schemas: &schemas });
            object.clone()
        });
        self.schemas = schemas;
        object
    }

    /// Sets the type of a name that is bound or assigned to.
    pub(crate) fn set_type(&mut self, ident: Ident, ty: Type, at: FileSpan) {
        self.set_object_type(ident, ty, false, at);
    }

    /// Sets the type of a name to that of a variable with such values.
    pub(crate) fn set_inferred(&mut self, ident: Ident, ty: &Type, at: FileSpan) {
        // Many variables are never read.
        self.set_object_type(ident, ty.clone(), true, at);
    }

    fn set_object_type(&mut self, ident: Ident, ty: Type, is_narrow: bool, at: FileSpan) {
        if let Some(object) = self.target_object(ident) {
            object.ty = ty;
            object.is_narrow = is_narrow;
        } else {
            let message = format!("name '{}' is not defined", ident.name);
            self.report(diagnostics::compile_error(at, message));
        }
    }

    /// The type of a local name, if its place was walked.
    pub(crate) fn local(&mut self, definition: u32) -> Option<Type> {
        let types = Relations { schemas: &self.schemas };
        let object = self.locals[self.file.0 as usize].get_mut(definition)?;
        object.widen(types);
        Some(object.ty.clone())
    }

    /// The type of a name of the package, of an import or of a built-in function.
    pub(crate) fn global(&mut self, meaning: Meaning, name: Name) -> Option<Type> {
        if let Meaning::Builtin(_) = meaning {
            return self.builtins.function(name);
        }
        self.read_literal(self.package, name);
        let types = Relations { schemas: &self.schemas };
        let object = self.packages[self.package.0 as usize].objects.get_mut(name)?;
        // An import belongs to its file; other files of the package see it if they have
        // none of that name.
        if let (Type::Module(_), Some(own)) =
            (&object.ty, self.file_imports[self.file.0 as usize].get(&name))
        {
            return Some(own.clone());
        }
        object.widen(types);
        Some(object.ty.clone())
    }

    /// The type of a global of some package.
    pub(crate) fn global_type(&mut self, package: PackageId, name: Name) -> Option<Type> {
        self.read_literal(package, name);
        let object = self.packages[package.0 as usize].objects.get_mut(name)?;
        object.widen(Relations { schemas: &self.schemas });
        Some(object.ty.clone())
    }

    /// Reports a name that is not in scope.
    pub(crate) fn report_unknown(&mut self, ident: Ident, at: FileSpan) -> Type {
        let similar = self.similar_names(ident.name);
        let finding = diagnostics::not_defined(at, ident.name.as_str(), similar.clone());
        self.report(self.misspelt(finding, ident, &similar));
        Type::Any
    }

    /// Names in scope that look like `name`; none after very many were compared.
    fn similar_names(&mut self, name: Name) -> Vec<String> {
        let mut names: indexmap::IndexSet<&str> = Builtins::names().collect();
        names.extend(self.packages[self.package.0 as usize].objects.names().map(Name::as_str));
        names.extend(self.blocks.names().map(Name::as_str));
        if self.compared > MAX_COMPARED {
            return Vec::new();
        }
        self.compared += names.len();
        suggest::similar(name.as_str(), names)
    }

    /// A schema by number.
    pub(crate) fn schema_type(&self, id: SchemaId) -> &SchemaType {
        &self.schemas[id.0 as usize]
    }

    /// A type with the package paths of its schemas.
    pub(crate) fn full_name(&self, ty: &Type) -> String {
        match ty {
            Type::List(item) => format!("[{}]", self.full_name(item)),
            Type::Dict(dict) => {
                format!("{{{}:{}}}", self.full_name(&dict.key), self.full_name(&dict.value))
            }
            Type::Union(types) => {
                let names: Vec<String> = types.iter().map(|ty| self.full_name(ty)).collect();
                names.join(" | ")
            }
            Type::Schema(schema) => self.full_schema_name(schema.id),
            _ => ty.to_string(),
        }
    }

    /// A schema's name with its package path.
    pub(crate) fn full_schema_name(&self, id: SchemaId) -> String {
        let schema = self.schema_type(id);
        let path = &self.program.package(schema.package).path;
        if path.is_empty() || path == kcl_hir::program::MAIN_PACKAGE {
            schema.name.to_string()
        } else {
            format!("{path}.{}", schema.name)
        }
    }
}
