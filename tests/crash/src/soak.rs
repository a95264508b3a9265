//! Kills at random times, many times.

use crate::arena::{Arena, Run};
use crate::stacks::{Variant, is_create_first, is_replaced};
use anyhow::{Context as _, Result};
use kusion_model::ResourceId;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::{Duration, Instant};

/// What was done, and what was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Runs that were killed.
    pub kills: usize,
    /// Those of them that left a release open, and those that left calls without an ending.
    pub open: usize,
    /// See `open`.
    pub pending: usize,
    /// Operations that got through.
    pub finished: usize,
    /// Objects that exist, and neither the state nor a call without an ending knows them.
    pub orphans: usize,
    /// Objects that exist twice, or were made again although they had been made.
    pub duplicates: usize,
    /// Times that the state could not be read.
    pub unreadable: usize,
    /// Runs that ended with an error of their own.
    pub refused: usize,
    /// Operations that got through and left something else than what was wanted.
    pub wrong: usize,
    /// What was found, in words; the first few.
    pub findings: Vec<String>,
}

impl Figures {
    /// Whether nothing was found.
    pub fn is_clean(&self) -> bool {
        self.orphans + self.duplicates + self.unreadable + self.refused + self.wrong == 0
    }

    fn find(&mut self, finding: String) {
        if self.findings.len() < 20 {
            self.findings.push(finding);
        }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} kills ({} within a release, {} within calls), {} operations finished: {} orphans, \
             {} duplicates, {} unreadable states, {} refused runs, {} wrong ends",
            self.kills,
            self.open,
            self.pending,
            self.finished,
            self.orphans,
            self.duplicates,
            self.unreadable,
            self.refused,
            self.wrong
        )
    }
}

/// The operations, in turn, and what is there after each.
const OPERATIONS: [(&str, Option<Variant>); 5] = [
    ("first", Some(Variant::First)),
    ("changed", Some(Variant::Changed)),
    ("first", Some(Variant::First)),
    ("replaced", Some(Variant::Replaced)),
    ("destroy", None),
];

/// Kills runs at random times: an operation is killed until it gets through, then comes the next
/// one. Looks at state and infrastructure after every kill and after every end.
pub fn soak(arena: &Arena, kills: usize, seed: u64) -> Result<Figures> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut figures = Figures::default();
    // How long a whole operation takes tells when to kill it.
    let mut times = Vec::new();
    for (operation, end) in OPERATIONS {
        let start = Instant::now();
        arena.run(operation).context("without any kill")?;
        times.push(start.elapsed());
        arena.check(end)?;
    }
    while figures.kills < kills {
        for ((operation, end), time) in OPERATIONS.into_iter().zip(&times) {
            let mut history = History::default();
            history.look(arena, &mut figures)?;
            let mut is_through = false;
            while figures.kills < kills {
                let pause = Duration::from_secs_f64(time.as_secs_f64() * random.f64());
                let run = arena.kill_after(operation, pause)?;
                history.look(arena, &mut figures)?;
                match run {
                    Run::Killed => figures.kills += 1,
                    Run::Finished => {
                        is_through = true;
                        break;
                    }
                    Run::Refused(error) => {
                        figures.refused += 1;
                        figures.find(format!("{operation} was refused: {error}"));
                        break;
                    }
                }
            }
            if !is_through && let Err(error) = arena.run(operation) {
                figures.refused += 1;
                figures.find(format!("{operation} was refused: {error}"));
            }
            history.look(arena, &mut figures)?;
            history.count_twice(operation, &mut figures);
            figures.finished += 1;
            if let Err(error) = arena.check(end) {
                figures.wrong += 1;
                figures.find(format!("after {operation}: {error}"));
            }
            if figures.kills >= kills {
                break;
            }
        }
    }
    Ok(figures)
}

/// The objects that were seen for each resource while one operation was tried.
#[derive(Default)]
struct History(BTreeMap<ResourceId, BTreeSet<String>>);

impl History {
    /// Looks at what there is, and counts what should not be.
    fn look(&mut self, arena: &Arena, figures: &mut Figures) -> Result<()> {
        let state = match arena.state() {
            Ok(state) => state,
            Err(error) => {
                figures.unreadable += 1;
                figures.find(format!("the state cannot be read: {error}"));
                return Ok(());
            }
        };
        figures.open += usize::from(state.is_open);
        figures.pending += usize::from(!state.pending.is_empty());
        for (id, objects) in arena.live()? {
            // The new object of some is made before the old one is deleted.
            let most = if is_create_first(&id) { 2 } else { 1 };
            if objects.len() > most {
                figures.duplicates += objects.len() - most;
                figures.find(format!("{id} exists {} times", objects.len()));
            }
            for (identity, _) in objects {
                let is_known = state.resources.get(&id) == Some(&identity)
                    || state.leftovers.contains(&identity);
                if !is_known && !state.pending.contains(&id) {
                    figures.orphans += 1;
                    figures.find(format!("{id} is an orphan: {identity}"));
                }
                self.0.entry(id.clone()).or_default().insert(identity);
            }
        }
        Ok(())
    }

    /// Counts what was made more often than the operation asks for.
    fn count_twice(&self, operation: &str, figures: &mut Figures) {
        for (id, seen) in &self.0 {
            let allowed = if operation == "replaced" && is_replaced(id) { 2 } else { 1 };
            if seen.len() > allowed {
                figures.duplicates += seen.len() - allowed;
                figures.find(format!("{operation} made {id} again: {seen:?}"));
            }
        }
    }
}
