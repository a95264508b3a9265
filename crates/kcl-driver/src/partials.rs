//! What a program sets, as data: the values that are written, with their operators and places.

use crate::compile::load_job;
use crate::error::RunError;
use crate::evaluate::{Before, check_and_evaluate};
use crate::options::RunOptions;
use crate::prepare::prepare;
use crate::session::Session;
use crate::stack::with_large_stack;
use base_diag::Diagnostic;
use base_system::System;
use base_text::{FileId, LineIndex};
use kcl_eval::{Giver, Options as EvalOptions, Provenance, Tracking};
use kcl_hir::Program;
use kcl_value::{Dict, MergeOp, Origin, Value};
use rustc_hash::FxHashMap;
use serde_json::{Map, Number, Value as Json};
use std::sync::Arc;

/// How deep values may nest.
const MAX_DEPTH: usize = 64;

/// One value that a program sets.
#[derive(Clone, Debug, PartialEq)]
pub struct PartialEntry {
    /// The key.
    pub key: String,
    /// How it meets other values of the key.
    pub op: PartialOp,
    /// The value.
    pub value: PartialValue,
    /// Where it is written; `None` if no expression set it.
    pub place: Option<PartialPlace>,
}

/// How a value meets others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialOp {
    /// `:` merges it.
    Merge,
    /// `=` puts it in their place.
    Replace,
    /// `+=` appends it.
    Append,
}

/// A value that a program sets.
#[derive(Clone, Debug, PartialEq)]
pub enum PartialValue {
    /// `Undefined`: what others set is removed.
    Undefined,
    /// A dict, or an instance without its defaults.
    Map(Vec<PartialEntry>),
    /// A list, each item as data, with the entries of those that are maps.
    List(Vec<PartialValue>),
    /// A scalar.
    Data(Json),
}

impl PartialValue {
    /// Returns the value as data; what is undefined is left out.
    pub fn to_json(&self) -> Option<Json> {
        match self {
            Self::Undefined => None,
            Self::Data(value) => Some(value.clone()),
            Self::List(items) => Some(items.iter().filter_map(Self::to_json).collect()),
            Self::Map(entries) => {
                let mut map = Map::new();
                for entry in entries {
                    if let Some(value) = entry.value.to_json() {
                        map.insert(entry.key.clone(), value);
                    }
                }
                Some(Json::Object(map))
            }
        }
    }
}

/// A place in a file. Lines and columns start at 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartialPlace {
    /// The path of the file as messages show it.
    pub file: Arc<str>,
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// Evaluates a program and returns what it sets: names and types are checked, but there are no
/// defaults, and neither required attributes nor `check` count. With [`RunOptions::roots`], only
/// these variables are evaluated.
///
/// # Errors
///
/// If the program is not valid, or a value is nested too deeply.
pub fn partial_entries(
    session: &Session,
    system: &(dyn System + Sync),
    options: &RunOptions,
) -> Result<Vec<PartialEntry>, Box<RunError>> {
    with_large_stack(|| {
        let eval = EvalOptions {
            partial: true,
            complete: false,
            tracking: Tracking::Givers,
            ..options.eval
        };
        let job = prepare(system, &RunOptions { eval, ..options.clone() })?;
        let loaded = load_job(session, system, &job)?;
        let before = Before::Session(session);
        let (program, evaluated) = check_and_evaluate(system, &job, loaded, before)?;
        let mut reader = Reader {
            provenance: &evaluated.provenance,
            program: &program,
            files: FxHashMap::default(),
        };
        let entries = match &evaluated.value {
            Value::Dict(dict) => reader.entries(dict, 0),
            _ => Some(Vec::new()),
        };
        entries.ok_or_else(|| {
            let message = format!("a value is nested too deeply: more than {MAX_DEPTH} levels");
            let severity = base_diag::Severity::Error;
            let found = Diagnostic::new(severity, "E3M38", "EvaluationError", None, message);
            RunError::new(vec![found], program.clone())
        })
    })
}

struct Reader<'p> {
    provenance: &'p Provenance,
    program: &'p Program,
    files: FxHashMap<FileId, (Arc<str>, LineIndex)>,
}

impl Reader<'_> {
    /// Reads entries; `None` if they nest too deeply.
    fn entries(&mut self, dict: &Dict, depth: usize) -> Option<Vec<PartialEntry>> {
        let mut entries = Vec::with_capacity(dict.len());
        for entry in dict {
            let op = match entry.slot.op() {
                MergeOp::Union => PartialOp::Merge,
                MergeOp::Override => PartialOp::Replace,
                MergeOp::Insert => PartialOp::Append,
            };
            let value = self.value(&entry.value, depth + 1)?;
            let place = self.place(entry.origin);
            entries.push(PartialEntry { key: entry.key.to_string(), op, value, place });
        }
        Some(entries)
    }

    fn value(&mut self, value: &Value, depth: usize) -> Option<PartialValue> {
        if depth > MAX_DEPTH {
            return None;
        }
        Some(match value {
            Value::Undefined => PartialValue::Undefined,
            Value::Dict(dict) => PartialValue::Map(self.entries(dict, depth)?),
            Value::Schema(schema) => PartialValue::Map(self.entries(&schema.attrs, depth)?),
            Value::List(list) => {
                let items = list.items.iter().map(|item| self.value(item, depth + 1));
                PartialValue::List(items.collect::<Option<_>>()?)
            }
            Value::None | Value::Func(_) => PartialValue::Data(Json::Null),
            Value::Bool(flag) => PartialValue::Data(Json::Bool(*flag)),
            Value::Int(number) => PartialValue::Data(Json::from(*number)),
            Value::Float(number) => PartialValue::Data(float(*number)),
            Value::Unit(number) => PartialValue::Data(float(number.value)),
            Value::Str(text) => PartialValue::Data(Json::String(text.to_string())),
        })
    }

    fn place(&mut self, origin: Origin) -> Option<PartialPlace> {
        let Giver::Text { at, .. } = self.provenance.find_giver(&[self.program], origin)? else {
            return None;
        };
        let source = self.program.files.get(at.file.0 as usize)?;
        let (file, lines) = self
            .files
            .entry(at.file)
            .or_insert_with(|| (source.path.as_str().into(), LineIndex::new(&source.text)));
        let found = lines.line_col(&source.text, at.span.start);
        Some(PartialPlace { file: Arc::clone(file), line: found.line, column: found.col })
    }
}

fn float(number: f64) -> Json {
    Number::from_f64(number).map_or(Json::Null, Json::Number)
}
