//! An object without some of its fields.

use serde_json::{Map, Value};

use super::shape::Shape;
use super::{Position, Typed};
use crate::path::PathElement;
use crate::set::Set;

impl Typed<'_> {
    /// Returns the object without the members of a set; a container that becomes empty
    /// becomes `null`.
    pub fn remove_items(self, value: &Value, fields: &Set<'_>) -> Value {
        remove(self, Position::Root, value, fields)
    }
}

fn remove(typed: Typed<'_>, place: Position, value: &Value, fields: &Set<'_>) -> Value {
    match (typed.shape(Some(value)), value) {
        (Shape::Scalar(_), _) => value.clone(),
        (Shape::List(list), Value::Array(items)) if !list.atomic() => {
            let mut kept = Vec::with_capacity(items.len());
            for item in items {
                let part = typed.name_item(list, item).ok().and_then(|name| fields.part(&name));
                match part {
                    Some(part) if part.member => {}
                    Some(part) => {
                        let typed = typed.at(list.element);
                        kept.push(remove(typed, Position::Below, item, &part.children));
                    }
                    None => kept.push(item.clone()),
                }
            }
            if kept.is_empty() { Value::Null } else { Value::Array(kept) }
        }
        (Shape::Map(shape), Value::Object(map)) if !shape.atomic => {
            let mut kept = Map::new();
            for (key, below) in map {
                let Some(place) = place.step(key) else { continue };
                let value = match fields.part(&PathElement::Field(key)) {
                    Some(part) if part.member => continue,
                    Some(part) => {
                        let ty = shape.type_of(key).unwrap_or_default();
                        remove(typed.at(ty), place, below, &part.children)
                    }
                    None => below.clone(),
                };
                kept.insert(key.clone(), value);
            }
            if kept.is_empty() { Value::Null } else { Value::Object(kept) }
        }
        _ => Value::Null,
    }
}
