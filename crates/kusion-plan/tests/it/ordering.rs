//! Which step waits for which.

use super::{plan, resource, state, step};
use kusion_model::{Action, Operation, ResourceId, ResourceState, Step};
use kusion_plan::{keep_targets, order};
use serde_json::json;
use std::collections::BTreeMap;

fn states(edges: &[(&str, &[&str])]) -> BTreeMap<ResourceId, ResourceState> {
    edges
        .iter()
        .map(|(id, uses)| (ResourceId::new(*id), state(resource(id, json!({}), uses))))
        .collect()
}

fn wanted(id: &str, uses: &[&str]) -> Step {
    step(id, Action::Update, Some(resource(id, json!({}), uses)))
}

fn waits(steps: &[Step]) -> Vec<String> {
    steps
        .iter()
        .map(|step| {
            let after: Vec<&str> = step.after.iter().map(ResourceId::as_str).collect();
            format!("{}: {}", step.id, after.join(" "))
        })
        .collect()
}

#[test]
fn makers_come_first_and_users_go_first() {
    let mut steps = vec![
        wanted("app", &["config"]),
        wanted("config", &[]),
        step("old-app", Action::Delete, None),
        step("old-config", Action::Delete, None),
    ];
    order(&mut steps, &states(&[("old-app", &["old-config"]), ("old-config", &[])]));
    assert_eq!(waits(&steps), ["app: config", "config: ", "old-app: ", "old-config: old-app"]);
}

#[test]
fn a_resource_and_the_dependency_on_it_go_together() {
    let mut steps = vec![wanted("a", &[]), step("b", Action::Delete, None)];
    order(&mut steps, &states(&[("a", &["b"]), ("b", &[])]));
    assert_eq!(waits(&steps), ["a: ", "b: a"]);
}

#[test]
fn remembered_dependencies_that_run_in_a_circle_do_not_block() {
    let mut steps = vec![step("a", Action::Delete, None), step("b", Action::Delete, None)];
    order(&mut steps, &states(&[("a", &["b"]), ("b", &["a"])]));
    let edges: usize = steps.iter().map(|step| step.after.len()).sum();
    assert_eq!(edges, 1);
}

#[test]
fn targets_bring_what_they_need() {
    let mut steps = vec![wanted("app", &["config"]), wanted("config", &[]), wanted("web", &[])];
    order(&mut steps, &BTreeMap::new());
    let mut plan = plan(Operation::Apply, steps);
    let unknown = keep_targets(&mut plan, &["a*p".into(), "x".into()]);
    let left: Vec<&str> = plan.steps.iter().map(|it| it.id.as_str()).collect();
    assert_eq!((left, unknown), (vec!["app", "config"], vec!["x".to_owned()]));
}
