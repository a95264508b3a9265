//! The parts of dotted names.

use super::Ident;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// The parts of a dotted name, a slice of [`Ident`]s. One part, which most names have, needs
/// no memory of its own.
#[derive(Clone, PartialEq, Eq)]
pub enum Names {
    /// `a`
    One([Ident; 1]),
    /// `a.b`; also no part at all.
    Many(Box<[Ident]>),
}

impl Names {
    /// The parts.
    pub fn as_slice(&self) -> &[Ident] {
        match self {
            Self::One(one) => one,
            Self::Many(many) => many,
        }
    }
}

impl Default for Names {
    fn default() -> Self {
        Self::Many(Box::default())
    }
}

impl Deref for Names {
    type Target = [Ident];

    fn deref(&self) -> &[Ident] {
        self.as_slice()
    }
}

impl DerefMut for Names {
    fn deref_mut(&mut self) -> &mut [Ident] {
        match self {
            Self::One(one) => one,
            Self::Many(many) => many,
        }
    }
}

impl<'n> IntoIterator for &'n Names {
    type Item = &'n Ident;
    type IntoIter = std::slice::Iter<'n, Ident>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl From<Ident> for Names {
    fn from(ident: Ident) -> Self {
        Self::One([ident])
    }
}

impl From<Vec<Ident>> for Names {
    fn from(names: Vec<Ident>) -> Self {
        match names.as_slice() {
            [one] => Self::One([*one]),
            _ => Self::Many(names.into()),
        }
    }
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}
