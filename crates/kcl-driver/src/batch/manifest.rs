//! The result of a batch, as the next one needs to know it.
//!
//! A text file in the output folder: a line with the version, a line per fact, a line per stack
//! with the facts it relies on. One that can't be read counts as none.

use super::facts::{Answer, Asked, Fact, Question, Recorder, Stamp};
use super::place::Place;
use super::{BatchOptions, Stack};
use base_system::System;
use rustc_hash::{FxHashMap, FxHasher};
use std::ffi::OsString;
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
    stacks: FxHashMap<OsString, Entry>,
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
                self.stacks.remove(place.output.as_os_str());
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
            self.stacks.insert(stack.path.clone().into(), entry);
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
        let mut used = vec![false; self.facts.len()];
        let all = self.stacks.values().flat_map(|entry| &entry.facts);
        all.for_each(|fact| used[*fact as usize] = true);
        if used.iter().all(|used| *used) {
            return;
        }
        let facts = std::mem::take(&mut self.facts);
        let mut numbers = vec![0; facts.len()];
        for (at, fact) in facts.into_iter().enumerate() {
            if used[at] {
                numbers[at] = self.facts.len() as u32;
                self.facts.push(fact);
            }
        }
        let all = self.stacks.values_mut().flat_map(|entry| &mut entry.facts);
        all.for_each(|fact| *fact = numbers[*fact as usize]);
    }

    /// The facts that a stack relied on; `None` if it is not known or was something else.
    pub(super) fn facts_of(&self, stack: &Stack, place: &Place) -> Option<Vec<&Fact>> {
        let entry = self
            .stacks
            .get(place.output.as_os_str())
            .filter(|entry| entry.task == task_of(stack))?;
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
                let Some(entry) = self.stacks.get(place.output.as_os_str()) else { return true };
                let is_there =
                    || Stamp::now(system, &out.join(&place.output)) == Some(entry.output);
                entry.task != task_of(stack)
                    || !entry.facts.iter().all(|&fact| holds[fact as usize])
                    || !is_there()
            },
        )
    }

    /// The manifest as text. Stacks whose paths can't be written on a line are left out.
    pub(super) fn to_text(&self) -> String {
        let mut text = String::with_capacity(64 + self.facts.len() * 96 + self.stacks.len() * 192);
        text.push_str(HEADER);
        text.push('\n');
        let mut is_written = vec![true; self.facts.len()];
        for (at, Fact { question, path, answer }) in self.facts.iter().enumerate() {
            text.push_str(question.letter());
            is_written[at] = push_path(&mut text, path);
            text.push('\t');
            push_hex(&mut text, answer.hash);
            if let Some(stamp) = answer.stamp {
                stamp.push_to(&mut text);
            }
            text.push('\n');
        }
        let mut stacks: Vec<_> = self.stacks.iter().collect();
        stacks.sort_unstable_by_key(|(path, _)| *path);
        for (path, entry) in stacks {
            let start = text.len();
            text.push('s');
            let is_whole = push_path(&mut text, Path::new(path));
            text.push('\t');
            push_hex(&mut text, entry.task);
            entry.output.push_to(&mut text);
            text.push('\t');
            for &fact in &entry.facts {
                push_hex(&mut text, u64::from(fact));
                text.push(' ');
            }
            text.push('\n');
            if !is_whole || entry.facts.iter().any(|fact| !is_written[*fact as usize]) {
                text.truncate(start);
            }
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
                manifest.stacks.insert(path.into(), entry);
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

    fn push_to(self, text: &mut String) {
        text.push('\t');
        push_hex(text, self.len);
        text.push(':');
        push_hex(text, u64::try_from(self.modified.as_nanos()).unwrap_or(u64::MAX));
    }

    fn parse(text: &str) -> Option<Self> {
        let (len, modified) = text.split_once(':')?;
        let nanoseconds = u64::from_str_radix(modified, 16).ok()?;
        let len = u64::from_str_radix(len, 16).ok()?;
        Some(Self { len, modified: Duration::from_nanos(nanoseconds) })
    }
}

/// Adds a path behind a tab; says whether it can be read again.
fn push_path(text: &mut String, path: &Path) -> bool {
    text.push('\t');
    match path.to_str() {
        Some(path) if !path.contains(['\t', '\n', '\r']) => {
            text.push_str(path);
            true
        }
        _ => false,
    }
}

/// Adds a number in hexadecimal; a manifest has very many.
fn push_hex(text: &mut String, number: u64) {
    let n_digits = (u64::BITS - number.leading_zeros()).div_ceil(4).max(1);
    for at in (0..n_digits).rev() {
        let digit = (number >> (at * 4) & 0xf) as u32;
        text.push(char::from_digit(digit, 16).unwrap_or('0'));
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
