//! Cells that one selector has and others do not.

use crate::axes::Cell;
use crate::selector::Selector;

/// The largest number of boxes that are looked at for one question.
const MAX_STEPS: usize = 200_000;

/// The answer to the question whether cells are left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// None is left.
    Nothing,
    /// This one is left.
    Cell(Cell),
    /// The question takes too long.
    Unknown,
}

/// Finds a cell of `region` that no selector of `removed` has, without enumerating cells.
pub(crate) fn rest(region: &Selector, removed: &[&Selector]) -> Rest {
    let mut steps = 0;
    // Boxes, and how many selectors are removed from them already.
    let mut todo = vec![(region.clone(), 0)];
    while let Some((region, n_done)) = todo.pop() {
        steps += 1;
        if steps > MAX_STEPS {
            return Rest::Unknown;
        }
        let meets = |other: &Selector| region.intersection(other).is_some();
        let next = (n_done..removed.len()).find(|at| meets(removed[*at]));
        let Some(at) = next else {
            return region.first().map_or(Rest::Nothing, Rest::Cell);
        };
        todo.extend(without(&region, removed[at]).into_iter().map(|part| (part, at + 1)));
    }
    Rest::Nothing
}

/// Splits a box minus another box into boxes that do not overlap: at most one for each axis.
fn without(region: &Selector, removed: &Selector) -> Vec<Selector> {
    let mut parts = Vec::new();
    let mut inside = region.clone();
    for axis in 0..region.0.len() {
        let outside = inside.0[axis].difference(&removed.0[axis]);
        if !outside.is_empty() {
            let mut part = inside.clone();
            part.0[axis] = outside;
            parts.push(part);
        }
        inside.0[axis] = inside.0[axis].intersection(&removed.0[axis]);
    }
    parts
}
