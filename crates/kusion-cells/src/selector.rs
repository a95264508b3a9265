//! Selectors: which cells a layer is for.

use crate::axes::{Axes, Cell, did_you_mean};
use crate::value_set::ValueSet;
use thiserror::Error;

/// The longest text of a selector, in bytes.
const MAX_TEXT: usize = 65_536;

/// A set of cells: a set of values on each axis.
///
/// Written `env=prod,zone=gz00a|gz00b`: a value, a group, several of them, or `!` for all others.
/// An axis that is not named matches all of its values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Selector(pub(crate) Vec<ValueSet>);

/// A selector that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct SelectorError(String);

impl Selector {
    /// Returns the selector of all cells.
    pub fn all(axes: &Axes) -> Self {
        Self((0..axes.axes().len()).map(|axis| ValueSet::all(axes.len_of(axis))).collect())
    }

    /// Returns the selector of one cell.
    pub fn cell(axes: &Axes, cell: &Cell) -> Self {
        let sets = cell.0.iter().enumerate();
        Self(sets.map(|(axis, at)| ValueSet::one(axes.len_of(axis), *at)).collect())
    }

    /// Parses a selector. The empty text selects all cells.
    ///
    /// # Errors
    ///
    /// If an axis or value is unknown, an axis is named twice, or nothing is selected.
    pub fn parse(axes: &Axes, text: &str) -> Result<Self, SelectorError> {
        if text.len() > MAX_TEXT {
            return Err(SelectorError(format!("the selector has more than {MAX_TEXT} bytes")));
        }
        if text.trim().is_empty() {
            return Ok(Self::all(axes));
        }
        let mut terms = Vec::new();
        for term in text.split(',') {
            let Some((axis, values)) = term.split_once('=') else {
                let shown = printable(term);
                return Err(SelectorError(format!(
                    "invalid selector: expected `AXIS=VALUE`, such as `env=prod`, found `{shown}`"
                )));
            };
            terms.push((axis.trim(), values.split('|').map(str::trim).collect::<Vec<_>>()));
        }
        Self::from_terms(axes, &terms)
    }

    /// Creates a selector from values, groups and `!` forms for each named axis.
    ///
    /// # Errors
    ///
    /// As [`Selector::parse`].
    pub fn from_terms(axes: &Axes, terms: &[(&str, Vec<&str>)]) -> Result<Self, SelectorError> {
        let mut selector = Self::all(axes);
        let mut seen = vec![false; axes.axes().len()];
        for (name, values) in terms {
            let Some(axis) = axes.position(name) else {
                let known = axes.axes().iter().map(|axis| axis.name.as_str());
                return Err(unknown("axis", name, known));
            };
            if std::mem::replace(&mut seen[axis], true) {
                return Err(SelectorError(format!("the selector names the axis `{name}` twice")));
            }
            selector.0[axis] = set_of(axes, axis, values)?;
        }
        Ok(selector)
    }

    /// Returns the text of the selector. It is empty if all cells are selected.
    pub fn text(&self, axes: &Axes) -> String {
        let named = (0..self.0.len()).filter(|axis| self.0[*axis].len() < axes.len_of(*axis));
        let terms: Vec<String> = named
            .map(|axis| format!("{}={}", axes.axes()[axis].name, self.axis_text(axes, axis)))
            .collect();
        terms.join(",")
    }

    /// Returns the values on one axis: `gz00a|gz00b`, or `!sh01a` if that is shorter.
    pub(crate) fn axis_text(&self, axes: &Axes, axis: usize) -> String {
        let set = &self.0[axis];
        let others = ValueSet::all(axes.len_of(axis)).difference(set);
        let text = |set: &ValueSet| {
            let names: Vec<&str> =
                set.iter().map(|at| axes.axes()[axis].values[at].as_str()).collect();
            names.join("|")
        };
        match others.len() {
            0 => format!("all values of {}", axes.axes()[axis].name),
            count if count < set.len() && set.len() > 2 => format!("!{}", text(&others)),
            _ => text(set),
        }
    }

    /// Whether a cell is selected.
    pub fn contains(&self, cell: &Cell) -> bool {
        self.0.iter().zip(&cell.0).all(|(set, at)| set.contains(*at))
    }

    /// Whether all cells are selected.
    pub fn is_all(&self, axes: &Axes) -> bool {
        (0..self.0.len()).all(|axis| self.0[axis].len() == axes.len_of(axis))
    }

    /// Whether every cell of this selector is selected by the other one.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(own, other)| own.is_subset(other))
    }

    /// Returns the cells that both select; `None` if there are none.
    pub fn intersection(&self, other: &Self) -> Option<Self> {
        let sets = self.0.iter().zip(&other.0);
        let sets: Vec<ValueSet> = sets.map(|(own, other)| own.intersection(other)).collect();
        (!sets.iter().any(ValueSet::is_empty)).then_some(Self(sets))
    }

    /// Returns the number of selected cells; saturates.
    pub fn n_cells(&self) -> usize {
        self.0.iter().fold(1, |count: usize, set| count.saturating_mul(set.len()))
    }

    /// Iterates over the selected cells, by the values of the first axis, then of the second one.
    pub fn cells(&self) -> impl Iterator<Item = Cell> + '_ {
        let mut next = self.first();
        std::iter::from_fn(move || {
            let cell = next.take()?;
            next = self.after(&cell);
            Some(cell)
        })
    }

    pub(crate) fn first(&self) -> Option<Cell> {
        self.0.iter().map(ValueSet::first).collect::<Option<Vec<_>>>().map(Cell)
    }

    fn after(&self, cell: &Cell) -> Option<Cell> {
        let mut places = cell.0.clone();
        for axis in (0..places.len()).rev() {
            let larger = self.0[axis].iter().find(|at| *at > places[axis]);
            if let Some(at) = larger {
                places[axis] = at;
                return Some(Cell(places));
            }
            places[axis] = self.0[axis].first()?;
        }
        None
    }
}

