//! What goes wrong between us and the server.

use crate::cluster::{attempt, deployment, owner, resource, state, target};
use crate::proxy::{Fault, Proxy, Seen};
use futures::StreamExt as _;
use kusion_model::{Action, HealthState, Resource};
use kusion_runtime::{
    Applied, Change, Comparison, Deletion, Pending, Progress, Runtime as _, RuntimeError,
};
use kusion_runtime_k8s::{ClusterSource, KubernetesRuntime, Options};
use kusion_sandbox::{Sandbox, Write};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// When a test gives up that would else never end.
const STUCK: Duration = Duration::from_mins(1);

/// A cluster behind a bad network.
struct World {
    sandbox: Sandbox,
    proxy: Proxy,
    runtime: KubernetesRuntime,
}

impl World {
    async fn start(spoil: impl Fn(&Seen) -> Option<Fault> + Send + Sync + 'static) -> Self {
        Self::with(Options::default(), spoil).await
    }

    async fn with(
        options: Options,
        spoil: impl Fn(&Seen) -> Option<Fault> + Send + Sync + 'static,
    ) -> Self {
        // The network in between reads what is said.
        let plain = kusion_sandbox::Options { plain: true, ..Default::default() };
        let sandbox = Sandbox::start(plain).expect("a sandbox");
        let proxy = Proxy::start(sandbox.address(), spoil);
        let source = ClusterSource::Text(proxy.kubeconfig(&sandbox.kubeconfig()));
        let runtime =
            KubernetesRuntime::connect(&source, options, &owner()).await.expect("a runtime");
        Self { sandbox, proxy, runtime }
    }

    /// Makes objects without the network.
    fn make(&self, object: &Resource) {
        let kind = object.attributes["kind"].as_str().unwrap_or_default();
        let (group, plural) = match kind {
            "Deployment" => ("apps", "deployments"),
            _ => ("", "configmaps"),
        };
        let place = kusion_sandbox::Resource::new(group, "v1", plural);
        let attributes = object.attributes.clone().into_value();
        self.sandbox.api().create(&place, "default", attributes, &Write::default()).expect("made");
    }

    async fn apply(&self, desired: &Resource) -> Result<Applied, RuntimeError> {
        let attempt = Some(attempt());
        self.runtime.apply(Change { attempt, ..Change::new(desired) }).await
    }

    async fn read(&self, wanted: &[Resource]) -> Result<usize, RuntimeError> {
        let targets: Vec<_> = wanted.iter().map(target).collect();
        let found = self.runtime.read(&targets).await?;
        Ok(found.into_iter().filter(|it| matches!(it, Ok(Some(_)))).count())
    }
}

