//! All fields that an object sets.

use kusion_k8s_schema::{Type, TypeId};
use serde_json::Value;

use super::items::ItemIndex;
use super::shape::{ListShape, Shape};
use super::{Position, Typed};
use crate::path::PathElement;
use crate::set::{Entry, Part, Set};

impl<'t> Typed<'t> {
    /// Returns the leaves and list items of an object, and the keys of its maps.
    pub fn field_set<'v>(self, value: &'v Value) -> Set<'v>
    where
        't: 'v,
    {
        part(self, Position::Root, value).children
    }

    /// Returns the set with the named fields on the way to its members as members.
    #[must_use]
    pub fn with_parents<'v>(self, set: &Set<'v>) -> Set<'v> {
        with_parents(self, Some(self.ty), set)
    }
}

fn part<'v, 't: 'v>(typed: Typed<'t>, place: Position, value: &'v Value) -> Part<'v> {
    let leaf = || Part { member: true, children: Set::new() };
    match typed.shape(Some(value)) {
        Shape::Scalar(_) => leaf(),
        Shape::List(list) if list.atomic() => leaf(),
        Shape::Map(map) if map.atomic => leaf(),
        Shape::List(list) => {
            let items = value.as_array().map_or(&[][..], Vec::as_slice);
            Part { member: false, children: items_set(typed, list, items) }
        }
        Shape::Map(shape) => {
            let mut children = Set::new();
            for (key, below) in value.as_object().into_iter().flatten() {
                let Some(place) = place.step(key) else { continue };
                let mut child =
                    part(typed.at(shape.type_of(key).unwrap_or_default()), place, below);
                child.member |= match below {
                    Value::Null => true,
                    Value::Object(map) if map.is_empty() => true,
                    _ => !shape.names(key),
                };
                children.push(PathElement::Field(key), child);
            }
            Part { member: false, children }
        }
    }
}

fn items_set<'v, 't: 'v>(typed: Typed<'t>, list: ListShape<'t>, items: &'v [Value]) -> Set<'v> {
    let mut named = Vec::with_capacity(items.len());
    for item in items {
        if let Ok(name) = typed.name_item(list, item) {
            named.push((name, item));
        }
    }
    let names: Vec<PathElement<'v>> = named.iter().map(|(name, _)| name.clone()).collect();
    let index = ItemIndex::new(&names);
    let mut set = Set::new();
    for at in index.sorted() {
        let (name, item) = &named[*at as usize];
        let mut child = match index.places(&names, name) {
            [_] => part(typed.at(list.element), Position::Below, item),
            _ => Part::default(),
        };
        child.member = true;
        set.push(name.clone(), child);
    }
    set
}

fn with_parents<'v>(typed: Typed<'_>, ty: Option<TypeId>, set: &Set<'v>) -> Set<'v> {
    let found = ty.map(|ty| typed.table.get(ty));
    let entries = set.entries.iter().map(|entry| {
        let mut member = entry.part.member;
        let mut below = None;
        match (&entry.element, found) {
            (PathElement::Field(name), Some(Type::Struct(named))) => match named.field(name) {
                Some(field) => {
                    member |= !entry.part.children.is_empty();
                    below = Some(field.ty);
                }
                None => below = named.additional,
            },
            (PathElement::Field(_), Some(Type::Map(map))) => below = Some(map.element),
            (PathElement::Key(_), Some(Type::List(list))) => below = Some(list.element),
            _ => {}
        }
        let children = match below {
            Some(_) if !entry.part.children.is_empty() => {
                with_parents(typed, below, &entry.part.children)
            }
            _ => entry.part.children.clone(),
        };
        Entry { element: entry.element.clone(), part: Part { member, children } }
    });
    Set { entries: entries.collect() }
}
