//! Checking values against a schema, with the messages of a server.

use super::{Additional, Rules, Schema, formats};
use crate::cause::Cause;
use serde_json::{Map, Value};

/// Returns what is wrong with a value; the path of the root is empty.
pub(super) fn validate(schema: &Schema, value: &Value) -> Vec<Cause> {
    let mut outcome = Outcome::default();
    check(schema, value, "", &mut outcome);
    outcome.causes
}

/// What a check found, and how many checks a value passed.
///
/// Of several alternatives that all fail, a server shows the one that came closest.
#[derive(Default)]
struct Outcome {
    causes: Vec<Cause>,
    matches: usize,
}

impl Outcome {
    fn merge(&mut self, other: Self) {
        self.causes.extend(other.causes);
        self.matches += other.matches;
    }
}

fn check(schema: &Schema, value: &Value, path: &str, outcome: &mut Outcome) {
    check_type(schema, value, path, outcome);
    if value.is_null() {
        return;
    }
    if let Some(rules) = schema.rules.as_deref() {
        alternatives(rules, value, path, outcome);
    }
    match value {
        Value::String(text) => {
            if let Some(rules) = schema.rules.as_deref() {
                string(rules, text, value, path, outcome);
            }
            if !schema.format.is_empty() && !formats::fits(&schema.format, text) {
                let detail = format!(
                    "{path} in body must be of type {}: {}",
                    schema.format,
                    crate::quoted(text)
                );
                outcome.causes.push(Cause::type_invalid(path, value, detail));
            }
        }
        Value::Number(_) => number(schema, value, path, outcome),
        Value::Array(items) => array(schema, items, path, outcome),
        _ => {}
    }
    if let Some(rules) = schema.rules.as_deref()
        && !rules.choices.is_empty()
        && !rules.choices.contains(value)
    {
        let texts: Vec<String> = rules
            .choices
            .iter()
            .map(|choice| choice.as_str().map_or_else(|| choice.to_string(), str::to_owned))
            .collect();
        outcome.causes.push(Cause::not_supported(path, value, &texts));
    }
    if let Value::Object(entries) = value {
        object(schema, entries, path, outcome);
    }
    outcome.matches += 1;
}

/// Returns how messages call the type of a value.
fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn check_type(schema: &Schema, value: &Value, path: &str, outcome: &mut Outcome) {
    let expected = if schema.int_or_string { "integer,string" } else { &*schema.ty };
    let found = type_of(value);
    if expected.is_empty() || value.is_null() && schema.nullable {
        outcome.matches += 1;
        return;
    }
    let whole = value.as_f64().is_some_and(|number| number.fract() == 0.0);
    let fits = expected.split(',').any(|one| one == found)
        || found == "integer" && expected == "number"
        || found == "number" && whole && expected.contains("integer");
    if fits {
        outcome.matches += 1;
        return;
    }
    // A number of the wrong kind is compared by format, if there is one.
    let (expected, found) = if found == "number" && !schema.format.is_empty() {
        (&*schema.format, "float64")
    } else {
        (expected, found)
    };
    let detail = format!("{path} in body must be of type {expected}: {found:?}");
    outcome.causes.push(Cause::type_invalid(path, &found.into(), detail));
}

fn alternatives(rules: &Rules, value: &Value, path: &str, outcome: &mut Outcome) {
    let broken = |text: String| Cause::invalid("<nil>", &"".into(), text);
    let run = |schema: &Schema| {
        let mut inner = Outcome::default();
        check(schema, value, path, &mut inner);
        inner
    };
    if !rules.any_of.is_empty() {
        let (_, best) = best_of(rules.any_of.iter().map(run), true);
        if let Some(best) = best {
            let text = format!("{path:?} must validate at least one schema (anyOf)");
            outcome.causes.push(broken(text));
            outcome.merge(best);
        }
    }
    if !rules.one_of.is_empty() {
        let (valid, best) = best_of(rules.one_of.iter().map(run), false);
        if valid != 1 {
            let found = if valid == 0 {
                "Found none valid".to_owned()
            } else {
                format!("Found {valid} valid alternatives")
            };
            let text = format!("{path:?} must validate one and only one schema (oneOf). {found}");
            outcome.causes.push(broken(text));
            if let Some(best) = best {
                outcome.merge(best);
            }
        }
    }
    if !rules.all_of.is_empty() {
        let mut valid = 0;
        for schema in &rules.all_of {
            let inner = run(schema);
            valid += usize::from(inner.causes.is_empty());
            outcome.merge(inner);
        }
        if valid != rules.all_of.len() {
            let none = if valid == 0 { ". None validated" } else { "" };
            let text = format!("{path:?} must validate all the schemas (allOf){none}");
            outcome.causes.push(broken(text));
        }
    }
    if let Some(schema) = &rules.not
        && run(schema).causes.is_empty()
    {
        outcome.causes.push(broken(format!("{path:?} must not validate the schema (not)")));
    }
    outcome.matches += 1;
}

/// Returns how many alternatives fit, and the one that came closest when none did.
fn best_of(outcomes: impl Iterator<Item = Outcome>, stop: bool) -> (usize, Option<Outcome>) {
    let mut valid = 0;
    let mut best: Option<Outcome> = None;
    for outcome in outcomes {
        if outcome.causes.is_empty() {
            valid += 1;
            if stop {
                break;
            }
        } else if best.as_ref().is_none_or(|best| outcome.matches > best.matches) {
            best = Some(outcome);
        }
    }
    (valid, best.filter(|_| valid == 0))
}

