//! The result of a batch, as the next one needs to know it.
//!
//! A text file in the output folder: a line with the version, a line per fact, a line per stack
//! with the facts it relies on. One that can't be read counts as none.

use super::facts::{Answer, Asked, Fact, Question, Recorder, Stamp};
use super::place::Place;
use super::{BatchOptions, Stack};
use base_system::System;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::fmt::Write as _;
use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// The file in the output folder.
pub(super) const MANIFEST_FILE: &str = ".kcl-batch";

/// The first line: another version of the tool may give another result.
const HEADER: &str = concat!("kcl-batch 1 ", env!("CARGO_PKG_VERSION"));

/// What a batch relied on.
#[derive(Debug, Default)]
pub(super) struct Manifest {
    facts: Vec<Fact>,
    numbers: FxHashMap<u64, u32>,
    stacks: FxHashMap<PathBuf, Entry>,
}

/// What a stack relied on.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    /// What was to be run, as a number.
    task: u64,
    /// The result.
    output: Stamp,
    facts: Vec<u32>,
}

/// A stack that was compiled: the place and stamp of its result, and what it relies on.
pub(super) struct Finished {
    pub(super) path: PathBuf,
    pub(super) task: u64,
    pub(super) output: Stamp,
    pub(super) asked: Asked,
}

/// What is to be run, as a number.
pub(super) fn task_of(stack: &Stack) -> u64 {
    let mut hasher = FxHasher::default();
    (&stack.folder, &stack.inputs, &stack.arguments).hash(&mut hasher);
    hasher.finish()
}

impl Manifest {
    /// Takes over the stacks that were not compiled again.
    pub(super) fn keep(&mut self, previous: Self, places: &[Place], wanted: &[bool]) {
        *self = previous;
        for (place, wanted) in places.iter().zip(wanted) {
            if *wanted {
                self.stacks.remove(&place.output);
            }
        }
        self.drop_unused();
    }

    /// Adds the stacks that one worker compiled.
    pub(super) fn add(&mut self, facts: &[Fact], finished: &[Finished]) {
        let mut numbers: Vec<Option<u32>> = vec![None; facts.len()];
        for stack in finished {
            if stack.asked.is_volatile {
                continue;
            }
            let mut own = Vec::with_capacity(stack.asked.facts.len());
            for &fact in &stack.asked.facts {
                let number = &mut numbers[fact as usize];
                own.push(*number.get_or_insert_with(|| self.number(&facts[fact as usize])));
            }
            let entry = Entry { task: stack.task, output: stack.output, facts: own };
            self.stacks.insert(stack.path.clone(), entry);
        }
    }

    fn number(&mut self, fact: &Fact) -> u32 {
        let mut hasher = FxHasher::default();
        (fact.question, &fact.path, fact.answer.hash).hash(&mut hasher);
        let hash = hasher.finish();
        if let Some(&number) = self.numbers.get(&hash)
            && self.facts[number as usize] == *fact
        {
            return number;
        }
        let number = self.facts.len() as u32;
        self.facts.push(fact.clone());
        self.numbers.insert(hash, number);
        number
    }

    /// Drops the facts that no stack relies on.
    fn drop_unused(&mut self) {
        let used: FxHashSet<u32> =
            self.stacks.values().flat_map(|entry| entry.facts.iter().copied()).collect();
        if used.len() == self.facts.len() {
            return;
        }
        let facts = std::mem::take(&mut self.facts);
        let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
        for (at, fact) in facts.into_iter().enumerate() {
            if used.contains(&(at as u32)) {
                numbers.insert(at as u32, self.facts.len() as u32);
                self.facts.push(fact);
            }
        }
        for entry in self.stacks.values_mut() {
            entry.facts.iter_mut().for_each(|fact| *fact = numbers[fact]);
        }
    }

    /// The facts that a stack relied on; `None` if it is not known or was something else.
    pub(super) fn facts_of(&self, stack: &Stack, place: &Place) -> Option<Vec<&Fact>> {
        let entry = self.stacks.get(&place.output).filter(|entry| entry.task == task_of(stack))?;
        Some(entry.facts.iter().map(|&fact| &self.facts[fact as usize]).collect())
    }

