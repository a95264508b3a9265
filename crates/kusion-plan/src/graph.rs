//! The dependency graph of resources.
//!
//! Building and walking cost O(V + E); only [`Graph::reduced`], which is for showing, costs more.
//! Nodes are numbered in the order in which resources are given, and every answer depends on
//! that order alone.

use kusion_model::{Resource, ResourceId};
use rustc_hash::FxHashMap;
use std::fmt;

/// The number of a resource in a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node(pub u32);

impl Node {
    /// Returns the number as a place in a list with an entry per node.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Resources and the dependencies between them.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    ids: Vec<ResourceId>,
    nodes: FxHashMap<ResourceId, Node>,
    dependencies: Adjacency,
    dependents: Adjacency,
}

/// Direction in which edges are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From a resource to its dependencies.
    Dependencies,
    /// From a resource to its dependents.
    Dependents,
}

/// The error when resources do not form a valid graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    /// Two resources have the same id.
    #[error("duplicate resource `{0}`")]
    Duplicate(ResourceId),
    /// A resource depends on one that does not exist.
    #[error("`{resource}` depends on `{dependency}`, which does not exist")]
    Unknown {
        /// The resource.
        resource: ResourceId,
        /// The missing dependency.
        dependency: ResourceId,
    },
    /// The dependencies contain a cycle.
    #[error(transparent)]
    Cycle(#[from] Cycle),
}

