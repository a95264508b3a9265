//! Sets of values of one axis.

/// A set of values of one axis, by their places in the axis.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum ValueSet {
    /// Of an axis with at most 64 values.
    Small(u64),
    /// Of a longer axis.
    Large(Box<[u64]>),
}

impl ValueSet {
    /// Returns the empty set of an axis with `len` values.
    pub(crate) fn none(len: usize) -> Self {
        if len <= 64 {
            Self::Small(0)
        } else {
            Self::Large(vec![0; len.div_ceil(64)].into_boxed_slice())
        }
    }

    /// Returns the set of all values of an axis with `len` values.
    pub(crate) fn all(len: usize) -> Self {
        let mut set = Self::none(len);
        for at in 0..len {
            set.insert(at);
        }
        set
    }

    /// Returns the set of one value.
    pub(crate) fn one(len: usize, at: usize) -> Self {
        let mut set = Self::none(len);
        set.insert(at);
        set
    }

    fn words(&self) -> &[u64] {
        match self {
            Self::Small(word) => std::slice::from_ref(word),
            Self::Large(words) => words,
        }
    }

    fn words_mut(&mut self) -> &mut [u64] {
        match self {
            Self::Small(word) => std::slice::from_mut(word),
            Self::Large(words) => words,
        }
    }

    pub(crate) fn insert(&mut self, at: usize) {
        self.words_mut()[at / 64] |= 1 << (at % 64);
    }

    pub(crate) fn contains(&self, at: usize) -> bool {
        self.words()[at / 64] >> (at % 64) & 1 == 1
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words().iter().all(|word| *word == 0)
    }

    pub(crate) fn len(&self) -> usize {
        self.words().iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(crate) fn is_subset(&self, other: &Self) -> bool {
        self.words().iter().zip(other.words()).all(|(own, other)| own & !other == 0)
    }

    /// Returns the first value.
    pub(crate) fn first(&self) -> Option<usize> {
        let (at, word) = self.words().iter().enumerate().find(|(_, word)| **word != 0)?;
        Some(at * 64 + word.trailing_zeros() as usize)
    }

    /// Iterates over the values, in the order of the axis.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.words().len() * 64).filter(|at| self.contains(*at))
    }

    pub(crate) fn union(&self, other: &Self) -> Self {
        self.combined(other, |own, other| own | other)
    }

    pub(crate) fn intersection(&self, other: &Self) -> Self {
        self.combined(other, |own, other| own & other)
    }

    pub(crate) fn difference(&self, other: &Self) -> Self {
        self.combined(other, |own, other| own & !other)
    }

    fn combined(&self, other: &Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        match (self, other) {
            (Self::Small(own), Self::Small(other)) => Self::Small(combine(*own, *other)),
            _ => {
                let words = self.words().iter().zip(other.words());
                Self::Large(words.map(|(own, other)| combine(*own, *other)).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_axes_have_the_same_operations() {
        for len in [3, 64, 65, 200] {
            let all = ValueSet::all(len);
            let one = ValueSet::one(len, len - 1);
            assert_eq!(all.len(), len);
            assert!(one.is_subset(&all) && !all.is_subset(&one));
            let rest = all.difference(&one);
            assert_eq!(rest.len(), len - 1);
            assert!(rest.intersection(&one).is_empty());
            assert_eq!(rest.union(&one), all);
            assert_eq!(one.first(), Some(len - 1));
            assert_eq!(all.iter().count(), len);
            assert_eq!(ValueSet::none(len).first(), None);
        }
    }
}
