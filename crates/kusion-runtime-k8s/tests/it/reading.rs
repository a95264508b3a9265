//! Many objects with few requests.

use crate::cluster::{Cluster, resource, state, target};
use kusion_runtime::{Runtime as _, Target};
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn answers_stand_in_the_order_of_the_targets() {
    let cluster = Cluster::start().await;
    let wanted: Vec<_> =
        (0..7).map(|n| cluster.config_map(&format!("c{n}"), json!({"n": n.to_string()}))).collect();
    for (n, resource) in wanted.iter().enumerate() {
        if n != 3 {
            cluster.apply(resource).await;
        }
    }
    let unknown = resource(json!({"apiVersion": "example.com/v1", "kind": "Thing",
        "metadata": {"name": "x"}}));
    let nowhere = resource(json!({"apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "x", "namespace": "no-such-namespace"}}));
    let mut targets: Vec<Target<'_>> = wanted.iter().rev().map(target).collect();
    targets.push(target(&unknown));
    targets.push(target(&nowhere));
    let found = cluster.runtime.read(&targets).await.expect("a reading");
    let names: Vec<Option<String>> = found
        .into_iter()
        .map(|live| {
            let live = live.expect("an answer")?;
            assert_eq!(live.attributes["kind"], "ConfigMap");
            assert!(live.identity.uid.is_some());
            live.attributes["data"]["n"].as_str().map(str::to_owned)
        })
        .collect();
    let expected: Vec<Option<String>> =
        [Some(6), Some(5), Some(4), None, Some(2), Some(1), Some(0), None, None]
            .iter()
            .map(|n: &Option<i32>| n.map(|n| n.to_string()))
            .collect();
    assert_eq!(names, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_of_many_pages_are_read_to_the_end() {
    let cluster = Cluster::start().await;
    let wanted: Vec<_> = (0..1_100)
        .map(|n| cluster.config_map(&format!("c{n}"), json!({"n": n.to_string()})))
        .collect();
    let applies = wanted.iter().map(|resource| cluster.apply(resource));
    let lives: Vec<_> = futures::StreamExt::collect(futures::StreamExt::buffered(
        futures::stream::iter(applies),
        16,
    ))
    .await;
    let targets: Vec<Target<'_>> = wanted.iter().map(target).collect();
    let found = cluster.runtime.read(&targets).await.expect("a reading");
    for (made, found) in lives.iter().zip(found) {
        assert_eq!(found.expect("an answer").as_ref(), Some(made));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_the_state_knows_is_found_by_its_key() {
    let cluster = Cluster::start().await;
    let wanted = cluster.config_map("a", json!({"x": "1"}));
    let live = cluster.apply(&wanted).await;
    let prior = state(&wanted, &live);
    let target = Target { id: &wanted.id, desired: None, prior: Some(&prior) };
    let found = cluster.runtime.read(&[target]).await.expect("a reading");
    assert_eq!(found, [Ok(Some(live))]);
}
