//! What a package defines: imports, schemas, rules, aliases and variables.

mod rule;
mod schema;

pub(crate) use rule::RESERVED;

use crate::checker::Checker;
use crate::diagnostics;
use crate::lineage::Lineage;
use crate::ty::{FunctionType, ModuleType, NameMap, SchemaId, SchemaRef, SchemaType, Type};
use base_text::{FileId, FileSpan, Name, Span};
use kcl_hir::{Import, ImportTarget, PackageId};
use kcl_syntax::ast::{Assign, Expr, SchemaKind, Stmt, StmtId, Unification};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// A top-level schema or rule statement.
#[derive(Clone, Copy)]
struct Declaration {
    file: FileId,
    stmt: StmtId,
    schema: SchemaRef,
}

impl<'p> Checker<'p> {
    /// Checks a package, and before it the packages that it imports.
    pub(crate) fn check_package(&mut self, package: PackageId) {
        let came_from = (self.package, self.file);
        self.package = package;
        self.packages[package.0 as usize].is_open = true;
        self.declare_imports();
        self.declare_globals();
        let files = &self.program.package(package).files;
        for &file in files {
            self.enter_file(file);
            for &stmt in &self.module.body {
                if self.merges.is_merged(file, stmt) {
                    self.merged_units.push((file, stmt));
                } else {
                    self.unit = Some((file, stmt));
                    self.stmt(stmt);
                }
            }
        }
        self.package = came_from.0;
        self.enter_file(came_from.1);
    }

    fn declare_imports(&mut self) {
        for &file in &self.program.package(self.package).files {
            self.enter_file(file);
            for import in &self.program.file(file).imports {
                self.declare_import(import);
            }
        }
    }

    fn declare_import(&mut self, import: &'p Import) {
        let at = self.at(self.module[import.stmt].span);
        let own = &mut self.file_imports[self.file.0 as usize];
        if let Some(Type::Module(first)) = own.get(&import.name) {
            if first.path != import.path {
                let name = import.name;
                self.report(diagnostics::compile_error(
                    at,
                    format!(
                        "the name '{name}' is defined multiple times, '{name}' must be defined only once"
                    ),
                ));
            }
        } else {
            let path = import.path.clone();
            let ty = Type::Module(Arc::new(ModuleType { path, target: import.target }));
            own.insert(import.name, ty.clone());
            if self.own(import.name).is_none() {
                self.define(import.name, ty, at);
            }
        }
        let ImportTarget::Package(target) = import.target else { return };
        let path = &self.program.package(self.package).path;
        self.module_cycles.add(path, &import.path, at);
        if let Some((names, places)) = self.module_cycles.circle(path) {
            for place in places {
                self.report(diagnostics::circular(place, "modules", &names));
            }
        }
        let scope = &self.packages[target.0 as usize];
        if scope.is_needed && !scope.is_open {
            self.check_package(target);
        }
    }

    fn declare_globals(&mut self) {
        let declarations = self.declare_schemas();
        self.declare_variables(true);
        self.build_schemas(&declarations);
        self.declare_variables(false);
        self.declare_lambdas();
    }

    /// Gives each schema and rule a number, so that others can refer to it.
    fn declare_schemas(&mut self) -> Vec<Declaration> {
        let mut declarations = Vec::new();
        for &file in &self.program.package(self.package).files {
            self.enter_file(file);
            for &stmt in &self.module.body {
                let node = &self.module[stmt];
                let (name, kind) = match &node.kind {
                    Stmt::Schema(schema) => (schema.name.name, Some(schema.kind)),
                    Stmt::Rule(rule) => (rule.name.name, None),
                    _ => continue,
                };
                let at = self.at(node.span);
                let known = self.own(name).map(|object| object.ty.clone());
                if known.is_some() {
                    self.report(diagnostics::not_unique(at, name.as_str(), None));
                }
                let schema = match &known {
                    // Schemas of one name are one schema, the last one.
                    Some(Type::Schema(schema)) => *schema,
                    _ => self.new_schema(name, kind),
                };
                if known.is_none() {
                    self.define(name, Type::Schema(schema), at);
                }
                declarations.push(Declaration { file, stmt, schema });
            }
        }
        declarations
    }

