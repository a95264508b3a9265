//! Names to slots: what every identifier of a statement or schema means.
//!
//! A *unit* is a top-level statement or a schema. It is resolved once, before it runs first;
//! the results lie in tables by expression. Locals are slots of the unit's or lambda's stack
//! frame. Keys of config literals are visible to what follows them in the literal; they get
//! a slot only when something refers to them.

use crate::call::ParamTypes;
use crate::evaluator::Evaluator;
use base_text::{FileId, Name};
use kcl_hir::{ImportTarget, PackageId, Program};
use kcl_syntax::ast::{
    Check, CompClause, ConfigEntry, Expr, ExprId, Keyword, MemberOrIndex, Module, Params, Stmt,
    StmtId, StringPart,
};
use rustc_hash::FxHashMap;
use std::cell::{Cell, OnceCell};
use std::rc::Rc;

/// What an identifier means.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum NameRef {
    /// Nobody asked yet.
    #[default]
    Unresolved,
    /// A slot of the frame.
    Local(u32),
    /// A slot of the frame if it is set, else the entry of the chain.
    LocalOr(u32, u32),
    /// An attribute of the instance if it has one of that name, else the entry of the chain.
    Attr(u32),
    /// A global of the file's package.
    Global(u32),
    /// An imported package.
    Package(PackageId),
    /// A system module.
    System(&'static kcl_std::Module),
    /// A plugin.
    Plugin,
    /// A built-in function.
    Builtin(&'static kcl_std::Function),
    /// Nothing.
    Missing,
}

/// What a lambda needs to run.
#[derive(Debug, Default)]
pub(crate) struct LambdaInfo {
    /// The size of its frame; parameters come first.
    pub(crate) n_slots: u32,
    /// What it captures: from the frame around it to its own.
    pub(crate) captures: Vec<(u32, u32)>,
    /// The types of its parameters, once it was called.
    pub(crate) param_types: ParamTypes,
}

/// The resolved names of one file.
#[derive(Default)]
pub(crate) struct FileNames {
    /// By expression: identifiers, config keys, the first loop variable of comprehensions and
    /// quantifiers, and the schema of schema expressions.
    pub(crate) refs: Rc<[Cell<NameRef>]>,
    /// Alternatives that [`NameRef::LocalOr`] and [`NameRef::Attr`] point at.
    pub(crate) chain: Vec<NameRef>,
    pub(crate) lambdas: FxHashMap<ExprId, Rc<LambdaInfo>>,
    /// The frame sizes of units.
    pub(crate) units: FxHashMap<StmtId, u32>,
    /// What assignments in lambdas assign to.
    pub(crate) targets: FxHashMap<(StmtId, u32), u32>,
    /// What assignments with a path start from.
    pub(crate) target_refs: FxHashMap<(StmtId, u32), NameRef>,
    /// Slots that a config literal must clear when it starts.
    pub(crate) resets: FxHashMap<ExprId, Vec<u32>>,
}

impl Evaluator<'_> {
    /// Resolves a unit if that has not been done, and returns the size of its frame.
    pub(crate) fn unit(&mut self, file: FileId, stmt: StmtId) -> u32 {
        let state = &mut self.files[file.0 as usize];
        if let Some(n_slots) = state.names.units.get(&stmt) {
            return *n_slots;
        }
        let source = self.program.file(file);
        let mut names = std::mem::take(&mut state.names);
        if names.refs.is_empty() {
            let n_exprs = source.module.exprs.len();
            names.refs = (0..n_exprs).map(|_| Cell::default()).collect();
        }
        let mut resolver = Resolver {
            program: self.program,
            file,
            module: &source.module,
            names,
            functions: vec![Function::new(Kind::Global)],
        };
        match &source.module[stmt].kind {
            Stmt::Schema(_) | Stmt::Rule(_) => resolver.schema(stmt),
            _ => resolver.stmt(stmt),
        }
        let n_slots = resolver.functions[0].n_slots;
        let mut names = resolver.names;
        names.units.insert(stmt, n_slots);
        self.files[file.0 as usize].names = names;
        n_slots
    }

    /// What an expression's name means; the unit must have been resolved.
    pub(crate) fn name_ref(&self, expr: ExprId) -> NameRef {
        self.frame.refs.get(expr.index()).map_or(NameRef::Unresolved, Cell::get)
    }

    pub(crate) fn chained(&self, at: u32) -> NameRef {
        self.files[self.frame.file.0 as usize].names.chain[at as usize]
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Global,
    Schema,
    Lambda,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BindingKind {
    Loop,
    Local,
    Key(ExprId),
}

#[derive(Clone, Copy)]
struct Binding {
    name: Name,
    kind: BindingKind,
    slot: Option<u32>,
    conditional: bool,
    /// The config literal, for keys.
    config: Option<ExprId>,
}

struct Function {
    kind: Kind,
    in_schema: bool,
    n_slots: u32,
    bindings: Vec<Binding>,
    /// Where scopes start in `bindings`.
    scopes: Vec<usize>,
    /// Positions in `bindings` by name, the innermost last.
    by_name: FxHashMap<Name, Vec<u32>>,
    captured: FxHashMap<Name, u32>,
    captures: Vec<(u32, u32)>,
    /// How many `if`s are open around the place being resolved.
    conditions: u32,
}

impl Function {
    fn new(kind: Kind) -> Self {
        Self {
            kind,
            in_schema: kind == Kind::Schema,
            n_slots: 0,
            bindings: Vec::new(),
            scopes: Vec::new(),
            by_name: FxHashMap::default(),
            captured: FxHashMap::default(),
            captures: Vec::new(),
            conditions: 0,
        }
    }

    fn slot(&mut self) -> u32 {
        self.n_slots += 1;
        self.n_slots - 1
    }

    fn push(&mut self, binding: Binding) {
        self.by_name.entry(binding.name).or_default().push(self.bindings.len() as u32);
        self.bindings.push(binding);
    }

    fn leave(&mut self) {
        let start = self.scopes.pop().unwrap_or(0);
        while self.bindings.len() > start {
            if let Some(binding) = self.bindings.pop()
                && let Some(positions) = self.by_name.get_mut(&binding.name)
            {
                positions.pop();
            }
        }
    }
}

struct Resolver<'p> {
    program: &'p Program,
    file: FileId,
    module: &'p Module,
    names: FileNames,
    functions: Vec<Function>,
}

impl Resolver<'_> {
    fn function(&mut self) -> &mut Function {
        self.functions.last_mut().expect("a unit is a function")
    }

    fn bind(&mut self, name: Name, kind: BindingKind, config: Option<ExprId>) -> Option<u32> {
        let function = self.function();
        let slot = (!matches!(kind, BindingKind::Key(_))).then(|| function.slot());
        let conditional = function.conditions > 0;
        function.push(Binding { name, kind, slot, conditional, config });
        slot
    }

    fn enter(&mut self) {
        let function = self.function();
        function.scopes.push(function.bindings.len());
    }

    fn leave(&mut self) {
        self.function().leave();
    }

    fn set(&mut self, expr: ExprId, name_ref: NameRef) {
        self.names.refs[expr.index()].set(name_ref);
    }

    fn chain(&mut self, name_ref: NameRef) -> u32 {
        self.names.chain.push(name_ref);
        self.names.chain.len() as u32 - 1
    }

    fn lookup(&mut self, name: Name) -> NameRef {
        let depth = self.functions.len() - 1;
        match self.functions[depth].kind {
            Kind::Global => {
                let tail = self.global(name);
                self.local(depth, name, false, tail).unwrap_or(tail)
            }
            Kind::Schema => {
                if let Some(found) = self.local(depth, name, true, NameRef::Missing) {
                    return found;
                }
                let tail = self.global(name);
                let tail = self.local(depth, name, false, tail).unwrap_or(tail);
                NameRef::Attr(self.chain(tail))
            }
            Kind::Lambda => {
                let mut tail = self.global(name);
                if let Some(slot) = self.capture(depth, name) {
                    let next = self.chain(tail);
                    tail = NameRef::LocalOr(slot, next);
                }
                if self.functions[depth].in_schema {
                    tail = NameRef::Attr(self.chain(tail));
                }
                self.local(depth, name, false, tail).unwrap_or(tail)
            }
        }
    }

    /// Looks a name up in the scopes of one function.
    fn local(
        &mut self,
        depth: usize,
        name: Name,
        loops_only: bool,
        tail: NameRef,
    ) -> Option<NameRef> {
        let mut found: Vec<u32> = Vec::new();
        let mut is_definite = false;
        let mut rank = self.functions[depth].by_name.get(&name)?.len();
        while rank > 0 && !is_definite {
            rank -= 1;
            let at = self.functions[depth].by_name[&name][rank] as usize;
            let binding = self.functions[depth].bindings[at];
            if loops_only && binding.kind != BindingKind::Loop {
                continue;
            }
            found.push(self.slot_of(depth, at));
            is_definite = !binding.conditional;
        }
        let last = found.pop()?;
        let mut result = if is_definite {
            NameRef::Local(last)
        } else {
            let next = self.chain(tail);
            NameRef::LocalOr(last, next)
        };
        while let Some(slot) = found.pop() {
            let next = self.chain(result);
            result = NameRef::LocalOr(slot, next);
        }
        Some(result)
    }

    /// The slot of a binding; keys get theirs now.
    fn slot_of(&mut self, depth: usize, at: usize) -> u32 {
        let function = &mut self.functions[depth];
        let binding = function.bindings[at];
        if let Some(slot) = binding.slot {
            return slot;
        }
        let slot = function.slot();
        function.bindings[at].slot = Some(slot);
        if let BindingKind::Key(key) = binding.kind {
            self.set(key, NameRef::Local(slot));
            if let (true, Some(config)) = (binding.conditional, binding.config) {
                self.names.resets.entry(config).or_default().push(slot);
            }
        }
        slot
    }

    /// Brings a local of an outer function into the frame of the lambda at `depth`.
    fn capture(&mut self, depth: usize, name: Name) -> Option<u32> {
        if let Some(slot) = self.functions[depth].captured.get(&name) {
            return Some(*slot);
        }
        let outer = depth.checked_sub(1)?;
        let found = match self.local(outer, name, false, NameRef::Missing) {
            Some(NameRef::Local(slot) | NameRef::LocalOr(slot, _)) => slot,
            _ if self.functions[outer].kind == Kind::Lambda => self.capture(outer, name)?,
            _ => return None,
        };
        let function = &mut self.functions[depth];
        let slot = function.slot();
        function.captures.push((found, slot));
        function.captured.insert(name, slot);
        Some(slot)
    }

    fn global(&self, name: Name) -> NameRef {
        let package = self.program.package(self.program.file(self.file).package);
        if let Some(at) = package.globals.get_index_of(&name) {
            return NameRef::Global(at as u32);
        }
        if let Some(import) = self.import(name) {
            return import;
        }
        kcl_std::builtin(name.as_str()).map_or(NameRef::Missing, NameRef::Builtin)
    }

    fn import(&self, name: Name) -> Option<NameRef> {
        let own = self.program.file(self.file);
        let others = &self.program.package(own.package).files;
        let import = own.imports.iter().rev().find(|import| import.name == name).or_else(|| {
            let files = others.iter().map(|&file| self.program.file(file));
            files.flat_map(|file| &file.imports).find(|import| import.name == name)
        })?;
        Some(match import.target {
            ImportTarget::Package(package) => NameRef::Package(package),
            ImportTarget::System => {
                kcl_std::module(&import.path).map_or(NameRef::Missing, NameRef::System)
            }
            ImportTarget::Plugin => NameRef::Plugin,
            ImportTarget::Missing => NameRef::Missing,
        })
    }

    /// The first part of a dotted name: imports win over attributes and config keys.
    fn lookup_first(&mut self, name: Name, is_dotted: bool) -> NameRef {
        if is_dotted {
            let package = self.program.package(self.program.file(self.file).package);
            if !package.globals.contains_key(&name)
                && let Some(import) = self.import(name)
            {
                let shadowed = self.functions.iter().any(|function| {
                    let positions = function.by_name.get(&name).into_iter().flatten();
                    positions
                        .map(|at| function.bindings[*at as usize].kind)
                        .any(|kind| !matches!(kind, BindingKind::Key(_)))
                });
                if !shadowed {
                    return import;
                }
            }
        }
        self.lookup(name)
    }
}

