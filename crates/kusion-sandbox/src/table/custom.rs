//! Custom kinds: the printer columns of their definitions.

use super::duration::since;
use crate::object;
use serde_json::{Value, json};

/// One printer column.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    definition: Value,
    path: Vec<Step>,
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(i64),
    All,
    /// Items whose field has a value.
    Where(Vec<String>, String),
}

/// Reads the columns of a version of a definition; without any, the age is shown.
pub(crate) fn columns(columns: &Value) -> Vec<Column> {
    let own: Vec<Column> = columns.as_array().into_iter().flatten().map(column).collect();
    if !own.is_empty() {
        return own;
    }
    vec![column(&json!({
        "name": "Age",
        "type": "date",
        "jsonPath": ".metadata.creationTimestamp",
        "description": "CreationTimestamp is a timestamp representing the server time when this object was created.",
    }))]
}

fn column(column: &Value) -> Column {
    let text = |key: &str| object::text(column, &[key]);
    Column {
        definition: json!({
            "name": text("name"),
            "type": text("type"),
            "format": text("format"),
            "description": text("description"),
            "priority": column["priority"].as_i64().unwrap_or(0),
        }),
        path: parse(text("jsonPath")),
    }
}

/// Returns the columns and the cells of objects.
pub(super) fn table(columns: &[Column], objects: &[&Value]) -> (Vec<Value>, Vec<Vec<Value>>) {
    let mut definitions = vec![json!({
        "name": "Name",
        "type": "string",
        "format": "name",
        "description": "",
        "priority": 0,
    })];
    definitions.extend(columns.iter().map(|column| column.definition.clone()));
    let rows = objects
        .iter()
        .map(|object| {
            let mut cells = vec![Value::from(object::name(object))];
            cells.extend(columns.iter().map(|column| cell(column, object)));
            cells
        })
        .collect();
    (definitions, rows)
}

fn cell(column: &Column, object: &Value) -> Value {
    let mut found = Vec::new();
    find(object, &column.path, &mut found);
    let Some(value) = found.first().filter(|value| !value.is_null()) else { return Value::Null };
    match (object::text(&column.definition, &["type"]), value) {
        ("integer", Value::Number(number)) => match number.as_i64() {
            Some(number) => number.into(),
            None => number.as_f64().map_or(Value::Null, |number| (number as i64).into()),
        },
        ("number", Value::Number(_))
        | ("boolean", Value::Bool(_))
        | ("string", Value::String(_)) => (*value).clone(),
        ("date", Value::String(_)) => since(value).into(),
        ("string", _) => {
            let texts: Vec<String> = found.iter().map(|value| shown(value)).collect();
            texts.join(",").into()
        }
        _ => Value::Null,
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn find<'a>(value: &'a Value, path: &[Step], found: &mut Vec<&'a Value>) {
    let Some((step, rest)) = path.split_first() else {
        found.push(value);
        return;
    };
    match step {
        Step::Key(key) => {
            if let Some(next) = value.get(key) {
                find(next, rest, found);
            }
        }
        Step::Index(index) => {
            let list = value.as_array().map_or(&[][..], Vec::as_slice);
            let at = if *index < 0 { list.len() as i64 + index } else { *index };
            if let Some(next) = usize::try_from(at).ok().and_then(|at| list.get(at)) {
                find(next, rest, found);
            }
        }
        Step::All => match value {
            Value::Array(list) => list.iter().for_each(|next| find(next, rest, found)),
            Value::Object(map) => map.values().for_each(|next| find(next, rest, found)),
            _ => {}
        },
        Step::Where(keys, wanted) => {
            for item in value.as_array().into_iter().flatten() {
                let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
                if shown(object::at(item, &keys)) == *wanted {
                    find(item, rest, found);
                }
            }
        }
    }
}

/// Parses the part of `JSONPath` that printer columns use.
fn parse(path: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut rest =
        path.trim().trim_start_matches('{').trim_end_matches('}').trim_start_matches('$');
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('[') {
            let end = bracket_end(after);
            steps.push(bracket(&after[..end]));
            rest = after.get(end + 1..).unwrap_or_default();
        } else {
            rest = rest.strip_prefix('.').unwrap_or(rest);
            let (key, after) = key(rest);
            if key == "*" {
                steps.push(Step::All);
            } else if !key.is_empty() {
                steps.push(Step::Key(key));
            } else if after.len() == rest.len() && !after.starts_with('[') {
                // What cannot be read finds nothing.
                steps.push(Step::Key(String::new()));
                break;
            }
            rest = after;
        }
    }
    steps
}

/// Returns a key up to the next dot or bracket; a backslash takes the next character as it is.
fn key(text: &str) -> (String, &str) {
    let mut key = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => key.extend(chars.next().map(|(_, c)| c)),
            '.' | '[' => return (key, &text[at..]),
            c => key.push(c),
        }
    }
    (key, "")
}

fn bracket_end(text: &str) -> usize {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (None, ']') => return at,
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    text.len()
}

fn bracket(inside: &str) -> Step {
    let inside = inside.trim();
    let unquote = |text: &str| text.trim().trim_matches(['\'', '"']).to_owned();
    if inside == "*" {
        return Step::All;
    }
    if let Some(filter) = inside.strip_prefix("?(").and_then(|it| it.strip_suffix(')'))
        && let Some((left, right)) = filter.split_once("==")
    {
        let left = left.trim().trim_start_matches('@').trim_start_matches('.');
        return Step::Where(left.split('.').map(str::to_owned).collect(), unquote(right));
    }
    match inside.parse() {
        Ok(index) => Step::Index(index),
        Err(_) => Step::Key(unquote(inside)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(path: &str, object: &Value) -> Vec<Value> {
        let mut found = Vec::new();
        find(object, &parse(path), &mut found);
        found.into_iter().cloned().collect()
    }

    #[test]
    fn paths_find_values() {
        let object = json!({
            "spec": {"a.b": 1, "list": [{"x": 1}, {"x": 2}]},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]},
        });
        assert_eq!(at(".spec.a\\.b", &object), [json!(1)]);
        assert_eq!(at(".spec['a.b']", &object), [json!(1)]);
        assert_eq!(at(".spec.list[*].x", &object), [json!(1), json!(2)]);
        assert_eq!(at(".spec.list[-1].x", &object), [json!(2)]);
        assert_eq!(at(".status.conditions[?(@.type==\"Ready\")].status", &object), [json!("True")]);
        assert_eq!(at(".no.such", &object), Vec::<Value>::new());
        assert_eq!(at("...[[", &object).len(), 0);
    }
}