    /// Adds a schema of some kind, or a rule.
    fn new_schema(&mut self, name: Name, kind: Option<SchemaKind>) -> SchemaRef {
        let id = SchemaId(self.schemas.len() as u32);
        let func = FunctionType { params: Vec::new(), ret: Type::Any, is_variadic: false };
        self.schemas.push(SchemaType {
            name,
            package: self.package,
            is_mixin: kind == Some(SchemaKind::Mixin),
            is_protocol: kind == Some(SchemaKind::Protocol),
            is_rule: kind.is_none(),
            has_statements: false,
            base: None,
            protocol: None,
            mixins: Vec::new(),
            attrs: NameMap::default(),
            func: Arc::new(func),
            index_signature: None,
        });
        self.lineages.push(Lineage::default());
        SchemaRef { id, name, is_instance: false }
    }

    /// Builds all schemas. What depends on schemas further down is built again when those
    /// are known.
    fn build_schemas(&mut self, declarations: &[Declaration]) {
        const MAX_PASSES: usize = 3;
        let mut built = vec![true; self.schemas.len()];
        for declaration in declarations {
            built[declaration.schema.id.0 as usize] = false;
        }
        let mut pending: Vec<Declaration> = declarations.to_vec();
        for pass in 0..MAX_PASSES {
            let mut again = Vec::new();
            for declaration in pending {
                self.enter_file(declaration.file);
                let is_built_before = built[declaration.schema.id.0 as usize];
                let is_complete = self.build(declaration, &built);
                built[declaration.schema.id.0 as usize] = is_complete;
                if !is_complete {
                    again.push(declaration);
                }
                if pass == 0 && is_built_before {
                    self.unsettle();
                } else if pass == 0 && is_complete && self.is_below_settled(declaration.schema.id) {
                    self.settle(declaration.schema.id);
                }
                let at = self.at(self.module[declaration.stmt].span);
                self.define(declaration.schema.name, Type::Schema(declaration.schema), at);
            }
            if again.is_empty() {
                break;
            }
            for declaration in &again {
                built[declaration.schema.id.0 as usize] = true;
            }
            pending = again;
        }
        self.report_circular_schemas(declarations);
        for declaration in declarations {
            self.settle(declaration.schema.id);
        }
    }

    fn build(&mut self, declaration: Declaration, built: &[bool]) -> bool {
        let module = self.module;
        self.unit = Some((declaration.file, declaration.stmt));
        match &module[declaration.stmt].kind {
            Stmt::Schema(schema) => self.build_schema(schema, declaration.schema.id, built),
            Stmt::Rule(rule) => {
                self.build_rule(rule, declaration.schema.id);
                true
            }
            _ => true,
        }
    }

    /// Reports schemas that inherit from themselves, and takes them apart.
    fn report_circular_schemas(&mut self, declarations: &[Declaration]) {
        let mut seen: FxHashSet<SchemaId> = FxHashSet::default();
        for declaration in declarations {
            let mut walk = Vec::new();
            let mut current = Some(declaration.schema.id);
            while let Some(id) = current
                && seen.insert(id)
            {
                walk.push(id);
                current = self.schema_type(id).base;
            }
            let Some(start) = walk.iter().position(|id| Some(*id) == current) else { continue };
            let circle = &walk[start..];
            let names: Vec<String> = circle.iter().map(|id| self.full_schema_name(*id)).collect();
            let names = names.join(", ");
            for &id in circle {
                if let Some(declaration) = declarations.iter().find(|d| d.schema.id == id) {
                    self.enter_file(declaration.file);
                    if let Stmt::Schema(schema) = &self.module[declaration.stmt].kind {
                        let at = self.at(schema.name.span);
                        self.report(diagnostics::circular(at, "schemas", &names));
                    }
                }
            }
            if let Some(last) = circle.last() {
                self.schemas[last.0 as usize].base = None;
            }
        }
    }

