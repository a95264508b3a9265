//! Guards, ignored fields, faults that a preview finds.

use crate::world::{World, config, namespace, options, preview, spec};
use kusion_engine::{Event, RunOptions};
use kusion_model::{Action, FieldChange, FieldPath, IgnoreRule, Note, Phase, PlanOptions};
use kusion_runtime_k8s::{ClusterSource, KubernetesSource, Options};
use serde_json::json;

#[tokio::test]
async fn a_change_of_an_immutable_field_replaces_and_says_so() {
    let world = World::start();
    let fixed = |value: &str| {
        let mut config = config("a", value);
        config["immutable"] = json!(true);
        config
    };
    world.apply(&[namespace("shop"), fixed("1")]).await.expect("it is applied");
    let before = world.object("configmaps", "shop", "a").expect("it is there");
    let change = [namespace("shop"), fixed("2")];
    assert_eq!(world.planned(&change).await, ["Replace v1:ConfigMap:shop:a"]);
    let report = world.apply(&change).await.expect("it is replaced");
    assert_eq!(report.phase, Phase::Succeeded, "{report:?}");
    let after = world.object("configmaps", "shop", "a").expect("it is there");
    assert_eq!(after["data"]["value"], "2");
    assert_ne!(after["metadata"]["uid"], before["metadata"]["uid"]);
}

#[tokio::test]
async fn fields_of_others_are_no_noise_and_conflicts_name_their_owner() {
    let world = World::start();
    let objects = [namespace("shop"), config("a", "1")];
    world.apply(&objects).await.expect("it is applied");
    world.patch_config(
        "a",
        &json!({"data": {"theirs": "x"}, "metadata": {"labels": {"by": "them"}}}),
    );
    assert!(world.planned(&objects).await.is_empty());
    let mut ours = config("a", "1");
    ours["data"]["theirs"] = json!("y");
    let previewed = world.preview(&[namespace("shop"), ours.clone()]).await.expect("a plan");
    // Everything is shown: the change, the manager of the field, and when it set it.
    let step = previewed.plan.steps.iter().find(|it| it.action == Action::Update);
    let step = step.expect("the change is shown");
    let theirs = FieldPath::default().key("data").key("theirs");
    assert_eq!(step.changes[0].path, theirs);
    let conflict = &step.conflicts[0];
    assert_eq!((conflict.manager.as_str(), &conflict.paths[..]), ("somebody", &[theirs][..]));
    assert!(conflict.time.is_some(), "{conflict:?}");
    let message = previewed.refusals[0].to_string();
    assert!(message.contains("`somebody` manages data.theirs (changed at "), "{message}");
    let refused = world.apply(&[namespace("shop"), ours.clone()]).await.expect_err("a conflict");
    assert_eq!(refused.code(), "conflict", "{refused}");
    let forced = PlanOptions { force: true, ..PlanOptions::default() };
    let report = world.apply_with(&[namespace("shop"), ours], &forced, &options()).await;
    assert_eq!(report.expect("it is forced").phase, Phase::Succeeded);
}

#[tokio::test]
async fn items_of_lists_are_compared_by_their_merge_keys() {
    let world = World::start();
    let service = |ports: serde_json::Value| {
        json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": {"name": "web", "namespace": "default"},
            "spec": {"selector": {"app": "web"}, "ports": ports},
        })
    };
    let (http, dns) = (json!({"name": "http", "port": 80}), json!({"name": "dns", "port": 53}));
    world.apply(&[service(json!([http, dns]))]).await.expect("it is applied");
    let mut other = dns.clone();
    other["targetPort"] = json!(5353);
    let previewed = world.preview(&[service(json!([other]))]).await.expect("a plan");
    let labels: Vec<String> =
        previewed.plan.steps[0].changes.iter().map(FieldChange::label).collect();
    assert_eq!(labels, ["spec.ports[port=80]", "spec.ports[port=53].targetPort"]);
}

#[tokio::test]
async fn an_object_that_is_being_deleted_is_said_to_be() {
    let world = World::start();
    let mut held = config("a", "1");
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    let objects = [namespace("shop"), held];
    world.apply(&objects).await.expect("it is applied");
    world.delete_config("a");
    let previewed = world.preview(&objects).await.expect("a plan");
    let step = previewed.plan.steps.iter().find(|it| it.id.as_str().ends_with(":a"));
    let said = step.and_then(|it| it.terminating.as_deref());
    assert_eq!(said, Some("waiting for the finalizers `example.com/hold`"));
}

