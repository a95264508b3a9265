//! Configuration that varies by cell: axes, layers, and which layer sets a value.
//!
//! An axis is a declared dimension, such as `env` or `zone`; a cell is one value on each axis. A
//! [`Layer`] is a partial configuration for the cells that its [`Selector`] matches. [`Resolver`]
//! merges layers at a cell, explains a value, and finds conflicts without enumerating cells.
//! `docs/cells.md` describes the rules.
//!
//! Pure functions over plain data: this crate reads no files and does not know KCL. Start reading at
//! [`Resolver`].

mod appends;
mod axes;
mod check;
mod explain;
mod index;
mod layer;
mod path;
mod problem;
mod region;
mod relation;
mod resolve;
mod selector;
mod value_set;

pub use axes::{Axes, AxesError, Axis, Cell, MAX_AXES, MAX_VALUES};
pub use explain::{Candidate, Explanation, Loss};
pub use layer::{Layer, Node, Origin};
pub use path::{LeafPath, PathPattern, PatternError};
pub use problem::{Crossing, Problem, ProblemKind, Side};
pub use relation::Decision;
pub use resolve::{Resolved, ResolvedLeaf, Resolver};
pub use selector::{Selector, SelectorError};
