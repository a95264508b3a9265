//! Short ways to attributes that are inherited from far up.

use crate::checker::Checker;
use crate::ty::{SchemaAttr, SchemaId};
use base_text::Name;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// How many schemas are asked one by one.
const NEAR: u32 = 16;

/// How one schema stands in its line of bases.
#[derive(Default)]
pub(crate) struct Lineage {
    /// Whether the line above is known and stays as it is.
    is_settled: bool,
    /// How many schemas are below the next one with a table, or below the top.
    near: u32,
    /// The attributes of the schema and all above it, if some schema below needs a short way.
    table: Option<Rc<Table>>,
}

/// Who declares which attributes, in a part of a line of bases.
struct Table {
    owners: FxHashMap<Name, SchemaId>,
    /// How many schemas it covers.
    n_schemas: usize,
    /// The part above.
    above: Option<Rc<Table>>,
}

impl Checker<'_> {
    /// What a schema inherits from: its base, or the protocol it is for.
    fn above(&self, id: SchemaId) -> Option<SchemaId> {
        let schema = self.schema_type(id);
        schema.base.or(schema.protocol)
    }

    /// An attribute of a schema, its bases and protocols.
    pub(crate) fn attribute(&self, id: SchemaId, name: Name) -> Option<&SchemaAttr> {
        let mut current = id;
        for _ in 0..=self.schemas.len() {
            if let Some(attr) = self.schema_type(current).attrs.get(name) {
                return Some(attr);
            }
            let mut table = self.lineages[current.0 as usize].table.as_ref();
            if table.is_some() {
                while let Some(part) = table {
                    if let Some(owner) = part.owners.get(&name) {
                        return self.schema_type(*owner).attrs.get(name);
                    }
                    table = part.above.as_ref();
                }
                return None;
            }
            current = self.above(current)?;
        }
        None
    }

    /// Whether all above a schema is known to be complete.
    pub(crate) fn is_below_settled(&self, id: SchemaId) -> bool {
        self.above(id).is_none_or(|above| self.lineages[above.0 as usize].is_settled)
    }

    /// Notes that a schema and all above it are complete.
    pub(crate) fn settle(&mut self, id: SchemaId) {
        let mut line = Vec::new();
        let mut current = Some(id);
        while let Some(id) = current
            && !self.lineages[id.0 as usize].is_settled
            && line.len() <= self.schemas.len()
        {
            line.push(id);
            current = self.above(id);
        }
        for id in line.into_iter().rev() {
            let mut near = 0;
            if let Some(above) = self.above(id) {
                near = self.lineages[above.0 as usize].near + 1;
                if near >= NEAR {
                    self.make_table(above);
                    near = 1;
                }
            }
            let lineage = &mut self.lineages[id.0 as usize];
            lineage.is_settled = true;
            lineage.near = near;
        }
    }

    /// Forgets what is known about lines of bases, because a schema changes that others
    /// build on.
    pub(crate) fn unsettle(&mut self) {
        self.lineages.fill_with(Lineage::default);
    }

    fn make_table(&mut self, id: SchemaId) {
        if self.lineages[id.0 as usize].table.is_some() {
            return;
        }
        let mut owners = FxHashMap::default();
        let mut n_schemas = 0;
        let mut above = None;
        let mut current = Some(id);
        while let Some(id) = current
            && n_schemas <= self.schemas.len()
        {
            if let Some(table) = &self.lineages[id.0 as usize].table {
                above = Some(Rc::clone(table));
                break;
            }
            for name in self.schema_type(id).attrs.names() {
                owners.entry(name).or_insert(id);
            }
            n_schemas += 1;
            current = self.above(id);
        }
        // Parts double in size upwards, so that there are few of them.
        while let Some(part) = above.take_if(|part| part.n_schemas <= n_schemas) {
            let mut all = part.owners.clone();
            all.extend(owners);
            owners = all;
            n_schemas += part.n_schemas;
            above.clone_from(&part.above);
        }
        self.lineages[id.0 as usize].table = Some(Rc::new(Table { owners, n_schemas, above }));
    }
}
