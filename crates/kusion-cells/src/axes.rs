//! Axes: the declared dimensions of configuration.

use crate::path::{LeafPath, PathPattern};
use crate::value_set::ValueSet;
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// The largest number of axes.
pub const MAX_AXES: usize = 16;
/// The largest number of values of an axis.
pub const MAX_VALUES: usize = 4096;
/// The longest name of an axis, value or group, in bytes.
const MAX_NAME: usize = 63;

/// An axis: a name, its values, and names for groups of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The name, such as `env`.
    pub name: String,
    /// The values. Their order has no meaning.
    pub values: Vec<String>,
    /// Names for several values.
    pub groups: BTreeMap<String, Vec<String>>,
}

/// The axes of a repository, the most decisive first, and the paths that have another order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Axes {
    declared: Vec<Axis>,
    /// The values and groups of each axis, by name.
    names: Vec<BTreeMap<String, ValueSet>>,
    /// The orders; the first one is that of the declaration.
    orders: Vec<Vec<usize>>,
    /// The paths with another order, as places in `orders`.
    patterns: Vec<(PathPattern, usize)>,
    /// Lists that are sets.
    sets: Vec<PathPattern>,
    /// Lists whose items are identified by a key.
    keyed: Vec<(PathPattern, String)>,
}

/// Axes that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct AxesError(String);

/// A cell: the place of its value on each axis.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell(pub(crate) Vec<usize>);

impl Cell {
    /// Returns the place of its value on an axis.
    pub fn place(&self, axis: usize) -> usize {
        self.0[axis]
    }
}

impl Axes {
    /// Checks axes, the most decisive first.
    ///
    /// # Errors
    ///
    /// If there are too many, or a name is invalid or used twice, or a group has an unknown value.
    pub fn new(axes: Vec<Axis>) -> Result<Self, AxesError> {
        let wrong = |message: String| Err(AxesError(message));
        if axes.len() > MAX_AXES {
            return wrong(format!("there are {} axes, at most {MAX_AXES} are allowed", axes.len()));
        }
        let mut seen = BTreeSet::new();
        let mut names = Vec::with_capacity(axes.len());
        for axis in &axes {
            check_name("axis", &axis.name)?;
            if !seen.insert(&axis.name) {
                return wrong(format!("axis `{}` is declared twice", axis.name));
            }
            names.push(names_of(axis)?);
        }
        let orders = vec![(0..axes.len()).collect()];
        Ok(Self { declared: axes, names, orders, ..Self::default() })
    }

    /// Gives the paths that match a pattern another order. Axes that are not named follow in the
    /// declared order.
    ///
    /// # Errors
    ///
    /// If an axis is unknown or named twice, or another pattern of the same rank matches the same
    /// paths.
    pub fn with_order(mut self, pattern: PathPattern, order: &[String]) -> Result<Self, AxesError> {
        let mut places = Vec::with_capacity(self.declared.len());
        for name in order {
            let Some(at) = self.position(name) else {
                let known = self.declared.iter().map(|axis| axis.name.as_str());
                let hint = base_text::nearest(name, known).map_or(String::new(), did_you_mean);
                return Err(AxesError(format!(
                    "the order of `{pattern}` has the unknown axis `{name}`{hint}"
                )));
            };
            if places.contains(&at) {
                let message = format!("the order of `{pattern}` has the axis `{name}` twice");
                return Err(AxesError(message));
            }
            places.push(at);
        }
        places
            .extend((0..self.declared.len()).filter(|at| !places.contains(at)).collect::<Vec<_>>());
        let same = |known: &&(PathPattern, usize)| known.0.ties_with(&pattern);
        if let Some((known, _)) = self.patterns.iter().find(same) {
            return Err(AxesError(format!(
                "the orders of `{known}` and `{pattern}` apply to the same paths"
            )));
        }
        let at = match self.orders.iter().position(|known| *known == places) {
            Some(at) => at,
            None => {
                self.orders.push(places);
                self.orders.len() - 1
            }
        };
        self.patterns.push((pattern, at));
        Ok(self)
    }

    /// Declares that the lists at matching paths are sets: the order of items has no meaning, and
    /// equal items are one.
    #[must_use]
    pub fn with_set(mut self, pattern: PathPattern) -> Self {
        self.sets.push(pattern);
        self
    }

    /// Declares that the items of the lists at matching paths are maps that differ in `key`.
    #[must_use]
    pub fn with_keyed(mut self, pattern: PathPattern, key: String) -> Self {
        self.keyed.push((pattern, key));
        self
    }

    /// Returns the axes in the declared order.
    pub fn axes(&self) -> &[Axis] {
        &self.declared
    }

