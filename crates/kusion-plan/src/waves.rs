//! The order of work of a plan, for display.

use kusion_model::{ResourceId, Step};
use std::collections::HashMap;

/// Returns the wave of each step, from 1: it starts after all steps of lower waves that it waits
/// for. Steps without changes have wave 0.
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
    // The number of changes on the longest way to the end of a step.
    let mut depths = vec![0_usize; steps.len()];
    let mut open: Vec<usize> = (0..steps.len()).filter(|&place| n_waits[place] == 0).collect();
    while let Some(place) = open.pop() {
        depths[place] += usize::from(steps[place].action.is_change());
        for &next in &dependents[place] {
            depths[next] = depths[next].max(depths[place]);
            n_waits[next] -= 1;
            if n_waits[next] == 0 {
                open.push(next);
            }
        }
    }
    let is_change = steps.iter().map(|step| step.action.is_change());
    depths.into_iter().zip(is_change).map(|(depth, it)| if it { depth } else { 0 }).collect()
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
}