    /// Says of each stack whether something that it relies on has changed.
    pub(super) fn reached_by_changes(
        &self,
        system: &(dyn System + Sync),
        stacks: &[Stack],
        places: &[Place],
        options: &BatchOptions,
        threads: usize,
    ) -> Vec<bool> {
        let out = options.out.as_deref().unwrap_or(Path::new(""));
        let begin = || Recorder::new(system, false);
        let holds = in_parallel(&self.facts, threads, begin, |recorder, fact| fact.holds(recorder));
        let tasks: Vec<(&Stack, &Place)> = stacks.iter().zip(places).collect();
        in_parallel(
            &tasks,
            threads,
            || (),
            |(), (stack, place)| {
                let Some(entry) = self.stacks.get(&place.output) else { return true };
                let is_there =
                    || Stamp::now(system, &out.join(&place.output)) == Some(entry.output);
                entry.task != task_of(stack)
                    || !entry.facts.iter().all(|&fact| holds[fact as usize])
                    || !is_there()
            },
        )
    }

    /// The manifest as text.
    pub(super) fn to_text(&self) -> String {
        let mut text = format!("{HEADER}\n");
        for Fact { question, path, answer } in &self.facts {
            let (letter, path) = (question.letter(), path.display());
            // Writing to a string does not fail.
            let _ = write!(text, "{letter}\t{path}\t{:x}", answer.hash);
            if let Some(stamp) = answer.stamp {
                let _ = write!(text, "\t{}", stamp.to_text());
            }
            text.push('\n');
        }
        let mut stacks: Vec<_> = self.stacks.iter().collect();
        stacks.sort_unstable_by_key(|(path, _)| *path);
        for (path, entry) in stacks {
            let (path, stamp) = (path.display(), entry.output.to_text());
            let _ = write!(text, "s\t{path}\t{:x}\t{stamp}\t", entry.task);
            for fact in &entry.facts {
                let _ = write!(text, "{fact:x} ");
            }
            text.push('\n');
        }
        text
    }

    /// Reads a manifest; `None` if it is not one of this version.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        if lines.next() != Some(HEADER) {
            return None;
        }
        let mut manifest = Self::default();
        for line in lines {
            let mut words = line.split('\t');
            let (letter, path) = (words.next()?, PathBuf::from(words.next()?));
            let hash = u64::from_str_radix(words.next()?, 16).ok()?;
            let stamp = match words.next() {
                Some(word) => Some(Stamp::parse(word)?),
                None => None,
            };
            if letter == "s" {
                let facts: Option<Vec<u32>> = words
                    .next()?
                    .split_ascii_whitespace()
                    .map(|word| u32::from_str_radix(word, 16).ok())
                    .collect();
                let facts = facts?;
                if facts.iter().any(|fact| *fact as usize >= manifest.facts.len()) {
                    return None;
                }
                let entry = Entry { task: hash, output: stamp?, facts };
                manifest.stacks.insert(path, entry);
            } else {
                let question = Question::ALL.into_iter().find(|q| q.letter() == letter)?;
                manifest.facts.push(Fact { question, path, answer: Answer { hash, stamp } });
            }
        }
        Some(manifest)
    }
}

impl Stamp {
    /// The stamp of a file as it is now.
    pub(super) fn now(system: &dyn System, path: &Path) -> Option<Self> {
        let facts = system.metadata(path).ok()?;
        Some(Self { len: facts.len, modified: facts.modified })
    }

    fn to_text(self) -> String {
        format!("{:x}:{:x}", self.len, self.modified.as_nanos())
    }

    fn parse(text: &str) -> Option<Self> {
        let (len, modified) = text.split_once(':')?;
        let nanoseconds = u64::from_str_radix(modified, 16).ok()?;
        let len = u64::from_str_radix(len, 16).ok()?;
        Some(Self { len, modified: Duration::from_nanos(nanoseconds) })
    }
}

/// Maps items on several threads, in order; each thread begins with a state of its own.
fn in_parallel<T: Sync, S, R: Send>(
    items: &[T],
    threads: usize,
    begin: impl Fn() -> S + Sync,
    map: impl Fn(&S, &T) -> R + Sync,
) -> Vec<R> {
    let work = |chunk: &[T]| {
        let state = begin();
        chunk.iter().map(|item| map(&state, item)).collect::<Vec<R>>()
    };
    if items.len() < 64 || threads < 2 {
        return work(items);
    }
    let size = items.len().div_ceil(threads);
    thread::scope(|scope| {
        let work = &work;
        let parts: Vec<_> =
            items.chunks(size).map(|chunk| scope.spawn(move || work(chunk))).collect();
        let mut all = Vec::with_capacity(items.len());
        for part in parts {
            all.extend(part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    })
}
