//! The table of prior, wanted and live.

use super::{resource, state};
use kusion_model::{
    Action, FieldPath, Identity, ListItems, Origin, Origins, Owner, Reason, ResourceId, Shown, Step,
};
use kusion_plan::{Context, DryRun, Facts, Observed, Ownership, decide};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Decides with what is wanted, what was applied and what is there.
fn decided(
    prior: Option<Value>,
    wanted: Option<Value>,
    live: Option<Value>,
    dry_run: DryRun,
) -> Option<Step> {
    decided_for(Ownership::Own, prior, wanted, live, dry_run)
}

/// Decides for an object of an owner.
fn decided_for(
    ownership: Ownership,
    prior: Option<Value>,
    wanted: Option<Value>,
    live: Option<Value>,
    dry_run: DryRun,
) -> Option<Step> {
    let id = ResourceId::new("v1:Secret:a:b");
    let desired = wanted.map(|it| resource(id.as_str(), it, &[]));
    let prior = prior.map(|it| state(resource(id.as_str(), it, &[])));
    let origin = Origin::new("main.k", 7, 3);
    let leaves = BTreeMap::from([(FieldPath::default().key("n"), origin)]);
    let origins = Origins::new(BTreeMap::from([(id.clone(), leaves)]));
    let hash = |value: &Value| format!("#{}", value.to_string().len());
    let context = Context { origins: &origins, hash: &hash, is_destroy: false };
    let facts = Facts {
        id: &id,
        sealed: desired.clone(),
        desired: desired.as_ref(),
        before_ignore: None,
        prior: prior.as_ref(),
        live: live.map(|attributes| Observed {
            identity: Identity::new("b", Some("u1".into())),
            attributes,
            digest: "d".into(),
        }),
        later: if dry_run == DryRun::Later {
            vec![FieldPath::default().key("n")]
        } else {
            Vec::new()
        },
        ownership,
        dry_run,
        secrets: vec![FieldPath::default().key("data").key("password")],
        notes: Vec::new(),
    };
    decide(&context, facts, &|_| ListItems::Unknown)
}

fn action(prior: bool, wanted: bool, live: bool, dry_run: DryRun) -> Option<(Action, Reason)> {
    let value = |there: bool| there.then(|| json!({"n": 1}));
    decided(value(prior), value(wanted), value(live), dry_run).map(|it| (it.action, it.reason))
}

#[test]
fn every_row_of_the_table_has_its_action() {
    let after = || DryRun::After(json!({"n": 2}));
    let same = || DryRun::After(json!({"n": 1}));
    assert_eq!(action(true, true, true, after()), Some((Action::Update, Reason::Differs)));
    assert_eq!(action(true, true, true, same()), Some((Action::Keep, Reason::Same)));
    assert_eq!(action(true, true, true, DryRun::Same), Some((Action::Keep, Reason::Same)));
    let unasked = || DryRun::None;
    assert_eq!(action(true, true, false, unasked()), Some((Action::Create, Reason::Missing)));
    assert_eq!(action(true, false, true, unasked()), Some((Action::Delete, Reason::Removed)));
    assert_eq!(action(true, false, false, unasked()), Some((Action::Forget, Reason::Removed)));
    assert_eq!(action(false, true, true, after()), Some((Action::Adopt, Reason::Unmanaged)));
    assert_eq!(action(false, true, false, unasked()), Some((Action::Create, Reason::New)));
    assert_eq!(action(false, false, true, unasked()), None);
    assert_eq!(action(false, false, false, unasked()), None);
}

