//! What all layers say, by path.

use crate::axes::Axes;
use crate::layer::{Layer, Node, Origin};
use crate::path::LeafPath;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What a layer says about a path.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Statement<'l> {
    /// It has this value.
    Value(&'l Value),
    /// These items are appended to it.
    Append(&'l [Value]),
    /// It is a map.
    Map,
    /// There is no value: the layer removes it, or replaces a part around it that has no such key.
    Absent,
}

impl Statement<'_> {
    /// Whether two statements that are not appends say the same.
    pub(crate) fn agrees(self, other: Self) -> bool {
        match (self, other) {
            (Self::Value(one), Self::Value(other)) => one == other,
            (Self::Map, Self::Map) | (Self::Absent, Self::Absent) => true,
            _ => false,
        }
    }

    pub(crate) fn is_append(self) -> bool {
        matches!(self, Self::Append(_))
    }
}

/// A layer that says something about a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim<'l> {
    /// The place of the layer.
    pub(crate) layer: usize,
    pub(crate) statement: Statement<'l>,
    pub(crate) origin: &'l Origin,
}

/// A path that layers say something about.
#[derive(Clone, Debug)]
pub(crate) struct Point<'l> {
    pub(crate) path: LeafPath,
    /// The axes by which layers are compared, the most decisive first.
    pub(crate) order: &'l [usize],
    pub(crate) claims: Vec<Claim<'l>>,
}

/// A path that is a value in one layer and a map in another one, with parts below it that have
/// another order of axes: the two orders could disagree about what it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mixed {
    /// The place of the point.
    pub(crate) outer: usize,
    /// The place of a claim that it is a value.
    pub(crate) value: usize,
    /// The place of a claim that it is a map.
    pub(crate) map: usize,
}

/// Finds mixed points.
pub(crate) fn mixed(points: &[Point<'_>]) -> Vec<Mixed> {
    let mut found = Vec::new();
    for (outer, point) in points.iter().enumerate() {
        let place = |is: fn(&Statement<'_>) -> bool| {
            point.claims.iter().position(|claim| is(&claim.statement))
        };
        let value = place(|it| matches!(it, Statement::Value(_) | Statement::Append(_)));
        let map = place(|it| matches!(it, Statement::Map));
        let (Some(value), Some(map)) = (value, map) else { continue };
        let mut below = points[outer + 1..].iter();
        let is_below = |inner: &&Point<'_>| point.path.is_prefix_of(&inner.path);
        if below.by_ref().take_while(is_below).any(|inner| inner.order != point.order) {
            found.push(Mixed { outer, value, map });
        }
    }
    found
}

/// A layer, and what it says at a path.
#[derive(Clone, Copy)]
struct Visitor<'l> {
    layer: usize,
    node: Option<&'l Node>,
    /// What replaced everything around the path.
    cover: Option<&'l Origin>,
}

/// Collects the points of layers, in the order of their paths.
pub(crate) fn points<'l>(axes: &'l Axes, layers: &'l [Arc<Layer>]) -> Vec<Point<'l>> {
    let mut found = Vec::new();
    let keys: BTreeSet<&str> =
        layers.iter().flat_map(|layer| layer.entries.keys().map(String::as_str)).collect();
    for key in keys {
        let visitors = layers.iter().enumerate().filter_map(|(at, layer)| {
            let node = layer.entries.get(key)?;
            Some(Visitor { layer: at, node: Some(node), cover: None })
        });
        let path = LeafPath(vec![key.to_owned()]);
        visit(axes, &path, &visitors.collect::<Vec<_>>(), &mut found);
    }
    found
}

fn visit<'l>(
    axes: &'l Axes,
    path: &LeafPath,
    visitors: &[Visitor<'l>],
    found: &mut Vec<Point<'l>>,
) {
    let claims: Vec<Claim<'l>> = visitors.iter().filter_map(claim).collect();
    let mut keys: BTreeSet<&'l str> = BTreeSet::new();
    for visitor in visitors {
        if let Some(Node::Map { entries, .. }) = visitor.node {
            keys.extend(entries.keys().map(String::as_str));
        }
    }
    let order = axes.order_of(path);
    found.push(Point { path: path.clone(), order, claims });
    for key in keys {
        let inner: Vec<Visitor<'l>> =
            visitors.iter().filter_map(|visitor| visitor.down(key)).collect();
        visit(axes, &path.key(key), &inner, found);
    }
}

impl Visitor<'_> {
    /// Returns what a layer says below a key; `None` if nothing.
    fn down(self, key: &str) -> Option<Self> {
        let (node, cover) = match self.node {
            Some(Node::Map { entries, replaces, origin }) => {
                let cover = self.cover.or(replaces.then_some(origin));
                (entries.get(key), cover)
            }
            Some(other) => (None, Some(other.origin())),
            None => (None, self.cover),
        };
        (node.is_some() || cover.is_some()).then_some(Self { layer: self.layer, node, cover })
    }
}

fn claim<'l>(visitor: &Visitor<'l>) -> Option<Claim<'l>> {
    let (statement, origin) = match (visitor.node, visitor.cover) {
        (Some(node), _) => (statement_of(node), node.origin()),
        (None, Some(origin)) => (Statement::Absent, origin),
        (None, None) => return None,
    };
    Some(Claim { layer: visitor.layer, statement, origin })
}

fn statement_of(node: &Node) -> Statement<'_> {
    match node {
        Node::Leaf(value, _) => Statement::Value(value),
        Node::Unset(_) => Statement::Absent,
        Node::Append(items, _) => Statement::Append(items),
        Node::Map { .. } => Statement::Map,
    }
}
