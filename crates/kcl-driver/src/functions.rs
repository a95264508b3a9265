//! Functions of a program that are called many times with data.

use crate::compile::{Compiled, Knowledge, check, load_job};
use crate::error::RunError;
use crate::evaluate::request;
use crate::options::RunOptions;
use crate::partials::PartialPlace;
use crate::prepare::prepare;
use crate::session::Session;
use crate::stack::with_large_stack;
use base_diag::Diagnostic;
use base_system::{MemorySystem, System};
use base_text::{FileSpan, LineIndex};
use kcl_eval::{CallLimits, Calls};
use kcl_hir::Program;
use kcl_value::{Dict, Str, Value};
use serde_json::{Map, Number, Value as Json};
use std::fmt;

/// How deep data may nest.
const MAX_DEPTH: usize = 64;
/// How many values the result of a call, or the data of a program, may have.
const MAX_VALUES: usize = 100_000;

/// Evaluates a program once, and calls `work`, which can call the functions in it.
///
/// The program is confined: it sees neither files nor the environment, the clock or random numbers,
/// so that the same arguments always give the same result.
///
/// ```
/// use base_system::MemorySystem;
/// use kcl_driver::{CallLimits, RunOptions, with_functions};
/// use serde_json::json;
///
/// let text = "policy = {level = 'deny', find = lambda it { it.replicas > 3 }}";
/// let system = MemorySystem::new().with_file("/p/main.k", text);
/// let limits = CallLimits { steps: 1000, memory: 100_000 };
/// let found = with_functions(&system, &RunOptions::files(["/p/main.k"]), |functions| {
///     let find = functions.function(&["policy", "find"]).expect("a function");
///     let argument = functions.argument(&json!({"replicas": 5}));
///     functions.call(&find, &[argument], limits).expect("a result")
/// });
/// assert_eq!(found.expect("the program is valid"), json!(true));
/// ```
///
/// # Errors
///
/// If the program is not valid, or uses anything outside.
pub fn with_functions<T: Send>(
    system: &(dyn System + Sync),
    options: &RunOptions,
    work: impl Fn(&mut Functions<'_, '_>) -> T + Sync,
) -> Result<T, Box<RunError>> {
    with_large_stack(|| {
        let session = Session::single(system, options);
        let mut job = prepare(system, options)?;
        job.options.eval.no_io = true;
        let loaded = load_job(&session, system, &job)?;
        let Compiled { program, diagnostics } =
            check(system, &job, loaded, Knowledge::Store(&session));
        let errors: Vec<Diagnostic> =
            diagnostics.into_iter().filter(Diagnostic::is_error).collect();
        if !errors.is_empty() {
            return Err(RunError::new(errors, program));
        }
        let nothing = MemorySystem::new();
        let request = request(&job);
        let done = kcl_eval::evaluate_for_calls(&program, &nothing, &request, |calls, value| {
            if calls.used_system() {
                return Err(RunError::plain(USED_SYSTEM));
            }
            Ok(work(&mut Functions { calls, value, program: &program }))
        });
        done.unwrap_or_else(|error| Err(RunError::new(error.diagnostics, program.clone())))
    })
}

const USED_SYSTEM: &str =
    "the program uses files, the environment, the clock or random numbers, which it must not";

/// A function of a program.
#[derive(Clone, Debug)]
pub struct Function(Value);

/// An argument of a function. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Argument(Value);

impl Argument {
    /// Creates a map of other arguments, which it shares.
    pub fn map<'k>(entries: impl IntoIterator<Item = (&'k str, Self)>) -> Self {
        let mut dict = Dict::new();
        for (key, value) in entries {
            dict.insert(Str::from(key), value.0);
        }
        Self(Value::dict(dict))
    }

    /// Creates a list of other arguments, which it shares.
    pub fn list(items: impl IntoIterator<Item = Self>) -> Self {
        Self(Value::list(items.into_iter().map(|it| it.0).collect()))
    }
}

/// A call that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallError {
    /// What failed.
    pub message: String,
    /// Where; `None` if it is not in a file.
    pub place: Option<PartialPlace>,
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{} ({}:{})", self.message, place.file, place.line),
            None => f.write_str(&self.message),
        }
    }
}

/// An evaluated program whose functions can be called.
pub struct Functions<'c, 'p> {
    calls: &'c mut Calls<'p>,
    value: &'c Value,
    program: &'c Program,
}

impl Functions<'_, '_> {
    /// Returns the variables of the program as data, without functions.
    ///
    /// # Errors
    ///
    /// If they nest too deeply, or are too many.
    pub fn data(&self) -> Result<Json, CallError> {
        to_json(self.value)
    }

