//! The names written in a declaration, and what they stand for.

use super::{Definition, Meaning, Use, UseTarget, stmt_paths, type_path, uses, visit_definitions};
use crate::program::{ImportTarget, PackageId, Program, SourceFile};
use base_text::{FileId, Name, Span};
use kcl_names::{FunctionId, ModuleId};
use kcl_syntax::ast::{ConfigEntry, Expr, ExprId, Ident, Path, Schema, Stmt, StmtId};
use rustc_hash::FxHashMap;

/// Stands for something that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// A local name, by its number among the definitions of a top-level statement
    /// ([`UnitUses::definitions`](super::UnitUses::definitions)).
    Local {
        /// The file of the statement.
        file: FileId,
        /// The statement.
        unit: StmtId,
        /// The number.
        number: u32,
    },
    /// A global, by its number in its package.
    Global {
        /// The package.
        package: PackageId,
        /// The number.
        number: u32,
    },
    /// An attribute of a schema; that of the outermost base which has it.
    Attribute {
        /// The file of the schema.
        file: FileId,
        /// The schema statement.
        schema: StmtId,
        /// The name.
        name: Name,
    },
    /// The name that an import brings into scope.
    Import {
        /// The file of the import.
        file: FileId,
        /// The import statement.
        stmt: StmtId,
    },
    /// A function or constant of a system module.
    Member {
        /// The module.
        module: ModuleId,
        /// The name.
        name: Name,
    },
    /// A built-in function.
    Function(FunctionId),
}

/// A name in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// Where it is written.
    pub at: Span,
    /// What it stands for: the first that has a value when the program runs. A key of a config
    /// may be an attribute and a local name in one.
    pub symbols: Vec<Symbol>,
    /// Whether it defines or sets one of them.
    pub is_definition: bool,
}

/// Finds the names in a top-level statement, in the order of places. Names that stand for
/// nothing are left out, and so are those that only types can tell: members of values, named
/// arguments, and keys of configs that do not follow the name of their schema.
pub fn occurrences(program: &Program, file: FileId, unit: StmtId) -> Vec<Occurrence> {
    let source = program.file(file);
    let (found, schemas) = (Vec::new(), FxHashMap::default());
    let mut finder = Finder { program, file, source, unit, found, schemas };
    match &source.module[unit].kind {
        Stmt::Import(_) => finder.import(),
        Stmt::Schema(schema) => {
            finder.globals();
            finder.attributes(schema);
            finder.locals();
        }
        _ => {
            finder.globals();
            finder.locals();
        }
    }
    finder.types();
    finder.finish()
}

/// Where the name stands that an import brings into scope.
fn import_name(source: &SourceFile, stmt: StmtId) -> Option<Span> {
    let Stmt::Import(import) = &source.module[stmt].kind else { return None };
    if let Some(alias) = import.asname {
        return Some(alias.span);
    }
    let Span { start, end } = import.path.span;
    let last = import.path.value.rsplit('.').next().unwrap_or("").len() as u32;
    Some(Span::new(end.saturating_sub(last).max(start), end))
}

/// The schema statement that a dotted name stands for.
fn schema_site(program: &Program, file: FileId, path: &Path) -> Option<(FileId, StmtId)> {
    let (package, name) = program.declared(file, path)?;
    let global = program.package(package).globals.get(&name)?;
    let is_schema = |site: &&(FileId, StmtId)| {
        matches!(program.file(site.0).module[site.1].kind, Stmt::Schema(_))
    };
    global.definitions.iter().find(is_schema).copied()
}

/// The attributes of a schema by name, those of its bases and mixins included.
fn attributes(program: &Program, schema: (FileId, StmtId)) -> FxHashMap<Name, Symbol> {
    let mut found = FxHashMap::default();
    let mut add = |(file, stmt): (FileId, StmtId), keeps_known: bool| {
        let module = &program.file(file).module;
        let Stmt::Schema(schema) = &module[stmt].kind else { return };
        for &inner in &schema.body {
            visit_definitions(module, inner, &mut |it| {
                let name = it.ident.name;
                let symbol = Symbol::Attribute { file, schema: stmt, name };
                if !keeps_known || !found.contains_key(&name) {
                    found.insert(name, symbol);
                }
            });
        }
    };
    let (mut seen, mut mixins) = (Vec::new(), Vec::new());
    let mut next = Some(schema);
    while let Some(site) = next.take()
        && !seen.contains(&site)
    {
        seen.push(site);
        let Stmt::Schema(schema) = &program.file(site.0).module[site.1].kind else { break };
        add(site, false);
        let sites = schema.mixins.iter().filter_map(|path| schema_site(program, site.0, path));
        mixins.extend(sites);
        next = schema.parent.as_ref().and_then(|parent| schema_site(program, site.0, parent));
    }
    mixins.into_iter().rev().for_each(|mixin| add(mixin, true));
    found
}

