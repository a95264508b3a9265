//! The difference between two objects, as sets of fields.

use serde_json::{Map, Value};

use super::check::{Problem, scalar_problem};
use super::items::ItemIndex;
use super::shape::{ListShape, MapShape, Shape, equal};
use super::{Position, Typed};
use crate::path::PathElement;
use crate::set::{Part, Set};

/// What one object has that another has not.
#[derive(Debug, Clone, Default)]
pub struct Comparison<'v> {
    /// Fields that only the old object has.
    pub removed: Set<'v>,
    /// Fields that both have, with different values.
    pub modified: Set<'v>,
    /// Fields that only the new object has.
    pub added: Set<'v>,
}

impl Comparison<'_> {
    /// Returns whether the objects are the same.
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.modified.is_empty() && self.added.is_empty()
    }

    /// Ignores fields and everything below them.
    pub fn exclude(&mut self, fields: &Set<'_>) {
        self.removed.subtract_deep(fields);
        self.modified.subtract_deep(fields);
        self.added.subtract_deep(fields);
    }
}

impl<'t> Typed<'t> {
    /// Compares two objects of this type.
    pub fn compare<'v>(self, old: &'v Value, new: &'v Value) -> Result<Comparison<'v>, Vec<Problem>>
    where
        't: 'v,
    {
        let mut walk = Walk { problems: Vec::new() };
        let found = walk.values(self, Position::Root, Some(old), Some(new));
        if !walk.problems.is_empty() {
            return Err(walk.problems);
        }
        Ok(Comparison {
            removed: found.removed.children,
            modified: found.modified.children,
            added: found.added.children,
        })
    }
}

/// Result of a comparison for one path and everything below it.
#[derive(Default)]
struct PathComparison<'v> {
    removed: Part<'v>,
    modified: Part<'v>,
    added: Part<'v>,
}

impl<'v> PathComparison<'v> {
    fn leaf(old: Option<&Value>, new: Option<&Value>) -> Self {
        let mut found = Self::default();
        match (old, new) {
            (None, _) => found.added.member = true,
            (_, None) => found.removed.member = true,
            (Some(old), Some(new)) => found.modified.member = !equal(old, new),
        }
        found
    }

    /// Adds what was found below an element.
    fn push(&mut self, element: PathElement<'v>, below: PathComparison<'v>) {
        let filled = [&below.removed, &below.modified, &below.added];
        match filled.map(|part| !part.is_empty()) {
            [false, false, false] => {}
            [true, false, false] => self.removed.children.push(element, below.removed),
            [false, true, false] => self.modified.children.push(element, below.modified),
            [false, false, true] => self.added.children.push(element, below.added),
            _ => {
                self.removed.children.push(element.clone(), below.removed);
                self.modified.children.push(element.clone(), below.modified);
                self.added.children.push(element, below.added);
            }
        }
    }
}

struct Walk {
    problems: Vec<Problem>,
}

