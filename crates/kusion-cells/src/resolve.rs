//! Layers merged at one cell.

use crate::appends::{ListKind, appended};
use crate::axes::{Axes, Cell};
use crate::index::{Claim, Mixed, Point, Statement, mixed, points};
use crate::layer::Layer;
use crate::path::LeafPath;
use crate::problem::{Problem, ProblemKind, Side, shown};
use crate::relation::Relation;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Merges layers, explains values and finds conflicts.
///
/// The most specific layer sets a value: the one whose values are strictly inside those of the
/// others on the first axis, in the order of the path, on which they differ. The order of the layers
/// has no effect.
#[derive(Debug)]
pub struct Resolver<'l> {
    pub(crate) axes: &'l Axes,
    pub(crate) layers: &'l [Arc<Layer>],
    pub(crate) points: Vec<Point<'l>>,
    /// The points that have no result at any cell.
    pub(crate) mixed: Vec<Mixed>,
}

/// The configuration at a cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resolved {
    /// The values that layers say something about, in the order of their paths.
    pub leaves: Vec<ResolvedLeaf>,
    /// Why values could not be determined; their paths are not in `leaves`.
    pub problems: Vec<Problem>,
}

/// A value at a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedLeaf {
    /// Its path.
    pub path: LeafPath,
    /// The value; `None` if there is none.
    pub value: Option<Value>,
    /// The layers that set it: the winner, then those that append to it, the least specific first.
    /// Several if they say the same.
    pub layers: Vec<usize>,
}

/// What the layers of a cell say about a path, together.
pub(crate) enum Outcome<'p, 'l> {
    /// Nothing.
    Silent,
    /// It has a value, set by these claims.
    Value(Value, Vec<&'p Claim<'l>>),
    /// It is a map.
    Map(Vec<&'p Claim<'l>>),
    /// There is no value.
    Absent(Vec<&'p Claim<'l>>),
    /// They cannot be merged.
    Problem(ProblemKind, Vec<&'p Claim<'l>>),
}

impl<'l> Resolver<'l> {
    /// Creates a resolver of layers, in any order.
    pub fn new(axes: &'l Axes, layers: &'l [Arc<Layer>]) -> Self {
        let points = points(axes, layers);
        let mixed = mixed(&points);
        Self { axes, layers, points, mixed }
    }

    /// Returns the paths that layers say something about, in order, with those of maps.
    pub fn paths(&self) -> impl Iterator<Item = &LeafPath> {
        self.points.iter().map(|point| &point.path)
    }

