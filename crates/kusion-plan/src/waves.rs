//! The order of work of a plan, for display.

use kusion_model::{ResourceId, Step};
use std::collections::{BTreeMap, HashMap};

/// Returns the wave of each step, from 1: it starts after all steps of lower waves that it waits
/// for, and after those of lower stages. Steps without changes have wave 0.
pub fn waves(steps: &[Step]) -> Vec<usize> {
    let places: HashMap<&ResourceId, usize> =
        steps.iter().enumerate().map(|(place, step)| (&step.id, place)).collect();
    let mut dependents: Vec<Vec<usize>> = vec![Vec::new(); steps.len()];
    let mut n_waits = vec![0_usize; steps.len()];
    for (place, step) in steps.iter().enumerate() {
        for dependency in step.after.iter().filter_map(|id| places.get(id)) {
            dependents[*dependency].push(place);
            n_waits[place] += 1;
        }
    }
    let mut sorted: Vec<usize> = (0..steps.len()).filter(|&place| n_waits[place] == 0).collect();
    let mut at = 0;
    while let Some(&place) = sorted.get(at) {
        at += 1;
        for &next in &dependents[place] {
            n_waits[next] -= 1;
            if n_waits[next] == 0 {
                sorted.push(next);
            }
        }
    }
    // What a step waits for belongs to its stage at the latest.
    let mut stages: Vec<i32> = steps.iter().map(|step| step.stage).collect();
    for &place in sorted.iter().rev() {
        let needed = dependents[place].iter().map(|it| stages[*it]).min();
        stages[place] = needed.map_or(stages[place], |it| it.min(stages[place]));
    }
    // The number of changes in the same stage on the longest way to the end of a step.
    let mut depths = vec![0_usize; steps.len()];
    for &place in &sorted {
        depths[place] += usize::from(steps[place].action.is_change());
        for &next in &dependents[place] {
            if stages[next] == stages[place] {
                depths[next] = depths[next].max(depths[place]);
            }
        }
    }
    let mut lengths: BTreeMap<i32, usize> = BTreeMap::new();
    for (stage, depth) in stages.iter().zip(&depths) {
        let length = lengths.entry(*stage).or_default();
        *length = (*length).max(*depth);
    }
    let before = |stage: i32| lengths.range(..stage).map(|(_, length)| length).sum::<usize>();
    let offsets: HashMap<i32, usize> = lengths.keys().map(|it| (*it, before(*it))).collect();
    let wave = |place: usize| {
        let is_change = steps[place].action.is_change();
        if is_change { offsets[&stages[place]] + depths[place] } else { 0 }
    };
    (0..steps.len()).map(wave).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kusion_model::{Action, Reason, ResourceType};

    fn step(id: &str, action: Action, after: &[&str]) -> Step {
        let mut step = Step::new(ResourceId::new(id), ResourceType::new("T"), action, Reason::New);
        step.after = after.iter().map(|it| ResourceId::new(*it)).collect();
        step
    }

    #[test]
    fn a_step_comes_after_those_that_it_waits_for() {
        let steps = [
            step("c", Action::Create, &["b", "a"]),
            step("a", Action::Create, &[]),
            step("b", Action::Update, &["a", "elsewhere"]),
            step("d", Action::Delete, &[]),
        ];
        assert_eq!(waves(&steps), [3, 1, 2, 1]);
    }

    #[test]
    fn unchanged_steps_take_no_time() {
        let steps = [
            step("a", Action::Keep, &[]),
            step("b", Action::Create, &["a"]),
            step("c", Action::Keep, &["b"]),
            step("d", Action::Create, &["c"]),
        ];
        assert_eq!(waves(&steps), [0, 1, 0, 2]);
    }

    #[test]
    fn stages_follow_each_other() {
        let staged = |id: &str, stage: i32, after: &[&str]| {
            let mut step = step(id, Action::Create, after);
            step.stage = stage;
            step
        };
        let steps = [
            staged("hook", i32::MIN, &["space"]),
            // The hook waits for it, so it is created before.
            staged("space", 0, &[]),
            staged("first", -1, &[]),
            staged("a", 0, &["space"]),
            staged("b", 0, &["a"]),
        ];
        assert_eq!(waves(&steps), [2, 1, 3, 4, 5]);
    }
}
