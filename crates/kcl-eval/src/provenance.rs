//! Where leaves came from, and what they beat.

use crate::evaluator::Evaluator;
use base_text::FileSpan;
use kcl_value::{Dict, Origin, Value};

/// A leaf of the result and where its value is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The way to the leaf from the top.
    pub path: Vec<Step>,
    /// What set it; `None` for what no source text set.
    pub source: Option<FileSpan>,
    /// What had set it before and lost, the latest first.
    pub beaten: Vec<FileSpan>,
}

/// One step on the way to a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A key of a dict or instance.
    Key(String),
    /// A position in a list.
    Index(usize),
}

/// Origins from here on stand for a winner with the candidates it beat.
const FIRST_CONTEST: u32 = 1 << 31;

/// The contests of an evaluation.
#[derive(Default)]
pub(crate) struct Provenance {
    contests: Vec<Contest>,
}

struct Contest {
    winner: Origin,
    beaten: Vec<Origin>,
}

impl Provenance {
    /// The origin of a leaf whose value replaces one from `old`.
    pub(crate) fn outvote(&mut self, old: Origin, new: Origin) -> Origin {
        if old.0 == 0 || self.node(old) == self.node(new) {
            return new;
        }
        let mut beaten = vec![self.node(old)];
        beaten.extend_from_slice(self.beaten(old));
        beaten.extend_from_slice(self.beaten(new));
        let winner = self.node(new);
        self.contests.push(Contest { winner, beaten });
        Origin(FIRST_CONTEST + self.contests.len() as u32 - 1)
    }

    /// The node that set a leaf.
    pub(crate) fn node(&self, origin: Origin) -> Origin {
        self.contest(origin).map_or(origin, |contest| contest.winner)
    }

    /// The nodes that lost against it, the latest first.
    pub(crate) fn beaten(&self, origin: Origin) -> &[Origin] {
        self.contest(origin).map_or(&[], |contest| contest.beaten.as_slice())
    }

    fn contest(&self, origin: Origin) -> Option<&Contest> {
        self.contests.get(origin.0.checked_sub(FIRST_CONTEST)? as usize)
    }
}

impl Evaluator<'_> {
    /// The leaves of a value with their sources, in order of output.
    pub(crate) fn leaves(&self, value: &Value) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        self.visit(value, Origin(0), &mut Vec::new(), &mut leaves);
        leaves
    }

    fn visit(&self, value: &Value, origin: Origin, path: &mut Vec<Step>, out: &mut Vec<Leaf>) {
        match value {
            Value::Dict(dict) if !dict.is_empty() => self.visit_dict(dict, origin, path, out),
            Value::Schema(schema) if !schema.attrs.is_empty() => {
                self.visit_dict(&schema.attrs, origin, path, out);
            }
            Value::List(list) if !list.items.is_empty() => {
                for (at, item) in list.items.iter().enumerate() {
                    let known = list.origins.get(at).copied().filter(|known| known.0 != 0);
                    path.push(Step::Index(at));
                    self.visit(item, known.unwrap_or(origin), path, out);
                    path.pop();
                }
            }
            Value::Undefined | Value::Func(_) => {}
            _ => {
                let beaten = self.provenance.beaten(origin);
                out.push(Leaf {
                    path: path.clone(),
                    source: self.place(origin),
                    beaten: beaten.iter().filter_map(|origin| self.place(*origin)).collect(),
                });
            }
        }
    }

    fn visit_dict(&self, dict: &Dict, origin: Origin, path: &mut Vec<Step>, out: &mut Vec<Leaf>) {
        for entry in dict {
            if entry.key.starts_with('_') && !self.options.show_hidden {
                continue;
            }
            let origin = if entry.origin.0 == 0 { origin } else { entry.origin };
            path.push(Step::Key(entry.key.to_string()));
            self.visit(&entry.value, origin, path, out);
            path.pop();
        }
    }
}
