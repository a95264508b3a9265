//! What a value is, as far as merging is concerned.

use kusion_k8s_schema::{ListKind, Listing, Scalar, Struct, Type, TypeId};
use serde_json::Value;

use super::Typed;

/// The shape of a value with a type: an untyped value has the shape of its content.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape<'t> {
    /// A single value; without a kind any single value will do.
    Scalar(Option<Scalar>),
    /// An object.
    Map(MapShape<'t>),
    /// A list.
    List(ListShape<'t>),
}

/// An object with named fields, free keys, or both.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MapShape<'t> {
    /// The named fields.
    pub(crate) named: Option<&'t Struct>,
    /// Type of the other keys; none means that there are none.
    pub(crate) element: Option<TypeId>,
    /// Whether it is owned as a whole.
    pub(crate) atomic: bool,
}

/// A list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListShape<'t> {
    /// How it merges.
    pub(crate) kind: &'t ListKind,
    /// Type of its items.
    pub(crate) element: TypeId,
}

impl ListShape<'_> {
    /// Returns whether it is owned as a whole.
    pub(crate) fn atomic(&self) -> bool {
        *self.kind == ListKind::Atomic
    }
}

impl MapShape<'_> {
    /// Returns whether a key is a named field.
    pub(crate) fn names(&self, key: &str) -> bool {
        self.named.is_some_and(|named| named.field(key).is_some())
    }

    /// Returns the type of a key; none when it is unknown.
    pub(crate) fn type_of(&self, key: &str) -> Option<TypeId> {
        self.named.and_then(|named| named.field(key)).map(|field| field.ty).or(self.element)
    }

    /// Returns whether nothing is known about its content.
    pub(crate) fn is_untyped(&self, typed: Typed<'_>) -> bool {
        self.named.is_none_or(|named| named.fields.is_empty())
            && self.element.is_some_and(|ty| matches!(typed.table.get(ty), Type::Any))
    }
}

impl<'t> Typed<'t> {
    /// Returns the shape of a value of this type.
    pub(crate) fn shape(self, value: Option<&Value>) -> Shape<'t> {
        match self.table.get(self.ty) {
            Type::Scalar(kind) => Shape::Scalar(Some(*kind)),
            Type::Struct(named) => Shape::Map(MapShape {
                named: Some(named),
                element: match named.additional {
                    Some(ty) => Some(ty),
                    None if named.preserve_unknown || named.fields.is_empty() => {
                        Some(TypeId::default())
                    }
                    None => None,
                },
                atomic: named.atomic,
            }),
            Type::Map(map) => {
                Shape::Map(MapShape { named: None, element: Some(map.element), atomic: map.atomic })
            }
            Type::List(Listing { element, kind }) => {
                Shape::List(ListShape { kind, element: *element })
            }
            Type::Any => untyped(value),
        }
    }
}

fn untyped(value: Option<&Value>) -> Shape<'static> {
    match value {
        Some(Value::Array(_)) => {
            Shape::List(ListShape { kind: &ListKind::Atomic, element: TypeId::default() })
        }
        None | Some(Value::Object(_) | Value::Null) => {
            Shape::Map(MapShape { named: None, element: Some(TypeId::default()), atomic: false })
        }
        Some(_) => Shape::Scalar(None),
    }
}

/// Returns whether two values are the same; numbers are compared by value.
pub(crate) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => x == y || x.as_f64() == y.as_f64(),
        (Value::Array(x), Value::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| equal(x, y))
        }
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|((k, x), (l, y))| k == l && equal(x, y))
        }
        _ => a == b,
    }
}
