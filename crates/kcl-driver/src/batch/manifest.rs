//! The result of a batch, as the next one needs to know it.
//!
//! A text file in the output folder: a line with the version, a line per fact, a line per stack
//! with the facts it relies on, a last line. Lines are read when they are needed, on several
//! threads, and go as they are into the next file; a line that can't be read stands for
//! something that has changed.

use super::check::Checker;
use super::facts::{Answer, Asked, Change, Fact, Question, Stamp};
use super::place::Place;
use super::ranges::{Ranges, push_ranges};
use super::{BatchOptions, Stack};
use crate::options::Confinement;
use base_system::System;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The file in the output folder.
pub(super) const MANIFEST_FILE: &str = ".kcl-batch";

/// How the first line begins: another version of the tool may give another result. The number of
/// facts that were in use follows.
const HEADER: &str = concat!("kcl-batch 2 ", env!("CARGO_PKG_VERSION"), " ");

/// The last line.
const END: &str = "end\n";

/// How many facts without use are borne before a manifest is written anew.
const SLACK: usize = 1000;

/// How many neighbouring facts or stacks a thread checks at a time: neighbours share folders.
const CHUNK: usize = 256;

/// What a batch relied on, as lines of its file.
#[derive(Debug, Default)]
pub(super) struct Manifest<'t> {
    facts: Vec<&'t str>,
    stacks: FxHashMap<&'t str, &'t str>,
    /// How many facts there were when all of them were in use.
    n_used: usize,
}

/// What a stack relied on.
struct Entry<'t> {
    /// What was to be run, as a number.
    task: u64,
    /// The result.
    output: Stamp,
    facts: Ranges<'t>,
}

/// A stack that was compiled: the place and stamp of its result, and what it relies on.
pub(super) struct Finished {
    pub(super) path: PathBuf,
    pub(super) task: u64,
    pub(super) output: Stamp,
    pub(super) asked: Asked,
}

/// What is to be run, as a number.
pub(super) fn task_of(stack: &Stack, confinement: &Confinement) -> u64 {
    let mut hasher = FxHasher::default();
    (stack.folder.as_os_str(), &stack.inputs, &stack.arguments, confinement).hash(&mut hasher);
    hasher.finish()
}

impl<'t> Manifest<'t> {
    /// Reads a manifest; `None` if it is not a whole one of this version.
    pub(super) fn parse(text: &'t str) -> Option<Self> {
        let (head, rest) = text.strip_suffix(END)?.strip_prefix(HEADER)?.split_once('\n')?;
        let mut manifest = Self { n_used: head.parse().ok()?, ..Self::default() };
        manifest.facts.reserve(manifest.n_used.min(rest.len()));
        for line in lines(rest) {
            if let Some(stack) = line.strip_prefix("s\t") {
                manifest.stacks.insert(stack.split('\t').next().unwrap_or_default(), line);
            } else {
                manifest.facts.push(line);
            }
        }
        Some(manifest)
    }

