//! Problems of layers.

use crate::axes::{Axes, Cell};
use crate::layer::{Layer, Origin};
use crate::path::LeafPath;
use crate::selector::Selector;
use serde_json::Value;
use std::fmt::Write as _;
use std::sync::Arc;

/// What is wrong with layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProblemKind {
    /// Layers set different values, and none of them is more specific than the others.
    NoWinner,
    /// A layer appends to a list, and another one that is neither more nor less specific changes it.
    NoOrder,
    /// A layer appends to a value that is not a list.
    NotAList,
    /// An item of a keyed list has no key, or the key of another item.
    BadItem,
    /// A layer sets a path that a less specific layer locks.
    Locked,
    /// A path is a value in one layer and a map in another one, and parts of the map have another
    /// order of axes.
    TwoOrders,
    /// The check would take too long.
    TooComplex,
}

impl ProblemKind {
    /// Returns the code of messages.
    pub fn code(self) -> &'static str {
        match self {
            Self::NoWinner => "L001",
            Self::NoOrder => "L002",
            Self::NotAList => "L003",
            Self::BadItem => "L004",
            Self::Locked => "L005",
            Self::TwoOrders => "L006",
            Self::TooComplex => "L007",
        }
    }
}

/// One of the layers of a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// The place of the layer.
    pub layer: usize,
    /// Where the layer says it.
    pub origin: Origin,
    /// What it says: a value in JSON, `nothing`, `a map`, or items after `+=`.
    pub says: String,
}

/// Layers that cannot be merged.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// What is wrong.
    pub kind: ProblemKind,
    /// The path.
    pub path: LeafPath,
    /// A cell where it is so.
    pub cell: Cell,
    /// The layers. For [`ProblemKind::Locked`], the layer with the lock comes first.
    pub sides: Vec<Side>,
    /// The cells of a layer that would settle it.
    pub settle: Option<Selector>,
}

/// Two layers between which only the order of the axes decides: each is narrower on some axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Crossing {
    /// The path.
    pub path: LeafPath,
    /// A cell where both apply.
    pub cell: Cell,
    /// The layer that wins, then the other one.
    pub sides: [Side; 2],
    /// The axis that decides.
    pub axis: usize,
}

impl Problem {
    /// Returns the message: what is wrong, where, and what to do.
    pub fn message(&self, axes: &Axes, layers: &[Arc<Layer>]) -> String {
        let path = &self.path;
        let at = axes.cell_text(&self.cell);
        let [first, rest @ ..] = self.sides.as_slice() else { return String::new() };
        let second = rest.first().unwrap_or(first);
        let pair = format!("{} and {}", first.text(), second.text());
        let at = if at.is_empty() { String::new() } else { format!("; both apply at {at}") };
        match self.kind {
            ProblemKind::NoWinner => {
                format!("no winner for `{path}`: {pair}{at}{}", self.reason(axes, layers))
            }
            ProblemKind::NoOrder => format!(
                "no order for the items of `{path}`: {pair}{at}{}; or declare the list as a set or \
                 with a key in dims.k",
                self.reason(axes, layers)
            ),
            ProblemKind::NotAList => {
                format!("cannot append to `{path}`, which is not a list: {pair}{at}")
            }
            ProblemKind::BadItem => {
                format!("every item of `{path}` needs a key of its own: {}", first.text())
            }
            ProblemKind::Locked => format!(
                "`{path}` is locked by {}: {} must not set it{at}",
                locked_by(&layers[first.layer]),
                second.text()
            ),
            ProblemKind::TwoOrders => format!(
                "`{path}` is a value in one layer and a map in another one, and parts of it have \
                 another order of axes: {pair}"
            ),
            ProblemKind::TooComplex => format!(
                "cannot check `{path}`: {pair} and the layers between them have too many selectors"
            ),
        }
    }

    /// Says why neither of two layers is more specific, and what settles it.
    fn reason(&self, axes: &Axes, layers: &[Arc<Layer>]) -> String {
        let [first, second] = self.sides.as_slice() else { return String::new() };
        let (one, other) = (&layers[first.layer].when, &layers[second.layer].when);
        let order = axes.order_of(&self.path);
        let Some(&axis) = order.iter().find(|axis| one.0[**axis] != other.0[**axis]) else {
            return "; they have the same cells: remove one of them".to_owned();
        };
        let name = &axes.axes()[axis].name;
        let mut text = format!(
            "; {name}={} and {name}={} overlap, and neither is inside the other",
            one.axis_text(axes, axis),
            other.axis_text(axes, axis)
        );
        if let Some(settle) = &self.settle {
            let _ = write!(text, "; settle it with a layer for {}", settle.text(axes));
        }
        text
    }
}

fn locked_by(layer: &Layer) -> String {
    match (&layer.owner, &layer.why) {
        (Some(owner), Some(why)) => format!("{} (owner {owner}: {why})", layer.origin),
        (Some(owner), None) => format!("{} (owner {owner})", layer.origin),
        (None, Some(why)) => format!("{} ({why})", layer.origin),
        (None, None) => layer.origin.to_string(),
    }
}

impl Side {
    /// Returns the value and its place: `"a" (file.k:3)`.
    pub fn text(&self) -> String {
        format!("{} ({})", self.says, self.origin)
    }
}

/// Returns a value for a message: JSON, cut if it is long.
pub(crate) fn shown(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 60 {
        return text;
    }
    let start: String = text.chars().take(59).collect();
    format!("{start}…")
}