fn set_of(axes: &Axes, axis: usize, values: &[&str]) -> Result<ValueSet, SelectorError> {
    let name = &axes.axes()[axis].name;
    let len = axes.len_of(axis);
    // `!a|b` is everything but `a` and `b`.
    let is_inverted = values.first().is_some_and(|value| value.starts_with('!'));
    let mut set = ValueSet::none(len);
    for (at, value) in values.iter().enumerate() {
        let inverted = value.strip_prefix('!');
        if inverted.is_some() && at > 0 && !is_inverted {
            return Err(SelectorError(format!(
                "invalid values of axis `{name}`: `!` comes first and holds for all values"
            )));
        }
        let value = inverted.unwrap_or(value);
        let Some(named) = axes.named(axis, value) else {
            return Err(unknown(&format!("value of axis `{name}`"), value, axes.known_names(axis)));
        };
        set = set.union(named);
    }
    if is_inverted {
        set = ValueSet::all(len).difference(&set);
    }
    if set.is_empty() {
        return Err(SelectorError(format!("the selector matches no value of axis `{name}`")));
    }
    Ok(set)
}

fn unknown<'n>(what: &str, name: &str, known: impl Iterator<Item = &'n str>) -> SelectorError {
    let known: Vec<&str> = known.collect();
    let hint = match base_text::nearest(name, known.iter().copied()) {
        Some(near) => did_you_mean(near),
        None if known.is_empty() => String::new(),
        None if known.len() <= 12 => format!("; expected one of `{}`", known.join("`, `")),
        None => String::new(),
    };
    SelectorError(format!("unknown {what} `{}`{hint}", printable(name)))
}

/// A text of a user, short enough for a message.
fn printable(text: &str) -> String {
    text.chars().filter(|it| !it.is_control()).take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Axis;

    pub(crate) fn axes() -> Axes {
        let axis = |name: &str, values: &[&str], group: &str, members: &[&str]| Axis {
            name: name.to_owned(),
            values: values.iter().map(|it| (*it).to_owned()).collect(),
            groups: [(group.to_owned(), members.iter().map(|it| (*it).to_owned()).collect())]
                .into(),
        };
        Axes::new(vec![
            axis("zone", &["gz00a", "gz00b", "sh01a"], "gz", &["gz00a", "gz00b"]),
            axis("env", &["dev", "pre", "gray", "prod"], "online", &["gray", "prod"]),
        ])
        .expect("the axes are valid")
    }

    fn round_trip(text: &str) -> String {
        let axes = axes();
        let selector = Selector::parse(&axes, text).expect("the selector is valid");
        let printed = selector.text(&axes);
        assert_eq!(Selector::parse(&axes, &printed).as_ref(), Ok(&selector), "{printed}");
        printed
    }

    #[test]
    fn selectors_are_printed_in_one_form() {
        assert_eq!(round_trip("env=prod,zone=gz"), "zone=gz00a|gz00b,env=prod");
        assert_eq!(round_trip(" env = online | dev "), "env=!pre");
        assert_eq!(round_trip("env=!prod"), "env=!prod");
        assert_eq!(round_trip("env=!online"), "env=dev|pre");
        assert_eq!(round_trip("env=!dev|pre|gray"), "env=prod");
        assert_eq!(round_trip("zone=gz|sh01a"), "");
    }

    #[test]
    fn errors_say_what_is_expected() {
        let error = |text: &str| {
            Selector::parse(&axes(), text).expect_err("the selector is invalid").to_string()
        };
        assert_eq!(error("evn=prod"), "unknown axis `evn` (did you mean `env`?)");
        assert_eq!(
            error("env=porod"),
            "unknown value of axis `env` `porod` (did you mean `prod`?)"
        );
        assert_eq!(error("env=prod,env=dev"), "the selector names the axis `env` twice");
        assert_eq!(error("env=!dev|pre|online"), "the selector matches no value of axis `env`");
        assert!(error("prod").contains("expected `AXIS=VALUE`"));
        assert!(error("env=dev|!pre").contains("`!` comes first"));
        assert!(!error("env=a\u{1b}[31m").contains('\u{1b}'));
    }

    #[test]
    fn cells_are_enumerated_once() {
        let axes = axes();
        let selector = Selector::parse(&axes, "zone=gz,env=online").expect("valid");
        let cells: Vec<String> = selector.cells().map(|cell| axes.cell_text(&cell)).collect();
        assert_eq!(
            cells,
            [
                "zone=gz00a,env=gray",
                "zone=gz00a,env=prod",
                "zone=gz00b,env=gray",
                "zone=gz00b,env=prod"
            ]
        );
        assert_eq!(selector.n_cells(), 4);
    }
}
