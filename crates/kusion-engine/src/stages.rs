//! Stages of an execution: hooks before everything, waves, hooks after everything.

use crate::scope::Scope;
use kusion_model::{Description, HookTime, ResourceId, Step, wait_for};
use std::collections::{BTreeSet, HashSet};

/// When the steps of a plan start, besides their dependencies.
pub(crate) struct Stages<'a> {
    /// The static properties of the desired resource of each step.
    pub(crate) described: Vec<Description>,
    /// The stage of each step; deletions belong to the last one.
    numbers: Vec<i32>,
    /// The last stage.
    last: i32,
    /// Resources that others wait for until they are ready.
    waited: HashSet<&'a ResourceId>,
}

impl<'a> Stages<'a> {
    pub(crate) fn new(scope: &Scope, steps: &'a [Step]) -> Self {
        let describe =
            |step: &Step| step.desired.as_ref().map(|it| scope.describe(it)).unwrap_or_default();
        let described: Vec<Description> = steps.iter().map(describe).collect();
        let stage = |it: &Description| match it.hook {
            Some(HookTime::Before) => i32::MIN,
            Some(HookTime::After) => i32::MAX,
            None => it.wave,
        };
        let desired = |place: &usize| steps[*place].desired.is_some();
        let last = (0..steps.len()).filter(desired).map(|it| stage(&described[it])).max();
        let last = last.unwrap_or_default();
        let numbers = (0..steps.len())
            .map(|place| if desired(&place) { stage(&described[place]) } else { last })
            .collect();
        let changing = steps.iter().filter(|step| step.action.is_change());
        let waited = changing.filter_map(|it| it.desired.as_ref()).flat_map(wait_for).collect();
        Self { described, numbers, last, waited }
    }

    /// Returns the stage of each step.
    pub(crate) fn numbers(self) -> Vec<i32> {
        self.numbers
    }

    /// Returns the steps of each stage but the last one, with those that they wait for.
    pub(crate) fn masks(
        &self,
        steps: &[Step],
        place_of: impl Fn(&ResourceId) -> Option<usize>,
    ) -> Vec<Vec<bool>> {
        let mut all: BTreeSet<i32> = self.numbers.iter().copied().collect();
        all.remove(&self.last);
        let mut masks = Vec::with_capacity(all.len());
        for stage in all {
            let mut mask = vec![false; steps.len()];
            let mut open: Vec<usize> =
                (0..steps.len()).filter(|it| self.numbers[*it] <= stage).collect();
            while let Some(place) = open.pop() {
                if !std::mem::replace(&mut mask[place], true) {
                    open.extend(steps[place].after.iter().filter_map(&place_of));
                }
            }
            masks.push(mask);
        }
        masks
    }

    /// Returns whether a step ends only when its resource is ready: something else waits for that.
    pub(crate) fn waits(&self, place: usize, step: &Step) -> bool {
        self.numbers[place] < self.last
            || self.waited.contains(&step.id)
            || (step.action.is_change() && self.described[place].dependents_wait)
    }
}
