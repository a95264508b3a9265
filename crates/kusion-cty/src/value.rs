//! Values.

use crate::{Number, Path, Step, Type};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A value of a [`Type`], which its schema knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// No value.
    #[default]
    Null,
    /// A value that is known only after apply, with its limits.
    Unknown(Option<Box<Refinement>>),
    /// A truth value.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text.
    String(Arc<str>),
    /// A list, a tuple, or a set in its canonical order ([`Value::set`]).
    List(Vec<Value>),
    /// A map, or an object with all its attributes.
    Map(BTreeMap<Arc<str>, Value>),
    /// A known value in the place of [`Type::Dynamic`], with its own type.
    Typed(Box<Typed>),
}

/// A value with its type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Typed {
    /// The type; never [`Type::Dynamic`] itself.
    pub ty: Type,
    /// The value.
    pub value: Value,
}

/// A limit of an unknown number, and whether the number may be equal to it.
pub type Bound = (Number, bool);

/// Limits of an unknown value.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Refinement {
    /// Whether it will be null; `None` if that is not known.
    pub is_null: Option<bool>,
    /// The start of a text.
    pub prefix: Option<Arc<str>>,
    /// The lower limit of a number.
    pub min: Option<Bound>,
    /// The upper limit of a number.
    pub max: Option<Bound>,
    /// The smallest number of elements.
    pub min_length: Option<u64>,
    /// The greatest number of elements.
    pub max_length: Option<u64>,
}

impl Value {
    /// An unknown value about which nothing is known.
    pub const UNKNOWN: Self = Self::Unknown(None);

    /// Creates a set: in canonical order, without known duplicates. Elements that are not wholly
    /// known may become equal or not, so that all of them are kept.
    pub fn set(mut elements: Vec<Self>) -> Self {
        elements.sort();
        elements.dedup_by(|a, b| a == b && a.is_wholly_known());
        Self::List(elements)
    }

    /// Creates a map or an object.
    pub fn map<K: Into<Arc<str>>>(fields: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Map(fields.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    /// Creates a value in the place of [`Type::Dynamic`].
    pub fn typed(ty: Type, value: Self) -> Self {
        match value {
            Self::Typed(_) => value,
            value => Self::Typed(Box::new(Typed { ty, value })),
        }
    }

    /// Returns whether it is null.
    pub fn is_null(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Typed(typed) => typed.value.is_null(),
            _ => false,
        }
    }

    /// Returns whether it is unknown as a whole.
    pub fn is_unknown(&self) -> bool {
        match self {
            Self::Unknown(_) => true,
            Self::Typed(typed) => typed.value.is_unknown(),
            _ => false,
        }
    }

    /// Returns whether no part of it is unknown.
    pub fn is_wholly_known(&self) -> bool {
        match self {
            Self::Unknown(_) => false,
            Self::List(items) => items.iter().all(Self::is_wholly_known),
            Self::Map(fields) => fields.values().all(Self::is_wholly_known),
            Self::Typed(typed) => typed.value.is_wholly_known(),
            _ => true,
        }
    }

    /// Returns a text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the elements of a list, set or tuple.
    pub fn items(&self) -> Option<&[Self]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the elements of a map or the attributes of an object.
    pub fn fields(&self) -> Option<&BTreeMap<Arc<str>, Self>> {
        match self {
            Self::Map(fields) => Some(fields),
            _ => None,
        }
    }

    /// Returns an attribute of an object; null if there is none.
    pub fn get(&self, name: &str) -> &Self {
        self.fields().and_then(|it| it.get(name)).unwrap_or(&Self::Null)
    }

    /// Returns the paths of its unknown parts; elements of sets are named by their set.
    pub fn unknown_paths(&self, ty: &Type) -> Vec<Path> {
        let (mut path, mut found) = (Path::default(), Vec::new());
        add_unknown(self, ty, &mut path, &mut found);
        found
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Number(value.into())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

fn add_unknown(value: &Value, ty: &Type, path: &mut Path, found: &mut Vec<Path>) {
    let mut inside = |step: Step, value: &Value, ty: &Type| {
        path.0.push(step);
        add_unknown(value, ty, path, found);
        path.0.pop();
    };
    match (value, ty) {
        (Value::Unknown(_), _) => found.push(path.clone()),
        (Value::Typed(typed), _) => add_unknown(&typed.value, &typed.ty, path, found),
        (Value::List(_), Type::Set(_)) if !value.is_wholly_known() => found.push(path.clone()),
        (Value::List(items), Type::List(element)) => {
            let items = items.iter().enumerate();
            items.for_each(|(index, item)| inside(Step::Index(index), item, element));
        }
        (Value::List(items), Type::Tuple(types)) => {
            let items = items.iter().zip(types.iter()).enumerate();
            items.for_each(|(index, (item, ty))| inside(Step::Index(index), item, ty));
        }
        (Value::Map(fields), Type::Map(element)) => {
            for (key, field) in fields {
                inside(Step::Key(key.clone()), field, element);
            }
        }
        (Value::Map(fields), Type::Object(types)) => {
            for (name, ty) in types.iter() {
                if let Some(field) = fields.get(name) {
                    inside(Step::Attribute(name.clone()), field, ty);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_have_one_order_and_no_known_duplicates() {
        let set = Value::set(vec!["b".into(), "a".into(), "b".into()]);
        assert_eq!(set, Value::List(vec!["a".into(), "b".into()]));
        let open = || Value::map([("port", Value::from(1)), ("id", Value::UNKNOWN)]);
        assert_eq!(Value::set(vec![open(), open()]).items().map(<[_]>::len), Some(2));
    }

    #[test]
    fn unknown_parts_are_found_and_sets_are_named_as_a_whole() {
        let ty = Type::object([
            ("a", Type::String),
            ("b", Type::list(Type::map(Type::String))),
            ("c", Type::set(Type::String)),
            ("d", Type::Dynamic),
        ]);
        let value = Value::map([
            ("a", Value::UNKNOWN),
            ("b", Value::List(vec![Value::map([("k", Value::UNKNOWN)])])),
            ("c", Value::set(vec!["x".into(), Value::UNKNOWN])),
            ("d", Value::typed(Type::tuple([Type::Bool]), Value::List(vec![Value::UNKNOWN]))),
        ]);
        let found: Vec<String> = value.unknown_paths(&ty).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["a", "b[0][\"k\"]", "c", "d[0]"]);
        assert!(!value.is_wholly_known());
    }
}
