//! Circles among things that need each other.

use base_text::FileSpan;
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashSet};

/// Who needs whom.
#[derive(Default)]
pub(crate) struct Dependencies {
    nodes: IndexMap<String, Node, FxBuildHasher>,
    edges: FxHashSet<(usize, usize)>,
}

#[derive(Default)]
struct Node {
    needs: Vec<usize>,
    at: Option<FileSpan>,
    /// How many edges there were when the node was seen to be part of no circle.
    free_at: usize,
}

impl Dependencies {
    /// Notes that `from`, declared at `at`, needs `to`.
    pub(crate) fn add(&mut self, from: &str, to: &str, at: FileSpan) {
        let from = self.node(from);
        let to = self.node(to);
        let node = &mut self.nodes[from];
        if self.edges.insert((from, to)) {
            node.needs.push(to);
        }
        node.at = Some(at);
    }

    /// Drops what a name needs.
    pub(crate) fn forget(&mut self, name: &str) {
        if let Some(node) = self.nodes.get_mut(name) {
            *node = Node::default();
        }
    }

    fn node(&mut self, name: &str) -> usize {
        match self.nodes.get_index_of(name) {
            Some(index) => index,
            None => self.nodes.insert_full(name.to_owned(), Node::default()).0,
        }
    }

    /// The circle that `name` is part of: all names, and the known places in their order.
    pub(crate) fn circle(&mut self, name: &str) -> Option<(String, Vec<FileSpan>)> {
        let start = self.nodes.get_index_of(name)?;
        if self.nodes[start].free_at == self.edges.len() {
            return None;
        }
        let circle = self.find_circle(start);
        if circle.is_none() {
            self.nodes[start].free_at = self.edges.len();
        }
        circle
    }

    fn find_circle(&self, start: usize) -> Option<(String, Vec<FileSpan>)> {
        let mut members: Vec<usize> = self.reach(start);
        if !members.iter().any(|node| self.nodes[*node].needs.contains(&start)) {
            return None;
        }
        members.retain(|node| self.reach(*node).contains(&start));
        if members.len() < 2 {
            return None;
        }
        let first = members.iter().copied().min()?;
        let ordered = self.reach(first);
        let ordered = ordered.into_iter().filter(|node| members.contains(node));
        let mut names = Vec::new();
        let mut places = Vec::new();
        for node in ordered {
            names.push(self.nodes.get_index(node).map_or("", |(name, _)| name.as_str()));
            places.extend(self.nodes[node].at);
        }
        Some((names.join(", "), places))
    }

    /// All nodes reached from one, itself first.
    fn reach(&self, start: usize) -> Vec<usize> {
        let mut seen = vec![false; self.nodes.len()];
        let mut order = Vec::new();
        let mut stack = vec![start];
        while let Some(node) = stack.pop() {
            if std::mem::replace(&mut seen[node], true) {
                continue;
            }
            order.push(node);
            stack.extend(self.nodes[node].needs.iter().rev());
        }
        order
    }
}
