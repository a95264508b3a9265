//! kube-rs on a sandbox: discovery, typed and untyped objects, watcher, controller runtime.

use crate::cluster;
use futures::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use kube::discovery::Discovery;
use kube::runtime::controller::{Action, Controller};
use kube::runtime::wait::{await_condition, conditions};
use kube::runtime::watcher;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(30);

fn config_map(name: &str, value: &str) -> anyhow::Result<ConfigMap> {
    Ok(serde_json::from_value(json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"key": value}
    }))?)
}

#[tokio::test(flavor = "multi_thread")]
async fn discovery_finds_the_kinds() -> anyhow::Result<()> {
    let cluster = cluster().await?;
    for discovery in [
        Discovery::new(cluster.client.clone()).run_aggregated().await?,
        Discovery::new(cluster.client.clone()).run().await?,
    ] {
        let kind = kube::core::GroupVersionKind::gvk("apps", "v1", "Deployment");
        let (resource, _) = discovery.resolve_gvk(&kind).expect("deployments are served");
        assert_eq!(resource.plural, "deployments");
        assert!(discovery.groups().count() > 15);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_are_applied_watched_and_deleted() -> anyhow::Result<()> {
    let cluster = cluster().await?;
    let maps: Api<ConfigMap> = Api::namespaced(cluster.client.clone(), "default");
    let events = watcher(maps.clone(), watcher::Config::default().fields("metadata.name=kept"));
    let mut events = Box::pin(events);
    maps.create(&PostParams::default(), &config_map("kept", "1")?).await?;
    let resource = ApiResource::erase::<ConfigMap>(&());
    let untyped: Api<DynamicObject> =
        Api::namespaced_with(cluster.client.clone(), "default", &resource);
    let applied = untyped
        .patch(
            "kept",
            &PatchParams::apply("test").force(),
            &Patch::Apply(&config_map("kept", "2")?),
        )
        .await?;
    assert_eq!(applied.data["data"]["key"], "2");
    let conflict = untyped
        .patch("kept", &PatchParams::apply("other"), &Patch::Apply(&config_map("kept", "3")?))
        .await;
    assert!(matches!(conflict, Err(kube::Error::Api(status)) if status.code == 409));
    let seen = tokio::time::timeout(PATIENCE, async {
        while let Some(event) = events.try_next().await? {
            if let watcher::Event::Apply(map) | watcher::Event::InitApply(map) = event
                && map.data.is_some_and(|data| data["key"] == "2")
            {
                return anyhow::Ok(true);
            }
        }
        Ok(false)
    });
    assert!(seen.await??);
    maps.delete("kept", &DeleteParams::default()).await?;
    assert!(maps.get_opt("kept").await?.is_none());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deployment_is_rolled_out() -> anyhow::Result<()> {
    let cluster = cluster().await?;
    let deployments: Api<Deployment> = Api::namespaced(cluster.client.clone(), "default");
    let wanted = serde_json::from_value(json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "nginx:1"}]}
            }
        }
    }))?;
    deployments.create(&PostParams::default(), &wanted).await?;
    let done = await_condition(deployments, "web", conditions::is_deployment_completed());
    tokio::time::timeout(PATIENCE, done).await??;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_controller_reconciles() -> anyhow::Result<()> {
    let cluster = cluster().await?;
    let maps: Api<ConfigMap> = Api::namespaced(cluster.client.clone(), "default");
    let context = Arc::new(maps.clone());
    let stream = Controller::new(maps.clone(), watcher::Config::default()).run(
        |map: Arc<ConfigMap>, maps: Arc<Api<ConfigMap>>| async move {
            let name = map.metadata.name.clone().unwrap_or_default();
            if name.starts_with("wanted") {
                let patch = json!({"data": {"state": "reconciled"}});
                maps.patch(&name, &PatchParams::default(), &Patch::Merge(&patch)).await?;
            }
            Ok::<_, kube::Error>(Action::await_change())
        },
        |_, _, _| Action::requeue(Duration::from_millis(100)),
        context,
    );
    let running = tokio::spawn(stream.for_each(|_| async {}));
    maps.create(&PostParams::default(), &config_map("wanted", "1")?).await?;
    let reconciled = await_condition(maps, "wanted", |map: Option<&ConfigMap>| {
        map.and_then(|map| map.data.as_ref())
            .is_some_and(|data| data.get("state").is_some_and(|state| state == "reconciled"))
    });
    tokio::time::timeout(PATIENCE, reconciled).await??;
    running.abort();
    Ok(())
}
