//! Where the leaves of an output come from, as data and as JSON.

use base_text::{FileId, FileSpan, LineCol, push_json_string};
use kcl_eval::Source;
use kcl_hir::Program;
use rustc_hash::FxHashMap;
use std::fmt::Write as _;
use std::sync::Arc;

pub use kcl_eval::Step;

/// The version of the JSON form.
pub const PROVENANCE_VERSION: u32 = 1;

/// The leaves of an output, in the order of output.
///
/// A leaf is a scalar, `None`, an empty list or an empty dict that is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// The leaves.
    pub leaves: Vec<Leaf>,
}

/// A leaf of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The way to the leaf from the top of the program's result, also if only parts of it
    /// were selected. Behind `manifests.yaml_stream`, the first step is the number of the
    /// document.
    pub path: Vec<Step>,
    /// What set it.
    pub origin: Origin,
    /// What had set it, or the part of the output around it, before and was replaced, the
    /// latest first.
    pub beaten: Vec<Origin>,
}

/// What set a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An expression of an input file.
    Source(Place),
    /// An override (`-O`), as it was written.
    Override {
        /// The override, `a.b=1`.
        spec: Arc<str>,
    },
    /// A top-level argument (`-D`) that the program reads with `option`.
    Option {
        /// The name of the argument.
        name: String,
        /// The expression that reads it.
        place: Place,
    },
    /// No expression: the language itself.
    Builtin,
}

/// A range of text in a file. Lines and columns start at 1, columns count characters, the end
/// is exclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The path of the file as messages show it.
    pub file: Arc<str>,
    /// The line of the start.
    pub line: u32,
    /// The column of the start.
    pub column: u32,
    /// The line of the end.
    pub end_line: u32,
    /// The column of the end.
    pub end_column: u32,
}

impl Provenance {
    /// Finds the places of leaves.
    pub(crate) fn new(programs: &[&Program], leaves: Vec<kcl_eval::Leaf>) -> Self {
        let mut places = Places { programs, files: FxHashMap::default() };
        let leaves = leaves.into_iter().map(|leaf| Leaf {
            path: leaf.path,
            origin: places.origin(leaf.source),
            beaten: leaf.beaten.into_iter().map(|source| places.origin(source)).collect(),
        });
        Self { leaves: leaves.collect() }
    }

    /// The JSON form, without a line end: an object with the `version` and the `leaves`, one
    /// on each line.
    pub fn to_json(&self) -> String {
        let mut out = format!("{{\"version\": {PROVENANCE_VERSION}, \"leaves\": [");
        for (at, leaf) in self.leaves.iter().enumerate() {
            out.push_str(if at > 0 { ",\n  {\"path\": [" } else { "\n  {\"path\": [" });
            for (at, step) in leaf.path.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                match step {
                    Step::Key(key) => push_json_string(&mut out, key),
                    Step::Index(index) => push_number(&mut out, *index as u64),
                }
            }
            out.push_str("], \"origin\": ");
            leaf.origin.push_json(&mut out);
            out.push_str(", \"beaten\": [");
            for (at, origin) in leaf.beaten.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                origin.push_json(&mut out);
            }
            out.push_str("]}");
        }
        out.push_str(if self.leaves.is_empty() { "]}" } else { "\n]}" });
        out
    }
}

impl Origin {
    /// The place in a file, if there is one.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::Source(place) | Self::Option { place, .. } => Some(place),
            Self::Override { .. } | Self::Builtin => None,
        }
    }

    fn push_json(&self, out: &mut String) {
        match self {
            Self::Source(place) => {
                out.push_str("{\"kind\": \"source\"");
                place.push_json(out);
            }
            Self::Override { spec } => {
                out.push_str("{\"kind\": \"override\", \"spec\": ");
                push_json_string(out, spec);
            }
            Self::Option { name, place } => {
                out.push_str("{\"kind\": \"option\", \"name\": ");
                push_json_string(out, name);
                place.push_json(out);
            }
            Self::Builtin => out.push_str("{\"kind\": \"builtin\""),
        }
        out.push('}');
    }
}

impl Place {
    fn push_json(&self, out: &mut String) {
        out.push_str(", \"file\": ");
        push_json_string(out, &self.file);
        let Self { line, column, end_line, end_column, .. } = self;
        for (key, number) in
            [("line", line), ("column", column), ("end_line", end_line), ("end_column", end_column)]
        {
            out.push_str(", \"");
            out.push_str(key);
            out.push_str("\": ");
            push_number(out, u64::from(*number));
        }
    }
}

fn push_number(out: &mut String, number: u64) {
    // Writing to a string can't fail.
    let _ = write!(out, "{number}");
}

/// Finds places in the files of programs.
struct Places<'p> {
    programs: &'p [&'p Program],
    files: FxHashMap<(usize, FileId), FilePlaces>,
}

struct FilePlaces {
    path: Arc<str>,
    /// The offset that was asked for last and its place: leaves mostly come in the order of
    /// the text, so a long line is not counted from its start each time.
    last: (u32, LineCol),
}

impl Places<'_> {
    fn origin(&mut self, source: Source) -> Origin {
        match source {
            Source::Text { program, at } => {
                self.at(program, at).map_or(Origin::Builtin, Origin::Source)
            }
            Source::Override(spec) => Origin::Override { spec },
            Source::Option { name, program, at } => match self.at(program, at) {
                Some(place) => Origin::Option { name, place },
                None => Origin::Builtin,
            },
            Source::Builtin => Origin::Builtin,
        }
    }

    fn at(&mut self, program: usize, at: FileSpan) -> Option<Place> {
        let source = self.programs.get(program)?.files.get(at.file.0 as usize)?;
        let known = self.files.entry((program, at.file)).or_insert_with(|| FilePlaces {
            path: source.path.as_str().into(),
            last: (0, LineCol { line: 1, col: 1 }),
        });
        let mut find = |offset: u32| {
            let (last, place) = known.last;
            let between = source.text.get(last as usize..offset as usize);
            let found = match between {
                Some(between) if !between.contains('\n') => {
                    LineCol { col: place.col + between.chars().count() as u32, ..place }
                }
                _ => source.line_col(offset),
            };
            known.last = (offset, found);
            found
        };
        let (start, end) = (find(at.span.start), find(at.span.end));
        Some(Place {
            file: known.path.clone(),
            line: start.line,
            column: start.col,
            end_line: end.line,
            end_column: end.col,
        })
    }
}
