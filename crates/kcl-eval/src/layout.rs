//! What all instances of a schema have in common.

use crate::error::Eval;
use crate::evaluator::{Evaluator, SchemaDecl};
use crate::lazy::{Setter, setters_of};
use crate::ordered::{OrderedStmts, Outermost};
use base_text::{FileId, Name};
use indexmap::IndexMap;
use kcl_syntax::ast::{self, Module, Stmt};
use kcl_value::{Dict, Entry, Func, Origin, Slot, Str, Value};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::rc::Rc;

/// Stands for one schema, mixin or protocol of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SchemaId(pub(crate) u32);

impl SchemaId {
    /// Stands for no schema.
    pub(crate) const NONE: Self = Self(u32::MAX);
}

/// One attribute of a layout, own or inherited.
#[derive(Debug)]
pub(crate) struct LayoutAttr {
    pub(crate) name: Name,
    pub(crate) key: Str,
    pub(crate) setters: Vec<Setter>,
    /// Whether a declaration (`name: T`) exists, not only assignments.
    pub(crate) is_declared: bool,
    /// Whether the statements that set it run once each, in order.
    pub(crate) is_ordered: bool,
}

impl LayoutAttr {
    fn new(name: Name, key: Str) -> Self {
        Self { name, key, setters: Vec::new(), is_declared: false, is_ordered: false }
    }
}

/// The attributes of a schema with everything it inherits and mixes in.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Bases first, then own, then mixins; the order of output.
    pub(crate) attrs: Vec<LayoutAttr>,
    pub(crate) index: FxHashMap<Name, u32>,
    /// The attributes before anything is set.
    pub(crate) template: Dict,
    /// Declared attributes and whether they may be missing, in the order of checks.
    pub(crate) optional: Rc<[(Str, bool)]>,
    /// Whether an attribute has no default and may not be missing.
    pub(crate) wants_config: bool,
    /// Whether the schema or a base has an index signature.
    pub(crate) has_index_signature: bool,
    /// Statements that run once each, in order.
    pub(crate) ordered: Option<Rc<OrderedStmts>>,
    /// Parameters that mixins read as attributes of their protocols: the schema that has the
    /// parameter, and its number.
    pub(crate) lent: Vec<(Name, SchemaId, usize)>,
}

/// The schemas that a schema builds on.
#[derive(Debug, Default)]
pub(crate) struct Links {
    pub(crate) parent: Option<SchemaId>,
    pub(crate) mixins: Vec<SchemaId>,
}

impl Layout {
    /// The layout of nothing.
    pub(crate) fn empty() -> Self {
        Self {
            attrs: Vec::new(),
            index: FxHashMap::default(),
            template: Dict::new(),
            optional: Rc::from([]),
            wants_config: false,
            has_index_signature: false,
            ordered: None,
            lent: Vec::new(),
        }
    }

    /// Whether an attribute of that name is declared (`name: T`).
    pub(crate) fn declares(&self, key: &str) -> bool {
        self.template.position(key).is_some_and(|slot| self.attrs[slot].is_declared)
    }
}

