//! Objects seen through their types: what a value looks like at each place, and the walks over
//! one or two values that server-side apply uses.

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

/// The position of a traversal in a Kubernetes object; `metadata.managedFields` is always skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    /// The whole object.
    Root,
    /// Its metadata.
    Metadata,
    /// Anything else.
    Below,
}

impl Position {
    /// Returns the position of a field, `None` for the skipped one.
    fn step(self, key: &str) -> Option<Self> {
        match (self, key) {
            (Self::Root, "metadata") => Some(Self::Metadata),
            (Self::Metadata, "managedFields") => None,
            _ => Some(Self::Below),
        }
    }
}