impl Resolver<'_> {
    fn stmts(&mut self, stmts: &[StmtId]) {
        for &stmt in stmts {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, id: StmtId) {
        let module = self.module;
        match &module[id].kind {
            Stmt::Expr(exprs) => self.exprs(exprs),
            Stmt::Unification(unification) => self.expr(unification.value),
            Stmt::Assign(assign) => {
                let is_lambda = matches!(module[assign.value].kind, Expr::Lambda(_));
                if is_lambda {
                    self.assign_targets(id, &assign.targets);
                }
                self.expr(assign.value);
                if !is_lambda {
                    self.assign_targets(id, &assign.targets);
                }
            }
            Stmt::AugAssign(assign) => {
                self.expr(assign.value);
                let name_ref = self.lookup(assign.target.name.name);
                self.names.target_refs.insert((id, 0), name_ref);
                self.assign_targets(id, std::slice::from_ref(&assign.target));
            }
            Stmt::Assert(assert) => {
                self.expr(assert.test);
                self.optional(assert.if_cond);
                self.optional(assert.msg);
            }
            Stmt::If(if_stmt) => {
                self.expr(if_stmt.cond);
                self.function().conditions += 1;
                self.stmts(&if_stmt.body);
                self.stmts(&if_stmt.orelse);
                self.function().conditions -= 1;
            }
            Stmt::SchemaAttr(attr) => {
                self.exprs(&attr.decorators);
                self.optional(attr.value);
            }
            Stmt::TypeAlias(_) | Stmt::Import(_) | Stmt::Schema(_) | Stmt::Rule(_) => {}
        }
    }

    fn assign_targets(&mut self, stmt: StmtId, targets: &[kcl_syntax::ast::Target]) {
        for (at, target) in targets.iter().enumerate() {
            let key = (stmt, at as u32);
            for path in &target.paths {
                if let MemberOrIndex::Index(index) = path {
                    self.expr(*index);
                }
            }
            if !target.paths.is_empty() {
                let name_ref = self.lookup(target.name.name);
                self.names.target_refs.insert(key, name_ref);
            } else if self.function().kind == Kind::Lambda {
                let name = target.name.name;
                let function = self.function();
                let known = function.by_name.get(&name).and_then(|positions| positions.first());
                let known = known.map(|at| function.bindings[*at as usize]);
                let known = known.filter(|binding| binding.kind == BindingKind::Local);
                let slot = match known.and_then(|binding| binding.slot) {
                    Some(slot) => Some(slot),
                    None => self.bind(name, BindingKind::Local, None),
                };
                if let Some(slot) = slot {
                    self.names.targets.insert(key, slot);
                }
            }
        }
    }

    /// Resolves a schema or rule: parameters, body, checks, decorators, index signature.
    fn schema(&mut self, stmt: StmtId) {
        self.functions[0].kind = Kind::Schema;
        self.functions[0].in_schema = true;
        match &self.module[stmt].kind {
            Stmt::Schema(schema) => {
                self.params(schema.params.as_ref());
                self.exprs(&schema.decorators);
                self.stmts(&schema.body);
                self.checks(&schema.checks);
                if let Some(signature) = &schema.index_signature {
                    self.optional(signature.value);
                }
            }
            Stmt::Rule(rule) => {
                self.params(rule.params.as_ref());
                self.exprs(&rule.decorators);
                self.checks(&rule.checks);
            }
            _ => {}
        }
    }

    fn checks(&mut self, checks: &[Check]) {
        for check in checks {
            self.expr(check.test);
            self.optional(check.if_cond);
            self.optional(check.msg);
        }
    }

    fn params(&mut self, params: Option<&Params>) {
        for param in params.iter().flat_map(|params| &params.list) {
            self.bind(param.name.name, BindingKind::Local, None);
        }
        for param in params.iter().flat_map(|params| &params.list) {
            self.optional(param.default);
        }
    }

    fn optional(&mut self, expr: Option<ExprId>) {
        if let Some(expr) = expr {
            self.expr(expr);
        }
    }

    fn exprs(&mut self, exprs: &[ExprId]) {
        for &expr in exprs {
            self.expr(expr);
        }
    }

    fn keywords(&mut self, kwargs: &[Keyword]) {
        for keyword in kwargs {
            self.optional(keyword.value);
        }
    }

    #[expect(clippy::too_many_lines, reason = "one arm per kind of expression")]
    fn expr(&mut self, id: ExprId) {
        let module = self.module;
        match &module[id].kind {
            Expr::Ident(path) => {
                if let Some(first) = path.names.first() {
                    let name_ref = self.lookup_first(first.name, path.names.len() > 1);
                    self.set(id, name_ref);
                }
            }
            Expr::Unary { operand: inner, .. }
            | Expr::Selector { value: inner, .. }
            | Expr::Paren(inner)
            | Expr::Starred(inner) => self.expr(*inner),
            Expr::Binary { left, right, .. } => {
                self.expr(*left);
                self.expr(*right);
            }
            Expr::Compare { left, rest } => {
                self.expr(*left);
                for (_, right) in rest {
                    self.expr(*right);
                }
            }
            Expr::If { body, cond, orelse } => {
                self.expr(*cond);
                self.expr(*body);
                self.expr(*orelse);
            }
            Expr::Call { func, args, kwargs } => {
                self.expr(*func);
                self.exprs(args);
                self.keywords(kwargs);
            }
            Expr::Quant(quant) => {
                self.expr(quant.target);
                self.enter();
                self.loop_vars(id, quant.vars.iter().map(|var| var.name));
                self.optional(quant.if_cond);
                self.expr(quant.test);
                self.leave();
            }
            Expr::List(items) => self.exprs(items),
            Expr::ListIf { cond, items, orelse } => {
                self.expr(*cond);
                self.exprs(items);
                self.optional(*orelse);
            }
            Expr::ListComp { elt, generators } => {
                self.enter();
                self.generators(id, generators);
                self.expr(*elt);
                self.leave();
            }
            Expr::DictComp { entry, generators } => {
                self.enter();
                self.generators(id, generators);
                self.optional(entry.key);
                self.expr(entry.value);
                self.leave();
            }
            Expr::ConfigIf { cond, items, orelse } => self.config_if(id, *cond, items, *orelse),
            Expr::Schema(schema) => {
                self.expr(schema.config);
                if let Some(first) = schema.name.names.first() {
                    let name_ref = self.lookup_first(first.name, schema.name.names.len() > 1);
                    self.set(id, name_ref);
                }
                self.exprs(&schema.args);
                self.keywords(&schema.kwargs);
            }
            Expr::Config(items) => {
                self.enter();
                self.entries(id, items);
                self.leave();
            }
            Expr::Lambda(lambda) => {
                let mut function = Function::new(Kind::Lambda);
                function.in_schema = self.function().in_schema;
                self.functions.push(function);
                self.params(lambda.params.as_ref());
                self.stmts(&lambda.body);
                let function = self.functions.pop().expect("pushed above");
                let info = LambdaInfo {
                    n_slots: function.n_slots,
                    captures: function.captures,
                    param_types: OnceCell::new(),
                };
                self.names.lambdas.insert(id, Rc::new(info));
            }
            Expr::Subscript(subscript) => {
                self.expr(subscript.value);
                self.optional(subscript.index);
                self.optional(subscript.lower);
                self.optional(subscript.upper);
                self.optional(subscript.step);
            }
            Expr::Joined(joined) => {
                for part in &joined.parts {
                    if let StringPart::Formatted { value, .. } = part {
                        self.expr(*value);
                    }
                }
            }
            Expr::Number(_)
            | Expr::String(_)
            | Expr::Constant(_)
            | Expr::Type(_)
            | Expr::Missing => {}
        }
    }

    /// Binds loop variables to slots that follow each other.
    fn loop_vars(&mut self, id: ExprId, vars: impl Iterator<Item = Name>) {
        let first = self.function().n_slots;
        for var in vars {
            self.bind_loop(var);
        }
        self.set(id, NameRef::Local(first));
    }

    fn bind_loop(&mut self, name: Name) {
        let conditions = std::mem::take(&mut self.function().conditions);
        self.bind(name, BindingKind::Loop, None);
        self.function().conditions = conditions;
    }

    fn generators(&mut self, id: ExprId, generators: &[CompClause]) {
        // The variables of all generators come first, in one row.
        let first = self.function().n_slots;
        self.set(id, NameRef::Local(first));
        let n_vars: usize = generators.iter().map(|generator| generator.targets.len()).sum();
        self.function().n_slots += n_vars as u32;
        let mut next = first;
        for generator in generators {
            self.expr(generator.iter);
            for target in &generator.targets {
                let binding = Binding {
                    name: target.name,
                    kind: BindingKind::Loop,
                    slot: Some(next),
                    conditional: false,
                    config: None,
                };
                next += 1;
                self.function().push(binding);
            }
            self.exprs(&generator.ifs);
        }
    }

    fn entries(&mut self, config: ExprId, items: &[ConfigEntry]) {
        for item in items {
            if let Expr::ConfigIf { cond, items, orelse } = &self.module[item.value].kind
                && item.key.is_none()
            {
                self.config_if(config, *cond, items, *orelse);
                continue;
            }
            self.expr(item.value);
            if let Some(key) = item.key {
                self.key(config, key);
            }
        }
    }

    fn config_if(
        &mut self,
        config: ExprId,
        cond: ExprId,
        items: &[ConfigEntry],
        orelse: Option<ExprId>,
    ) {
        self.expr(cond);
        self.function().conditions += 1;
        self.entries(config, items);
        if let Some(orelse) = orelse {
            match &self.module[orelse].kind {
                Expr::Config(items) => self.entries(config, items),
                Expr::ConfigIf { cond, items, orelse } => {
                    self.config_if(config, *cond, items, *orelse);
                }
                _ => self.expr(orelse),
            }
        }
        self.function().conditions -= 1;
    }

    /// Resolves a config key: a loop variable stands for its value, other names for
    /// themselves.
    fn key(&mut self, config: ExprId, key: ExprId) {
        let module = self.module;
        let name = match &module[key].kind {
            Expr::Ident(path) => path.names.first().map(|first| first.name),
            Expr::String(text) => Some(Name::new(&text.value)),
            Expr::Subscript(subscript)
                if subscript
                    .index
                    .is_some_and(|index| crate::config::literal_index(module, index).is_some()) =>
            {
                match &module[subscript.value].kind {
                    Expr::Ident(path) => path.names.first().map(|first| first.name),
                    _ => None,
                }
            }
            _ => None,
        };
        let Some(name) = name else {
            self.expr(key);
            return;
        };
        let depth = self.functions.len() - 1;
        match self.local(depth, name, true, NameRef::Missing) {
            Some(NameRef::Local(slot)) if !matches!(module[key].kind, Expr::String(_)) => {
                self.set(key, NameRef::LocalOr(slot, u32::MAX));
            }
            _ => {
                self.bind(name, BindingKind::Key(key), Some(config));
            }
        }
    }
}
