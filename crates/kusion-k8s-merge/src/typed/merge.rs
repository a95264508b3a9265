//! The union of two objects: the applied configuration, and the other fields of the live object.

use serde_json::{Map, Value};

use super::check::Problem;
use super::compare::zip_maps;
use super::items::ItemIndex;
use super::shape::{ListShape, MapShape, Shape};
use super::{Position, Typed};
use crate::path::PathElement;

impl Typed<'_> {
    /// Merges a configuration into a live object; the configuration wins.
    pub fn merge(self, live: &Value, config: &Value) -> Result<Value, Vec<Problem>> {
        let mut problems = Vec::new();
        let merged = values(self, Position::Root, live, config, &mut problems);
        if problems.is_empty() { Ok(merged.unwrap_or_default()) } else { Err(problems) }
    }
}

fn values(
    typed: Typed<'_>,
    place: Position,
    live: &Value,
    config: &Value,
    problems: &mut Vec<Problem>,
) -> Option<Value> {
    match typed.shape(Some(config)) {
        Shape::Scalar(_) => Some(config.clone()),
        Shape::Map(shape) => {
            let left = live.as_object().filter(|map| !map.is_empty());
            let right = config.as_object().filter(|map| !map.is_empty());
            if shape.atomic || (left.is_none() && right.is_none()) {
                return Some(config.clone());
            }
            maps(typed, place, shape, left, right, problems)
        }
        Shape::List(list) => {
            let left = live.as_array().map_or(&[][..], Vec::as_slice);
            let right = config.as_array().map_or(&[][..], Vec::as_slice);
            if list.atomic() || (left.is_empty() && right.is_empty()) {
                return Some(config.clone());
            }
            lists(typed, list, left, right, problems)
        }
    }
}

fn maps(
    typed: Typed<'_>,
    place: Position,
    shape: MapShape<'_>,
    live: Option<&Map<String, Value>>,
    config: Option<&Map<String, Value>>,
    problems: &mut Vec<Problem>,
) -> Option<Value> {
    let mut merged = Map::new();
    zip_maps(live, config, |key, live, config| {
        let Some(place) = place.step(key) else { return };
        let value = match (live, config) {
            (Some(live), Some(config)) => {
                let ty = shape.type_of(key).unwrap_or_default();
                values(typed.at(ty), place, live, config, problems)
            }
            (Some(live), None) if place == Position::Metadata => Some(without_managed_fields(live)),
            (live, config) => config.or(live).cloned(),
        };
        if let Some(value) = value {
            merged.insert(key.to_owned(), value);
        }
    });
    if merged.is_empty() { None } else { Some(Value::Object(merged)) }
}

/// Copies metadata without the record of managers.
pub(crate) fn without_managed_fields(metadata: &Value) -> Value {
    match metadata {
        Value::Object(map) => map
            .iter()
            .filter(|(key, _)| *key != "managedFields")
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
        other => other.clone(),
    }
}

/// Merges two lists: shared items take the order of the configuration, the others stay where
/// they were relative to their neighbours.
fn lists<'v>(
    typed: Typed<'v>,
    list: ListShape<'v>,
    live: &'v [Value],
    config: &'v [Value],
    problems: &mut Vec<Problem>,
) -> Option<Value> {
    let before = problems.len();
    let config_names = names(typed, list, config, problems);
    let live_names = names(typed, list, live, problems);
    let live_index = ItemIndex::new(&live_names);
    let config_index = ItemIndex::new(&config_names);
    for (at, name) in config_names.iter().enumerate() {
        if config_index.places(&config_names, name).first() != Some(&(at as u32)) {
            let message = format!("duplicate entries for key {name}");
            problems.push(Problem { path: String::new(), message });
        }
    }
    if problems.len() > before {
        return None;
    }
    let in_config =
        |name: &PathElement<'_>| config_index.places(&config_names, name).first().copied();
    let in_live = |name: &PathElement<'_>| live_index.places(&live_names, name);
    // An item of the configuration together with its counterpart; items that the live list has
    // several times have none.
    let mut merged_item = |at: usize| {
        let typed = typed.at(list.element);
        match in_live(&config_names[at]) {
            [one] => values(typed, Position::Below, &live[*one as usize], &config[at], problems),
            [] => Some(config[at].clone()),
            _ => values(typed, Position::Below, &Value::Null, &config[at], problems),
        }
    };
    let mut shared =
        (0..config_names.len()).filter(|at| !in_live(&config_names[*at]).is_empty()).peekable();
    let mut out = Vec::with_capacity(live.len().max(config.len()));
    let mut taken = 0;
    let mut at = 0;
    while at < live.len() || taken < config.len() {
        if let Some(name) = live_names.get(at) {
            let Some(counterpart) = in_config(name).map(|place| place as usize) else {
                out.push(live[at].clone());
                at += 1;
                continue;
            };
            if taken < config.len() {
                if counterpart == taken {
                    out.extend(merged_item(taken));
                    at += 1;
                    taken += 1;
                    shared.next();
                    continue;
                }
                if shared.peek().is_some_and(|next| *next != counterpart) {
                    at += 1;
                    continue;
                }
            }
            if counterpart < taken {
                at += 1;
            }
        }
        if taken < config.len() {
            out.extend(merged_item(taken));
            if shared.peek() == Some(&taken) {
                shared.next();
            }
            taken += 1;
        }
    }
    if out.is_empty() { None } else { Some(Value::Array(out)) }
}

fn names<'v>(
    typed: Typed<'v>,
    list: ListShape<'v>,
    items: &'v [Value],
    problems: &mut Vec<Problem>,
) -> Vec<PathElement<'v>> {
    let mut names = Vec::with_capacity(items.len());
    for (idx, item) in items.iter().enumerate() {
        match typed.name_item(list, item) {
            Ok(name) => names.push(name),
            Err(problem) => {
                let message = format!("element {idx}: {problem}");
                problems.push(Problem { path: String::new(), message });
            }
        }
    }
    names
}
