//! What is refused.

use super::{plan, resource, state, step};
use kusion_model::{
    Action, Description, Guards, Operation, Protection, Resource, ResourceId, ResourceState,
};
use kusion_plan::refusals;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn known(id: &str, attributes: Value) -> (ResourceId, ResourceState) {
    (ResourceId::new(id), state(resource(id, attributes, &[])))
}

fn refused(prior: Vec<(ResourceId, ResourceState)>, gone: &[&str], guards: &Guards) -> Vec<String> {
    let prior: BTreeMap<_, _> = prior.into_iter().collect();
    let steps = gone.iter().map(|id| step(id, Action::Delete, None)).collect();
    let plan = plan(Operation::Apply, steps);
    refusals(&plan, &prior, guards, &describe).iter().map(ToString::to_string).collect()
}

/// What a runtime would say of a resource.
fn describe(resource: &Resource) -> Description {
    let text = |key: &str| resource.attributes.get(key).and_then(Value::as_str);
    Description {
        kind: text("kind").unwrap_or_default().to_owned(),
        protection: match text("protection") {
            Some("kind") => Protection::Kind,
            Some("marked") => Protection::Marked,
            _ => Protection::None,
        },
        ..Description::default()
    }
}

#[test]
fn a_marked_resource_is_not_deleted() {
    let marked = json!({"protection": "marked"});
    let found = refused(vec![known("a", marked)], &["a"], &Guards::default());
    assert_eq!(found, ["a would be deleted, but is marked `prevent-destroy`"]);
}

#[test]
fn a_protected_kind_must_be_named() {
    let claim = || vec![known("c", json!({"kind": "Disk", "protection": "kind"}))];
    assert_eq!(refused(claim(), &["c"], &Guards::default()).len(), 1);
    let guards = Guards { allowed: vec!["Disk".into()], ..Guards::default() };
    assert!(refused(claim(), &["c"], &guards).is_empty());
    for rule in ["Disk", "c"] {
        let guards = Guards { allowed_by_stack: vec![rule.into()], ..Guards::default() };
        assert!(refused(claim(), &["c"], &guards).is_empty());
    }
}

#[test]
fn a_large_share_is_not_deleted_unasked() {
    let many = || (0..10).map(|n| known(&format!("r{n}"), json!({}))).collect::<Vec<_>>();
    let six = ["r0", "r1", "r2", "r3", "r4", "r5"];
    let found = refused(many(), &six, &Guards::default());
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(refused(many(), &six[..5], &Guards::default()).is_empty());
    let guards = Guards { allow_mass_delete: true, ..Guards::default() };
    assert!(refused(many(), &six, &guards).is_empty());
}

#[test]
fn all_of_a_small_stack_is_not_deleted_unasked() {
    let known = |n: usize| (0..n).map(|n| known(&format!("r{n}"), json!({}))).collect::<Vec<_>>();
    let found = refused(known(2), &["r0", "r1"], &Guards::default());
    assert_eq!(found, ["2 of 2 resources would be deleted or replaced, more than 50 %"]);
    assert_eq!(refused(known(4), &["r0", "r1", "r2", "r3"], &Guards::default()).len(), 1);
    // One resource may go, and most of a small stack.
    assert!(refused(known(1), &["r0"], &Guards::default()).is_empty());
    assert!(refused(known(4), &["r0", "r1", "r2"], &Guards::default()).is_empty());
    let guards = Guards { allow_mass_delete: true, ..Guards::default() };
    assert!(refused(known(2), &["r0", "r1"], &guards).is_empty());
}

#[test]
fn what_others_made_is_not_replaced_unasked() {
    let plan = plan(Operation::Apply, vec![step("v1:Pod:a:b", Action::Replace, None)]);
    let refused = |guards: &Guards| refusals(&plan, &BTreeMap::new(), guards, &describe).len();
    assert_eq!(refused(&Guards::default()), 1);
    let guards = Guards { allowed: vec!["v1:Pod:a:*".into()], ..Guards::default() };
    assert_eq!(refused(&guards), 0);
    // The author of a stack cannot allow it.
    let guards = Guards { allowed_by_stack: vec!["v1:Pod:a:*".into()], ..Guards::default() };
    assert_eq!(refused(&guards), 1);
}
