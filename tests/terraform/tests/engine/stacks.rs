//! Stacks of both infrastructures, from the first apply to the end.

use crate::world::{World, kubernetes};
use kusion_engine::{Goal, Outcome, Report};
use kusion_model::{Action, FieldChange, Phase, Resource, Shown};
use serde_json::{Value, json};
use terraform_suite::Programs;
use testkit::Suite;

type Test = (&'static str, fn(Programs));

pub(crate) fn add(suite: &mut Suite) {
    let tests: &[Test] = &[
        ("references_lead_from_one_infrastructure_to_the_other", |it| run(references(it))),
        ("unknown_values_are_shown_as_such", |it| run(unknown_values(it))),
        ("a_change_that_needs_a_new_object_replaces_it", |it| run(replace(it))),
        ("the_new_object_is_created_first_on_request", |it| run(create_first(it))),
        ("a_release_is_rolled_back", |it| run(rollback(it))),
        ("what_was_half_made_is_recorded_and_replaced", |it| run(half_made(it))),
        ("a_crash_in_a_creation_is_never_repeated_in_silence", |it| run(ambiguous(it))),
        ("secrets_are_in_no_record_plan_or_event", |it| run(secrets(it))),
        ("an_object_is_adopted_by_its_id", |it| run(adopt(it))),
    ];
    for (name, test) in tests {
        suite.add_with(*name, Programs::find(), *test);
    }
}

fn is_success(report: &Report) -> bool {
    report.phase == Phase::Succeeded
}

fn run(test: impl Future<Output = ()>) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.expect("a runtime").block_on(test);
}

fn config_map(name: &str, data: &Value, depends_on: &[&Resource]) -> Resource {
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default"}, "data": data,
    });
    kubernetes(object, depends_on)
}

async fn references(programs: Programs) {
    let world = World::new("references", &programs);
    let first = config_map("first", &json!({"a": "b"}), &[]);
    let mut database = world.terraform(
        "probe_object",
        "db",
        json!({"name": "db", "text": format!("$kusion_path.{}.metadata.uid", first.id)}),
    );
    database.depends_on = vec![first.id.clone()];
    let address = format!("$kusion_path.{}.id", database.id);
    let second = config_map("second", &json!({"database": address}), &[&database]);
    let all = [first.clone(), database.clone(), second.clone()];
    let report = world.apply(&all).await.expect("a report");
    assert!(is_success(&report), "{:?}", report.steps);
    let path = |name: &str| format!("/api/v1/namespaces/default/configmaps/{name}");
    let made = world.object(&path("second")).expect("an object");
    assert_eq!(made["data"]["database"], "db@");
    let uid = world.object(&path("first")).expect("an object")["metadata"]["uid"].clone();
    let file = world.folder.path().join("db@.json");
    let stored: Value =
        serde_json::from_slice(&std::fs::read(file).expect("a file")).expect("JSON");
    assert_eq!(stored["text"], uid);
    assert_eq!(world.planned(&all).await, [""; 0]);
    assert!(is_success(&world.destroy().await.expect("a report")));
    assert_eq!(world.folder.files(), [""; 0]);
    assert_eq!(world.object(&path("first")), None);
    world.terraform.close().await;
}

fn change<'a>(changes: &'a [FieldChange], label: &str) -> &'a FieldChange {
    changes.iter().find(|it| it.label() == label).expect("a change")
}

async fn unknown_values(programs: Programs) {
    let world = World::new("unknown", &programs);
    let mut first = world.terraform("probe_object", "first", json!({"name": "first", "text": "1"}));
    let text = format!("serial $kusion_path.{}.serial", first.id);
    let mut second =
        world.terraform("probe_object", "second", json!({"name": "second", "text": text}));
    second.depends_on = vec![first.id.clone()];
    let report = world.apply(&[first.clone(), second.clone()]).await.expect("a report");
    assert!(is_success(&report), "{:?}", report.steps);
    assert_eq!(world.planned(&[first.clone(), second.clone()]).await, [""; 0]);
    first.attributes["text"] = json!("2");
    let previewed = world.preview(&[first.clone(), second.clone()]).await.expect("a plan");
    let steps = &previewed.plan.steps;
    let serial = change(&steps[0].changes, "serial");
    assert_eq!(serial.before, Some(Shown::Plain(json!(1))));
    assert_eq!(serial.after, Some(Shown::Later(String::new())));
    let follows = change(&steps[1].changes, "text");
    assert_eq!(follows.before, Some(Shown::Plain(json!("serial 1"))));
    assert_eq!(follows.after, Some(Shown::Later(text)));
    let report = world.apply(&[first, second]).await.expect("a report");
    assert!(is_success(&report), "{:?}", report.steps);
    world.terraform.close().await;
}

async fn replace(programs: Programs) {
    for type_name in ["probe_object", "legacy_object"] {
        let world = World::new(&format!("replace-{type_name}"), &programs);
        let mut object = world.terraform(type_name, "a", json!({"name": "a", "zone": "x"}));
        world.apply(std::slice::from_ref(&object)).await.expect("a report");
        object.attributes["zone"] = json!("y");
        let planned = world.planned(std::slice::from_ref(&object)).await;
        assert_eq!(planned, [format!("Replace {}", object.id)]);
        let report = world.apply(std::slice::from_ref(&object)).await.expect("a report");
        assert!(is_success(&report), "{:?}", report.steps);
        let files = world.folder.files();
        assert!(files.len() == 1 && files[0].ends_with("a@y.json"), "{files:?}");
        assert_eq!(world.planned(std::slice::from_ref(&object)).await, [""; 0]);
        world.terraform.close().await;
    }
}