    /// Returns the number of cells; saturates.
    pub fn n_cells(&self) -> usize {
        self.declared.iter().fold(1, |count: usize, axis| count.saturating_mul(axis.values.len()))
    }

    /// Returns the place of an axis.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.declared.iter().position(|axis| axis.name == name)
    }

    /// Returns the set that a value or group of an axis stands for.
    pub(crate) fn named(&self, axis: usize, name: &str) -> Option<&ValueSet> {
        self.names[axis].get(name)
    }

    /// Returns the names of the values and groups of an axis.
    pub(crate) fn known_names(&self, axis: usize) -> impl Iterator<Item = &str> {
        self.names[axis].keys().map(String::as_str)
    }

    pub(crate) fn len_of(&self, axis: usize) -> usize {
        self.declared[axis].values.len()
    }

    /// Returns the order of a path: places of axes, the most decisive first.
    pub(crate) fn order_of(&self, path: &LeafPath) -> &[usize] {
        let matching = self.patterns.iter().filter(|(pattern, _)| pattern.covers(path));
        let best = matching.max_by_key(|(pattern, _)| pattern.rank());
        &self.orders[best.map_or(0, |(_, order)| *order)]
    }

    /// Whether the list at a path is a set.
    pub(crate) fn is_set(&self, path: &LeafPath) -> bool {
        self.sets.iter().any(|pattern| pattern.covers(path))
    }

    /// Returns the key of the items of the list at a path.
    pub(crate) fn key_of(&self, path: &LeafPath) -> Option<&str> {
        let mut matching = self.keyed.iter().filter(|(pattern, _)| pattern.covers(path));
        matching.next().map(|(_, key)| key.as_str())
    }

    /// Returns a cell as a selector that matches only it: `env=prod,zone=gz00a`.
    pub fn cell_text(&self, cell: &Cell) -> String {
        let parts = self.declared.iter().zip(&cell.0);
        let parts: Vec<String> =
            parts.map(|(axis, at)| format!("{}={}", axis.name, axis.values[*at])).collect();
        parts.join(",")
    }

    /// Returns the value of a cell on an axis.
    pub fn value_of(&self, cell: &Cell, axis: usize) -> &str {
        &self.declared[axis].values[cell.0[axis]]
    }
}

pub(crate) fn did_you_mean(name: &str) -> String {
    format!(" (did you mean `{name}`?)")
}

fn names_of(axis: &Axis) -> Result<BTreeMap<String, ValueSet>, AxesError> {
    let (name, len) = (&axis.name, axis.values.len());
    if len == 0 || len > MAX_VALUES {
        return Err(AxesError(format!(
            "axis `{name}` has {len} values, expected 1 to {MAX_VALUES}"
        )));
    }
    let mut names = BTreeMap::new();
    for (at, value) in axis.values.iter().enumerate() {
        check_name(&format!("value of axis `{name}`"), value)?;
        if names.insert(value.clone(), ValueSet::one(len, at)).is_some() {
            return Err(AxesError(format!("axis `{name}` has the value `{value}` twice")));
        }
    }
    let values = names.clone();
    for (group, members) in &axis.groups {
        check_name(&format!("group of axis `{name}`"), group)?;
        let mut set = ValueSet::none(len);
        for member in members {
            let Some(value) = values.get(member) else {
                let hint = base_text::nearest(member, values.keys().map(String::as_str));
                let hint = hint.map_or(String::new(), did_you_mean);
                let message =
                    format!("group `{group}` of axis `{name}` has the unknown value `{member}`");
                return Err(AxesError(message + &hint));
            };
            set = set.union(value);
        }
        if set.is_empty() {
            return Err(AxesError(format!("group `{group}` of axis `{name}` is empty")));
        }
        if names.insert(group.clone(), set).is_some() {
            return Err(AxesError(format!("axis `{name}` has a value and a group `{group}`")));
        }
    }
    Ok(names)
}

/// Checks a name: it must be safe in file names, selectors and store keys.
fn check_name(what: &str, name: &str) -> Result<(), AxesError> {
    let is_valid = |at: usize, b: u8| b.is_ascii_alphanumeric() || (at > 0 && b"-_.".contains(&b));
    let valid = name.bytes().enumerate().all(|(at, b)| is_valid(at, b));
    if name.is_empty() || name.len() > MAX_NAME || !valid {
        let shown: String = name.chars().take(MAX_NAME).filter(|it| !it.is_control()).collect();
        return Err(AxesError(format!(
            "invalid {what} `{shown}`: expected 1 to {MAX_NAME} letters, digits, `-`, `_` or `.`, \
             the first one a letter or digit"
        )));
    }
    Ok(())
}