    /// Returns the function at a path of keys; `None` if there is none.
    pub fn function(&self, path: &[&str]) -> Option<Function> {
        let mut value = self.value;
        for key in path {
            value = value.as_config()?.get(key)?;
        }
        matches!(value, Value::Func(_)).then(|| Function(value.clone()))
    }

    /// Returns data as an argument. `null` is `None`.
    pub fn argument(&self, data: &Json) -> Argument {
        Argument(from_json(data))
    }

    /// Calls a function, and returns its result as data, without functions; `null` for none.
    ///
    /// # Errors
    ///
    /// If the function fails, reaches a limit, or uses anything outside.
    pub fn call(
        &mut self,
        function: &Function,
        arguments: &[Argument],
        limits: CallLimits,
    ) -> Result<Json, CallError> {
        let arguments = arguments.iter().map(|it| it.0.clone()).collect();
        let called = self.calls.call(&function.0, arguments, limits);
        if self.calls.used_system() {
            return Err(CallError { message: USED_SYSTEM.to_owned(), place: None });
        }
        match called {
            // The most common results need no conversion.
            Ok(Value::List(list)) if list.items.is_empty() => Ok(Json::Array(Vec::new())),
            Ok(value) => to_json(&value),
            Err(found) => Err(self.error(&found)),
        }
    }

    /// Returns the number of expressions that the last call evaluated.
    pub fn steps(&self) -> u64 {
        self.calls.usage().steps
    }

    fn error(&self, found: &Diagnostic) -> CallError {
        let at = found.labels.first().and_then(|label| label.at);
        let message = found.message().to_owned();
        CallError { message, place: at.and_then(|at| place(self.program, at)) }
    }
}

fn place(program: &Program, at: FileSpan) -> Option<PartialPlace> {
    let source = program.files.get(at.file.0 as usize)?;
    let found = LineIndex::new(&source.text).line_col(&source.text, at.span.start);
    Some(PartialPlace { file: source.path.as_str().into(), line: found.line, column: found.col })
}

fn from_json(data: &Json) -> Value {
    match data {
        Json::Null => Value::None,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => match number.as_i64() {
            Some(number) => Value::Int(number),
            None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::str(text.as_str()),
        Json::Array(items) => Value::list(items.iter().map(from_json).collect()),
        Json::Object(fields) => {
            let mut dict = Dict::with_capacity(fields.len());
            for (key, value) in fields {
                dict.insert(Str::from(key.as_str()), from_json(value));
            }
            Value::dict(dict)
        }
    }
}

fn to_json(value: &Value) -> Result<Json, CallError> {
    let mut room = MAX_VALUES;
    let data = write(value, 0, &mut room).ok_or_else(|| CallError {
        message: format!(
            "the result is too large: more than {MAX_DEPTH} levels or {MAX_VALUES} values"
        ),
        place: None,
    })?;
    Ok(data.unwrap_or(Json::Null))
}

/// Converts a value; the inner `None` is for what is left out, the outer one for what is too large.
#[expect(clippy::option_option, reason = "both are private to the conversion of one value")]
fn write(value: &Value, depth: usize, room: &mut usize) -> Option<Option<Json>> {
    *room = room.checked_sub(1)?;
    if depth > MAX_DEPTH {
        return None;
    }
    let dict = |dict: &Dict, room: &mut usize| {
        let mut fields = Map::new();
        for entry in dict {
            if let Some(value) = write(&entry.value, depth + 1, room)? {
                fields.insert(entry.key.to_string(), value);
            }
        }
        Some(Json::Object(fields))
    };
    Some(Some(match value {
        Value::Undefined | Value::Func(_) => return Some(None),
        Value::None => Json::Null,
        Value::Bool(flag) => Json::Bool(*flag),
        Value::Int(number) => Json::from(*number),
        Value::Float(number) => Number::from_f64(*number).map_or(Json::Null, Json::Number),
        Value::Unit(number) => Number::from_f64(number.value).map_or(Json::Null, Json::Number),
        Value::Str(text) => Json::String(text.to_string()),
        Value::List(list) => {
            let mut items = Vec::with_capacity(list.items.len().min(1024));
            for item in &list.items {
                items.extend(write(item, depth + 1, room)?);
            }
            Json::Array(items)
        }
        Value::Dict(fields) => dict(fields, room)?,
        Value::Schema(schema) => dict(&schema.attrs, room)?,
    }))
}
