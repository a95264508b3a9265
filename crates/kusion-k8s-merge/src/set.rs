//! Sets of field paths, as trees.

use std::cmp::Ordering;

use crate::path::PathElement;

/// A set of field paths.
///
/// A tree of sorted entries: an entry says whether its own path is a member, and holds the
/// members below it. No entry is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Set<'a> {
    pub(crate) entries: Vec<Entry<'a>>,
}

/// One step of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry<'a> {
    pub(crate) element: PathElement<'a>,
    pub(crate) part: Part<'a>,
}

/// Membership of one path and of everything below it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Part<'a> {
    pub(crate) member: bool,
    pub(crate) children: Set<'a>,
}

impl Part<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        !self.member && self.children.is_empty()
    }
}

impl<'a> Set<'a> {
    /// Returns the set without members.
    pub const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// Builds a set from paths of field names.
    pub fn of_fields(paths: &[&[&'a str]]) -> Self {
        let mut set = Self::new();
        for path in paths {
            let elements: Vec<_> = path.iter().map(|name| PathElement::Field(name)).collect();
            set.insert(&elements);
        }
        set
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Counts the members.
    pub fn len(&self) -> usize {
        self.entries
            .iter()
            .map(|entry| usize::from(entry.part.member) + entry.part.children.len())
            .sum()
    }

    /// Adds a path; the empty path is ignored.
    pub fn insert(&mut self, path: &[PathElement<'a>]) {
        let Some((first, rest)) = path.split_first() else { return };
        let part = self.part_mut(first.clone());
        if rest.is_empty() {
            part.member = true;
        } else {
            part.children.insert(rest);
        }
    }

    /// Returns whether a path is a member.
    pub fn has(&self, path: &[PathElement<'_>]) -> bool {
        let Some((first, rest)) = path.split_first() else { return false };
        match self.part(first) {
            Some(part) if rest.is_empty() => part.member,
            Some(part) => part.children.has(rest),
            None => false,
        }
    }

    /// Returns whether all members are members of the other set too.
    pub fn is_subset(&self, other: &Set<'_>) -> bool {
        let mut others = other.entries.iter();
        self.entries.iter().all(|entry| {
            others.find(|candidate| candidate.element >= entry.element).is_some_and(|found| {
                found.element == entry.element
                    && (found.part.member || !entry.part.member)
                    && entry.part.children.is_subset(&found.part.children)
            })
        })
    }

    /// Adds all members of the other set.
    pub fn absorb(&mut self, other: Set<'a>) {
        if other.is_empty() {
            return;
        }
        if self.is_empty() {
            *self = other;
            return;
        }
        let mine = std::mem::take(&mut self.entries);
        self.entries.reserve(mine.len().max(other.entries.len()));
        let mut mine = mine.into_iter().peekable();
        let mut others = other.entries.into_iter().peekable();
        loop {
            let order = match (mine.peek(), others.peek()) {
                (Some(a), Some(b)) => a.element.cmp(&b.element),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return,
            };
            let next = match order {
                Ordering::Less => mine.next(),
                Ordering::Greater => others.next(),
                Ordering::Equal => mine.next().zip(others.next()).map(|(mut a, b)| {
                    a.part.member |= b.part.member;
                    a.part.children.absorb(b.part.children);
                    a
                }),
            };
            self.entries.extend(next);
        }
    }

    /// Returns the members of either set.
    #[must_use]
    pub fn union(&self, other: &Set<'a>) -> Set<'a> {
        let mut out = self.clone();
        out.absorb(other.clone());
        out
    }

    /// Returns the members of both sets.
    #[must_use]
    pub fn intersection(&self, other: &Set<'_>) -> Set<'a> {
        let mut entries = Vec::new();
        self.zip(other, |entry, found| {
            let Some(found) = found else { return };
            let part = Part {
                member: entry.part.member && found.member,
                children: entry.part.children.intersection(&found.children),
            };
            if !part.is_empty() {
                entries.push(Entry { element: entry.element.clone(), part });
            }
        });
        Set { entries }
    }

    /// Removes the members of the other set.
    pub fn subtract(&mut self, other: &Set<'_>) {
        self.retain_zip(other, |part, found| {
            part.member &= !found.member;
            part.children.subtract(&found.children);
        });
    }

    /// Removes the members of the other set and everything below them.
    pub fn subtract_deep(&mut self, other: &Set<'_>) {
        self.retain_zip(other, |part, found| {
            if found.member {
                *part = Part::default();
            } else {
                part.children.subtract_deep(&found.children);
            }
        });
    }

    /// Returns the members that have no members below them.
    #[must_use]
    pub fn leaves(&self) -> Set<'a> {
        let entries = self.entries.iter().map(|entry| {
            let children = entry.part.children.leaves();
            let member = entry.part.member && children.is_empty();
            Entry { element: entry.element.clone(), part: Part { member, children } }
        });
        Set { entries: entries.collect() }
    }

    /// Calls a function with each member, a path before the paths below it.
    ///
    /// Members of one level come before those of the levels below.
    pub fn for_each(&self, visit: &mut dyn FnMut(&[PathElement<'a>])) {
        self.walk(&mut Vec::new(), visit);
    }

    fn walk(&self, path: &mut Vec<PathElement<'a>>, visit: &mut dyn FnMut(&[PathElement<'a>])) {
        for entry in self.entries.iter().filter(|entry| entry.part.member) {
            path.push(entry.element.clone());
            visit(path);
            path.pop();
        }
        for entry in self.entries.iter().filter(|entry| !entry.part.children.is_empty()) {
            path.push(entry.element.clone());
            entry.part.children.walk(path, visit);
            path.pop();
        }
    }

    /// Returns the membership of an element.
    pub(crate) fn part(&self, element: &PathElement<'_>) -> Option<&Part<'a>> {
        let at = self.entries.binary_search_by(|entry| entry.element.cmp(element)).ok()?;
        self.entries.get(at).map(|entry| &entry.part)
    }

    /// Adds an entry; fast if entries are added in order.
    pub(crate) fn push(&mut self, element: PathElement<'a>, part: Part<'a>) {
        if part.is_empty() {
            return;
        }
        if self.entries.last().is_none_or(|last| last.element < element) {
            self.entries.push(Entry { element, part });
            return;
        }
        let slot = self.part_mut(element);
        slot.member |= part.member;
        slot.children.absorb(part.children);
    }

    fn part_mut(&mut self, element: PathElement<'a>) -> &mut Part<'a> {
        let found = self.entries.binary_search_by(|entry| entry.element.cmp(&element));
        let at = found.unwrap_or_else(|at| {
            self.entries.insert(at, Entry { element, part: Part::default() });
            at
        });
        &mut self.entries[at].part
    }

    /// Walks this set with the matching parts of another.
    fn zip<'o>(&self, other: &'o Set<'_>, mut visit: impl FnMut(&Entry<'a>, Option<&'o Part<'_>>)) {
        let mut at = 0;
        for entry in &self.entries {
            while other.entries.get(at).is_some_and(|candidate| candidate.element < entry.element) {
                at += 1;
            }
            let found = other.entries.get(at).filter(|found| found.element == entry.element);
            visit(entry, found.map(|found| &found.part));
        }
    }

    /// Changes the parts that the other set has too, and drops those that become empty.
    fn retain_zip(&mut self, other: &Set<'_>, mut change: impl FnMut(&mut Part<'a>, &Part<'_>)) {
        if other.is_empty() {
            return;
        }
        let mut at = 0;
        self.entries.retain_mut(|entry| {
            while other.entries.get(at).is_some_and(|candidate| candidate.element < entry.element) {
                at += 1;
            }
            match other.entries.get(at) {
                Some(found) if found.element == entry.element => {
                    change(&mut entry.part, &found.part);
                    !entry.part.is_empty()
                }
                _ => true,
            }
        });
    }
}