#[tokio::test]
async fn a_deletion_says_what_it_waits_for() {
    let world = World::start();
    let mut held = config("a", "1");
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    world.apply(&[namespace("shop"), held]).await.expect("it is applied");
    let short = RunOptions { timeout: std::time::Duration::from_secs(4), ..options() };
    let report = world.apply_with(&[namespace("shop")], &PlanOptions::default(), &short).await;
    let report = report.expect("a report");
    let message = &report.steps[0].message;
    let reason = "waiting for the finalizers `example.com/hold`";
    assert_eq!(*message, format!("timed out after 4 s: {reason}"));
    let waits = |it: &Event| matches!(it, Event::StepWaiting { message, .. } if message == reason);
    assert_eq!(world.events.all().iter().filter(|it| waits(it)).count(), 1);
}

#[tokio::test]
async fn an_ignored_field_is_left_to_others() {
    let world = World::start();
    let objects = [namespace("shop"), config("a", "1")];
    world.apply(&objects).await.expect("it is applied");
    world.patch_config("a", &json!({"data": {"value": "tuned"}}));
    let rule: IgnoreRule = "ConfigMap:data.value".parse().expect("the rule is right");
    let plan = PlanOptions { ignore: vec![rule], ..PlanOptions::default() };
    let report = world.apply_with(&objects, &plan, &options()).await.expect("it is applied");
    assert!(report.steps.is_empty(), "{:?}", report.steps);
    let found = world.object("configmaps", "shop", "a").expect("it is there");
    assert_eq!(found["data"]["value"], "tuned");
}

#[tokio::test]
async fn faults_of_new_resources_show_in_the_preview() {
    let world = World::start();
    let mut wrong = config("a", "1");
    wrong["metadata"]["namespace"] = json!("default");
    wrong["metadata"]["labels"] = json!({"a": "not a label!"});
    let refused = world.rejections(&[wrong.clone()]).await;
    assert!(refused[0].starts_with("v1:ConfigMap:default:a: metadata.labels"), "{refused:?}");
    // The plan shows the others, too, and is not run.
    let mut right = config("b", "1");
    right["metadata"]["namespace"] = json!("default");
    let both = [wrong, right];
    assert_eq!(world.preview(&both).await.expect("a plan").plan.steps.len(), 2);
    let error = world.apply(&both).await.expect_err("it is rejected");
    assert_eq!(error.code(), "rejected");
    assert!(world.object("configmaps", "default", "b").is_none());
    // The namespace does not exist yet: a dry run in another one finds the same.
    let mut odd = config("b", "1");
    odd["dat"] = json!({});
    let refused = world.rejections(&[namespace("shop"), odd]).await;
    assert_eq!(refused, ["v1:ConfigMap:shop:b: unknown field `dat` (did you mean `data`?)"]);
    let service = json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "web", "namespace": "shop"}, "spec": {"ports": [{"port": 99_999}]},
    });
    let refused = world.rejections(&[namespace("shop"), service]).await;
    assert!(refused[0].contains("spec.ports[0].port: invalid value 99999"), "{refused:?}");
}

#[tokio::test]
async fn what_only_the_own_check_finds_is_a_warning() {
    let world = World::start();
    let source = ClusterSource::Text(world.sandbox.kubeconfig());
    let cluster = KubernetesSource::new(source, Options::default());
    let stack = world.on(cluster);
    let mut odd = config("b", "1");
    odd["dat"] = json!({});
    let spec = spec(&[namespace("shop"), odd]);
    let previewed = preview(&stack, &spec, &PlanOptions::default()).await.expect("a plan");
    let notes: Vec<&Note> = previewed.plan.steps.iter().flat_map(|it| &it.notes).collect();
    let text = "the server may reject it: unknown field `dat` (did you mean `data`?)";
    assert!(notes.contains(&&Note::Warning { message: text.to_owned() }), "{notes:?}");
}

#[tokio::test]
async fn an_unknown_kind_has_a_similar_one() {
    let world = World::start();
    let mut odd = config("b", "1");
    odd["kind"] = json!("ConfigMpa");
    odd["metadata"]["namespace"] = json!("default");
    let refused = world.rejections(&[odd]).await;
    let expected = "kind `ConfigMpa` does not exist (did you mean `ConfigMap`?)";
    assert!(refused[0].ends_with(expected), "{refused:?}");
}