#[test]
fn objects_of_other_owners_are_left_alone() {
    let owner = || Owner::Tool { tool: "Helm release".into(), name: "web".into() };
    let action = |ownership: Ownership, prior: bool, wanted: bool, dry_run: DryRun| {
        let value = |there: bool| there.then(|| json!({"n": 1}));
        let step = decided_for(ownership, value(prior), value(wanted), value(true), dry_run);
        step.map(|it| (it.action, it.reason))
    };
    let foreign = || Ownership::Foreign(owner());
    let owned = || Reason::Owned { owner: owner() };
    for prior in [true, false] {
        assert_eq!(action(foreign(), prior, true, DryRun::None), Some((Action::Adopt, owned())));
        let kept = Some((Action::Keep, Reason::Shared));
        assert_eq!(action(Ownership::Shared, prior, true, DryRun::None), kept);
    }
    assert_eq!(action(foreign(), true, false, DryRun::None), Some((Action::Forget, owned())));
    let forgotten = Some((Action::Forget, Reason::Shared));
    assert_eq!(action(Ownership::Shared, true, false, DryRun::None), forgotten);
    assert_eq!(action(foreign(), false, false, DryRun::None), None);
    let after = || DryRun::After(json!({"n": 1}));
    let taken = || Ownership::TakenOver(owner());
    assert_eq!(action(taken(), false, true, after()), Some((Action::Adopt, Reason::Unmanaged)));
    assert_eq!(action(taken(), true, false, DryRun::None), Some((Action::Delete, Reason::Removed)));
    let marked = Some((Action::Update, Reason::Unmarked));
    assert_eq!(action(Ownership::Unmarked, true, true, after()), marked);
}

#[test]
fn a_field_that_cannot_change_means_a_replacement() {
    let fields = vec![FieldPath::default().key("n")];
    let message = "field is immutable".to_owned();
    let dry_run = DryRun::Immutable { fields: fields.clone(), message: message.clone() };
    let expected = Some((Action::Replace, Reason::Immutable { fields, message }));
    assert_eq!(action(true, true, true, dry_run), expected);
}

#[test]
fn other_wishes_are_applied_even_if_no_value_differs() {
    let step = decided(
        Some(json!({"cpu": "1"})),
        Some(json!({"cpu": "1000m"})),
        Some(json!({"cpu": "1"})),
        DryRun::After(json!({"cpu": "1"})),
    )
    .expect("it is wanted");
    assert_eq!((step.action, step.changes.len()), (Action::Update, 1));
}

#[test]
fn a_sealed_value_is_known_by_its_hash() {
    let sealed = |data: &str| json!({"n": {"$sealed": {"hash": "h", "data": data}}});
    let live = json!({"n": "secret"});
    let step =
        decided(Some(sealed("x")), Some(sealed("y")), Some(live.clone()), DryRun::After(live))
            .expect("it is wanted");
    assert_eq!(step.action, Action::Keep);
}

#[test]
fn changes_name_the_line_that_set_them_and_hide_secrets() {
    let step = decided(
        Some(json!({"n": 1})),
        Some(json!({"n": 2, "data": {"password": "new"}})),
        Some(json!({"n": 1, "data": {"password": "old", "user": "u"}})),
        DryRun::After(json!({"n": 2, "data": {"password": "renewed", "user": "u"}})),
    )
    .expect("it is wanted");
    let [secret, number] = step.changes.as_slice() else { unreachable!("two fields change") };
    assert_eq!(secret.before, Some(Shown::Secret { hash: "#5".into() }));
    assert_eq!(secret.after, Some(Shown::Secret { hash: "#9".into() }));
    assert_eq!(number.after, Some(Shown::Plain(json!(2))));
    assert_eq!(number.origin.as_ref().map(ToString::to_string).as_deref(), Some("main.k:7"));
    assert!(!format!("{step:?}").contains("renewed"));
}

#[test]
fn a_secret_inside_an_added_part_is_hidden_too() {
    let step = decided(
        Some(json!({})),
        Some(json!({"data": {"password": "canary"}})),
        Some(json!({})),
        DryRun::After(json!({"data": {"password": "canary", "user": "u"}})),
    )
    .expect("it is wanted");
    let shown = serde_json::to_string(&step.changes).expect("changes can be written");
    assert!(!shown.contains("canary") && shown.contains("\"user\":\"u\""), "{shown}");
}

