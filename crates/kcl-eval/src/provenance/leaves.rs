//! The leaves of a value.

use super::{Provenance, Source};
use kcl_hir::Program;
use kcl_value::output::{Filter, Stream};
use kcl_value::{Dict, Entry, List, Origin, Value};
use rustc_hash::FxHashSet;

/// A leaf of the output and where its value is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The way to the leaf from the top.
    pub path: Vec<Step>,
    /// What set it.
    pub source: Source,
    /// What had set it, or a part of the output around it, before and lost, the latest first.
    pub beaten: Vec<Source>,
}

/// One step on the way to a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A key of a dict or instance.
    Key(String),
    /// A position in a list.
    Index(usize),
}

/// Which leaves are wanted: those that are written.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeafOptions<'o> {
    /// The parts of the value that are shown, `a.b`; all of it if there are none.
    pub selectors: &'o [String],
    /// What of the value is written.
    pub filter: Filter,
    /// Whether a value that is only passed on is from what gave it; needs an evaluation with
    /// [`Tracking::Givers`](crate::Tracking::Givers).
    pub follow_reads: bool,
}

/// The way down to a value.
#[derive(Default)]
struct Trail {
    path: Vec<Step>,
    /// The known origins on the way, the innermost last.
    origins: Vec<Origin>,
}

impl Trail {
    /// Goes one step down; pairs with [`Self::up`].
    fn down(&mut self, step: Step, origin: Origin) {
        self.path.push(step);
        self.origins.push(origin);
    }

    fn up(&mut self) {
        self.path.pop();
        self.origins.pop();
    }
}

struct Visit<'v> {
    provenance: &'v Provenance,
    programs: &'v [&'v Program],
    options: LeafOptions<'v>,
    trail: Trail,
    leaves: Vec<Leaf>,
}

impl Provenance {
    /// The leaves of the result of an evaluation, in the order of output.
    ///
    /// Paths start at the top of `value`, also where selectors pick parts of it.
    pub fn leaves(
        &self,
        programs: &[&Program],
        value: &Value,
        options: &LeafOptions<'_>,
    ) -> Vec<Leaf> {
        let trail = Trail { path: Vec::new(), origins: vec![self.root] };
        let mut visit =
            Visit { provenance: self, programs, options: *options, trail, leaves: Vec::new() };
        if options.selectors.is_empty() || !value.is_config() {
            visit.document(value);
        }
        for selector in options.selectors {
            if value.is_config() {
                visit.selected(value, selector);
            }
        }
        visit.leaves
    }

    /// The leaves of the documents that were given to `manifests.yaml_stream`. The first step of a
    /// path is the number of the document.
    ///
    /// A document that did not know where it was from is from the call.
    pub fn stream_leaves(
        &self,
        programs: &[&Program],
        stream: &Stream,
        options: &LeafOptions<'_>,
    ) -> Vec<Leaf> {
        let trail = Trail { path: Vec::new(), origins: vec![self.stream_at] };
        let mut visit =
            Visit { provenance: self, programs, options: *options, trail, leaves: Vec::new() };
        if let Value::List(documents) = &stream.documents {
            // Every document is written, also one that would be left out inside another.
            for (at, document) in documents.items.iter().enumerate() {
                let origin = documents.origins.get(at).copied().unwrap_or_default();
                visit.trail.down(Step::Index(at), origin);
                visit.value(document);
                visit.trail.up();
            }
        }
        visit.leaves
    }

    /// Where `manifests.yaml_stream` was called last.
    pub fn stream_at(&self) -> Origin {
        self.stream_at
    }

    /// Where the value of the whole program is from, if it is one expression.
    pub fn root(&self) -> Origin {
        self.root
    }
}