    fn entry(&self, place: &Place) -> Option<Entry<'t>> {
        parse_entry(self.stacks.get(place.output.to_str()?)?)
    }

    /// Says of each stack whether something that it relies on has changed.
    pub(super) fn reached_by_changes(
        &self,
        system: &(dyn System + Sync),
        stacks: &[Stack],
        places: &[Place],
        options: &BatchOptions,
    ) -> Vec<bool> {
        let out = options.out.as_deref().unwrap_or(Path::new(""));
        let pool = options.pool(CHUNK);
        let begin = || Checker::new(system);
        let holds = pool.map(self.facts.len(), begin, |checker, at| {
            parse_fact(self.facts[at]).is_some_and(|fact| checker.holds(&fact))
        });
        let n_changed = running_count(holds.into_iter().map(|holds| !holds));
        let is_reached = |at: usize| {
            let (stack, place) = (&stacks[at], &places[at]);
            let Some(entry) = self.entry(place) else { return true };
            let is_there = || Stamp::now(system, &out.join(&place.output)) == Some(entry.output);
            entry.task != task_of(stack, &options.confinement)
                || has_any(&n_changed, entry.facts) != Some(false)
                || !is_there()
        };
        pool.map(stacks.len(), || (), |(), at| is_reached(at))
    }

    /// Says of each stack whether a change touches what it relied on; `None` if it is not known.
    pub(super) fn touched_by(
        &self,
        change: &Change,
        stacks: &[Stack],
        places: &[Place],
        confinement: &Confinement,
    ) -> Vec<Option<bool>> {
        let touches = |line: &&str| {
            parse_fact(line).is_none_or(|fact| change.touches(fact.question, fact.path))
        };
        let n_touched = running_count(self.facts.iter().map(touches));
        let of_stack = |(stack, place): (&Stack, &Place)| {
            let entry = self.entry(place)?;
            if entry.task != task_of(stack, confinement) {
                return None;
            }
            has_any(&n_touched, entry.facts)
        };
        stacks.iter().zip(places).map(of_stack).collect()
    }

    /// The text of the next manifest: what was known of the stacks that were not compiled again,
    /// and what each thread found out about the others. Stacks whose paths can't be written on
    /// a line are left out.
    pub(super) fn updated(
        &self,
        again: &FxHashSet<&OsStr>,
        done: &[(Vec<Fact<PathBuf>>, Vec<Finished>)],
    ) -> String {
        let mut writer = Writer { facts: self.facts.clone(), ..Writer::default() };
        let stays = |path: &str| !again.contains(OsStr::new(path));
        let kept = self.stacks.iter().filter(|(path, _)| stays(path));
        writer.stacks.extend(kept.map(|(&path, &line)| (path, Cow::Borrowed(line))));
        writer.know_old_facts(done);
        for (facts, finished) in done {
            writer.add(facts, finished);
        }
        let n_used = match self.n_used {
            0 => writer.facts.len() + writer.new_facts.len(),
            n => n,
        };
        writer.into_text(n_used)
    }

    /// Whether there may be many facts that no stack relies on.
    pub(super) fn is_loose(&self) -> bool {
        self.facts.len() > self.n_used + self.n_used / 4 + SLACK
    }

    /// The same without facts that no stack relies on.
    pub(super) fn compacted(&self) -> Option<String> {
        let mut numbers: Vec<Option<u32>> = vec![None; self.facts.len()];
        let mut same: FxHashMap<&str, u32> = FxHashMap::default();
        let mut writer = Writer::default();
        let mut stacks: Vec<(&str, &str)> = self.stacks.iter().map(|(&a, &b)| (a, b)).collect();
        stacks.sort_unstable();
        for (path, line) in stacks {
            let Some(entry) = parse_entry(line) else { continue };
            let mut own = Vec::new();
            for fact in entry.facts.flat_map(|(first, last)| first..=last) {
                let line = self.facts.get(fact as usize)?;
                let number = numbers.get_mut(fact as usize)?.get_or_insert_with(|| {
                    *same.entry(line).or_insert_with(|| {
                        writer.facts.push(line);
                        writer.facts.len() as u32 - 1
                    })
                });
                own.push(*number);
            }
            let line = entry_line(path, entry.task, entry.output, &mut own);
            writer.stacks.push((path, Cow::Owned(line)));
        }
        let n_used = writer.facts.len();
        Some(writer.into_text(n_used))
    }
}

/// A manifest that is to be written.
#[derive(Default)]
struct Writer<'t> {
    facts: Vec<&'t str>,
    /// The facts that follow.
    new_facts: Vec<String>,
    /// The numbers of facts by the hash of what they say.
    numbers: FxHashMap<u64, u32>,
    stacks: Vec<(&'t str, Cow<'t, str>)>,
}

impl<'t> Writer<'t> {
    /// Finds those facts among the old ones that were found out again.
    fn know_old_facts(&mut self, done: &[(Vec<Fact<PathBuf>>, Vec<Finished>)]) {
        if self.facts.is_empty() {
            return;
        }
        let facts = done.iter().flat_map(|(facts, _)| facts);
        let new: FxHashSet<&str> = facts.filter_map(|fact| fact.path.to_str()).collect();
        for (at, line) in self.facts.iter().enumerate() {
            if Words(line).nth(1).is_some_and(|path| new.contains(path)) {
                self.numbers.insert(hash_of(line), at as u32);
            }
        }
    }

