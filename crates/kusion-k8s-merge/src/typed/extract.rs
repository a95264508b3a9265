//! The part of an object that a set of fields names.

use serde_json::{Map, Value};

use super::shape::Shape;
use super::{Position, Typed};
use crate::path::PathElement;
use crate::set::{Part, Set};

impl Typed<'_> {
    /// Returns the part of the object that the set names, with the keys of its list items.
    pub fn extract_items(self, value: &Value, fields: &Set<'_>) -> Value {
        extract(self, Position::Root, value, fields)
    }
}

fn extract(typed: Typed<'_>, place: Position, value: &Value, fields: &Set<'_>) -> Value {
    match (typed.shape(Some(value)), value) {
        (Shape::List(list), Value::Array(items)) if !list.atomic() => {
            let mut kept = Vec::new();
            for item in items {
                let Ok(name) = typed.name_item(list, item) else { continue };
                let Some(part) = fields.part(&name) else { continue };
                let mut found = below(typed.at(list.element), Position::Below, item, part);
                if let (PathElement::Key(keys), Value::Object(map)) = (&name, &mut found) {
                    for (key, _) in keys.iter() {
                        if let Some(own) = item.get(&**key) {
                            map.insert(key.to_string(), own.clone());
                        }
                    }
                }
                kept.push(found);
            }
            Value::Array(kept)
        }
        (Shape::Map(shape), Value::Object(map)) if !shape.atomic => {
            let mut kept = Map::new();
            for (key, item) in map {
                let Some(place) = place.step(key) else { continue };
                if let Some(part) = fields.part(&PathElement::Field(key)) {
                    let ty = shape.type_of(key).unwrap_or_default();
                    kept.insert(key.clone(), below(typed.at(ty), place, item, part));
                }
            }
            Value::Object(kept)
        }
        _ => value.clone(),
    }
}

fn below(typed: Typed<'_>, place: Position, value: &Value, part: &Part<'_>) -> Value {
    if part.children.is_empty() && !matches!(value, Value::Object(_) | Value::Array(_)) {
        return value.clone();
    }
    extract(typed, place, value, &part.children)
}
