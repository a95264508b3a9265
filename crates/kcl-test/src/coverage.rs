//! What of the source ran in tests.
//!
//! The source is read into parts ([`parts`]): schemas, lambdas, the two results of each branch and
//! of each rule. Tests say how often each ran ([`Ran`]).

mod html;
mod lcov;
mod parts;
mod text;

pub use html::Page;

use crate::find::{is_test, source_folders};
use base_system::System;
use base_text::Span;
use kcl_driver::Hit;
use kcl_hir::Program;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What of the source files of a test run ran.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// The files in the order of their paths; those without parts are left out.
    pub files: Vec<FileCoverage>,
}

/// What of a file ran.
#[derive(Clone, Debug)]
pub struct FileCoverage {
    /// The file, as messages show it.
    pub path: String,
    /// Its text.
    pub text: String,
    /// Its parts in the order of the text.
    pub parts: Vec<Part>,
}

/// A part of a file that tests can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it is.
    pub kind: PartKind,
    /// The name of a schema or lambda, or the text of a condition.
    pub name: String,
    /// Where it is.
    pub span: Span,
    /// Its first line.
    pub line: u32,
    /// How often a condition held, a lambda was called or a schema had an instance.
    pub yes: u64,
    /// How often a condition did not hold.
    pub no: u64,
}

/// What a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PartKind {
    /// A schema, mixin or rule.
    Schema,
    /// A lambda.
    Lambda,
    /// The condition of an `if`.
    Branch,
    /// A line of a `check` block, or an `assert`.
    Rule,
}

/// How much of something ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// What ran.
    pub covered: usize,
    /// All of it.
    pub total: usize,
}

impl PartKind {
    /// All kinds, in the order of reports.
    pub const ALL: [Self; 4] = [Self::Schema, Self::Lambda, Self::Branch, Self::Rule];

    /// The kind in reports.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Schema => "schemas",
            Self::Lambda => "lambdas",
            Self::Branch => "branches",
            Self::Rule => "rules",
        }
    }
}

impl Part {
    /// A schema or lambda counts once, a condition for each of its results.
    pub fn tally(&self) -> Tally {
        let (yes, no) = (usize::from(self.yes > 0), usize::from(self.no > 0));
        match self.kind {
            PartKind::Schema | PartKind::Lambda => Tally { covered: yes, total: 1 },
            PartKind::Branch | PartKind::Rule => Tally { covered: yes + no, total: 2 },
        }
    }

    /// How often it ran, whatever the result.
    pub(crate) fn runs(&self) -> u64 {
        self.yes.saturating_add(self.no)
    }

    /// Says what no test did; `None` if all of it ran.
    pub fn missing(&self) -> Option<String> {
        let Tally { covered, total } = self.tally();
        if covered == total {
            return None;
        }
        let name = &self.name;
        Some(match (self.kind, self.yes > 0, self.no > 0) {
            (PartKind::Schema, ..) => format!("`{name}` has no instance"),
            (PartKind::Lambda, ..) => format!("`{name}` is never called"),
            (PartKind::Branch, true, _) => format!("`{name}` is never false"),
            (PartKind::Branch, _, true) => format!("`{name}` is never true"),
            (PartKind::Rule, true, _) => format!("the rule `{name}` is never violated"),
            (PartKind::Rule, _, true) => format!("the rule `{name}` never holds"),
            _ => format!("`{name}` is never evaluated"),
        })
    }
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.covered += other.covered;
        self.total += other.total;
    }

    /// The share in tenths of a percent, rounded down; all of nothing is everything.
    pub fn per_mille(self) -> usize {
        (self.covered * 1000).checked_div(self.total).unwrap_or(1000)
    }

    /// The share, such as `91.7 %`.
    pub fn percent(self) -> String {
        let per_mille = self.per_mille();
        format!("{}.{} %", per_mille / 10, per_mille % 10)
    }
}

impl FileCoverage {
    /// How much of the parts of some kind ran; of all kinds if `None`.
    pub fn tally(&self, kind: Option<PartKind>) -> Tally {
        let mut tally = Tally::default();
        for part in self.parts.iter().filter(|part| kind.is_none_or(|kind| part.kind == kind)) {
            tally.add(part.tally());
        }
        tally
    }