    /// Adds the stacks that one thread compiled.
    fn add(&mut self, facts: &[Fact<PathBuf>], finished: &'t [Finished]) {
        let mut numbers: Vec<Option<u32>> = vec![None; facts.len()];
        for Finished { path, task, output, asked } in finished {
            if asked.is_volatile {
                continue;
            }
            let mut own = Vec::with_capacity(asked.facts.len());
            for &fact in &asked.facts {
                let number = &mut numbers[fact as usize];
                own.push(*number.get_or_insert_with(|| self.number(&facts[fact as usize])));
            }
            let Some(path) = path.to_str().filter(|path| is_writable(path)) else { continue };
            if own.iter().all(|number| *number != UNWRITABLE) {
                let line = entry_line(path, *task, *output, &mut own);
                self.stacks.push((path, Cow::Owned(line)));
            }
        }
    }

    fn number(&mut self, fact: &Fact<PathBuf>) -> u32 {
        let Some(line) = fact_line(fact) else { return UNWRITABLE };
        let next = (self.facts.len() + self.new_facts.len()) as u32;
        let number = *self.numbers.entry(hash_of(&line)).or_insert(next);
        if number == next {
            self.new_facts.push(line);
        }
        number
    }

    fn into_text(mut self, n_used: usize) -> String {
        self.stacks.sort_unstable_by_key(|(path, _)| *path);
        let lengths = self.facts.iter().map(|line| line.len() + 1).sum::<usize>()
            + self.new_facts.iter().map(|line| line.len() + 1).sum::<usize>()
            + self.stacks.iter().map(|(_, line)| line.len() + 1).sum::<usize>();
        let mut text = String::with_capacity(lengths + 64);
        text.push_str(HEADER);
        text.push_str(&n_used.to_string());
        text.push('\n');
        let new = self.new_facts.iter().map(String::as_str);
        let stacks = self.stacks.iter().map(|(_, line)| &**line);
        for line in self.facts.iter().copied().chain(new).chain(stacks) {
            text.push_str(line);
            text.push('\n');
        }
        text.push_str(END);
        text
    }
}

/// The number of a fact that can't be written on a line.
const UNWRITABLE: u32 = u32::MAX;

fn hash_of(line: &str) -> u64 {
    let mut hasher = FxHasher::default();
    line.hash(&mut hasher);
    hasher.finish()
}

/// The lines of a text; each ends with a line break.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut start = 0;
    memchr::memchr_iter(b'\n', text.as_bytes()).map(move |end| {
        let line = &text[start..end];
        start = end + 1;
        line
    })
}

/// For each position, how many before it are so.
fn running_count(items: impl Iterator<Item = bool>) -> Vec<u32> {
    let mut count = 0;
    let counted = items.map(|item| {
        count += u32::from(item);
        count
    });
    std::iter::once(0).chain(counted).collect()
}

/// Whether any fact of the ranges is so; `None` if there are no such facts.
fn has_any(counts: &[u32], facts: Ranges<'_>) -> Option<bool> {
    let mut any = false;
    for (first, last) in facts {
        any |= counts.get(last as usize + 1)? != counts.get(first as usize)?;
    }
    Some(any)
}

fn fact_line(Fact { question, path, answer }: &Fact<PathBuf>) -> Option<String> {
    let path = path.to_str().filter(|path| is_writable(path))?;
    let mut line = String::with_capacity(path.len() + 48);
    line.push_str(question.letter());
    line.push('\t');
    line.push_str(path);
    line.push('\t');
    push_hex(&mut line, answer.hash);
    if let Some(stamp) = answer.stamp {
        stamp.push_to(&mut line);
    }
    Some(line)
}

fn parse_fact(line: &str) -> Option<Fact<&Path>> {
    let mut words = Words(line);
    let letter = words.next()?;
    let question = Question::ALL.into_iter().find(|q| q.letter() == letter)?;
    let path = Path::new(words.next()?);
    let hash = parse_hex(words.next()?)?;
    let stamp = match words.next() {
        Some(word) => Some(Stamp::parse(word)?),
        None => None,
    };
    Some(Fact { question, path, answer: Answer { hash, stamp } })
}

