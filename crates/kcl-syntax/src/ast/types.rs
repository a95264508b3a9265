//! Type annotations.

use super::{Path, TypeId, Unit};

/// A type annotation.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// `any`, or nothing where a type may be left out (`[]`, `{:}`).
    Any,
    /// `int`, `str` …
    Basic(BasicType),
    /// `[T]`, `list`
    List(Option<TypeId>),
    /// `{K:V}`, `dict`
    Dict {
        /// The type of keys.
        key: Option<TypeId>,
        /// The type of values.
        value: Option<TypeId>,
    },
    /// `A | B`
    Union(Vec<TypeId>),
    /// `"a"`, `1`, `True`, `1Ki`
    Literal(LiteralType),
    /// `Name`, `pkg.Name`
    Named(Path),
    /// `(A, B) -> C`
    Function {
        /// The types of parameters, if given.
        params: Option<Vec<TypeId>>,
        /// The result's type.
        ret: Option<TypeId>,
    },
    /// Stands where a type is missing after a syntax error.
    Missing,
}

/// A type with a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants are the types' own names")]
pub enum BasicType {
    Bool,
    Int,
    Float,
    Str,
}

/// A type with one value.
#[derive(Clone, Debug, PartialEq)]
pub enum LiteralType {
    /// `True`
    Bool(bool),
    /// `1`, `-1`
    Int(i64),
    /// `1Ki`
    Unit {
        /// The number before the unit.
        value: i64,
        /// The unit.
        unit: Unit,
    },
    /// `1.5`
    Float(f64),
    /// `"a"`
    Str(Box<str>),
}