struct Finder<'p> {
    program: &'p Program,
    file: FileId,
    source: &'p SourceFile,
    unit: StmtId,
    found: Vec<Occurrence>,
    /// The attributes of schemas that were asked for.
    schemas: FxHashMap<(FileId, StmtId), FxHashMap<Name, Symbol>>,
}

impl<'p> Finder<'p> {
    fn add(&mut self, at: Span, symbols: impl IntoIterator<Item = Symbol>, is_definition: bool) {
        let symbols: Vec<Symbol> = symbols.into_iter().collect();
        if !symbols.is_empty() {
            self.found.push(Occurrence { at, symbols, is_definition });
        }
    }

    fn import(&mut self) {
        if let Some(at) = import_name(self.source, self.unit) {
            self.add(at, [Symbol::Import { file: self.file, stmt: self.unit }], true);
        }
    }

    /// The global names that the statement defines.
    fn globals(&mut self) {
        let module = &self.source.module;
        let package = self.source.package;
        visit_definitions(module, self.unit, &mut |defined| {
            let globals = &self.program.package(package).globals;
            let number = globals.get_index_of(&defined.ident.name);
            let symbol = number.map(|at| Symbol::Global { package, number: at as u32 });
            self.add(defined.ident.span, symbol, true);
        });
    }

    /// The attributes that the body of the schema defines.
    fn attributes(&mut self, schema: &Schema) {
        let source = self.source;
        for &stmt in &schema.body {
            visit_definitions(&source.module, stmt, &mut |defined| {
                let name = defined.ident.name;
                let symbol = self.attribute((self.file, self.unit), name);
                self.add(defined.ident.span, symbol, true);
            });
        }
    }

    /// Local names, and all that expressions use.
    fn locals(&mut self) {
        let unit = uses(self.program, self.file, self.unit);
        for (number, Definition { at, .. }) in unit.definitions.iter().enumerate() {
            self.add(*at, [self.local(number)], true);
        }
        for it in &unit.uses {
            let schema = (self.file, self.unit);
            let own = it.may_be_attribute.then(|| self.attribute(schema, it.ident.name)).flatten();
            let symbols: Vec<Symbol> = match own {
                Some(symbol) => vec![symbol],
                None => it.targets.iter().filter_map(|target| self.target(it, *target)).collect(),
            };
            self.add(it.ident.span, symbols, it.expr.is_none());
            if let Some(expr) = it.expr {
                self.members_of(it, expr);
            }
        }
    }

    fn local(&self, number: usize) -> Symbol {
        Symbol::Local { file: self.file, unit: self.unit, number: number as u32 }
    }

    fn attribute(&mut self, schema: (FileId, StmtId), name: Name) -> Option<Symbol> {
        let program = self.program;
        let attributes = self.schemas.entry(schema).or_insert_with(|| attributes(program, schema));
        attributes.get(&name).copied()
    }

    fn target(&self, it: &Use, target: UseTarget) -> Option<Symbol> {
        match target {
            UseTarget::Local(number) => Some(self.local(number)),
            UseTarget::Global(number) => {
                Some(Symbol::Global { package: self.source.package, number })
            }
            UseTarget::Package(_) | UseTarget::System(_) | UseTarget::Plugin => {
                self.import_of(it.ident.name)
            }
            UseTarget::Builtin(function) => Some(Symbol::Function(function)),
            UseTarget::Unknown => None,
        }
    }

    fn import_of(&self, name: Name) -> Option<Symbol> {
        let (file, import) = self.program.import_site(self.file, name)?;
        Some(Symbol::Import { file, stmt: import.stmt })
    }

