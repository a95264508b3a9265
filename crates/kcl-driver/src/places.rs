//! What gave the leaves of an output, as a compact table.

use base_text::{FileId, LineCol, LineIndex};
use kcl_eval::{Giver, Provenance};
use kcl_hir::Program;
use kcl_value::Origin;
use rustc_hash::FxHashMap;
use std::sync::{Arc, OnceLock};

/// What gave the leaves of an output, by path.
///
/// Keeps for each leaf the file and the offset of an expression, and the texts that were compiled.
/// Lines are counted when somebody asks, so later changes of the files do not matter.
#[derive(Debug, Default)]
pub struct Places {
    /// The values of the output in preorder, the root first.
    nodes: Vec<Node>,
    /// The keys of dicts, one after the other.
    keys: String,
    sources: Vec<PlaceSource>,
    /// What leaves were computed from: sources and offsets.
    inputs: Vec<Vec<(u32, u32)>>,
    /// The inputs of computed leaves, by their nodes.
    computed: FxHashMap<u32, u32>,
}

/// One value of an output.
#[derive(Debug)]
struct Node {
    step: NodeStep,
    /// The number of nodes from this one to the last one inside it.
    size: u32,
    kind: NodeKind,
}

/// The step from the value around a node to the node itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeStep {
    /// Where the key begins, or the position in a list.
    start: u32,
    /// Where the key ends; 0 in a list.
    end: u32,
}

impl NodeStep {
    /// The step to an item of a list.
    pub(crate) fn index(at: usize) -> Self {
        Self { start: at as u32, end: 0 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeKind {
    Dict,
    List,
    /// A leaf that an expression gave: the number of its source and the offset there.
    Leaf(u32, u32),
    /// A leaf that no expression gave.
    Unknown,
}

#[derive(Debug)]
enum PlaceSource {
    File { path: String, text: Arc<String>, lines: OnceLock<LineIndex> },
    Override(Arc<str>),
}

/// One step of a path into an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathStep<'p> {
    /// A key of a dict.
    Key(&'p str),
    /// A position in a list.
    Index(usize),
}

/// What gave a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeafPlace<'p> {
    /// An expression of a file, as it was when the program was loaded.
    Text {
        /// The path of the file as messages show it.
        file: &'p str,
        /// Where the expression starts.
        at: LineCol,
    },
    /// An override (`-O`), as it was written.
    Override(&'p str),
}

impl Places {
    /// Returns what gave the value at a path. Of a dict or list, that is what gave the first leaf
    /// inside it, by the order of keys.
    pub fn find<'p>(&self, path: impl IntoIterator<Item = PathStep<'p>>) -> Option<LeafPlace<'_>> {
        self.place(self.leaf_at(path)?)
    }

    /// Returns what the value at a path was computed from, each place once: what the main package
    /// and overrides set, then what other packages set. Empty for a value that an expression wrote
    /// or only read.
    pub fn inputs<'p>(&self, path: impl IntoIterator<Item = PathStep<'p>>) -> Vec<LeafPlace<'_>> {
        let list = self.leaf_at(path).and_then(|leaf| self.computed.get(&(leaf as u32)));
        let inputs = list.and_then(|list| self.inputs.get(*list as usize)).into_iter().flatten();
        inputs.filter_map(|(source, offset)| self.source_place(*source, *offset)).collect()
    }

    /// The leaf at a path, or the first one inside it.
    fn leaf_at<'p>(&self, path: impl IntoIterator<Item = PathStep<'p>>) -> Option<usize> {
        let mut at = 0;
        for step in path {
            let is_dict = self.nodes.get(at)?.kind == NodeKind::Dict;
            at = self.children(at).find(|child| match step {
                PathStep::Key(key) => is_dict && self.key(*child) == key,
                PathStep::Index(index) => {
                    !is_dict && self.nodes[*child].step == NodeStep::index(index)
                }
            })?;
        }
        self.first_leaf(at)
    }

    fn place(&self, leaf: usize) -> Option<LeafPlace<'_>> {
        let NodeKind::Leaf(source, offset) = self.nodes.get(leaf)?.kind else { return None };
        self.source_place(source, offset)
    }

    fn source_place(&self, source: u32, offset: u32) -> Option<LeafPlace<'_>> {
        Some(match self.sources.get(source as usize)? {
            PlaceSource::File { path, text, lines } => {
                let lines = lines.get_or_init(|| LineIndex::new(text));
                LeafPlace::Text { file: path, at: lines.line_col(text, offset) }
            }
            PlaceSource::Override(spec) => LeafPlace::Override(spec),
        })
    }

    fn first_leaf(&self, at: usize) -> Option<usize> {
        match self.nodes.get(at)?.kind {
            NodeKind::Unknown => None,
            NodeKind::Leaf(..) => Some(at),
            NodeKind::List => self.children(at).find_map(|child| self.first_leaf(child)),
            NodeKind::Dict => {
                let mut children: Vec<usize> = self.children(at).collect();
                children.sort_by_key(|child| self.key(*child));
                children.into_iter().find_map(|child| self.first_leaf(child))
            }
        }
    }

    /// The key of a node in a dict.
    fn key(&self, at: usize) -> &str {
        let NodeStep { start, end } = self.nodes[at].step;
        self.keys.get(start as usize..end as usize).unwrap_or_default()
    }

    /// The nodes right below a node.
    fn children(&self, at: usize) -> impl Iterator<Item = usize> {
        let end = self.nodes.get(at).map_or(at, |node| at + node.size as usize);
        let mut next = at + 1;
        std::iter::from_fn(move || {
            let child = next;
            next += self.nodes.get(child)?.size as usize;
            (child < end).then_some(child)
        })
    }
}

