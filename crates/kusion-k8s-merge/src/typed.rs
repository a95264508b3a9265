//! Objects seen through their types: what a value looks like at each place, and the walks over
//! one or two values that server-side apply is made of.

mod check;
mod compare;
mod extract;
mod field_set;
mod items;
mod merge;
mod reconcile;
mod remove;
mod shape;

use kusion_k8s_schema::{TypeId, TypeTable};

pub use check::Problem;
pub(crate) use check::describe;
pub use compare::Comparison;
pub(crate) use shape::equal;

/// A type and the table that it belongs to.
#[derive(Debug, Clone, Copy)]
pub struct Typed<'t> {
    /// The types.
    pub table: &'t TypeTable,
    /// The type of the object.
    pub ty: TypeId,
}

impl<'t> Typed<'t> {
    /// Names a type of a table.
    pub fn new(table: &'t TypeTable, ty: TypeId) -> Self {
        Self { table, ty }
    }

    /// Returns another type of the same table.
    fn at(self, ty: TypeId) -> Self {
        Self { table: self.table, ty }
    }
}

/// Where in a Kubernetes object a walk is; `metadata.managedFields` is left out of all walks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The whole object.
    Root,
    /// Its metadata.
    Metadata,
    /// Anything else.
    Below,
}

impl Place {
    /// Returns the place of a field, none for the one that is left out.
    fn step(self, key: &str) -> Option<Self> {
        match (self, key) {
            (Self::Root, "metadata") => Some(Self::Metadata),
            (Self::Metadata, "managedFields") => None,
            _ => Some(Self::Below),
        }
    }
}
