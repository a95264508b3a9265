//! Conflicts of layers, found without enumerating cells.

use crate::index::{Claim, Point, Statement};
use crate::problem::{Crossing, Problem, ProblemKind};
use crate::region::{Rest, rest};
use crate::relation::{Decision, Relation};
use crate::resolve::{Resolver, items_of, list_of, side};
use crate::selector::Selector;

impl<'l> Resolver<'l> {
    /// Returns the problems of the layers at any cell: of each path and kind those of different
    /// pairs of layers, each with an example. Empty exactly if no cell has a problem.
    pub fn check(&self) -> Vec<Problem> {
        let all = Selector::all(self.axes);
        self.check_within(&all)
    }

    /// Returns the problems of the layers at the cells of a selector.
    pub fn check_within(&self, cells: &Selector) -> Vec<Problem> {
        let mut found: Vec<Problem> =
            self.mixed.iter().filter_map(|it| self.mixed_problem(it)).collect();
        for (at, point) in self.points.iter().enumerate() {
            if !self.mixed.iter().any(|it| it.outer == at) {
                self.check_point(point, cells, &mut found);
            }
            self.check_locks(point, cells, &mut found);
        }
        found
    }

    fn check_point(&self, point: &Point<'l>, cells: &Selector, found: &mut Vec<Problem>) {
        let claims = &point.claims;
        let kind = self.list_kind(&point.path);
        for (at, one) in claims.iter().enumerate() {
            if one.statement.is_append() && !kind.accepts(items_of(one)) {
                self.report(point, cells, ProblemKind::BadItem, &[one], &[], found);
            }
            for other in &claims[at + 1..] {
                self.check_pair(point, cells, one, other, found);
            }
        }
    }

    fn check_pair(
        &self,
        point: &Point<'l>,
        cells: &Selector,
        one: &Claim<'l>,
        other: &Claim<'l>,
        found: &mut Vec<Problem>,
    ) {
        let kind = self.list_kind(&point.path);
        let ties = || self.ties(point.order, one, other);
        let mut report = |kind, sides: &[&Claim<'l>], settling: &[&Claim<'l>]| {
            self.report(point, cells, kind, sides, settling, found);
        };
        match (one.statement.is_append(), other.statement.is_append()) {
            (false, false) => {
                if !one.statement.agrees(other.statement) && ties() {
                    report(ProblemKind::NoWinner, &[one, other], &[]);
                }
            }
            (true, true) => {
                if !ties() {
                    return;
                }
                for key in kind.clashes(items_of(one), items_of(other)) {
                    let settling = point.claims.iter();
                    let settling = settling.filter(|it| kind.has(items_of(it), key.as_deref()));
                    let settling: Vec<&Claim<'l>> = settling.collect();
                    report(ProblemKind::NoOrder, &[one, other], &settling);
                }
            }
            (is_append, _) => {
                let (append, base) = if is_append { (one, other) } else { (other, one) };
                let is_usable = matches!(base.statement, Statement::Absent)
                    || list_of(base.statement, kind).is_some();
                if ties() {
                    report(ProblemKind::NoOrder, &[base, append], &[]);
                } else if !is_usable && self.beats(point.order, append, base) {
                    report(ProblemKind::NotAList, &[base, append], &[]);
                }
            }
        }
    }

    /// Reports claims that have a problem at the cells where all of them apply, unless a layer that
    /// sets the value, or one of `settling`, is more specific than one of them.
    fn report(
        &self,
        point: &Point<'l>,
        cells: &Selector,
        kind: ProblemKind,
        sides: &[&Claim<'l>],
        settling: &[&Claim<'l>],
        found: &mut Vec<Problem>,
    ) {
        let region = sides.iter().try_fold(cells.clone(), |region, claim| {
            region.intersection(&self.layers[claim.layer].when)
        });
        let Some(region) = region else { return };
        let sets = point.claims.iter().filter(|claim| !claim.statement.is_append());
        let removed: Vec<&Selector> = sets
            .chain(settling.iter().copied())
            .filter(|claim| sides.iter().any(|side| self.beats(point.order, claim, side)))
            .map(|claim| &self.layers[claim.layer].when)
            .collect();
        let (kind, cell) = match rest(&region, &removed) {
            Rest::Nothing => return,
            Rest::Cell(cell) => (kind, cell),
            Rest::Unknown => match region.first() {
                Some(cell) => (ProblemKind::TooComplex, cell),
                None => return,
            },
        };
        found.push(self.problem(kind, point, cell, sides));
    }

    /// Finds layers that say something about a path that a less specific layer locks.
    fn check_locks(&self, point: &Point<'l>, cells: &Selector, found: &mut Vec<Problem>) {
        for (at, layer) in self.layers.iter().enumerate() {
            let Some(pattern) = layer.lock.iter().find(|lock| lock.covers(&point.path)) else {
                continue;
            };
            for claim in &point.claims {
                let other = &self.layers[claim.layer];
                if matches!(claim.statement, Statement::Map)
                    || claim.layer == at
                    || !Relation::beats(point.order, other, layer)
                {
                    continue;
                }
                let both = layer.when.intersection(&other.when);
                let cell = both.and_then(|both| both.intersection(cells)?.first());
                let Some(cell) = cell else { continue };
                let mut locked = side(claim);
                locked.layer = at;
                locked.origin = layer.origin.clone();
                locked.says = format!("lock of `{pattern}`");
                let sides = vec![locked, side(claim)];
                let (kind, path) = (ProblemKind::Locked, point.path.clone());
                found.push(Problem { kind, path, cell, sides, settle: None });
            }
        }
    }

    /// Returns the pairs of layers with different values between which only the order of the axes
    /// decides, unless a third layer settles it.
    pub fn crossings(&self) -> Vec<Crossing> {
        let mut found = Vec::new();
        for point in &self.points {
            for (at, one) in point.claims.iter().enumerate() {
                for other in &point.claims[at + 1..] {
                    found.extend(self.crossing(point, one, other));
                }
            }
        }
        found
    }

    fn crossing(&self, point: &Point<'l>, one: &Claim<'l>, other: &Claim<'l>) -> Option<Crossing> {
        if one.statement.agrees(other.statement) {
            return None;
        }
        let layer = |claim: &Claim<'l>| &self.layers[claim.layer];
        let (winner, loser, axis) = match Relation::of(point.order, layer(one), layer(other)) {
            Relation::Beats(Decision::Axis(axis)) => (one, other, axis),
            Relation::Loses(Decision::Axis(axis)) => (other, one, axis),
            _ => return None,
        };
        let (narrow, wide) = (&layer(winner).when, &layer(loser).when);
        if narrow.is_subset(wide) {
            return None;
        }
        let both = narrow.intersection(wide)?;
        let settling = point.claims.iter().filter(|it| self.beats(point.order, it, winner));
        let settling: Vec<&Selector> = settling.map(|it| &layer(it).when).collect();
        let Rest::Cell(cell) = rest(&both, &settling) else { return None };
        let sides = [side(winner), side(loser)];
        Some(Crossing { path: point.path.clone(), cell, sides, axis })
    }
}