    /// What no test did: lines and messages.
    pub fn missing(&self) -> impl Iterator<Item = (u32, String)> {
        self.parts.iter().filter_map(|part| Some((part.line, part.missing()?)))
    }

    /// How often each line with parts ran.
    pub(crate) fn lines(&self) -> BTreeMap<u32, u64> {
        let mut lines = BTreeMap::new();
        for part in &self.parts {
            let runs: &mut u64 = lines.entry(part.line).or_default();
            *runs = part.runs().max(*runs);
        }
        lines
    }
}

impl Coverage {
    /// How much of the parts of some kind ran; of all kinds if `None`.
    pub fn tally(&self, kind: Option<PartKind>) -> Tally {
        let mut tally = Tally::default();
        self.files.iter().for_each(|file| tally.add(file.tally(kind)));
        tally
    }

    /// The report as JSON.
    pub fn to_json(&self) -> Value {
        let files = self.files.iter().map(|file| {
            let missing = file
                .missing()
                .map(|(line, message)| json!({"line": line, "message": message}))
                .collect::<Vec<_>>();
            let mut value = tallies(&|kind| file.tally(kind));
            value["path"] = file.path.clone().into();
            value["missing"] = missing.into();
            value
        });
        let files = files.collect::<Vec<_>>();
        let mut value = tallies(&|kind| self.tally(kind));
        value["files"] = files.into();
        value
    }
}

fn tallies(tally: &dyn Fn(Option<PartKind>) -> Tally) -> Value {
    #[expect(clippy::cast_precision_loss, reason = "a per mille figure is small")]
    let mut value = json!({"percent": tally(None).per_mille() as f64 / 10.0});
    for kind in PartKind::ALL {
        let Tally { covered, total } = tally(Some(kind));
        value[kind.plural()] = json!({"covered": covered, "total": total});
    }
    value
}

/// What ran in one test or several, by file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ran {
    files: BTreeMap<PathBuf, BTreeMap<Span, (u64, u64)>>,
}

impl Ran {
    /// Takes what ran in a program.
    pub(crate) fn new(hits: &[Hit], program: &Program) -> Self {
        let mut ran = Self::default();
        for Hit { place, yes, no } in hits {
            let path = Path::new(&program.file(place.file).path);
            if is_test(path) {
                continue;
            }
            match ran.files.get_mut(path) {
                Some(file) => drop(file.insert(place.span, (*yes, *no))),
                None => {
                    let file = BTreeMap::from([(place.span, (*yes, *no))]);
                    ran.files.insert(path.to_path_buf(), file);
                }
            }
        }
        ran
    }

    /// Adds what ran in another test.
    pub(crate) fn add(&mut self, other: Self) {
        for (path, hits) in other.files {
            let file = self.files.entry(path).or_default();
            for (span, (yes, no)) in hits {
                let sum = file.entry(span).or_default();
                *sum = (sum.0.saturating_add(yes), sum.1.saturating_add(no));
            }
        }
    }
}

/// Reads the source files of folders, and says what of them ran. Files that no test loads count,
/// too.
pub(crate) fn collect(system: &dyn System, patterns: &[String], ran: &Ran) -> Coverage {
    let here = system.current_dir().unwrap_or_default();
    let nothing = BTreeMap::new();
    let mut paths: Vec<PathBuf> = source_folders(system, patterns)
        .iter()
        .flat_map(|folder| system.read_dir(folder).unwrap_or_default())
        .filter(|path| path.extension().is_some_and(|it| it == "k") && !is_test(path))
        .collect();
    paths.sort();
    paths.dedup();
    let mut files = Vec::new();
    for path in paths {
        let Ok(text) = system.read_to_string(&path) else { continue };
        let hits = ran.files.get(&path).unwrap_or(&nothing);
        let parts = parts::read(&text, hits);
        if !parts.is_empty() {
            let shown = path.strip_prefix(&here).unwrap_or(&path).display().to_string();
            files.push(FileCoverage { path: shown, text, parts });
        }
    }
    Coverage { files }
}