impl<'p> Evaluator<'p> {
    pub(crate) fn schema(&self, id: SchemaId) -> &SchemaDecl<'p> {
        &self.schemas[id.0 as usize]
    }

    /// A schema as a value.
    pub(crate) fn schema_value(&self, id: SchemaId) -> Value {
        Value::Func(Rc::new(Func {
            name: self.schema(id).info.name.clone(),
            is_type: true,
            body: Box::new(id),
        }))
    }

    /// The layout of a schema, made on first use.
    pub(crate) fn layout(&mut self, id: SchemaId) -> Eval<Rc<Layout>> {
        if let Some(layout) = &self.schema(id).layout {
            return Ok(layout.clone());
        }
        self.enter()?;
        let layout = Rc::new(self.make_layout(id)?);
        self.leave();
        self.schemas[id.0 as usize].layout = Some(layout.clone());
        Ok(layout)
    }

    /// The base and the mixins of a schema.
    pub(crate) fn links(&mut self, id: SchemaId) -> Eval<Rc<Links>> {
        if let Some(links) = &self.schema(id).links {
            return Ok(links.clone());
        }
        let (file, decl) = (self.schema(id).file, self.schema(id).decl);
        let mut links = Links::default();
        if let Some(path) = &decl.parent {
            links.parent = self.find_schema(file, path)?;
        }
        for path in &decl.mixins {
            links.mixins.extend(self.find_schema(file, path)?);
        }
        let links = Rc::new(links);
        self.schemas[id.0 as usize].links = Some(links.clone());
        Ok(links)
    }

    /// Visits a schema and what it builds on: bases, then itself, then its mixins; or, for
    /// the order of checks on missing attributes, itself last.
    fn ancestry(&mut self, id: SchemaId, self_last: bool, out: &mut Vec<SchemaId>) -> Eval<()> {
        self.enter()?;
        let links = self.links(id)?;
        if let Some(parent) = links.parent {
            self.ancestry(parent, self_last, out)?;
        }
        if !self_last {
            out.push(id);
        }
        for &mixin in &links.mixins {
            self.ancestry(mixin, self_last, out)?;
        }
        if self_last {
            out.push(id);
        }
        self.leave();
        Ok(())
    }

    /// Notes that the statement of a schema had its turn.
    pub(crate) fn run_schema_decl(&mut self, file: FileId, name: Name) {
        let package = self.program.file(file).package;
        if let Some(id) = self.schema_ids.get(&(package, name)) {
            let schema = &mut self.schemas[id.0 as usize];
            schema.has_run = true;
            schema.layout = None;
        }
    }

    /// Like [`Self::ancestry`], without bases and mixins that are declared later than what
    /// builds on them: in instances made before the schema had its turn, their attributes
    /// come last.
    fn known_ancestry(&mut self, id: SchemaId, out: &mut Vec<SchemaId>) -> Eval<()> {
        self.enter()?;
        let links = self.links(id)?;
        if let Some(parent) = links.parent.filter(|parent| self.is_declared_before(*parent, id)) {
            self.known_ancestry(parent, out)?;
        }
        out.push(id);
        for &mixin in &links.mixins {
            if self.is_declared_before(mixin, id) {
                self.known_ancestry(mixin, out)?;
            }
        }
        self.leave();
        Ok(())
    }

    fn is_declared_before(&self, a: SchemaId, b: SchemaId) -> bool {
        let (a, b) = (self.schema(a), self.schema(b));
        let files = &self.program.package(b.package).files;
        let place = |schema: &SchemaDecl| {
            (files.iter().position(|file| *file == schema.file), schema.decl.name.span.start)
        };
        a.package != b.package || place(a) < place(b)
    }

    fn make_layout(&mut self, id: SchemaId) -> Eval<Layout> {
        let mut attrs: Vec<LayoutAttr> = Vec::new();
        let mut index: FxHashMap<Name, u32> = FxHashMap::default();
        let mut schemas = Vec::new();
        if !self.schema(id).has_run {
            self.known_ancestry(id, &mut schemas)?;
        }
        for &schema in &schemas {
            let (file, decl) = (self.schema(schema).file, self.schema(schema).decl);
            let module: &'p Module = &self.program.file(file).module;
            for &stmt in &decl.body {
                setters_of(module, file, schema, stmt, &mut |name, _| {
                    index.entry(name).or_insert_with(|| {
                        let key = self.string(name);
                        attrs.push(LayoutAttr::new(name, key));
                        attrs.len() as u32 - 1
                    });
                });
            }
        }
        schemas.clear();
        self.ancestry(id, false, &mut schemas)?;
        let n_stmts = schemas.iter().map(|it| self.schema(*it).decl.body.len()).sum();
        attrs.reserve(n_stmts);
        index.reserve(n_stmts);
        for &schema in &schemas {
            let (file, decl) = (self.schema(schema).file, self.schema(schema).decl);
            let module: &'p Module = &self.program.file(file).module;
            for &stmt in &decl.body {
                let is_declared = matches!(module[stmt].kind, Stmt::SchemaAttr(_));
                setters_of(module, file, schema, stmt, &mut |name, setter| {
                    let slot = *index.entry(name).or_insert_with(|| {
                        let key = self.string(name);
                        attrs.push(LayoutAttr::new(name, key));
                        attrs.len() as u32 - 1
                    });
                    let attr = &mut attrs[slot as usize];
                    attr.is_declared |= is_declared;
                    attr.setters.push(setter);
                });
            }
        }
        let lent = self.lent_params(&schemas)?;
        let ordered = self.ordered_attrs(&schemas);
        if let Some(ordered) = &ordered {
            for attr in &mut attrs {
                attr.is_ordered = ordered.has_name(attr.name);
            }
        }
        schemas.clear();
        self.ancestry(id, true, &mut schemas)?;
        let mut optional: IndexMap<Str, bool, FxBuildHasher> =
            IndexMap::with_capacity_and_hasher(n_stmts, FxBuildHasher);
        let mut wanted: FxHashMap<Name, (SchemaId, bool)> =
            FxHashMap::with_capacity_and_hasher(n_stmts, FxBuildHasher);
        for &schema in &schemas {
            let (file, decl) = (self.schema(schema).file, self.schema(schema).decl);
            let module: &'p Module = &self.program.file(file).module;
            for &stmt in &decl.body {
                if let Stmt::SchemaAttr(attr) = &module[stmt].kind {
                    let key = self.string(attr.name.name);
                    optional.insert(key, attr.is_optional);
                    let has_default = attr.value.is_some()
                        || matches!(module[attr.ty].kind, ast::Type::Literal(_));
                    let is_wanted = !attr.is_optional && !has_default;
                    // The last schema says, and one default there is enough.
                    let known = wanted.entry(attr.name.name).or_insert((schema, is_wanted));
                    *known = (schema, is_wanted && (known.0 != schema || known.1));
                }
            }
        }
        let wants_config = wanted.values().any(|(_, is_wanted)| *is_wanted);
        let mut has_index_signature = false;
        let mut next = Some(id);
        while let Some(schema) = next {
            has_index_signature |= self.schema(schema).decl.index_signature.is_some();
            next = self.links(schema)?.parent;
        }
        let mut template = Dict::with_capacity(attrs.len());
        for attr in &attrs {
            let (key, value) = (attr.key.clone(), Value::Undefined);
            template.push_new(Entry { key, value, slot: Slot::default(), origin: Origin(0) });
        }
        Ok(Layout {
            attrs,
            index,
            template,
            optional: optional.into_iter().collect(),
            wants_config,
            has_index_signature,
            ordered,
            lent,
        })
    }

    /// The parameters of schemas that have the name of an attribute of a protocol whose mixin
    /// they use.
    fn lent_params(&mut self, schemas: &[SchemaId]) -> Eval<Vec<(Name, SchemaId, usize)>> {
        let mut lent = Vec::new();
        for &schema in schemas {
            let Some(params) = &self.schema(schema).decl.params else { continue };
            let mixins = self.links(schema)?.mixins.clone();
            for mixin in mixins {
                let (file, decl) = (self.schema(mixin).file, self.schema(mixin).decl);
                let Some(path) = &decl.for_host else { continue };
                let Some(protocol) = self.find_schema(file, path)? else { continue };
                let protocol = self.layout(protocol)?;
                for (at, param) in params.list.iter().enumerate() {
                    let name = param.name.name;
                    if protocol.index.contains_key(&name) {
                        lent.push((name, schema, at));
                    }
                }
            }
        }
        Ok(lent)
    }

    /// The ordered statements of schemas whose bodies run one after the other.
    fn ordered_attrs(&self, schemas: &[SchemaId]) -> Option<Rc<OrderedStmts>> {
        let mut outermost = Vec::new();
        for &schema in schemas {
            let (file, decl) = (self.schema(schema).file, self.schema(schema).decl);
            let module: &'p Module = &self.program.file(file).module;
            let stmts = decl.body.iter();
            outermost.extend(stmts.map(|&stmt| Outermost { file, schema, module, stmt }));
        }
        OrderedStmts::find(&outermost).map(Rc::new)
    }

    /// The schema that a path in a file names.
    pub(crate) fn find_schema(&mut self, file: FileId, path: &ast::Path) -> Eval<Option<SchemaId>> {
        let declared = self.program.declared(file, path);
        if let Some(found) = declared.and_then(|declared| self.schema_ids.get(&declared)) {
            return Ok(Some(*found));
        }
        // An alias, or a variable that holds a schema.
        Ok(match self.declared_value(file, path)? {
            Some(Value::Func(func)) => func.body.downcast_ref::<SchemaId>().copied(),
            _ => None,
        })
    }

    /// The value of the global that a path in a file names.
    pub(crate) fn declared_value(&mut self, file: FileId, path: &ast::Path) -> Eval<Option<Value>> {
        let Some((package, name)) = self.program.declared(file, path) else { return Ok(None) };
        match self.program.package(package).globals.get_index_of(&name) {
            Some(at) => self.read_global(package, at as u32).map(Some),
            None => Ok(None),
        }
    }
}
