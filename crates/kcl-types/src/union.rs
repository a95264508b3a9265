//! Unions of types, in which literals are found quickly.

use crate::ty::{Text, Type};
use rustc_hash::FxHashSet;
use std::ops::Deref;
use std::sync::OnceLock;

/// The members of a union, in order.
#[derive(Clone, Debug, Default)]
pub struct UnionType {
    types: Vec<Type>,
    index: OnceLock<Index>,
}

/// Where to look for a member.
#[derive(Clone, Debug, Default)]
struct Index {
    texts: FxHashSet<Text>,
    ints: FxHashSet<i64>,
    /// The positions of all other members.
    others: Vec<u32>,
}

impl UnionType {
    fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let mut index = Index::default();
            for (position, ty) in self.types.iter().enumerate() {
                match ty {
                    Type::StrLit(text) => {
                        index.texts.insert(text.clone());
                    }
                    Type::IntLit(value) => {
                        index.ints.insert(*value);
                    }
                    _ => index.others.push(position as u32),
                }
            }
            index
        })
    }

    /// Whether `holds` is true for a member. Strings and integers are asked for only if they
    /// could hold `ty`, which is no union.
    pub(crate) fn any_for(&self, ty: &Type, holds: impl Fn(&Type) -> bool) -> bool {
        // Below this, looking at all members is as quick.
        const FEW: usize = 8;
        if self.types.len() <= FEW {
            return self.types.iter().any(holds);
        }
        let index = self.index();
        let is_there = match ty {
            Type::StrLit(text) => index.texts.contains(text),
            Type::Str => !index.texts.is_empty(),
            Type::IntLit(value) => index.ints.contains(value),
            _ => false,
        };
        is_there || index.others.iter().any(|position| holds(&self.types[*position as usize]))
    }

    /// Adds a string or an integer to a union of such; `false` if the union has others, or
    /// `max` members.
    pub(crate) fn push_literal(&mut self, literal: &Type, max: usize) -> bool {
        if self.types.len() >= max {
            return false;
        }
        self.index();
        let Some(index) = self.index.get_mut() else { return false };
        if !index.others.is_empty() {
            return false;
        }
        let is_new = match literal {
            Type::StrLit(text) => index.texts.insert(text.clone()),
            Type::IntLit(value) => index.ints.insert(*value),
            _ => return false,
        };
        if is_new {
            self.types.push(literal.clone());
        }
        true
    }
}

impl Deref for UnionType {
    type Target = [Type];

    fn deref(&self) -> &[Type] {
        &self.types
    }
}

impl PartialEq for UnionType {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || self.types == other.types
    }
}

impl From<Vec<Type>> for UnionType {
    fn from(types: Vec<Type>) -> Self {
        Self { types, index: OnceLock::new() }
    }
}
