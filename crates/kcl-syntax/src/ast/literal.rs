//! Literals: numbers, strings and constants.

use super::ExprId;
use std::sync::Arc;

/// A number as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// `12`
    Int(i64),
    /// `1.5`, `1e3`
    Float(f64),
    /// `1Ki`
    Unit {
        /// The number before the unit.
        value: i64,
        /// The unit.
        unit: Unit,
    },
}

/// The unit behind a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants are the units' own names")]
pub enum Unit {
    N,
    U,
    M,
    K,
    KUpper,
    MUpper,
    G,
    T,
    P,
    Ki,
    Mi,
    Gi,
    Ti,
    Pi,
}

impl Unit {
    /// The unit as written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::N => "n",
            Self::U => "u",
            Self::M => "m",
            Self::K => "k",
            Self::KUpper => "K",
            Self::MUpper => "M",
            Self::G => "G",
            Self::T => "T",
            Self::P => "P",
            Self::Ki => "Ki",
            Self::Mi => "Mi",
            Self::Gi => "Gi",
            Self::Ti => "Ti",
            Self::Pi => "Pi",
        }
    }
}

/// A string without interpolation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StringLit {
    /// The text it stands for.
    pub value: Arc<str>,
    /// Whether three quotes were used.
    pub is_long: bool,
}

/// A string with interpolation.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinedString {
    /// The parts.
    pub parts: Vec<StringPart>,
    /// Whether three quotes were used.
    pub is_long: bool,
}

/// A part of a string with interpolation.
#[derive(Clone, Debug, PartialEq)]
pub enum StringPart {
    /// Text between interpolations.
    Text(Box<str>),
    /// `${value: #spec}`
    Formatted {
        /// What is put in.
        value: ExprId,
        /// How, e.g. `#json`.
        spec: Option<Box<str>>,
    },
}

/// A named constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants are the constants' own names")]
pub enum Constant {
    True,
    False,
    None,
    Undefined,
}

impl Constant {
    /// The constant as written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::None => "None",
            Self::Undefined => "Undefined",
        }
    }
}