async fn create_first(programs: Programs) {
    let world = World::new("create-first", &programs);
    let mut object = world.terraform("probe_object", "a", json!({"name": "a", "zone": "x"}));
    object.extensions.insert("lifecycle".to_owned(), json!({"createBeforeDestroy": true}));
    world.apply(std::slice::from_ref(&object)).await.expect("a report");
    object.attributes["zone"] = json!("y");
    let report = world.apply(std::slice::from_ref(&object)).await.expect("a report");
    assert!(is_success(&report), "{:?}", report.steps);
    assert_eq!(world.folder.files(), ["a@y.json"]);
    assert_eq!(world.planned(std::slice::from_ref(&object)).await, [""; 0]);
    assert!(is_success(&world.destroy().await.expect("a report")));
    assert_eq!(world.folder.files(), [""; 0]);
    world.terraform.close().await;
}

async fn rollback(programs: Programs) {
    let world = World::new("rollback", &programs);
    let mut object = world.terraform("legacy_object", "a", json!({"name": "a", "text": "old"}));
    world.apply(std::slice::from_ref(&object)).await.expect("a report");
    object.attributes["text"] = json!("new");
    world.apply(std::slice::from_ref(&object)).await.expect("a report");
    let report = world.run(Goal::Rollback { to: 1 }).await.expect("a report");
    assert!(is_success(&report), "{:?}", report.steps);
    let file = world.folder.path().join("legacy-a@.json");
    assert!(std::fs::read_to_string(file).expect("a file").contains(r#""text":"old""#));
    world.terraform.close().await;
}

async fn half_made(programs: Programs) {
    let world = World::new("half-made", &programs);
    let mut object = world.terraform("probe_object", "a", json!({"name": "a", "fail": "created"}));
    let report = world.apply(std::slice::from_ref(&object)).await.expect("a report");
    assert!(!is_success(&report));
    object.attributes["fail"] = Value::Null;
    let planned = world.planned(std::slice::from_ref(&object)).await;
    assert_eq!(planned, [format!("Replace {}", object.id)]);
    let report = world.apply(std::slice::from_ref(&object)).await.expect("a report");
    assert!(is_success(&report), "{:?}", report.steps);
    assert_eq!(world.folder.files(), ["a@.json"]);
    world.terraform.close().await;
}

async fn ambiguous(programs: Programs) {
    let world = World::new("ambiguous", &programs);
    let object =
        world.terraform("probe_object", "a", json!({"name": "a", "fail": "crash-created"}));
    let report = world.apply(std::slice::from_ref(&object)).await.expect("a report");
    assert!(report.steps.iter().any(|it| it.outcome == Outcome::Unknown), "{:?}", report.steps);
    assert_eq!(world.folder.files(), ["a@.json"], "it was created before the crash");
    let error = world.preview(std::slice::from_ref(&object)).await.expect_err("an error");
    assert!(error.to_string().contains("may have created"), "{error}");
    let error = world.apply(std::slice::from_ref(&object)).await.expect_err("an error");
    assert!(error.to_string().contains("may have created"), "{error}");
    world.terraform.close().await;
}

async fn secrets(programs: Programs) {
    let world = World::new("secrets", &programs);
    let mut all = Vec::new();
    for type_name in ["probe_object", "legacy_object"] {
        let attributes = json!({
            "name": "a", "secret": "canary-4711", "write_key": "canary-4712", "text": "plain-text",
        });
        all.push(world.terraform(type_name, "a", attributes));
    }
    world.apply(&all).await.expect("a report");
    for object in &mut all {
        object.attributes["secret"] = json!("canary-4713");
        object.attributes["fail"] = json!("update");
    }
    let previewed = world.preview(&all).await.expect("a plan");
    assert_eq!(previewed.plan.count(Action::Update), 2);
    let report = world.apply(&all).await.expect("a report");
    assert!(!is_success(&report));
    let plan = serde_json::to_string(&previewed.plan).expect("JSON");
    for text in [plan, format!("{:?}", report.steps), world.records().await] {
        assert!(!text.contains("canary"), "{text}");
    }
    world.terraform.close().await;
}

async fn adopt(programs: Programs) {
    let world = World::new("adopt", &programs);
    std::fs::write(
        world.folder.path().join("a@.json"),
        r#"{"kind":"object","text":"theirs","mode":"auto","serial":4}"#,
    )
    .expect("a file");
    let mut object = world.terraform("probe_object", "a", json!({"name": "a", "text": "theirs"}));
    object.extensions.insert("importId".to_owned(), "a@".into());
    let planned = world.planned(std::slice::from_ref(&object)).await;
    assert_eq!(planned, [format!("Adopt {}", object.id)]);
    let report = world.apply(std::slice::from_ref(&object)).await.expect("a report");
    assert!(is_success(&report), "{:?}", report.steps);
    assert_eq!(world.planned(std::slice::from_ref(&object)).await, [""; 0]);
    world.terraform.close().await;
}
