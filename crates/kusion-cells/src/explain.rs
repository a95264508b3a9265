//! Why a value is what it is at a cell.

use crate::axes::{Axes, Cell};
use crate::index::Claim;
use crate::layer::Origin;
use crate::path::LeafPath;
use crate::problem::Problem;
use crate::relation::{Decision, Relation};
use crate::resolve::{Outcome, Resolver, side};
use serde_json::Value;

/// What the layers of a cell say about a path.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The path.
    pub path: LeafPath,
    /// The value; `None` if there is none, or if there is a problem.
    pub value: Option<Value>,
    /// The layers that set it: the winner, then those that append to it. Several winners say the
    /// same.
    pub winners: Vec<Candidate>,
    /// The other layers, the most specific ones first.
    pub losses: Vec<Loss>,
    /// Why there is no winner.
    pub problem: Option<Problem>,
}

/// A layer that says something about a path.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The place of the layer.
    pub layer: usize,
    /// Where it says it.
    pub origin: Origin,
    /// What it says, for display.
    pub says: String,
}

/// A layer that lost.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// The layer.
    pub candidate: Candidate,
    /// What decides; `None` if it ties with the winner.
    pub decision: Option<Decision>,
    /// Why, for display: `zone gz00a|gz00b is inside all values of zone`.
    pub because: String,
    /// Whether only the order of the axes decides: the loser is narrower on another axis.
    pub by_axis_order: bool,
}

impl<'l> Resolver<'l> {
    /// Explains the value at a path in a cell; `None` if no layer says anything about it.
    pub fn explain(&self, path: &LeafPath, cell: &Cell) -> Option<Explanation> {
        let at = self.points.binary_search_by(|point| point.path.cmp(path)).ok()?;
        let point = &self.points[at];
        let claims: Vec<&Claim<'l>> =
            point.claims.iter().filter(|it| self.layers[it.layer].when.contains(cell)).collect();
        let mut explanation = Explanation {
            path: path.clone(),
            value: None,
            winners: Vec::new(),
            losses: Vec::new(),
            problem: None,
        };
        let outcome = match self.mixed.iter().find(|it| it.outer == at) {
            Some(mixed) => {
                explanation.problem = self.mixed_problem(mixed);
                return Some(explanation);
            }
            None => self.decide(point, &claims),
        };
        let winners = match outcome {
            Outcome::Silent => return None,
            Outcome::Value(value, winners) => {
                explanation.value = Some(value);
                winners
            }
            Outcome::Map(winners) => {
                explanation.value = Some(Value::Object(serde_json::Map::new()));
                winners
            }
            Outcome::Absent(winners) => winners,
            Outcome::Problem(kind, claims) => {
                explanation.problem = Some(self.problem(kind, point, cell.clone(), &claims));
                claims
            }
        };
        explanation.winners = winners.iter().map(|claim| candidate(claim)).collect();
        let is_loser = |claim: &&&Claim<'l>| !winners.iter().any(|it| it.layer == claim.layer);
        let mut losers: Vec<&Claim<'l>> = claims.iter().filter(is_loser).copied().collect();
        // The most specific ones come first; then the order of the layers counts.
        let n_beaten = |claim: &&Claim<'l>| {
            let beaten = claims.iter().filter(|it| self.beats(point.order, claim, it));
            std::cmp::Reverse(beaten.count())
        };
        losers.sort_by_key(n_beaten);
        let losses = losers.into_iter().map(|loser| self.loss(point.order, &winners, loser));
        explanation.losses = losses.collect();
        Some(explanation)
    }

    fn loss(&self, order: &[usize], winners: &[&Claim<'l>], loser: &Claim<'l>) -> Loss {
        let layer = |claim: &Claim<'l>| &self.layers[claim.layer];
        let decided = winners.iter().find_map(|winner| {
            match Relation::of(order, layer(winner), layer(loser)) {
                Relation::Beats(decision) => Some((winner, decision)),
                _ => None,
            }
        });
        let candidate = candidate(loser);
        let Some((winner, decision)) = decided else {
            let because = String::new();
            return Loss { candidate, decision: None, because, by_axis_order: false };
        };
        let (narrow, wide) = (&layer(winner).when, &layer(loser).when);
        let by_axis_order = !narrow.is_subset(wide);
        let because = match decision {
            Decision::Axis(axis) => because(
                self.axes,
                axis,
                &narrow.axis_text(self.axes, axis),
                &wide.axis_text(self.axes, axis),
                by_axis_order,
            ),
            Decision::Scope => "it is for the same cells, in a narrower folder".to_owned(),
        };
        Loss { candidate, decision: Some(decision), because, by_axis_order }
    }
}

fn because(axes: &Axes, axis: usize, narrow: &str, wide: &str, by_axis_order: bool) -> String {
    let name = &axes.axes()[axis].name;
    let order = if by_axis_order { ", by axis order" } else { "" };
    format!("{name} {narrow} is inside {wide}{order}")
}

fn candidate(claim: &Claim<'_>) -> Candidate {
    let side = side(claim);
    Candidate { layer: side.layer, origin: side.origin, says: side.says }
}
