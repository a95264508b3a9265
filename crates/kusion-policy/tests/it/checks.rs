//! Which rules are called with what, and what their findings lead to.

use crate::support::{Rule, found, has_map, prod, resource, set, subject};
use kusion_model::Action;
use kusion_policy::PolicySet;
use serde_json::{Value, json};

const FALSE: Rule = |_| Ok(json!(false));

fn pod(labels: &Value) -> Value {
    json!({"kind": "Pod", "metadata": {"labels": labels}})
}

#[test]
fn policies_are_for_kinds_labels_projects_and_stacks() {
    let data = json!({
        "kinds": {"level": "warn", "kinds": ["Pod", "Dep*"]},
        "labels": {"level": "warn", "labels": {"tier": "gold", "app": "*"}},
        "other_project": {"level": "warn", "projects": ["pay"]},
        "project": {"level": "warn", "projects": ["sh*"], "kinds": ["Service"]},
        "other_stack": {"level": "warn", "stacks": ["db"]},
    });
    let rules: Vec<(&str, Rule)> = ["kinds", "labels", "other_project", "project", "other_stack"]
        .into_iter()
        .map(|name| (name, FALSE))
        .collect();
    let resources = vec![
        resource("p", pod(&json!({"tier": "gold", "app": "x"})), Action::Create),
        resource("d", json!({"kind": "Deployment"}), Action::Create),
        resource("s", json!({"kind": "Service"}), Action::Create),
    ];
    let found = found(&data, &rules, &subject(resources));
    let expected = [
        "warn kinds p: kinds",
        "warn labels p: labels",
        "warn kinds d: kinds",
        "warn project s: project",
    ];
    assert_eq!(found, expected);
}

#[test]
fn cells_are_selected_and_stacks_without_cells_are_in_none() {
    let data = json!({
        "prod": {"level": "deny", "cells": "env=prod"},
        "dev": {"level": "deny", "cells": "env=!prod"},
    });
    let rules: [(&str, Rule); 2] = [("prod", |it| Ok(it["cell"]["env"].clone())), ("dev", FALSE)];
    let mut subject = subject(vec![resource("p", pod(&json!({})), Action::Create)]);
    assert_eq!(found(&data, &rules, &subject), Vec::<String>::new());
    subject.stack.cell = Some(prod());
    assert_eq!(found(&data, &rules, &subject), ["deny prod p: prod"]);
}

#[test]
fn an_invalid_selector_names_its_policy() {
    let set = set(&json!({"a": {"level": "deny", "cells": "zone=x"}}));
    let mut subject = subject(Vec::new());
    subject.stack.cell = Some(prod());
    let mut rules = crate::support::Rules { set: &set, rules: &[] };
    let error = kusion_policy::check(&set, &mut rules, &subject).expect_err("an error");
    assert_eq!(error.variable, "a");
    assert!(error.message.starts_with("`cells` of `a`: unknown axis `zone`"), "{error}");
}

#[test]
fn rules_on_changes_see_deletions_and_rules_on_resources_do_not() {
    let data = json!({
        "each": {"level": "warn"},
        "change": {"level": "deny", "on": "change"},
        "stack": {"level": "warn", "on": "stack"},
        "release": {"level": "approve", "on": "release", "role": "sre"},
    });
    let rules: [(&str, Rule); 4] = [
        ("each", |it| Ok(it["resource"]["kind"].clone())),
        ("change", |it| Ok(format!("{} {}", it["change"]["action"], it["old"]["kind"]).into())),
        ("stack", |it| Ok(it["resources"].as_array().map_or(0, Vec::len).to_string().into())),
        ("release", |it| {
            Ok(it["release"]["changes"].as_array().map_or(0, Vec::len).to_string().into())
        }),
    ];
    let resources = vec![
        resource("a", json!({"kind": "A"}), Action::Keep),
        resource("b", json!({"kind": "B"}), Action::Delete),
        resource("c", json!({"kind": "C"}), Action::Update),
    ];
    let expected = [
        "deny change b: \"delete\" \"B\"",
        "deny change c: \"update\" \"C\"",
        "approve release -: 2",
        "warn each a: A",
        "warn each c: C",
        "warn stack -: 2",
    ];
    let mut subject = subject(resources);
    assert_eq!(found(&data, &rules, &subject), expected);
    subject.operation = "scan";
    assert!(!found(&data, &rules, &subject).iter().any(|it| it.contains("release")));
}

