//! Scheduling of steps.

use kusion_model::{ResourceId, ResourceType, Step};
use std::collections::{BTreeMap, HashMap};

/// The indexes of steps in a plan, by resource id.
pub(crate) type StepIndexes<'a> = HashMap<&'a ResourceId, usize>;

/// A schedule of chosen steps of a plan: each starts after those that it waits for, within the
/// limits of concurrent steps of their runtimes.
pub(crate) struct Schedule<'a> {
    steps: &'a [Step],
    /// The chosen steps that have not ended.
    chosen: Vec<bool>,
    /// The steps that wait for a step.
    users: Vec<Vec<usize>>,
    /// The number of steps that a step still waits for.
    open: Vec<usize>,
    lanes: BTreeMap<&'a ResourceType, Lane>,
}

/// The steps of one runtime.
struct Lane {
    /// Steps that can start when the limit allows, the next one last.
    ready: Vec<usize>,
    running: usize,
    limit: usize,
}

impl<'a> Schedule<'a> {
    /// Orders the steps that are `chosen`; nothing waits for those of the others that have
    /// `ended`.
    pub(crate) fn new(
        steps: &'a [Step],
        places: &StepIndexes<'_>,
        chosen: Vec<bool>,
        ended: impl Fn(usize) -> bool,
        limit: impl Fn(&ResourceType) -> usize,
    ) -> Self {
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); steps.len()];
        let mut open: Vec<usize> = vec![0; steps.len()];
        let mut lanes: BTreeMap<&ResourceType, Lane> = BTreeMap::new();
        for (place, step) in steps.iter().enumerate() {
            for used in step.after.iter().filter_map(|id| places.get(id)) {
                if !ended(*used) {
                    users[*used].push(place);
                    open[place] += 1;
                }
            }
        }
        for (place, step) in steps.iter().enumerate().rev() {
            let lane = lanes.entry(&step.resource_type).or_insert_with(|| Lane {
                ready: Vec::new(),
                running: 0,
                limit: limit(&step.resource_type).max(1),
            });
            if open[place] == 0 && chosen[place] {
                lane.ready.push(place);
            }
        }
        Self { steps, chosen, users, open, lanes }
    }

    /// Returns a step that can start now.
    pub(crate) fn begin(&mut self) -> Option<usize> {
        let lane = self.lanes.values_mut().find(|it| it.running < it.limit && !it.ready.is_empty());
        let lane = lane?;
        lane.running += 1;
        lane.ready.pop()
    }

    /// Marks a step as ended and releases the steps that waited for it.
    pub(crate) fn end(&mut self, place: usize) {
        if let Some(lane) = self.lanes.get_mut(&self.steps[place].resource_type) {
            lane.running -= 1;
        }
        for user in std::mem::take(&mut self.users[place]) {
            self.open[user] -= 1;
            if self.open[user] == 0
                && self.chosen[user]
                && let Some(lane) = self.lanes.get_mut(&self.steps[user].resource_type)
            {
                lane.ready.push(user);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kusion_model::{Action, Reason};

    fn step(id: &str, resource_type: &str, after: &[&str]) -> Step {
        let (id, resource_type) = (ResourceId::new(id), ResourceType::new(resource_type));
        let after = after.iter().map(|it| ResourceId::new(*it)).collect();
        Step { after, ..Step::new(id, resource_type, Action::Create, Reason::New) }
    }

    fn places(steps: &[Step]) -> StepIndexes<'_> {
        steps.iter().enumerate().map(|(place, step)| (&step.id, place)).collect()
    }

    #[test]
    fn runtimes_have_limits_of_their_own_and_users_wait() {
        let steps = [
            step("a", "X", &[]),
            step("b", "X", &[]),
            step("c", "X", &["a"]),
            step("d", "Y", &[]),
            step("e", "Y", &["c", "d"]),
        ];
        let places = places(&steps);
        let limit = |it: &ResourceType| if it.as_str() == "X" { 1 } else { 9 };
        let mut schedule = Schedule::new(&steps, &places, vec![true; 5], |_| false, limit);
        let mut all = || std::iter::from_fn(|| schedule.begin()).collect::<Vec<_>>();
        assert_eq!(all(), [0, 3], "one of X, all of Y");
        assert!(all().is_empty());
        schedule.end(0);
        assert_eq!(schedule.begin(), Some(2), "what was waited for goes on first");
        schedule.end(3);
        assert_eq!(schedule.begin(), None, "X is full, and e waits for c");
        schedule.end(2);
        assert_eq!(schedule.begin(), Some(1));
        assert_eq!(schedule.begin(), Some(4));
        assert_eq!(schedule.begin(), None);
    }

    #[test]
    fn what_is_not_meant_stays_and_what_has_ended_holds_nobody_up() {
        let steps = [step("a", "X", &[]), step("b", "X", &["a"]), step("c", "X", &["b"])];
        let places = places(&steps);
        let chosen = vec![false, true, false];
        let mut schedule = Schedule::new(&steps, &places, chosen, |place| place == 0, |_| 4);
        assert_eq!(schedule.begin(), Some(1));
        schedule.end(1);
        assert_eq!(schedule.begin(), None);
    }
}