/// Makes a table while an output is visited.
pub(crate) struct PlacesBuilder<'p> {
    provenance: &'p Provenance,
    programs: &'p [&'p Program],
    places: Places,
    /// The sources of files, by program and file.
    files: FxHashMap<(usize, FileId), u32>,
    /// What gave the leaf before: leaves often come from one expression.
    last: (Origin, NodeKind),
    /// The inputs of computed values, by origin.
    computed: FxHashMap<Origin, Option<u32>>,
    /// The sources of overrides.
    overrides: FxHashMap<Arc<str>, u32>,
}

impl<'p> PlacesBuilder<'p> {
    pub(crate) fn new(provenance: &'p Provenance, programs: &'p [&'p Program]) -> Self {
        Self {
            provenance,
            programs,
            places: Places::default(),
            files: FxHashMap::default(),
            last: (Origin::default(), NodeKind::Unknown),
            computed: FxHashMap::default(),
            overrides: FxHashMap::default(),
        }
    }

    /// The step to an entry of a dict.
    pub(crate) fn key(&mut self, key: &str) -> NodeStep {
        let start = self.places.keys.len() as u32;
        self.places.keys.push_str(key);
        NodeStep { start, end: self.places.keys.len() as u32 }
    }

    /// Begins a dict or list; pairs with [`Self::end`].
    pub(crate) fn begin(&mut self, step: NodeStep, kind: NodeKind) -> usize {
        self.places.nodes.push(Node { step, size: 1, kind });
        self.places.nodes.len() - 1
    }

    /// Ends a dict or list that has been begun. If it is empty, it is a leaf from `origin`.
    pub(crate) fn end(&mut self, at: usize, origin: Origin) {
        let size = (self.places.nodes.len() - at) as u32;
        self.places.nodes[at].size = size;
        if size == 1 {
            self.places.nodes[at].kind = self.leaf_kind(origin);
            self.add_inputs(at, origin);
        }
    }

    /// Adds a leaf from `origin`.
    pub(crate) fn leaf(&mut self, step: NodeStep, origin: Origin) {
        let kind = self.leaf_kind(origin);
        self.places.nodes.push(Node { step, size: 1, kind });
        self.add_inputs(self.places.nodes.len() - 1, origin);
    }

    /// Notes what a leaf was computed from.
    fn add_inputs(&mut self, leaf: usize, origin: Origin) {
        let list = match self.computed.get(&origin) {
            Some(known) => *known,
            None => {
                let list = self.list_inputs(origin);
                self.computed.insert(origin, list);
                list
            }
        };
        if let Some(list) = list {
            self.places.computed.insert(leaf as u32, list);
        }
    }

    fn list_inputs(&mut self, origin: Origin) -> Option<u32> {
        let mut inputs = self.provenance.inputs(self.programs, origin);
        // What the user wrote comes first.
        inputs.sort_by_key(|input| !self.provenance.is_main(self.programs, *input));
        let mut places: Vec<(u32, u32)> = Vec::new();
        for input in inputs {
            if let Some(NodeKind::Leaf(source, offset)) = self.find(input)
                && !places.contains(&(source, offset))
            {
                places.push((source, offset));
            }
        }
        if places.is_empty() {
            return None;
        }
        self.places.inputs.push(places);
        Some((self.places.inputs.len() - 1) as u32)
    }

    fn leaf_kind(&mut self, origin: Origin) -> NodeKind {
        if self.last.0 != origin {
            self.last = (origin, self.find(origin).unwrap_or(NodeKind::Unknown));
        }
        self.last.1
    }

    fn find(&mut self, origin: Origin) -> Option<NodeKind> {
        match self.provenance.find_giver(self.programs, origin)? {
            Giver::Text { program, at } => {
                Some(NodeKind::Leaf(self.file(program, at.file)?, at.span.start))
            }
            Giver::Override(spec) => {
                let known = self.overrides.get(spec).copied();
                let number = known.unwrap_or_else(|| {
                    self.places.sources.push(PlaceSource::Override(Arc::clone(spec)));
                    let number = (self.places.sources.len() - 1) as u32;
                    self.overrides.insert(Arc::clone(spec), number);
                    number
                });
                Some(NodeKind::Leaf(number, 0))
            }
        }
    }

    fn file(&mut self, program: usize, file: FileId) -> Option<u32> {
        if let Some(known) = self.files.get(&(program, file)) {
            return Some(*known);
        }
        let source = self.programs.get(program)?.files.get(file.0 as usize)?;
        let (path, text) = (source.path.clone(), Arc::clone(&source.text));
        let number = self.places.sources.len() as u32;
        self.places.sources.push(PlaceSource::File { path, text, lines: OnceLock::new() });
        self.files.insert((program, file), number);
        Some(number)
    }

    pub(crate) fn finish(self) -> Places {
        self.places
    }
}
