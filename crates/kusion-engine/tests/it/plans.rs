//! Guards, ignored fields, faults that a preview finds.

use crate::world::{World, config, namespace, options};
use kusion_model::{IgnoreRule, Phase, PlanOptions};
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
    let refused = world.preview(&[namespace("shop"), ours]).await;
    let message = refused.expect_err("there is a conflict").to_string();
    assert!(message.contains("manages") && message.contains("theirs"), "{message}");
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
    let refused = world.preview(&[wrong]).await.expect_err("the server refuses it");
    assert!(refused.to_string().contains("v1:ConfigMap:default:a"), "{refused}");
    let mut odd = config("b", "1");
    odd["unknown"] = json!(1);
    let refused =
        world.preview(&[namespace("shop"), odd]).await.expect_err("the schema refuses it");
    assert!(refused.to_string().contains("unknown"), "{refused}");
}