impl Walk {
    fn values<'v, 't: 'v>(
        &mut self,
        typed: Typed<'t>,
        place: Position,
        old: Option<&'v Value>,
        new: Option<&'v Value>,
    ) -> PathComparison<'v> {
        let old_shape = typed.shape(old);
        let new_shape = typed.shape(new);
        let (Some(_), Some(_)) = (old, new) else {
            let shape = if new.is_none() { old_shape } else { new_shape };
            let (mut found, leaf) = self.shaped(typed, place, shape, old, new);
            if !leaf {
                found.added.member |= old.is_none();
                found.removed.member |= new.is_none();
            }
            return found;
        };
        if std::mem::discriminant(&old_shape) == std::mem::discriminant(&new_shape) {
            return self.shaped(typed, place, new_shape, old, new).0;
        }
        let (mut found, _) = self.shaped(typed, place, old_shape, old, new);
        let (other, _) = self.shaped(typed, place, new_shape, old, new);
        for (mine, other) in [
            (&mut found.removed, other.removed),
            (&mut found.modified, other.modified),
            (&mut found.added, other.added),
        ] {
            mine.member |= other.member;
            mine.children.absorb(other.children);
        }
        found
    }

    /// Compares two values of one shape; also tells whether they count as one leaf.
    fn shaped<'v, 't: 'v>(
        &mut self,
        typed: Typed<'t>,
        place: Position,
        shape: Shape<'t>,
        old: Option<&'v Value>,
        new: Option<&'v Value>,
    ) -> (PathComparison<'v>, bool) {
        match shape {
            Shape::Scalar(kind) => {
                let problem = |value: Option<&Value>| value.and_then(|v| scalar_problem(kind, v));
                if let (Some(left), Some(right)) = (problem(old), problem(new)) {
                    for message in [format!("lhs: {left}"), format!("rhs: {right}")] {
                        self.problems.push(Problem { path: String::new(), message });
                    }
                    return (PathComparison::default(), false);
                }
                (PathComparison::leaf(old, new), true)
            }
            Shape::Map(map) => {
                let left = old.and_then(Value::as_object).filter(|map| !map.is_empty());
                let right = new.and_then(Value::as_object).filter(|map| !map.is_empty());
                if map.atomic || (left.is_none() && right.is_none()) {
                    return (PathComparison::leaf(old, new), true);
                }
                (self.maps(typed, place, map, left, right), false)
            }
            Shape::List(list) => {
                let left = old.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                let right = new.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                if list.atomic() || (left.is_empty() && right.is_empty()) {
                    return (PathComparison::leaf(old, new), true);
                }
                (self.lists(typed, list, left, right), false)
            }
        }
    }

    fn maps<'v, 't: 'v>(
        &mut self,
        typed: Typed<'t>,
        place: Position,
        shape: MapShape<'t>,
        old: Option<&'v Map<String, Value>>,
        new: Option<&'v Map<String, Value>>,
    ) -> PathComparison<'v> {
        let mut found = PathComparison::default();
        zip_maps(old, new, |key, old, new| {
            let Some(place) = place.step(key) else { return };
            let ty = shape.type_of(key).unwrap_or_default();
            let below = self.values(typed.at(ty), place, old, new);
            found.push(PathElement::Field(key), below);
        });
        found
    }

    fn lists<'v, 't: 'v>(
        &mut self,
        typed: Typed<'t>,
        list: ListShape<'t>,
        old: &'v [Value],
        new: &'v [Value],
    ) -> PathComparison<'v> {
        let old_names = self.names(typed, list, old);
        let new_names = self.names(typed, list, new);
        let (Some(old_names), Some(new_names)) = (old_names, new_names) else {
            return PathComparison::default();
        };
        let old_index = ItemIndex::new(&old_names);
        let new_index = ItemIndex::new(&new_names);
        let mut found = PathComparison::default();
        for at in new_index.sorted() {
            let name = &new_names[*at as usize];
            let new_places = new_index.places(&new_names, name);
            if new_places.first() == Some(at) {
                let old_places = old_index.places(&old_names, name);
                let before: Vec<&Value> = old_places.iter().map(|at| &old[*at as usize]).collect();
                let after: Vec<&Value> = new_places.iter().map(|at| &new[*at as usize]).collect();
                self.items(typed.at(list.element), name, &before, &after, &mut found);
            }
        }
        for at in old_index.sorted() {
            let name = &old_names[*at as usize];
            let places = old_index.places(&old_names, name);
            if places.first() == Some(at) && new_index.places(&new_names, name).is_empty() {
                let before: Vec<&Value> = places.iter().map(|at| &old[*at as usize]).collect();
                self.items(typed.at(list.element), name, &before, &[], &mut found);
            }
        }
        found
    }

    /// Compares the items of one name; more than one of a name count as one leaf.
    fn items<'v, 't: 'v>(
        &mut self,
        typed: Typed<'t>,
        name: &PathElement<'v>,
        old: &[&'v Value],
        new: &[&'v Value],
        found: &mut PathComparison<'v>,
    ) {
        let member = || Part { member: true, children: Set::new() };
        match (old, new) {
            ([] | [_], [] | [_]) => {
                let below =
                    self.values(typed, Position::Below, old.first().copied(), new.first().copied());
                found.push(name.clone(), below);
            }
            ([_, _, ..], [_, _, ..]) => {
                let same =
                    old.len() == new.len() && old.iter().zip(new).all(|(old, new)| equal(old, new));
                if !same {
                    found.modified.children.push(name.clone(), member());
                }
            }
            ([_, _, ..], _) => {
                if let [item] = new {
                    let below = self.values(typed, Position::Below, None, Some(item));
                    found.push(name.clone(), below);
                }
                found.removed.children.push(name.clone(), member());
            }
            (_, _) => {
                if let [item] = old {
                    let below = self.values(typed, Position::Below, Some(item), None);
                    found.push(name.clone(), below);
                }
                found.added.children.push(name.clone(), member());
            }
        }
    }

    fn names<'v, 't: 'v>(
        &mut self,
        typed: Typed<'t>,
        list: ListShape<'t>,
        items: &'v [Value],
    ) -> Option<Vec<PathElement<'v>>> {
        let names: Result<Vec<_>, _> = items
            .iter()
            .enumerate()
            .map(|(idx, item)| {
                typed.name_item(list, item).map_err(|problem| format!("element {idx}: {problem}"))
            })
            .collect();
        names.map_err(|message| self.problems.push(Problem { path: String::new(), message })).ok()
    }
}

/// Calls a function with each key of two maps, in order, and its values.
pub(super) fn zip_maps<'v>(
    old: Option<&'v Map<String, Value>>,
    new: Option<&'v Map<String, Value>>,
    mut visit: impl FnMut(&'v str, Option<&'v Value>, Option<&'v Value>),
) {
    let mut old = old.into_iter().flatten().peekable();
    let mut new = new.into_iter().flatten().peekable();
    loop {
        let order = match (old.peek(), new.peek()) {
            (Some((a, _)), Some((b, _))) => a.cmp(b),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (None, None) => return,
        };
        let left = if order.is_le() { old.next() } else { None };
        let right = if order.is_ge() { new.next() } else { None };
        if let Some((key, _)) = left.or(right) {
            visit(key, left.map(|(_, value)| value), right.map(|(_, value)| value));
        }
    }
}