#[test]
fn rules_on_layers_get_each_layer() {
    let data = json!({"layer": {"level": "deny", "on": "layer"}});
    let rules: [(&str, Rule); 1] = [("layer", |it| Ok(it["layer"]["owner"].clone()))];
    let mut subject = subject(Vec::new());
    subject.layers = vec![json!({"owner": "a"}), json!({"owner": null}), json!({"owner": "b"})];
    assert_eq!(found(&data, &rules, &subject), ["deny layer -: a", "deny layer -: b"]);
}

#[test]
fn a_rule_that_fails_is_a_finding_of_its_level() {
    let data = json!({"a": {"level": "deny"}, "b": {"level": "warn"}});
    let rules: [(&str, Rule); 2] =
        [("a", |_| Err("too many steps".to_owned())), ("b", |_| Ok(json!(7)))];
    let found =
        found(&data, &rules, &subject(vec![resource("p", pod(&json!({})), Action::Create)]));
    assert_eq!(found[0], "deny a p: the policy failed: too many steps");
    assert!(found[1].starts_with("warn b p: the policy failed: the rule returns `7`"), "{found:?}");
}

#[test]
fn exceptions_count_until_they_expire_and_say_whose_they_are() {
    let exception = |policy: &str, id: &str, expires: &str| json!({"policy": policy, "resources": [id], "owner": "ann", "reason": "r", "expires": expires});
    let data = json!({
        "a": {"level": "deny"}, "pack": {"b": {"level": "deny"}},
        "exceptions": [exception("a", "p*", "2026-12-02"), exception("pack/*", "p", "2026-12-01")],
    });
    let resources = vec![
        resource("p", pod(&json!({})), Action::Create),
        resource("q", pod(&json!({})), Action::Create),
    ];
    let expected = [
        "deny pack/b p: pack/b; the exception of ann expired on 2026-12-01",
        "deny a q: a",
        "deny pack/b q: pack/b",
        "deny a p: a [ann]",
    ];
    assert_eq!(found(&data, &[("a", FALSE), ("pack/b", FALSE)], &subject(resources)), expected);
}

#[test]
fn invalid_policies_say_what_is_wrong() {
    let error = |data: Value| {
        let has = |path: &[&str]| path.last() == Some(&"find") && has_map(&data, path);
        PolicySet::read(&data, &has).expect_err("an error").to_string()
    };
    let part = "`a`: unknown field `knds`, expected one of";
    assert!(error(json!({"a": {"level": "warn", "knds": []}})).starts_with(part));
    assert!(error(json!({"a": {"level": "block"}})).contains("unknown variant `block`"));
    assert!(error(json!({"a": {"level": "approve"}})).contains("no `role`"));
    assert!(error(json!({"a": {"level": "fix", "on": "stack"}})).contains("on a stack"));
    assert!(error(json!({"a": {"b": 3}})).starts_with("`a/b` is neither a policy nor a pack"));
    assert!(error(json!({"a": 3})).starts_with("`a` is neither a policy nor a pack"));
    let no_owner = json!([{"policy": "a", "owner": " ", "reason": "r", "expires": "2026-12-01"}]);
    assert_eq!(error(json!({"exceptions": no_owner})), "the exception from `a` has no owner");
    let no_date = json!([{"policy": "a", "owner": "o", "reason": "r", "expires": "soon"}]);
    assert!(error(json!({"exceptions": no_date})).contains("invalid date `soon`"));
    let no_reason = json!([{"policy": "a", "owner": "o", "expires": "2026-12-01"}]);
    assert!(error(json!({"exceptions": no_reason})).contains("missing field `reason`"));
}
