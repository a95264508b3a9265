//! What is refused.

use super::{plan, resource, state, step};
use kusion_model::{Action, Operation, ResourceId, ResourceState};
use kusion_plan::{Guards, refusals};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn known(id: &str, attributes: Value) -> (ResourceId, ResourceState) {
    (ResourceId::new(id), state(resource(id, attributes, &[])))
}

fn refused(prior: Vec<(ResourceId, ResourceState)>, gone: &[&str], guards: &Guards) -> Vec<String> {
    let prior: BTreeMap<_, _> = prior.into_iter().collect();
    let steps = gone.iter().map(|id| step(id, Action::Delete, None)).collect();
    let plan = plan(Operation::Apply, steps);
    refusals(&plan, &prior, guards).iter().map(ToString::to_string).collect()
}

#[test]
fn a_marked_resource_is_not_deleted() {
    let marked = json!({"metadata": {"annotations": {"kusion.io/prevent-destroy": "true"}}});
    let found = refused(vec![known("a", marked)], &["a"], &Guards::default());
    assert_eq!(
        found,
        ["a is marked `kusion.io/prevent-destroy` and would be deleted; remove the mark first"]
    );
}

#[test]
fn a_protected_kind_must_be_named() {
    let claim = || vec![known("c", json!({"kind": "PersistentVolumeClaim"}))];
    assert_eq!(refused(claim(), &["c"], &Guards::default()).len(), 1);
    let guards = Guards { allowed: vec!["PersistentVolumeClaim".into()], ..Guards::default() };
    assert!(refused(claim(), &["c"], &guards).is_empty());
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
fn what_others_made_is_not_replaced_unasked() {
    let plan = plan(Operation::Apply, vec![step("v1:Pod:a:b", Action::Replace, None)]);
    let refused = |guards: &Guards| refusals(&plan, &BTreeMap::new(), guards).len();
    assert_eq!(refused(&Guards::default()), 1);
    let guards = Guards { allowed: vec!["v1:Pod:a:*".into()], ..Guards::default() };
    assert_eq!(refused(&guards), 0);
}
