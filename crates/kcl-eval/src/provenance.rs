//! Where leaves came from, and what they beat.

use kcl_value::Origin;

/// Origins from here on stand for a winner with the candidates it beat.
const FIRST_CONTEST: u32 = 1 << 31;

/// The contests of an evaluation.
#[derive(Default)]
pub(crate) struct Provenance {
    contests: Vec<Contest>,
}

struct Contest {
    winner: Origin,
    beaten: Vec<Origin>,
}

impl Provenance {
    /// The origin of a leaf whose value replaces one from `old`.
    pub(crate) fn outvote(&mut self, old: Origin, new: Origin) -> Origin {
        if old.0 == 0 || self.node(old) == self.node(new) {
            return new;
        }
        let mut beaten = vec![self.node(old)];
        beaten.extend_from_slice(self.beaten(old));
        beaten.extend_from_slice(self.beaten(new));
        let winner = self.node(new);
        self.contests.push(Contest { winner, beaten });
        Origin(FIRST_CONTEST + self.contests.len() as u32 - 1)
    }

    /// The node that set a leaf.
    pub(crate) fn node(&self, origin: Origin) -> Origin {
        self.contest(origin).map_or(origin, |contest| contest.winner)
    }

    /// The nodes that lost against it, the latest first.
    pub(crate) fn beaten(&self, origin: Origin) -> &[Origin] {
        self.contest(origin).map_or(&[], |contest| contest.beaten.as_slice())
    }

    fn contest(&self, origin: Origin) -> Option<&Contest> {
        self.contests.get(origin.0.checked_sub(FIRST_CONTEST)? as usize)
    }
}
