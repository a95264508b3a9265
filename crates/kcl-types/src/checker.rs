//! The state of a check, and what all its parts share.

use crate::Checked;
use crate::assignable::Relations;
use crate::builtins::Builtins;
use crate::cycles::Dependencies;
use crate::diagnostics::{self, Findings};
use crate::lineage::Lineage;
use crate::merge::Merges;
use crate::scope::{Object, PackageScope};
use crate::suggest;
use crate::table::TypeTable;
use crate::ty::{NameMap, SchemaId, SchemaType, Type};
use base_diag::Diagnostic;
use base_text::{FileId, FileSpan, Name, Span};
use kcl_hir::names::{Blocks, Layer};
use kcl_hir::{PackageId, Program};
use kcl_syntax::ast::{Ident, Module};
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
    /// The blocks around the place, with the types of their names so far.
    pub(crate) blocks: Blocks<Object>,
    pub(crate) schema: Option<SchemaBody>,
    /// The statement or identifier walked last.
    pub(crate) place: Span,
    pub(crate) is_store: bool,
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
    /// Where the name read last was found, if tools want to know.
    pub(crate) layer: Option<Layer>,
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
            blocks: Blocks::default(),
            schema: None,
            place: Span::default(),
            is_store: false,
            is_partial: false,
            expected: Vec::new(),
            set_beside: None,
            depth: 0,
            compared: 0,
            n_renames: 0,
            layer: None,
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

    /// What a name stands for in the current block alone, as variables are seen.
    pub(crate) fn own_variable(&mut self, name: Name) -> Option<Object> {
        if self.blocks.is_empty() {
            self.read_literal(self.package, name);
        }
        let types = Relations { schemas: &self.schemas };
        let globals = &mut self.packages[self.package.0 as usize].objects;
        let object = self.blocks.innermost_mut().unwrap_or(globals).get_mut(name)?;
        object.widen(types);
        Some(object.clone())
    }

    /// Sets the type of a name that the current block defines.
    pub(crate) fn set_type(&mut self, name: Name, ty: Type, at: FileSpan) {
        self.set_object_type(name, ty, false, at);
    }

    /// Sets the type of a name to that of a variable with such values.
    pub(crate) fn set_inferred(&mut self, name: Name, ty: &Type, at: FileSpan) {
        // Many variables are never read.
        self.set_object_type(name, ty.clone(), true, at);
    }

    fn set_object_type(&mut self, name: Name, ty: Type, is_narrow: bool, at: FileSpan) {
        if let Some(object) = self.scope_mut().get_mut(name) {
            object.ty = ty;
            object.is_narrow = is_narrow;
        } else {
            let message = format!("name '{name}' is not defined");
            self.report(diagnostics::compile_error(at, message));
        }
    }

    /// The type of a name in scope, attributes apart.
    pub(crate) fn find(&mut self, name: Name) -> Option<Type> {
        self.local(name).or_else(|| self.global(name))
    }

    /// The type of a name that a block around the place defines.
    pub(crate) fn local(&mut self, name: Name) -> Option<Type> {
        let object = self.blocks.find(name)?;
        object.widen(Relations { schemas: &self.schemas });
        Some(object.ty.clone())
    }

    /// The type of a name of the package, of an import or of a built-in function.
    pub(crate) fn global(&mut self, name: Name) -> Option<Type> {
        self.read_literal(self.package, name);
        let types = Relations { schemas: &self.schemas };
        if let Some(object) = self.packages[self.package.0 as usize].objects.get_mut(name) {
            // An import belongs to its file; other files of the package see it if they have
            // none of that name.
            if let (Type::Module(_), Some(own)) =
                (&object.ty, self.file_imports[self.file.0 as usize].get(&name))
            {
                return Some(own.clone());
            }
            object.widen(types);
            return Some(object.ty.clone());
        }
        self.builtins.function(name)
    }

    /// The type of a global of some package.
    pub(crate) fn global_type(&mut self, package: PackageId, name: Name) -> Option<Type> {
        self.read_literal(package, name);
        let object = self.packages[package.0 as usize].objects.get_mut(name)?;
        object.widen(Relations { schemas: &self.schemas });
        Some(object.ty.clone())
    }

    /// Whether a name means the package's global, not something in an inner block.
    pub(crate) fn is_global(&self, name: Name) -> bool {
        !self.blocks.hold(name) && self.packages[self.package.0 as usize].objects.contains(name)
    }

    /// The type of a name in scope, attributes apart; reports a name that is not there.
    pub(crate) fn look_up(&mut self, ident: Ident, at: FileSpan) -> Type {
        self.find(ident.name).unwrap_or_else(|| self.report_unknown(ident, at))
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
