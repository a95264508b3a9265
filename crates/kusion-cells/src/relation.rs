//! Which of two layers is more specific.

use crate::layer::Layer;

/// What decides between two layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The first axis, in the order of the path, on which their values differ.
    Axis(usize),
    /// Their cells are the same; one is declared for a narrower scope.
    Scope,
}

/// How two layers relate to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// The first one is more specific.
    Beats(Decision),
    /// The second one is more specific.
    Loses(Decision),
    /// Neither is.
    Ties,
}

impl Relation {
    /// Compares two layers by an order of axes.
    ///
    /// A strict partial order: lexicographic over "is strictly inside" on each axis, then over the
    /// scope.
    pub(crate) fn of(order: &[usize], first: &Layer, second: &Layer) -> Self {
        for &axis in order {
            let (one, other) = (&first.when.0[axis], &second.when.0[axis]);
            if one == other {
                continue;
            }
            return if one.is_subset(other) {
                Self::Beats(Decision::Axis(axis))
            } else if other.is_subset(one) {
                Self::Loses(Decision::Axis(axis))
            } else {
                Self::Ties
            };
        }
        match first.scope.cmp(&second.scope) {
            std::cmp::Ordering::Greater => Self::Beats(Decision::Scope),
            std::cmp::Ordering::Less => Self::Loses(Decision::Scope),
            std::cmp::Ordering::Equal => Self::Ties,
        }
    }

    pub(crate) fn beats(order: &[usize], first: &Layer, second: &Layer) -> bool {
        matches!(Self::of(order, first, second), Self::Beats(_))
    }

    pub(crate) fn ties(order: &[usize], first: &Layer, second: &Layer) -> bool {
        Self::of(order, first, second) == Self::Ties
    }
}
