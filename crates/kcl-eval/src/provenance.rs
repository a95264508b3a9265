//! Where leaves came from, and what they beat.
//!
//! Each value in a dict or list has an [`Origin`]: the number of the expression that set it,
//! or the number of a *contest*, in which it beat the value that stood there before. Numbers
//! are given to programs one after the other, so values of several programs can be merged. A
//! contest also notes what gave a value that its winner only read ([`given`]).

mod given;
mod inputs;
mod leaves;
mod source;

pub(crate) use given::GivenArgument;
pub use leaves::{Leaf, LeafOptions, Step};
pub use source::{Giver, Source};

use crate::evaluator::Evaluator;
use kcl_hir::Program;
use kcl_value::{Origin, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Origins from here on stand for a winner with the candidates it beat.
const FIRST_CONTEST: u32 = 1 << 31;

/// How many numbers are kept for the main package of a program.
const MAIN_ROOM: u32 = 1 << 22;

/// What evaluations know about the origins of values.
///
/// Starts empty; each evaluation adds its program. The methods that say where things are
/// from need those programs, in the order in which they were evaluated.
#[derive(Clone, Debug, Default)]
pub struct Provenance {
    programs: Vec<Numbers>,
    /// Shared with the library of imported packages, whose values may refer to them.
    pub(crate) contests: Rc<Contests>,
    /// Where the value of the whole program is from, if it is one expression.
    pub(crate) root: Origin,
    /// Where `manifests.yaml_stream` was called last.
    pub(crate) stream_at: Origin,
}

/// The numbers of one program's expressions.
#[derive(Clone, Debug)]
struct Numbers {
    /// The first number of each file, and the end.
    files: Vec<u32>,
    /// The arguments that were given, and whether they count as true.
    arguments: Vec<(String, bool)>,
}

/// All contests, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contests {
    all: Vec<Contest>,
    /// The contests that stand for reads, by the expression and what it read.
    reads: FxHashMap<(Origin, Origin), Origin>,
    /// The contests that stand for computed values, by the expression and what it used.
    computed: FxHashMap<(Origin, Vec<Origin>), Origin>,
    /// What computed values were computed from, by their contests.
    inputs: FxHashMap<Origin, Rc<[Origin]>>,
}

impl Contests {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    fn is_full(&self) -> bool {
        self.all.len() >= FIRST_CONTEST as usize
    }

    /// Adds a contest; returns the origin that stands for it.
    fn add(&mut self, contest: Contest) -> Origin {
        self.all.push(contest);
        Origin(FIRST_CONTEST + (self.all.len() - 1) as u32)
    }
}

#[derive(Clone, Copy, Debug)]
struct Contest {
    winner: Origin,
    /// What the winner replaced.
    old: Origin,
    /// The winner with what it had beaten before.
    new: Origin,
    /// What gave the value, if the winner only read it.
    given: Origin,
}

impl Provenance {
    /// Gives numbers to a program; returns the first number of each file.
    pub(crate) fn add_program(
        &mut self,
        program: &Program,
        arguments: &[(String, Value)],
    ) -> Vec<u32> {
        let mut next = self.programs.last().and_then(|p| p.files.last()).copied().unwrap_or(1);
        let mut files = Vec::with_capacity(program.files.len() + 1);
        let n_main_files = program.main_package().map_or(0, |package| package.files.len());
        let start = next;
        for (at, file) in program.files.iter().enumerate() {
            if at == n_main_files {
                // The numbers of imported packages do not depend on the main package, so that
                // evaluations can share what they know of them.
                next = next.max(start + MAIN_ROOM);
            }
            files.push(next);
            next += (file.module.exprs.len() + file.module.stmts.len()) as u32;
        }
        let bases = files.clone();
        files.push(next);
        let arguments = arguments.iter();
        let arguments = arguments.map(|(name, value)| (name.clone(), value.is_truthy())).collect();
        self.programs.push(Numbers { files, arguments });
        bases
    }

    /// The origin of a leaf whose value replaces one from `old`.
    pub(crate) fn outvote(&mut self, old: Origin, new: Origin) -> Origin {
        let winner = self.node(new);
        if old.0 == 0 || new.0 == 0 || old == new || self.contests.is_full() {
            return if new.0 == 0 { old } else { new };
        }
        if self.node(old) == winner && new == winner {
            // The same expression again: it keeps what it had beaten.
            return old;
        }
        Rc::make_mut(&mut self.contests).add(Contest { winner, old, new, given: Origin(0) })
    }

    /// The origin of a leaf whose value replaces one from `old`, where contests are not kept.
    pub(crate) fn replace(&self, old: Origin, new: Origin) -> Origin {
        // The same expression again: what gave its value stays known.
        if new.0 == 0 || self.node(old) == new { old } else { new }
    }

    /// The node that set a leaf.
    pub(crate) fn node(&self, origin: Origin) -> Origin {
        self.contest(origin).map_or(origin, |contest| contest.winner)
    }

    /// Adds the nodes that lost against an origin to `found`, the latest first, each once.
    fn add_beaten(&self, origin: Origin, seen: &mut FxHashSet<Origin>, found: &mut Vec<Origin>) {
        let mut visited = FxHashSet::default();
        // Origins whose beaten ones, and with `true` also their winner, are still to be added.
        let mut todo = vec![(origin, false)];
        while let Some((origin, with_winner)) = todo.pop() {
            let node = self.node(origin);
            if with_winner && node.0 != 0 && seen.insert(node) {
                found.push(node);
            }
            if let Some(contest) = self.contest(origin)
                && visited.insert(origin)
            {
                todo.push((contest.old, true));
                todo.push((contest.new, false));
            }
        }
    }

    fn contest(&self, origin: Origin) -> Option<&Contest> {
        self.contests.all.get(origin.0.checked_sub(FIRST_CONTEST)? as usize)
    }
}

impl Evaluator<'_> {
    /// A list or config whose parts all know where they are from: those that did not know
    /// are from `origin`. Does nothing unless provenance is asked for.
    pub(crate) fn stamped(&self, value: Value, origin: Origin) -> Value {
        if !self.options.tracks_items() || origin.0 == 0 {
            return value;
        }
        match value {
            Value::List(list) => {
                let is_known = list.origins.len() == list.items.len()
                    && list.origins.iter().all(|known| known.0 != 0);
                if is_known {
                    return Value::List(list);
                }
                let mut list = Rc::unwrap_or_clone(list);
                list.origins.resize(list.items.len(), Origin(0));
                for known in list.origins.iter_mut().filter(|known| known.0 == 0) {
                    *known = origin;
                }
                Value::List(Rc::new(list))
            }
            Value::Dict(mut dict) => {
                if has_unknown(&dict) {
                    stamp(Rc::make_mut(&mut dict), origin);
                }
                Value::Dict(dict)
            }
            Value::Schema(mut schema) => {
                if has_unknown(&schema.attrs) {
                    stamp(&mut Rc::make_mut(&mut schema).attrs, origin);
                }
                Value::Schema(schema)
            }
            other => other,
        }
    }
}

fn is_unknown(entry: &kcl_value::Entry) -> bool {
    entry.origin.0 == 0 && !matches!(entry.value, Value::Undefined)
}

fn has_unknown(dict: &kcl_value::Dict) -> bool {
    dict.iter().any(is_unknown)
}

fn stamp(dict: &mut kcl_value::Dict, origin: Origin) {
    for at in 0..dict.len() {
        if let Some(entry) = dict.at_mut(at).filter(|entry| is_unknown(entry)) {
            entry.origin = origin;
        }
    }
}