fn config(name: &str) -> Resource {
    resource(json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default"}, "data": {"a": "1"}}))
}

fn configs(count: usize) -> Vec<Resource> {
    (0..count).map(|place| config(&format!("c{place}"))).collect()
}

/// Whether a request lists config maps.
fn is_list(seen: &Seen) -> bool {
    seen.method == "GET" && seen.target.contains("/configmaps?limit=")
}

#[tokio::test(flavor = "multi_thread")]
async fn reading_is_tried_again_and_waits_as_told() {
    let world = World::start(|seen| match (is_list(seen), seen.before) {
        (true, 0) => Some(Fault::Status(429, Some(1))),
        (true, 1) => Some(Fault::Status(500, None)),
        (true, 2) => Some(Fault::Lost),
        (true, 3) => Some(Fault::Cut(40)),
        // How to find objects is asked first.
        (false, 0) => Some(Fault::Status(503, None)),
        _ => None,
    })
    .await;
    let wanted = configs(5);
    for object in &wanted {
        world.make(object);
    }
    let begun = Instant::now();
    assert_eq!(world.read(&wanted).await.expect("all is read"), 5);
    assert!(begun.elapsed() >= Duration::from_secs(1), "the server asked for a second");
    assert_eq!(world.proxy.count("GET", "/configmaps?limit="), 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stays_broken_is_given_up() {
    let world = World::start(|seen| is_list(seen).then_some(Fault::Status(504, None))).await;
    let error = world.read(&configs(5)).await.expect_err("no answer");
    assert!(error.is_transient() && error.to_string().contains("spoiled"), "{error}");
    assert_eq!(world.proxy.count("GET", "/configmaps?limit="), 5);
    // A server that wants an hour is told at once.
    let world = World::start(|seen| is_list(seen).then_some(Fault::Status(429, Some(3600)))).await;
    let error = world.read(&configs(5)).await.expect_err("no answer");
    let hour =
        RuntimeError::Transient { message: "spoiled".to_owned(), retry_after_ms: Some(3_600_000) };
    assert_eq!(error, hour);
    assert_eq!(world.proxy.count("GET", "/configmaps?limit="), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_hangs_is_given_up() {
    let options = Options { call_timeout: Duration::from_secs(1), ..Options::default() };
    let late = Duration::from_mins(10);
    let world = World::with(options, move |seen| is_list(seen).then_some(Fault::Late(late))).await;
    let error = world.read(&configs(5)).await.expect_err("no answer");
    assert!(error.is_transient() && error.to_string().contains("timed out after 1 s"), "{error}");
    assert_eq!(world.proxy.count("GET", "/configmaps?limit="), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_takes_time_works() {
    let late = Duration::from_millis(300);
    let world = World::start(move |_| Some(Fault::Late(late))).await;
    world.apply(&config("a")).await.expect("it is made");
    assert_eq!(world.read(&[config("a")]).await.expect("it is read"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_grows_too_old_is_read_to_the_end() {
    let world =
        World::start(|seen| seen.target.contains("&continue=").then_some(Fault::Status(410, None)))
            .await;
    let wanted = configs(520);
    for object in &wanted {
        world.make(object);
    }
    assert_eq!(world.read(&wanted).await.expect("all is read"), 520);
    assert_eq!(world.proxy.count("GET", "&continue="), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn dry_runs_are_tried_again_and_changes_are_not() {
    let is_patch = |seen: &Seen| seen.method == "PATCH";
    let world = World::start(move |seen| match (is_patch(seen), seen.before) {
        (true, 0) => Some(Fault::Status(503, Some(1))),
        _ => None,
    })
    .await;
    let wanted = config("a");
    let change = Change::new(&wanted);
    world.runtime.dry_run(change).await.expect("it is tried again");
    assert_eq!(world.proxy.count("PATCH", "dryRun=All"), 2);
    let error = world.apply(&wanted).await.expect_err("the engine decides");
    let expected =
        RuntimeError::Transient { message: "spoiled".to_owned(), retry_after_ms: Some(1000) };
    assert_eq!(error, expected);
    assert_eq!(world.proxy.count("PATCH", "/configmaps/a"), 3);
    world.apply(&wanted).await.expect("it is made");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_call_without_an_answer_did_is_found_out() {
    for (fault, is_made) in [(Fault::Lost, false), (Fault::Cut(30), true)] {
        let world =
            World::start(move |seen| (seen.method == "PATCH" && seen.before == 0).then_some(fault))
                .await;
        let wanted = config("a");
        let error = world.apply(&wanted).await.expect_err("no answer");
        assert!(error.is_transient(), "{error}");
        assert_eq!(world.proxy.count("PATCH", ""), 1, "it is not sent twice");
        let pending = Pending {
            attempt: attempt(),
            id: &wanted.id,
            action: Action::Create,
            desired: Some(&wanted),
            prior: None,
        };
        let found = world.runtime.recover(pending).await.expect("it is looked for");
        assert_eq!(found.is_some(), is_made);
        if let Some(live) = found {
            assert_eq!(world.runtime.compare(&wanted, &live), Comparison::Same);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_is_awaited_over_broken_connections() {
    let (watches, looks) = (Arc::new(AtomicUsize::new(0)), AtomicUsize::new(0));
    let count = Arc::clone(&watches);
    let world = World::start(move |seen| {
        let next = |count: &AtomicUsize| count.fetch_add(1, Ordering::Relaxed);
        if seen.target.contains("/configmaps?watch=true") {
            return match next(&count) {
                0 => Some(Fault::Cut(0)),
                1 => Some(Fault::Status(410, None)),
                2 => Some(Fault::Lost),
                _ => None,
            };
        }
        let is_look = seen.method == "GET" && seen.target.ends_with("/held");
        match is_look.then(|| next(&looks)) {
            Some(1) => Some(Fault::Lost),
            Some(3) => Some(Fault::Status(500, None)),
            _ => None,
        }
    })
    .await;
    let mut held = config("held");
    held.attributes["metadata"]["finalizers"] = json!(["test.io/held"]);
    let applied = world.apply(&held).await.expect("it is made");
    let prior = state(&held, &applied.live);
    let deletion = Deletion::new(&prior, attempt());
    let release = async {
        while watches.load(Ordering::Relaxed) < 4 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let place = kusion_sandbox::Resource::new("", "v1", "configmaps");
        let patch = json!({"metadata": {"finalizers": null}});
        let kind = kusion_sandbox::PatchKind::Merge;
        let api = world.sandbox.api();
        api.patch(&place, "default", "held", kind, &patch, &Write::default()).expect("patched");
    };
    let work = async { tokio::join!(world.runtime.delete(deletion), release) };
    let (deleted, ()) = tokio::time::timeout(STUCK, work).await.expect("it ends");
    deleted.expect("it is gone");
    assert_eq!(world.proxy.count("DELETE", ""), 1);
    assert_eq!(world.read(&[held]).await.expect("it is read"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_goes_on_after_every_kind_of_end() {
    let watches = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&watches);
    let world = World::start(move |seen| {
        let is_watch = seen.target.contains("/deployments?watch=true");
        match count.fetch_add(usize::from(is_watch), Ordering::Relaxed) {
            0 if is_watch => Some(Fault::Status(410, None)),
            1 if is_watch => Some(Fault::Cut(0)),
            2 if is_watch => Some(Fault::Status(429, Some(1))),
            3 if is_watch => Some(Fault::Lost),
            4 if is_watch => Some(Fault::Cut(100)),
            _ => None,
        }
    })
    .await;
    let mut web = deployment("web", "nginx:1", 0);
    web["metadata"]["namespace"] = json!("default");
    let web = resource(web);
    let live = world.apply(&web).await.expect("it is made").live;
    let watched = world.runtime.watch(vec![(web.id.clone(), live)], None).await;
    let mut watched = watched.expect("a watch");
    let place = kusion_sandbox::Resource::new("apps", "v1", "deployments");
    let mut round = 0;
    // Changes come all the time, so that an answer can be cut off in the middle of one.
    let told = async {
        loop {
            tokio::select! {
                told = watched.next() => {
                    let Progress { health, .. } = told.expect("no end").expect("no error");
                    let is_over = watches.load(Ordering::Relaxed) > 5;
                    if is_over && health.state == HealthState::Ready {
                        return;
                    }
                }
                () = tokio::time::sleep(Duration::from_millis(50)) => {
                    round += 1;
                    let replicas = round % 2;
                    let patch = json!({"spec": {"replicas": replicas}});
                    let kind = kusion_sandbox::PatchKind::Merge;
                    let api = world.sandbox.api();
                    let write = Write::default();
                    api.patch(&place, "default", "web", kind, &patch, &write).expect("patched");
                }
            }
        }
    };
    let told = tokio::time::timeout(STUCK, told).await;
    assert!(told.is_ok(), "after {} watches nothing was told", watches.load(Ordering::Relaxed));
}