/// A dependency cycle: each resource depends on the next, the last on the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle(pub Vec<ResourceId>);

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("dependency cycle: ")?;
        for id in self.0.iter().chain(self.0.first()).enumerate() {
            let (position, id) = id;
            if position > 0 {
                f.write_str(" -> ")?;
            }
            write!(f, "{id}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Cycle {}

impl Graph {
    /// Creates the graph of resources from their `dependsOn`.
    pub fn of_resources<'a>(
        resources: impl IntoIterator<Item = &'a Resource>,
    ) -> Result<Self, GraphError> {
        let resources = resources.into_iter();
        Self::new(resources.map(|it| (&it.id, it.depends_on.as_slice())))
    }

    /// Creates the graph of ids from their dependencies. Self-references are ignored; duplicate
    /// edges count once.
    pub fn new<'a>(
        resources: impl IntoIterator<Item = (&'a ResourceId, &'a [ResourceId])>,
    ) -> Result<Self, GraphError> {
        let resources: Vec<_> = resources.into_iter().collect();
        let ids: Vec<ResourceId> = resources.iter().map(|(id, _)| (*id).clone()).collect();
        let mut graph = Self::from_edges(ids, &[])?;
        let mut edges = Vec::with_capacity(resources.iter().map(|(_, needs)| needs.len()).sum());
        for (position, (id, needs)) in resources.iter().enumerate() {
            for need in *needs {
                let to = graph.node(need).ok_or_else(|| GraphError::Unknown {
                    resource: (*id).clone(),
                    dependency: need.clone(),
                })?;
                edges.push((Node(position as u32), to));
            }
        }
        graph.set_edges(&edges);
        Ok(graph)
    }

    /// Creates the graph of ids from edges, each from a resource to one of its dependencies.
    ///
    /// # Panics
    ///
    /// If an edge refers to a node that does not exist.
    pub fn from_edges(ids: Vec<ResourceId>, edges: &[(Node, Node)]) -> Result<Self, GraphError> {
        let mut nodes = FxHashMap::default();
        nodes.reserve(ids.len());
        for (position, id) in ids.iter().enumerate() {
            if nodes.insert(id.clone(), Node(position as u32)).is_some() {
                return Err(GraphError::Duplicate(id.clone()));
            }
        }
        let mut graph = Self { ids, nodes, ..Self::default() };
        graph.set_edges(edges);
        Ok(graph)
    }

    fn set_edges(&mut self, edges: &[(Node, Node)]) {
        let n = self.ids.len();
        // Sorting by counting twice: the dependents of a node come out in order, and turning
        // them round gives dependencies in order.
        let mut forward = Adjacency::new(n, edges.iter().copied().filter(|(from, to)| from != to));
        let turned = Adjacency::new(n, forward.edges().map(|(from, to)| (to, from)));
        forward = Adjacency::new(n, turned.edges().map(|(from, to)| (to, from)));
        forward.drop_repeated();
        self.dependents = Adjacency::new(n, forward.edges().map(|(from, to)| (to, from)));
        self.dependencies = forward;
    }

    /// Returns the number of resources.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns whether there are no resources.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Returns the number of edges.
    pub fn edge_count(&self) -> usize {
        self.dependencies.targets.len()
    }

    /// Returns all nodes, in order.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = Node> + use<> {
        (0..self.ids.len() as u32).map(Node)
    }

    /// Returns the node of a resource.
    pub fn node(&self, id: &ResourceId) -> Option<Node> {
        self.nodes.get(id).copied()
    }

    /// Returns the resource of a node.
    pub fn id(&self, node: Node) -> &ResourceId {
        &self.ids[node.index()]
    }

    /// Returns the dependencies of a resource, in order.
    pub fn dependencies(&self, node: Node) -> &[Node] {
        self.dependencies.of(node)
    }

    /// Returns the dependents of a resource, in order.
    pub fn dependents(&self, node: Node) -> &[Node] {
        self.dependents.of(node)
    }

    /// Returns the neighbours of a resource in one direction, in order.
    pub fn neighbours(&self, node: Node, direction: Direction) -> &[Node] {
        match direction {
            Direction::Dependencies => self.dependencies(node),
            Direction::Dependents => self.dependents(node),
        }
    }

    /// Returns the resources by level: each depends only on resources of earlier levels, and on at
    /// least one of the level directly before. Ordered within a level.
    pub fn levels(&self) -> Result<Vec<Vec<Node>>, Cycle> {
        let levels = self.level_of_each()?;
        let count = levels.iter().max().map_or(0, |last| *last as usize + 1);
        let mut groups = vec![Vec::new(); count];
        for (position, level) in levels.into_iter().enumerate() {
            groups[level as usize].push(Node(position as u32));
        }
        Ok(groups)
    }

    /// Returns the resources in topological order: by level, then in order.
    pub fn order(&self) -> Result<Vec<Node>, Cycle> {
        Ok(self.levels()?.into_iter().flatten().collect())
    }

    fn level_of_each(&self) -> Result<Vec<u32>, Cycle> {
        let mut levels = vec![0u32; self.len()];
        let mut missing: Vec<u32> =
            self.nodes().map(|node| self.dependencies(node).len() as u32).collect();
        let mut ready: Vec<Node> = self.nodes().filter(|node| missing[node.index()] == 0).collect();
        let mut done = 0;
        while let Some(&node) = ready.get(done) {
            done += 1;
            for &dependent in self.dependents(node) {
                let level = levels[node.index()] + 1;
                let known = &mut levels[dependent.index()];
                *known = (*known).max(level);
                let left = &mut missing[dependent.index()];
                *left -= 1;
                if *left == 0 {
                    ready.push(dependent);
                }
            }
        }
        if done == self.len() { Ok(levels) } else { Err(self.some_cycle(&missing)) }
    }

    /// Returns the cycle that is reached by following the first unmet dependency. `missing` is the
    /// number of unmet dependencies of each node.
    fn some_cycle(&self, missing: &[u32]) -> Cycle {
        let is_stuck = |node: &Node| missing[node.index()] > 0;
        let mut seen_at = vec![usize::MAX; self.len()];
        let mut path = Vec::new();
        let mut next = self.nodes().find(is_stuck);
        while let Some(node) = next {
            let first = seen_at[node.index()];
            if first != usize::MAX {
                path.drain(..first);
                break;
            }
            seen_at[node.index()] = path.len();
            path.push(node);
            // A node in a cycle always depends on another one.
            next = self.dependencies(node).iter().copied().find(is_stuck);
        }
        let start = path.iter().enumerate().min_by_key(|(_, node)| **node).map_or(0, |it| it.0);
        path.rotate_left(start);
        Cycle(path.into_iter().map(|node| self.id(node).clone()).collect())
    }

    /// Numbers the strongly connected components: two nodes have the same number if each can be
    /// reached from the other.
    pub fn components(&self) -> Vec<u32> {
        const NEW: u32 = u32::MAX;
        let mut found = vec![NEW; self.len()];
        let mut lowest = vec![NEW; self.len()];
        let (mut open, mut walk) = (Vec::new(), Vec::new());
        let (mut n_seen, mut n_found) = (0u32, 0u32);
        let mut position = vec![0u32; self.len()];
        for start in self.nodes() {
            if lowest[start.index()] != NEW {
                continue;
            }
            walk.push((start, 0));
            while let Some((node, next)) = walk.pop() {
                let at = node.index();
                if next == 0 {
                    (lowest[at], position[at]) = (n_seen, n_seen);
                    n_seen += 1;
                    open.push(node);
                }
                let needs = self.dependencies(node);
                // What was walked through last may reach further up.
                if next > 0 {
                    let below = needs[next - 1].index();
                    if found[below] == NEW {
                        lowest[at] = lowest[at].min(lowest[below]);
                    }
                }
                let mut next = next;
                while next < needs.len() && lowest[needs[next].index()] != NEW {
                    let below = needs[next].index();
                    if found[below] == NEW {
                        lowest[at] = lowest[at].min(position[below]);
                    }
                    next += 1;
                }
                if next < needs.len() {
                    walk.push((node, next + 1));
                    walk.push((needs[next], 0));
                    continue;
                }
                if lowest[at] == position[at] {
                    while let Some(member) = open.pop() {
                        found[member.index()] = n_found;
                        if member == node {
                            break;
                        }
                    }
                    n_found += 1;
                }
            }
        }
        found
    }

    /// Returns for each node whether it is one of the given nodes or can be reached from them.
    pub fn reachable(&self, from: &[Node], direction: Direction) -> Vec<bool> {
        let mut reached = vec![false; self.len()];
        let mut pending = Vec::with_capacity(from.len());
        for &node in from {
            if !std::mem::replace(&mut reached[node.index()], true) {
                pending.push(node);
            }
        }
        while let Some(node) = pending.pop() {
            for &next in self.neighbours(node, direction) {
                if !std::mem::replace(&mut reached[next.index()], true) {
                    pending.push(next);
                }
            }
        }
        reached
    }

    /// Returns the transitive reduction: for each node, the dependencies that do not follow from
    /// others. For display only: it costs O(V · E / 64).
    pub fn reduced(&self) -> Result<Vec<Vec<Node>>, Cycle> {
        let order = self.order()?;
        let mut reduced: Vec<Vec<Node>> = vec![Vec::new(); self.len()];
        // What each node reaches among the nodes from `first` on, a bit each.
        let mut reached: Vec<[u64; WORDS]> = vec![[0; WORDS]; self.len()];
        for first in (0..self.len()).step_by(WORDS * 64) {
            let bit = |node: Node| {
                let at = node.index().checked_sub(first).filter(|at| *at < WORDS * 64)?;
                Some((at / 64, 1u64 << (at % 64)))
            };
            for &node in &order {
                let mut below = [0u64; WORDS];
                for need in self.dependencies(node) {
                    for (word, more) in below.iter_mut().zip(&reached[need.index()]) {
                        *word |= more;
                    }
                }
                let mut own = below;
                for &need in self.dependencies(node) {
                    let Some((word, mask)) = bit(need) else { continue };
                    own[word] |= mask;
                    if below[word] & mask == 0 {
                        reduced[node.index()].push(need);
                    }
                }
                reached[node.index()] = own;
            }
        }
        Ok(reduced)
    }
}