impl Visit<'_> {
    fn keeps(&self, value: &Value) -> bool {
        self.options.filter.keeps_value(value)
    }

    fn selected(&mut self, value: &Value, selector: &str) {
        let mut found = value;
        let n_steps = self.trail.path.len();
        for key in selector.split('.') {
            let next = match found {
                Value::List(list) => key.parse::<usize>().ok().and_then(|at| {
                    let origin = list.origins.get(at).copied().unwrap_or_default();
                    list.items.get(at).map(|item| (Step::Index(at), origin, item))
                }),
                _ => found
                    .as_config()
                    .and_then(|dict| dict.entry(key))
                    .map(|entry| (Step::Key(key.to_owned()), entry.origin, &entry.value)),
            };
            let Some((step, origin, item)) = next else { break };
            self.trail.down(step, origin);
            found = item;
        }
        if self.trail.path.len() > n_steps && self.keeps(found) {
            self.document(found);
        }
        while self.trail.path.len() > n_steps {
            self.trail.up();
        }
    }

    /// Visits a value that is written as a document, or as several. The top of a document has
    /// no `_type`.
    fn document(&mut self, value: &Value) {
        match value {
            Value::List(list) if list.items.iter().all(Value::is_config) => {
                self.visit(value, true);
            }
            Value::Schema(_) => self.visit(value, true),
            _ => self.value(value),
        }
    }

    fn value(&mut self, value: &Value) {
        self.visit(value, false);
    }

    fn visit(&mut self, value: &Value, is_document: bool) {
        let n_leaves = self.leaves.len();
        match value {
            Value::Dict(dict) => self.dict(dict),
            Value::Schema(schema) => {
                self.dict(&schema.attrs);
                if self.options.filter.type_path && !is_document {
                    self.trail.down(Step::Key("_type".to_owned()), Origin(0));
                    self.leaves.push(Leaf {
                        path: self.trail.path.clone(),
                        source: Source::Builtin,
                        beaten: Vec::new(),
                    });
                    self.trail.up();
                }
            }
            Value::List(list) => self.list(list, is_document),
            _ => {}
        }
        if self.leaves.len() == n_leaves {
            self.leaf();
        }
    }

    fn list(&mut self, list: &List, is_document: bool) {
        let mut n_written = 0;
        for (at, item) in list.items.iter().enumerate() {
            if self.keeps(item) {
                let origin = list.origins.get(at).copied().unwrap_or_default();
                self.trail.down(Step::Index(n_written), origin);
                self.visit(item, is_document);
                self.trail.up();
                n_written += 1;
            }
        }
    }

    fn dict(&mut self, dict: &Dict) {
        let is_written = |entry: &&Entry| {
            let is_shown = !self.options.filter.hide_private || !entry.key.starts_with('_');
            is_shown
                && self.keeps(&entry.value)
                && !(self.options.filter.type_path && entry.key.as_str() == "_type")
        };
        let mut entries: Vec<&Entry> = dict.iter().filter(is_written).collect();
        if self.options.filter.sort_keys {
            entries.sort_unstable_by_key(|entry| entry.key.as_str());
        }
        for entry in entries {
            self.trail.down(Step::Key(entry.key.to_string()), entry.origin);
            self.value(&entry.value);
            self.trail.up();
        }
    }

    /// Adds the leaf at the end of the trail.
    fn leaf(&mut self) {
        let provenance = self.provenance;
        let known = self.trail.origins.iter().rev().find(|origin| origin.0 != 0);
        let known = known.copied().unwrap_or_default();
        let winner = provenance.node(known);
        let source = if self.options.follow_reads { provenance.giver(known) } else { winner };
        let mut seen = FxHashSet::default();
        seen.insert(winner);
        let mut found = Vec::new();
        for origin in self.trail.origins.iter().rev() {
            provenance.add_beaten(*origin, &mut seen, &mut found);
        }
        let mut beaten = Vec::with_capacity(found.len());
        let mut next = Some(winner);
        let mut found = found.into_iter();
        while let Some(node) = next {
            if node != winner {
                beaten.push(provenance.source(self.programs, node));
            }
            let replaced = provenance.replaced(self.programs, node);
            next = replaced.filter(|old| seen.insert(*old)).or_else(|| found.next());
        }
        self.leaves.push(Leaf {
            path: self.trail.path.clone(),
            source: provenance.source(self.programs, source),
            beaten,
        });
    }
}