    /// Returns the layers.
    pub fn layers(&self) -> &'l [Arc<Layer>] {
        self.layers
    }

    /// Merges the layers at a cell. Locks are not checked: see [`Resolver::check`].
    pub fn resolve(&self, cell: &Cell) -> Resolved {
        let matching: Vec<bool> =
            self.layers.iter().map(|layer| layer.when.contains(cell)).collect();
        let mut resolved = Resolved::default();
        resolved.problems.extend(self.mixed.iter().filter_map(|it| self.mixed_problem(it)));
        for (at, point) in self.points.iter().enumerate() {
            if self.mixed.iter().any(|it| it.outer == at) {
                continue;
            }
            let claims: Vec<&Claim<'l>> =
                point.claims.iter().filter(|claim| matching[claim.layer]).collect();
            let path = &point.path;
            let places = |claims: Vec<&Claim<'l>>| claims.iter().map(|it| it.layer).collect();
            let mut leaf = |value, claims| {
                let layers = places(claims);
                resolved.leaves.push(ResolvedLeaf { path: path.clone(), value, layers });
            };
            match self.decide(point, &claims) {
                Outcome::Silent => {}
                Outcome::Value(value, claims) => leaf(Some(value), claims),
                // An empty map, unless something is found below it.
                Outcome::Map(claims) => leaf(Some(Value::Object(Map::new())), claims),
                Outcome::Absent(claims) => leaf(None, claims),
                Outcome::Problem(kind, claims) => {
                    resolved.problems.push(self.problem(kind, point, cell.clone(), &claims));
                }
            }
        }
        resolved.drop_filled_maps();
        resolved
    }

    pub(crate) fn mixed_problem(&self, mixed: &Mixed) -> Option<Problem> {
        let point = &self.points[mixed.outer];
        let claims = [mixed.value, mixed.map].map(|at| &point.claims[at]);
        let cell = claims.iter().find_map(|claim| self.layers[claim.layer].when.first())?;
        Some(self.problem(ProblemKind::TwoOrders, point, cell, &claims))
    }

    /// Decides what the claims of a cell say about a path.
    pub(crate) fn decide<'p>(
        &self,
        point: &Point<'l>,
        claims: &[&'p Claim<'l>],
    ) -> Outcome<'p, 'l> {
        let order = point.order;
        let (appends, sets): (Vec<&Claim<'l>>, Vec<&Claim<'l>>) =
            claims.iter().partition(|claim| claim.statement.is_append());
        let bases = self.maximal(order, &sets);
        if let Some((one, other)) = first_pair(&bases, |a, b| !a.statement.agrees(b.statement)) {
            return Outcome::Problem(ProblemKind::NoWinner, vec![one, other]);
        }
        let is_dropped =
            |append: &&&Claim<'l>| bases.iter().any(|base| self.beats(order, base, append));
        let active: Vec<&Claim<'l>> =
            appends.iter().filter(|append| !is_dropped(append)).copied().collect();
        if active.is_empty() {
            return match bases.first().map(|base| base.statement) {
                None => Outcome::Silent,
                Some(Statement::Value(value)) => Outcome::Value(value.clone(), bases),
                Some(Statement::Map) => Outcome::Map(bases),
                Some(Statement::Absent | Statement::Append(_)) => Outcome::Absent(bases),
            };
        }
        self.append(point, bases, active)
    }

    /// Appends to a value; no base is more specific than an append.
    fn append<'p>(
        &self,
        point: &Point<'l>,
        bases: Vec<&'p Claim<'l>>,
        mut active: Vec<&'p Claim<'l>>,
    ) -> Outcome<'p, 'l> {
        let (order, kind) = (point.order, self.list_kind(&point.path));
        for base in &bases {
            for append in &active {
                if self.ties(order, base, append) {
                    return Outcome::Problem(ProblemKind::NoOrder, vec![base, append]);
                }
            }
        }
        let start: &[Value] = match bases.first().map(|base| base.statement) {
            None | Some(Statement::Absent) => &[],
            Some(statement) => match list_of(statement, kind) {
                Some(items) => items,
                None => return Outcome::Problem(ProblemKind::NotAList, vec![bases[0], active[0]]),
            },
        };
        if let Some(bad) = active.iter().find(|claim| !kind.accepts(items_of(claim))) {
            return Outcome::Problem(ProblemKind::BadItem, vec![bad]);
        }
        let clash = first_pair(&active, |a, b| self.clash(order, kind, &active, a, b));
        if let Some((one, other)) = clash {
            return Outcome::Problem(ProblemKind::NoOrder, vec![one, other]);
        }
        // What a layer beats, a more specific one beats too: the least specific come first.
        let all = active.clone();
        let n_beaten =
            |claim: &&Claim<'l>| all.iter().filter(|other| self.beats(order, claim, other)).count();
        active.sort_by_key(n_beaten);
        let items: Vec<&[Value]> = active.iter().map(|claim| items_of(claim)).collect();
        let value = appended(kind, start, &items);
        let mut claims = bases;
        claims.extend(active);
        Outcome::Value(value, claims)
    }

    /// Whether two appends disagree, and no other one settles it.
    fn clash(
        &self,
        order: &[usize],
        kind: ListKind<'_>,
        active: &[&Claim<'l>],
        a: &Claim<'l>,
        b: &Claim<'l>,
    ) -> bool {
        let settles = |claim: &&Claim<'l>, key: &Option<String>| {
            kind.has(items_of(claim), key.as_deref())
                && (self.beats(order, claim, a) || self.beats(order, claim, b))
        };
        let clashes = kind.clashes(items_of(a), items_of(b));
        self.ties(order, a, b)
            && clashes.iter().any(|key| !active.iter().any(|claim| settles(claim, key)))
    }

    pub(crate) fn list_kind(&self, path: &LeafPath) -> ListKind<'l> {
        match self.axes.key_of(path) {
            Some(key) => ListKind::Keyed(key),
            None if self.axes.is_set(path) => ListKind::Set,
            None => ListKind::Ordered,
        }
    }

    pub(crate) fn beats(&self, order: &[usize], a: &Claim<'l>, b: &Claim<'l>) -> bool {
        Relation::beats(order, &self.layers[a.layer], &self.layers[b.layer])
    }

    pub(crate) fn ties(&self, order: &[usize], a: &Claim<'l>, b: &Claim<'l>) -> bool {
        Relation::ties(order, &self.layers[a.layer], &self.layers[b.layer])
    }

    /// Returns the claims that no other one beats.
    fn maximal<'p>(&self, order: &[usize], claims: &[&'p Claim<'l>]) -> Vec<&'p Claim<'l>> {
        if let [_] = claims {
            return claims.to_vec();
        }
        let is_beaten = |claim: &Claim<'l>| claims.iter().any(|it| self.beats(order, it, claim));
        claims.iter().filter(|claim| !is_beaten(claim)).copied().collect()
    }

    /// Describes a problem.
    pub(crate) fn problem(
        &self,
        kind: ProblemKind,
        point: &Point<'l>,
        cell: Cell,
        claims: &[&Claim<'l>],
    ) -> Problem {
        let settle = match claims {
            [one, other] if matches!(kind, ProblemKind::NoWinner | ProblemKind::NoOrder) => {
                let (one, other) = (&self.layers[one.layer].when, &self.layers[other.layer].when);
                one.intersection(other).filter(|both| both != one && both != other)
            }
            _ => None,
        };
        let sides = claims.iter().map(|claim| side(claim)).collect();
        Problem { kind, path: point.path.clone(), cell, sides, settle }
    }
}

