//! Order of the steps of a plan.

use kusion_model::{Action, Plan, ResourceId, ResourceState, Step};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Sets the steps that each step waits for.
///
/// Creations and updates wait for their dependencies. Deletions wait for all recorded dependents,
/// which are deleted or updated first so that they no longer use the resource. Deletions never hold
/// up creations, so the two kinds of edges never form a cycle.
pub fn order(steps: &mut [Step], prior: &BTreeMap<ResourceId, ResourceState>) {
    let places: HashMap<ResourceId, usize> =
        steps.iter().enumerate().map(|(place, step)| (step.id.clone(), place)).collect();
    let goes = |id: &ResourceId| {
        places
            .get(id)
            .is_some_and(|&at| matches!(steps[at].action, Action::Delete | Action::Forget))
    };
    let mut waits: Vec<BTreeSet<ResourceId>> = vec![BTreeSet::new(); steps.len()];
    for (place, step) in steps.iter().enumerate() {
        if let Some(desired) = &step.desired {
            waits[place]
                .extend(desired.depends_on.iter().filter(|id| places.contains_key(*id)).cloned());
        }
    }
    for (user, state) in prior.iter().filter(|(user, _)| places.contains_key(*user)) {
        for used in state.resource.depends_on.iter().filter(|used| goes(used) && *used != user) {
            waits[places[used]].insert(user.clone());
        }
    }
    drop_circles(steps, &places, &mut waits);
    for (step, waits) in steps.iter_mut().zip(waits) {
        step.after = waits.into_iter().collect();
    }
}

/// Removes edges between deletions that form a cycle: the state may contain dependencies of several
/// releases, which need not be consistent.
fn drop_circles(
    steps: &[Step],
    places: &HashMap<ResourceId, usize>,
    waits: &mut [BTreeSet<ResourceId>],
) {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; steps.len()];
    let mut dropped: Vec<(usize, ResourceId)> = Vec::new();
    for start in 0..steps.len() {
        if marks[start] != Mark::New {
            continue;
        }
        marks[start] = Mark::Open;
        let mut walk = vec![(start, waits[start].iter().collect::<Vec<_>>())];
        while let Some((at, left)) = walk.last_mut() {
            let at = *at;
            let Some(next_id) = left.pop() else {
                marks[at] = Mark::Done;
                walk.pop();
                continue;
            };
            let next = places[next_id];
            match marks[next] {
                Mark::Done => {}
                Mark::Open => dropped.push((at, next_id.clone())),
                Mark::New => {
                    marks[next] = Mark::Open;
                    walk.push((next, waits[next].iter().collect()));
                }
            }
        }
    }
    for (place, id) in dropped {
        waits[place].remove(&id);
    }
}

/// Keeps the steps of the targets and of their dependencies. Returns the targets that match no
/// step.
pub fn keep_targets(plan: &mut Plan, targets: &[String]) -> Vec<String> {
    if targets.is_empty() {
        return Vec::new();
    }
    let places: HashMap<&ResourceId, usize> =
        plan.steps.iter().enumerate().map(|(place, step)| (&step.id, place)).collect();
    let mut kept = vec![false; plan.steps.len()];
    let mut unknown = Vec::new();
    let mut open = Vec::new();
    for target in targets {
        let before = open.len();
        open.extend(
            plan.steps.iter().filter(|step| is_match(target, step.id.as_str())).map(|it| &it.id),
        );
        if open.len() == before {
            unknown.push(target.clone());
        }
    }
    while let Some(id) = open.pop() {
        if let Some(&place) = places.get(id)
            && !std::mem::replace(&mut kept[place], true)
        {
            open.extend(plan.steps[place].after.iter());
        }
    }
    let mut kept = kept.into_iter();
    plan.steps.retain(|_| kept.next().unwrap_or(false));
    unknown
}

/// Returns whether an id matches a pattern, in which `*` matches any text.
pub fn is_match(pattern: &str, id: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(rest) = parts.next().and_then(|first| id.strip_prefix(first)) else { return false };
    let mut rest = rest;
    let mut last = None;
    for part in parts {
        if let Some(before) = last.replace(part) {
            let Some(at) = rest.find(before) else { return false };
            rest = &rest[at + before.len()..];
        }
    }
    last.map_or(rest.is_empty(), |last| rest.ends_with(last))
}
