//! What is expected of any input: no panic, no endless work, and the laws below.

use crate::input::Kind;
use crate::sandbox;
use base_system::MemorySystem;
use kcl_driver::{EvalOptions, Format, Input, Limits, RunError, RunOptions, RunOutput};
use kcl_syntax::ast::{Expr, Module, StringPart};
use kcl_value::{Value, json, ops, yaml};

/// Bounds that no useful input of this size reaches.
const STEPS: u64 = 500_000;
const MEMORY_BYTES: u64 = 64 << 20;
const DEPTH: u32 = 2_000;

/// How far an input got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reached {
    /// It has syntax errors; of a session, all requests are refused.
    Rejected,
    /// It is a program, and the static checks say no; a session reads something.
    Accepted,
    /// It was evaluated, with a value or an error at the end; a session changes something.
    Evaluated,
}

/// Feeds one input to its target; an error says which law is broken.
///
/// The costly laws of programs are tried only when asked to look closely.
pub(crate) fn feed(kind: Kind, text: &str, closely: bool) -> Result<Reached, String> {
    match kind {
        Kind::Parse => parse(text),
        Kind::Format => crate::format::feed(text),
        Kind::Run => run(text, closely),
        Kind::Journal => crate::journal::feed(text),
        Kind::Http | Kind::Patch => sandbox::feed(text, closely),
        Kind::Plan | Kind::Settings => crate::documents::feed(text),
    }
}

/// Diagnostics lie inside the text, and what is accepted can be printed and read again.
fn parse(text: &str) -> Result<Reached, String> {
    let parsed = kcl_syntax::parse(text);
    for error in &parsed.diagnostics {
        let (start, end) = (error.span.start as usize, error.span.end as usize);
        if start > end || end > text.len() {
            return Err(format!("a diagnostic lies outside of the text: {error:?}"));
        }
    }
    if !parsed.diagnostics.is_empty() {
        return Ok(Reached::Rejected);
    }
    let printed = kcl_syntax::print(&parsed.module, text);
    let again = kcl_syntax::parse(&printed);
    if let Some(error) = again.diagnostics.first() {
        return Err(format!("the printed program is refused: {}", error.message));
    }
    if parsed.module.doc.is_none() && !are_some_of(texts(&again.module), texts(&parsed.module)) {
        return Err("printing changes a text".into());
    }
    let second = kcl_syntax::print(&again.module, &printed);
    // A text at the top becomes the module's documentation, which has its own form.
    if second != printed {
        let third = kcl_syntax::print(&kcl_syntax::parse(&second).module, &second);
        if third != second {
            return Err("printing is not stable".into());
        }
    }
    Ok(Reached::Accepted)
}

/// Whether texts are among others, each as often at most. Parts that the reference reads and drops
/// are not printed (a decorator in front of anything but a schema), and an index signature comes
/// first.
fn are_some_of(mut some: Vec<&str>, mut all: Vec<&str>) -> bool {
    some.sort_unstable();
    all.sort_unstable();
    let mut all = all.into_iter();
    some.into_iter().all(|text| all.any(|it| it == text))
}

/// What strings stand for.
fn texts(module: &Module) -> Vec<&str> {
    let mut texts = Vec::new();
    for node in &module.exprs {
        match &node.kind {
            Expr::String(string) => texts.push(&*string.value),
            Expr::Joined(joined) => {
                for part in &joined.parts {
                    texts.push(match part {
                        StringPart::Text(text) => text,
                        StringPart::Formatted { .. } => "${}",
                    });
                }
            }
            _ => {}
        }
    }
    texts
}

/// A run ends with a value or with diagnostics. For some inputs more is asked: the same result
/// again, and the same value in YAML and in JSON.
fn run(text: &str, closely: bool) -> Result<Reached, String> {
    let outcome = execute(text, Format::Yaml, closely);
    match outcome {
        Ok(output) => {
            if closely {
                same_again(text, &output)?;
                same_value(text, &output)?;
            }
            Ok(Reached::Evaluated)
        }
        Err(error) => {
            let Some(first) = error.diagnostics.first() else {
                return Err("a failed run has no diagnostics".into());
            };
            if closely {
                let again = execute(text, Format::Yaml, true).err();
                if again.is_none_or(|again| again.diagnostics != error.diagnostics) {
                    return Err("the second run fails differently".into());
                }
            }
            Ok(match first.code.get(..2) {
                Some("E1") => Reached::Rejected,
                Some("E2") => Reached::Accepted,
                _ => Reached::Evaluated,
            })
        }
    }
}

fn execute(text: &str, format: Format, closely: bool) -> Result<RunOutput, Box<RunError>> {
    // Deep stacks take long to fill: only some inputs may go as deep as users may.
    let depth = if closely { Limits::default().depth } else { DEPTH };
    let input = Input::text("main.k", text);
    let options = RunOptions {
        inputs: vec![input],
        ignore_default_settings: true,
        format: Some(format),
        eval: EvalOptions {
            limits: Limits { steps: STEPS, memory: MEMORY_BYTES, depth, ..Limits::default() },
            ..EvalOptions::default()
        },
        ..RunOptions::default()
    };
    kcl_driver::run(&MemorySystem::new(), &options)
}

fn same_again(text: &str, first: &RunOutput) -> Result<(), String> {
    let same = execute(text, Format::Yaml, true).is_ok_and(|second| second.result == first.result);
    if same { Ok(()) } else { Err("the second run gives other bytes".into()) }
}

fn same_value(text: &str, in_yaml: &RunOutput) -> Result<(), String> {
    let in_json = execute(text, Format::Json, true).map_err(|_| "fails when asked for JSON")?;
    // A stream of documents is no single value, and a program that ends with an empty value
    // writes nothing.
    let is_stream = text.contains("yaml_stream") || in_yaml.result.contains("\n---\n");
    if is_stream || in_json.result.is_empty() {
        return Ok(());
    }
    let from_json = match json::parse(&in_json.result) {
        Ok(value) => value,
        // Readers of JSON refuse to nest as deep as programs may.
        Err(fault) if fault.message.contains("recursion limit") => return Ok(()),
        Err(fault) => return Err(format!("the JSON can't be read again: {}", fault.message)),
    };
    // Whether the last line end belongs to a block text at the end depends on its form.
    for end in ["\n", ""] {
        let from_yaml = yaml::parse(&format!("{}{end}", in_yaml.result))
            .map_err(|fault| format!("the YAML can't be read again: {}", fault.message))?;
        if are_alike(&from_yaml, &from_json) {
            return Ok(());
        }
    }
    Err("YAML and JSON give different values".into())
}

/// Whether two values are equal but for the last digit of floats: YAML shows them with the
/// reference's rounding.
fn are_alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => {
            a.total_cmp(b).is_eq() || (a - b).abs() <= a.abs() * 4.0 * f64::EPSILON
        }
        (Value::List(a), Value::List(b)) => {
            a.items.len() == b.items.len()
                && a.items.iter().zip(&b.items).all(|(a, b)| are_alike(a, b))
        }
        (Value::Dict(a), Value::Dict(b)) => {
            a.len() == b.len()
                && a.iter().all(|entry| {
                    b.get(&entry.key).is_some_and(|other| are_alike(&entry.value, other))
                })
        }
        (a, b) => ops::equals(a, b),
    }
}