fn string(rules: &Rules, text: &str, value: &Value, path: &str, outcome: &mut Outcome) {
    let length = text.chars().count() as u64;
    if let Some(limit) = rules.max_length.filter(|limit| length > *limit) {
        outcome.causes.push(Cause::too_long(path, limit));
        return;
    }
    if let Some(limit) = rules.min_length.filter(|limit| length < *limit) {
        let detail = format!("{path} in body should be at least {limit} chars long");
        outcome.causes.push(Cause::invalid(path, value, detail));
        return;
    }
    if let Some((pattern, Some(regex))) = &rules.pattern
        && !regex.is_match(text).unwrap_or(true)
    {
        let detail = format!("{path} in body should match '{pattern}'");
        outcome.causes.push(Cause::invalid(path, value, detail));
        return;
    }
    outcome.matches += 1;
}

fn number(schema: &Schema, value: &Value, path: &str, outcome: &mut Outcome) {
    let Some(number) = value.as_f64() else { return };
    let numeric = matches!(&*schema.ty, "integer" | "number") || schema.int_or_string;
    let in_range = match &*schema.format {
        "int32" => value.as_i64().is_some_and(|whole| i32::try_from(whole).is_ok()),
        "int64" => value.as_i64().is_some() || number.fract() == 0.0,
        "float" | "float32" => number.abs() <= f64::from(f32::MAX),
        _ => true,
    };
    if numeric && !in_range {
        let text = format!(
            "Checked value must be of type {} with format {} in {path}",
            schema.ty, schema.format
        );
        outcome.causes.push(Cause::invalid("<nil>", &"".into(), text));
    }
    let Some(rules) = schema.rules.as_deref() else { return };
    if let Some(factor) = rules.multiple_of {
        let ratio = number / factor;
        if factor != 0.0 && (ratio - ratio.round()).abs() > 1e-9 {
            let detail = format!("{path} in body should be a multiple of {factor}");
            outcome.causes.push(Cause::invalid(path, value, detail));
        }
    }
    if let Some(limit) = rules.minimum
        && (number < limit || rules.exclusive_minimum && number <= limit)
    {
        let or_equal = if rules.exclusive_minimum { "" } else { " or equal to" };
        let detail = format!("{path} in body should be greater than{or_equal} {limit}");
        outcome.causes.push(Cause::invalid(path, value, detail));
    }
    if let Some(limit) = rules.maximum
        && (number > limit || rules.exclusive_maximum && number >= limit)
    {
        let or_equal = if rules.exclusive_maximum { "" } else { " or equal to" };
        let detail = format!("{path} in body should be less than{or_equal} {limit}");
        outcome.causes.push(Cause::invalid(path, value, detail));
    }
    outcome.matches += 1;
}

fn array(schema: &Schema, items: &[Value], path: &str, outcome: &mut Outcome) {
    if let Some(inner) = &schema.items {
        for (at, item) in items.iter().enumerate() {
            check(inner, item, &format!("{path}[{at}]"), outcome);
        }
    }
    let Some(rules) = schema.rules.as_deref() else { return };
    let count = items.len() as u64;
    if let Some(limit) = rules.min_items.filter(|limit| count < *limit) {
        let detail = format!("{path} in body should have at least {limit} items");
        outcome.causes.push(Cause::invalid(path, &count.into(), detail));
    }
    if let Some(limit) = rules.max_items.filter(|limit| count > *limit) {
        outcome.causes.push(Cause::too_many(path, items.len(), limit));
    }
    if rules.unique_items {
        let mut seen = rustc_hash::FxHashSet::default();
        if !items.iter().all(|item| seen.insert(item.to_string())) {
            let detail = format!("{path} in body shouldn't contain duplicates");
            outcome.causes.push(Cause::invalid(path, &"".into(), detail));
        }
    }
    outcome.matches += 1;
}

fn object(schema: &Schema, entries: &Map<String, Value>, path: &str, outcome: &mut Outcome) {
    if let Some(rules) = schema.rules.as_deref() {
        let count = entries.len() as u64;
        if let Some(limit) = rules.min_properties.filter(|limit| count < *limit) {
            let detail = format!("{path} in body should have at least {limit} properties");
            outcome.causes.push(Cause::invalid(path, &count.into(), detail));
        }
        if let Some(limit) = rules.max_properties.filter(|limit| count > *limit) {
            outcome.causes.push(Cause::too_many(path, entries.len(), limit));
        }
    }
    let inside = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    for (key, item) in entries {
        match (schema.properties.get(&**key), &schema.additional) {
            (Some(property), _) => check(property, item, &inside(key), outcome),
            (None, Additional::Schema(inner)) => check(inner, item, &inside(key), outcome),
            (None, Additional::Forbidden) if !schema.preserve_unknown => {
                let path = inside(key);
                let detail = format!("{path} in body is a forbidden property");
                outcome.causes.push(Cause::invalid(path, &"".into(), detail));
            }
            _ => {}
        }
    }
    for name in &schema.required {
        if !entries.contains_key(&**name) {
            outcome.causes.push(Cause::required(inside(name), ""));
        }
    }
}