fn entry_line(path: &str, task: u64, output: Stamp, facts: &mut [u32]) -> String {
    let mut line = String::with_capacity(path.len() + 128);
    line.push_str("s\t");
    line.push_str(path);
    line.push('\t');
    push_hex(&mut line, task);
    output.push_to(&mut line);
    line.push('\t');
    facts.sort_unstable();
    push_ranges(&mut line, facts);
    line
}

fn parse_entry(line: &str) -> Option<Entry<'_>> {
    let mut words = Words(line);
    words.next()?;
    words.next()?;
    let task = parse_hex(words.next()?)?;
    let output = Stamp::parse(words.next()?)?;
    Some(Entry { task, output, facts: Ranges::parse(words.next()?) })
}

/// The words of a line, with tabs between.
struct Words<'t>(&'t str);

impl<'t> Iterator for Words<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        if self.0.is_empty() {
            return None;
        }
        let end = memchr::memchr(b'\t', self.0.as_bytes()).unwrap_or(self.0.len());
        let word = &self.0[..end];
        self.0 = self.0.get(end + 1..).unwrap_or_default();
        Some(word)
    }
}

impl Stamp {
    /// The stamp of a file as it is now.
    pub(super) fn now(system: &dyn System, path: &Path) -> Option<Self> {
        system.metadata(path).ok().map(Self::from)
    }

    fn push_to(self, text: &mut String) {
        text.push('\t');
        push_hex(text, self.len);
        text.push(':');
        push_hex(text, u64::try_from(self.modified.as_nanos()).unwrap_or(u64::MAX));
    }

    fn parse(text: &str) -> Option<Self> {
        let (len, modified) = text.split_once(':')?;
        let (len, nanoseconds) = (parse_hex(len)?, parse_hex(modified)?);
        Some(Self { len, modified: Duration::from_nanos(nanoseconds) })
    }
}

/// Whether a path can be written on a line and read again.
fn is_writable(path: &str) -> bool {
    !path.bytes().any(|byte| matches!(byte, b'\t' | b'\n' | b'\r'))
}

/// Reads a number in hexadecimal, as [`push_hex`] writes it.
fn parse_hex(digits: &str) -> Option<u64> {
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    digits.bytes().try_fold(0, |number, byte| {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            _ => return None,
        };
        Some(number << 4 | u64::from(digit))
    })
}

/// Adds a number in hexadecimal; a manifest has very many.
pub(super) fn push_hex(text: &mut String, number: u64) {
    let n_digits = (u64::BITS - number.leading_zeros()).div_ceil(4).max(1);
    for at in (0..n_digits).rev() {
        let digit = (number >> (at * 4) & 0xf) as u32;
        text.push(char::from_digit(digit, 16).unwrap_or('0'));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    #[test]
    fn unused_facts_are_dropped_when_they_are_many() {
        let mut text = format!("{HEADER}3\n");
        for at in 0..SLACK + 5 {
            let _ = writeln!(text, "k\t/f{}\t0", at % (SLACK + 4));
        }
        let last = SLACK + 4;
        let _ = write!(text, "s\ta.yaml\t1\t2:3\t0-1 {last:x}\ns\tb.yaml\t1\t2:3\t1-2\n{END}");
        let manifest = Manifest::parse(&text).unwrap();
        assert!(manifest.is_loose());
        let short = manifest.compacted().unwrap();
        let lines = "k\t/f0\t0\nk\t/f1\t0\nk\t/f2\t0\n";
        let stacks = "s\ta.yaml\t1\t2:3\t0-1\ns\tb.yaml\t1\t2:3\t1-2\n";
        assert_eq!(short, format!("{HEADER}3\n{lines}{stacks}{END}"));
        assert!(!Manifest::parse(&short).unwrap().is_loose());
    }

    #[test]
    fn a_cut_manifest_is_none() {
        let text = format!("{HEADER}0\ns\ta.yaml\t1\t2:3\t\n{END}");
        assert!(Manifest::parse(&text).is_some());
        for end in 0..text.len() {
            assert!(Manifest::parse(&text[..end]).is_none(), "{end}");
        }
    }
}