/// How many words of bits [`Graph::reduced`] keeps for a node at a time.
const WORDS: usize = 16;

/// The edges of all nodes in one list.
#[derive(Clone, Debug, Default)]
struct Adjacency {
    /// Where the edges of each node start in `targets`, and their end.
    starts: Vec<u32>,
    targets: Vec<Node>,
}

impl Adjacency {
    /// Sorts edges by where they start; those of one node stay in the order given.
    fn new(n: usize, edges: impl Iterator<Item = (Node, Node)> + Clone) -> Self {
        let mut starts = vec![0u32; n + 1];
        for (from, _) in edges.clone() {
            starts[from.index() + 1] += 1;
        }
        for position in 0..n {
            starts[position + 1] += starts[position];
        }
        let mut free = starts.clone();
        let mut targets = vec![Node(0); starts[n] as usize];
        for (from, to) in edges {
            let place = &mut free[from.index()];
            targets[*place as usize] = to;
            *place += 1;
        }
        Self { starts, targets }
    }

    fn of(&self, node: Node) -> &[Node] {
        let (start, end) = (self.starts[node.index()], self.starts[node.index() + 1]);
        &self.targets[start as usize..end as usize]
    }

    fn edges(&self) -> impl Iterator<Item = (Node, Node)> + Clone {
        let nodes = (0..self.starts.len().saturating_sub(1) as u32).map(Node);
        nodes.flat_map(|from| self.of(from).iter().map(move |to| (from, *to)))
    }

    /// Drops an edge that is the same as the one before it.
    fn drop_repeated(&mut self) {
        let mut targets = Vec::with_capacity(self.targets.len());
        let mut starts = Vec::with_capacity(self.starts.len());
        starts.push(0);
        for node in 0..self.starts.len().saturating_sub(1) as u32 {
            let first = targets.len();
            for &to in self.of(Node(node)) {
                if targets[first..].last() != Some(&to) {
                    targets.push(to);
                }
            }
            starts.push(targets.len() as u32);
        }
        *self = Self { starts, targets };
    }
}

#[cfg(test)]
mod tests;