#[test]
fn a_value_that_is_known_later_shows_its_reference() {
    let text = "$kusion_path.v1:Service:a:b.status.ip";
    let step = decided(
        Some(json!({"n": "1.2.3.4"})),
        Some(json!({"n": text})),
        Some(json!({"n": "1.2.3.4", "other": true})),
        DryRun::Later,
    )
    .expect("it is wanted");
    assert_eq!(step.action, Action::Update);
    assert_eq!(step.changes.len(), 1);
    assert_eq!(step.changes[0].after, Some(Shown::Later(text.into())));
}

#[test]
fn a_field_that_is_no_longer_set_is_shown_even_if_its_value_stays() {
    let live = json!({"n": 1, "kept": 2, "data": {"password": "p"}});
    let prior = json!({"n": 1, "kept": 2, "data": {"password": {"$sealed": {"hash": "h"}}}});
    let wanted = json!({"n": 1, "new": 3});
    let after = DryRun::After(live.clone());
    let step = decided(Some(prior), Some(wanted), Some(live), after).expect("a step");
    assert_eq!((step.action, step.reason), (Action::Update, Reason::Differs));
    let text: Vec<String> = step
        .changes
        .iter()
        .map(|it| format!("{} {:?} {:?}", it.label(), it.management, it.after))
        .collect();
    assert_eq!(
        text,
        [
            r#"data Some(Ended) Some(Plain(Object {"password": Object {"$secret": String("h")}}))"#,
            "kept Some(Ended) Some(Plain(Number(2)))",
            "new Some(Started) Some(Plain(Number(3)))",
        ]
    );
    assert!(step.changes.iter().all(|it| it.before == it.after));
}

#[test]
fn a_changed_field_is_not_shown_twice() {
    let (prior, live) = (json!({"n": 1, "a": {"b": 1}}), json!({"n": 1, "a": {"b": 1}}));
    let wanted = json!({"n": 2});
    let after = DryRun::After(json!({"n": 2}));
    let step = decided(Some(prior), Some(wanted), Some(live), after).expect("a step");
    let text: Vec<String> =
        step.changes.iter().map(|it| format!("{} {:?}", it.label(), it.management)).collect();
    assert_eq!(text, ["a None", "n None"]);
}

#[test]
fn a_step_says_where_its_resource_is_written() {
    let step = decided(None, Some(json!({"n": 1})), None, DryRun::None).expect("a step");
    assert_eq!(step.origin.map(|it| it.line), Some(7));
}

#[test]
fn a_secret_stays_hidden_if_its_place_in_a_list_changes() {
    let id = ResourceId::new("a");
    let item = |name: &str, value: &str| json!({"name": name, "value": value});
    let live = json!({"env": [item("x", "1"), item("secret", "old")]});
    let after = json!({"env": [item("secret", "new"), item("x", "1")]});
    let desired = resource("a", after.clone(), &[]);
    let prior = state(resource("a", live.clone(), &[]));
    let hash = |value: &Value| format!("#{}", value.to_string().len());
    let (origins, identity) = (Origins::default(), Identity::new("a", None));
    let context = Context { origins: &origins, hash: &hash, is_destroy: false };
    let env = FieldPath::default().key("env");
    let facts = Facts {
        id: &id,
        sealed: Some(desired.clone()),
        desired: Some(&desired),
        before_ignore: None,
        prior: Some(&prior),
        live: Some(Observed { identity, attributes: live, digest: "d".into() }),
        later: Vec::new(),
        ownership: Ownership::Own,
        dry_run: DryRun::After(after),
        // Only the live place is known to be secret.
        secrets: vec![env.index(1).key("value")],
        notes: Vec::new(),
    };
    let step = decide(&context, facts, &|_| ListItems::Unknown).expect("a step");
    let text = format!("{:?}", step.changes);
    assert!(!text.contains("old") && !text.contains("new"), "{text}");
    assert_eq!(step.changes[0].label(), "env[name=secret].value");
}
