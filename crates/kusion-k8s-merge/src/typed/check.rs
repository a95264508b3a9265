//! Whether an object fits its type, with the server's words for what does not.

use std::fmt;

use kusion_k8s_schema::Scalar;
use serde_json::Value;

use super::shape::{ListShape, Shape};
use super::{Position, Typed};
use crate::go;
use crate::path::PathElement;
use crate::set::{Part, Set};

/// One place of an object that does not fit its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The place (`.spec.ports[port=80]`).
    pub path: String,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.path, self.message)
        }
    }
}

/// Returns the text that names all problems.
pub(crate) fn describe(problems: &[Problem]) -> String {
    match problems {
        [one] => one.to_string(),
        many => {
            let mut out = "errors:".to_owned();
            for problem in many {
                out.push_str("\n  ");
                out.push_str(&problem.to_string());
            }
            out
        }
    }
}

impl Typed<'_> {
    /// Lists what does not fit the type, duplicate items among it.
    pub fn check(self, value: &Value) -> Vec<Problem> {
        let mut check = Check { problems: Vec::new(), path: Vec::new() };
        check.value(self, Position::Root, value);
        check.problems
    }
}

struct Check<'v> {
    problems: Vec<Problem>,
    path: Vec<PathElement<'v>>,
}

impl<'v> Check<'v> {
    fn report(&mut self, message: impl Into<String>) {
        let path = self.path.iter().map(ToString::to_string).collect();
        self.problems.push(Problem { path, message: message.into() });
    }

    fn value<'t: 'v>(&mut self, typed: Typed<'t>, place: Position, value: &'v Value) {
        match (typed.shape(Some(value)), value) {
            (_, Value::Null) => {}
            (Shape::Scalar(kind), _) => self.scalar(kind, value),
            (Shape::Map(shape), Value::Object(map)) => {
                for (key, below) in map {
                    let Some(place) = place.step(key) else { continue };
                    self.path.push(PathElement::Field(key));
                    let known = shape.type_of(key);
                    match known {
                        Some(ty) => self.value(typed.at(ty), place, below),
                        None => self.report("field not declared in schema"),
                    }
                    self.path.pop();
                    if known.is_none() {
                        // A real server stops here, too.
                        break;
                    }
                }
            }
            (Shape::Map(_), _) => {
                self.report(format!("expected map, got &{{{}}}", go::plain(value)));
            }
            (Shape::List(list), Value::Array(items)) => self.items(typed, list, items),
            (Shape::List(_), _) => {
                self.report(format!("expected list, got &{{{}}}", go::plain(value)));
            }
        }
    }

    fn items<'t: 'v>(&mut self, typed: Typed<'t>, list: ListShape<'t>, items: &'v [Value]) {
        let mut seen = Set::new();
        for (idx, item) in items.iter().enumerate() {
            let element = if list.atomic() {
                PathElement::Index(idx as i64)
            } else {
                match typed.name_item(list, item) {
                    Ok(element) => element,
                    Err(problem) => {
                        self.report(format!("element {idx}: {problem}"));
                        return;
                    }
                }
            };
            if !list.atomic() {
                if seen.part(&element).is_some() {
                    self.report(format!("duplicate entries for key {element}"));
                }
                seen.push(element.clone(), Part { member: true, children: Set::new() });
            }
            self.path.push(element);
            self.value(typed.at(list.element), Position::Below, item);
            self.path.pop();
        }
    }

    fn scalar(&mut self, kind: Option<Scalar>, value: &Value) {
        if let Some(message) = scalar_problem(kind, value) {
            self.report(message);
        }
    }
}

/// Returns why a value is not a scalar of a kind.
pub(super) fn scalar_problem(kind: Option<Scalar>, value: &Value) -> Option<String> {
    let shown = || go::plain(value);
    match (kind, value) {
        (_, Value::Null)
        | (Some(Scalar::Integer | Scalar::Int32 | Scalar::Number), Value::Number(_))
        | (Some(Scalar::String | Scalar::Bytes), Value::String(_))
        | (Some(Scalar::Boolean), Value::Bool(_)) => None,
        (Some(Scalar::Integer | Scalar::Int32 | Scalar::Number), _) => {
            Some(format!("expected numeric (int or float), got {}", go::type_name(value)))
        }
        (Some(Scalar::String | Scalar::Bytes), _) => Some(format!(
            "expected string, got &value.valueUnstructured{{Value:{}}}",
            source(value)
        )),
        (Some(Scalar::Boolean), _) => Some(format!("expected boolean, got &{{{}}}", shown())),
        (_, Value::Array(_) | Value::Object(_)) => {
            Some(format!("expected any scalar, got &{{{}}}", shown()))
        }
        _ => None,
    }
}

/// Returns a value as the server's source code would write it.
fn source(value: &Value) -> String {
    let list = |items: Vec<String>| items.join(", ");
    match value {
        Value::String(text) => kusion_k8s_schema::quoted(text),
        Value::Array(items) => {
            format!("[]interface {{}}{{{}}}", list(items.iter().map(source).collect()))
        }
        Value::Object(map) => {
            let parts = map
                .iter()
                .map(|(key, item)| format!("{}:{}", kusion_k8s_schema::quoted(key), source(item)));
            format!("map[string]interface {{}}{{{}}}", list(parts.collect()))
        }
        Value::Null => "interface {}(nil)".to_owned(),
        other => go::plain(other),
    }
}