impl Resolved {
    /// Removes the leaves of maps that have entries.
    fn drop_filled_maps(&mut self) {
        let is_empty_map =
            |value: &Option<Value>| matches!(value, Some(Value::Object(map)) if map.is_empty());
        let mut is_filled = vec![false; self.leaves.len()];
        // The maps around the current leaf.
        let mut around: Vec<usize> = Vec::new();
        for (at, leaf) in self.leaves.iter().enumerate() {
            while let Some(top) = around.last()
                && !self.leaves[*top].path.is_prefix_of(&leaf.path)
            {
                around.pop();
            }
            if leaf.value.is_some()
                && let Some(top) = around.last()
            {
                is_filled[*top] = true;
            }
            if is_empty_map(&leaf.value) {
                around.push(at);
            }
        }
        let mut is_filled = is_filled.into_iter();
        self.leaves.retain(|_| !is_filled.next().unwrap_or(false));
    }
}

pub(crate) fn side(claim: &Claim<'_>) -> Side {
    let says = match claim.statement {
        Statement::Value(value) => shown(value),
        Statement::Append(items) => format!("+= {}", shown(&Value::Array(items.to_vec()))),
        Statement::Map => "a map".to_owned(),
        Statement::Absent => "nothing".to_owned(),
    };
    Side { layer: claim.layer, origin: claim.origin.clone(), says }
}

pub(crate) fn items_of<'l>(claim: &Claim<'l>) -> &'l [Value] {
    match claim.statement {
        Statement::Append(items) => items,
        _ => &[],
    }
}

/// Returns the items of a statement that items can be appended to.
pub(crate) fn list_of<'l>(statement: Statement<'l>, kind: ListKind<'_>) -> Option<&'l [Value]> {
    match statement {
        Statement::Value(Value::Array(items)) if kind.accepts(items) => Some(items),
        _ => None,
    }
}

fn first_pair<'p, C>(
    claims: &[&'p C],
    is_found: impl Fn(&C, &C) -> bool,
) -> Option<(&'p C, &'p C)> {
    let mut pairs = claims
        .iter()
        .enumerate()
        .flat_map(|(at, one)| claims[at + 1..].iter().map(move |other| (*one, *other)));
    pairs.find(|(one, other)| is_found(one, other))
}