    /// Defines aliases and variables; the first time it looks for repeated definitions.
    fn declare_variables(&mut self, is_first: bool) {
        for &file in &self.program.package(self.package).files {
            self.enter_file(file);
            for &stmt in &self.module.body {
                if matches!(self.module[stmt].kind, Stmt::TypeAlias(_)) {
                    self.stmt(stmt);
                }
            }
            self.declare_variables_of(&self.module.body, is_first);
        }
    }

    fn declare_variables_of(&mut self, stmts: &'p [StmtId], is_first: bool) {
        for &stmt in stmts {
            if self.merges.is_merged(self.file, stmt) {
                continue;
            }
            match &self.module[stmt].kind {
                Stmt::Assign(assign) => self.declare_assigned(assign, is_first),
                Stmt::Unification(unification) => self.declare_unified(unification),
                Stmt::If(if_stmt) => {
                    self.declare_variables_of(&if_stmt.body, is_first);
                    self.declare_variables_of(&if_stmt.orelse, is_first);
                }
                _ => {}
            }
        }
    }

    fn declare_assigned(&mut self, assign: &'p Assign, is_first: bool) {
        for target in &assign.targets {
            let name = target.name.name;
            let at = self.at(target.span);
            let known = self.own(name).cloned();
            if let Some(known) = &known
                && is_first
                && !name.is_private()
            {
                let finding = diagnostics::immutable(at, name.as_str(), known.at);
                match known.ty {
                    Type::Module(_) => self.report(finding),
                    _ => self.report_misnamed(finding, name, &format!("_{name}")),
                }
                continue;
            }
            let ty = match (assign.ty, known) {
                (Some(ty), known) => {
                    let ty = self.annotation(ty, self.module[ty].span);
                    if let Some(known) = known
                        && !self.types().is_upper_bound(&known.ty, &ty)
                    {
                        let name = name.as_str();
                        let changed =
                            diagnostics::type_changed(at, name, &known.ty, known.at, &known.ty);
                        self.report(changed);
                    }
                    ty
                }
                (None, Some(known)) => known.ty,
                (None, None) => Type::Any,
            };
            self.define(name, ty, at);
        }
    }

    fn declare_unified(&mut self, unification: &'p Unification) {
        let Some(name) = unification.target.names.first() else { return };
        let Expr::Schema(schema) = &self.module[unification.value].kind else { return };
        let ty = self.declared_path(&schema.name, schema.name.span);
        let at = self.at(unification.target.span);
        self.define(name.name, ty, at);
    }

    /// Notes the parameters of lambdas that globals hold, for calls above them.
    fn declare_lambdas(&mut self) {
        for &file in &self.program.package(self.package).files {
            self.enter_file(file);
            let module = self.module;
            for &stmt in &module.body {
                let Stmt::Assign(assign) = &module[stmt].kind else { continue };
                let Expr::Lambda(lambda) = &module[assign.value].kind else { continue };
                if assign.ty.is_some() {
                    // What is called is of the type that the statement names.
                    continue;
                }
                let params = self.lambda_params(lambda);
                let ty = FunctionType { params, ret: Type::Any, is_variadic: false };
                let ty = Arc::new(ty);
                for target in assign.targets.iter().filter(|target| target.paths.is_empty()) {
                    let lambdas = &mut self.packages[self.package.0 as usize].lambdas;
                    lambdas.insert(target.name.name, Arc::clone(&ty));
                }
            }
        }
    }

    /// Notes a global name whose statement is being walked.
    pub(crate) fn note_global(&mut self, name: Name, span: Span) {
        let at = self.at(span);
        self.packages[self.package.0 as usize].globals.insert(name, at);
    }

    /// Where a global was noted.
    pub(crate) fn noted_global(&self, name: Name) -> Option<FileSpan> {
        self.packages[self.package.0 as usize].globals.get(&name).copied()
    }
}