    /// What stands behind the first name of an expression: a name of a package or module, and
    /// the keys of a schema's config.
    fn members_of(&mut self, it: &Use, expr: ExprId) {
        let module = &self.source.module;
        let path = match &module[expr].kind {
            Expr::Ident(path) => path,
            Expr::Schema(schema) => {
                let config = schema.config;
                if !matches!(it.targets.first(), Some(UseTarget::Local(_)))
                    && let Some(site) = schema_site(self.program, self.file, &schema.name)
                    && let Expr::Config(entries) = &module[config].kind
                {
                    self.keys(site, entries);
                }
                &schema.name
            }
            _ => return,
        };
        let target = match it.targets.first() {
            Some(UseTarget::Package(package)) => ImportTarget::Package(*package),
            Some(UseTarget::System(_)) => ImportTarget::System,
            _ => return,
        };
        self.member(path, target);
    }

    /// The second part of a dotted name that starts with an import.
    fn member(&mut self, path: &Path, target: ImportTarget) {
        let [first, Ident { name, span }, ..] = *path.names.as_slice() else { return };
        let symbol = match target {
            ImportTarget::Package(package) => {
                let globals = &self.program.package(package).globals;
                let number = globals.get_index_of(&name);
                number.map(|at| Symbol::Global { package, number: at as u32 })
            }
            ImportTarget::System => {
                let import = self.program.import(self.file, first.name);
                let module = import.and_then(|import| kcl_names::module(&import.path));
                module.map(|module| Symbol::Member { module, name })
            }
            ImportTarget::Plugin | ImportTarget::Missing => None,
        };
        self.add(span, symbol, false);
    }

    /// The keys of a config that are attributes of a schema.
    fn keys(&mut self, site: (FileId, StmtId), entries: &'p [ConfigEntry]) {
        let module = &self.source.module;
        for entry in entries {
            if let Some(Expr::Ident(path)) = entry.key.map(|key| &module[key].kind)
                && let Some(first) = path.names.first()
            {
                let symbol = self.attribute(site, first.name);
                self.add(first.span, symbol, false);
            } else if let (None, Expr::ConfigIf { items, orelse, .. }) =
                (entry.key, &module[entry.value].kind)
            {
                self.keys_of_if(site, items, *orelse);
            }
        }
    }

    fn keys_of_if(
        &mut self,
        site: (FileId, StmtId),
        items: &'p [ConfigEntry],
        orelse: Option<ExprId>,
    ) {
        self.keys(site, items);
        match orelse.map(|orelse| &self.source.module[orelse].kind) {
            Some(Expr::Config(items)) => self.keys(site, items),
            Some(Expr::ConfigIf { items, orelse, .. }) => self.keys_of_if(site, items, *orelse),
            _ => {}
        }
    }

    /// Names in type annotations, and those of bases, mixins and protocols.
    fn types(&mut self) {
        let module = &self.source.module;
        let node = &module[self.unit];
        // Nodes lie in the order of statements.
        let first = module.types.partition_point(|ty| ty.span.start < node.span.start);
        for ty in module.types[first..].iter().take_while(|ty| ty.span.start < node.span.end) {
            if let Some(path) = type_path(&ty.kind) {
                self.declared(path);
            }
        }
        stmt_paths(&node.kind, |path| self.declared(path));
    }

    /// A dotted name that stands for a global, here or in an imported package.
    fn declared(&mut self, path: &Path) {
        let Some(first) = path.names.first() else { return };
        let meaning = self.program.global_meaning(self.file, first.name);
        let symbol = match meaning {
            Meaning::Global(number) => {
                Some(Symbol::Global { package: self.source.package, number })
            }
            _ => self.import_of(first.name),
        };
        self.add(first.span, symbol, false);
        match meaning {
            Meaning::Package(package) => self.member(path, ImportTarget::Package(package)),
            Meaning::System(_) => self.member(path, ImportTarget::System),
            _ => {}
        }
    }

    /// The names by place; what is known of one place is put together.
    fn finish(mut self) -> Vec<Occurrence> {
        self.found.sort_by_key(|it| (it.at.start, it.at.end));
        let mut merged: Vec<Occurrence> = Vec::with_capacity(self.found.len());
        for it in self.found {
            match merged.last_mut() {
                Some(last) if last.at == it.at => {
                    last.is_definition |= it.is_definition;
                    for symbol in it.symbols {
                        if !last.symbols.contains(&symbol) {
                            last.symbols.push(symbol);
                        }
                    }
                }
                _ => merged.push(it),
            }
        }
        merged
    }
}
