//! Random sequences of operations of several stacks in two stores, on the same names: no object is
//! changed or deleted by a stack that does not own it.
//!
//! `KUSION_OWNERS_SEQUENCES` sets the number of sequences, `KUSION_CI_SEED` chooses them.

#![expect(clippy::disallowed_methods, reason = "the infrastructure of the test is a folder")]

use crate::proxy::{Proxy, Seen as Request};
use crate::things::TYPE;
use crate::world::{Memo, key, options, run, sealer, store_on};
use kube::config::KubeConfigOptions;
use kusion_engine::{Engine, EngineError, Goal, Runtimes, Stack};
use kusion_k8s_schema::RESOURCE_TYPE;
use kusion_model::{
    Guards, Identity, MoveRule, Origins, PlanOptions, Resource, ResourceId, ResourceState,
    ResourceType, Spec, StackOwner,
};
use kusion_runtime_fake::{FileRuntime, FileSource};
use kusion_runtime_k8s::{ClusterSource, KubernetesSource, Options};
use kusion_sandbox::Sandbox;
use kusion_store::{Memory, Store};
use serde_json::{Map, Value, json};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use testkit::Rng;

/// Operations of a sequence.
const LENGTH: usize = 12;
/// Objects besides the two containers.
const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// An object as everybody sees it.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    id: ResourceId,
    owner: Option<String>,
    content: Value,
}

/// Objects by what tells them from earlier ones of their name.
type Snapshot = BTreeMap<String, Seen>;

/// An infrastructure with objects of given names.
trait Infrastructure {
    fn runtimes(&self) -> Runtimes;
    /// Returns a resource; containers are `0` and `1`, each other object is in one of them.
    fn resource(&self, name: &str, container: usize, value: usize, is_shared: bool) -> Resource;
    async fn snapshot(&self) -> Snapshot;
    /// Returns the ids of the objects that a stack asked to change since the last call, as a proxy
    /// before the server saw it.
    fn writes(&self) -> Vec<ResourceId>;
    /// Changes or deletes an object as somebody without a stack does.
    async fn meddle(&self, rng: &mut Rng);
}

/// One stack of a store.
struct Actor {
    stack: Stack,
    mark: String,
}

async fn actors(infrastructure: &impl Infrastructure) -> Vec<Actor> {
    let mut actors = Vec::new();
    for names in [["one", "two"], ["one", "three"]] {
        let store = store_on(Arc::new(Memory::default()));
        for name in names {
            let stack = engine(infrastructure, &store).stack(key(name));
            // The first lock gives a store its id.
            stack.lock(&options()).await.expect("a lock").release().await.expect("released");
            let id = store.id().await.expect("a store").unwrap_or_default();
            actors.push(Actor { mark: StackOwner::new(key(name), id).to_string(), stack });
        }
    }
    actors
}

fn engine(infrastructure: &impl Infrastructure, store: &Store) -> Engine {
    let events = Arc::new(Memo::default());
    Engine::new(store.clone(), infrastructure.runtimes(), sealer(), events as _)
}

/// Runs one sequence; returns the number of operations that were not refused.
async fn sequence(infrastructure: &impl Infrastructure, mut rng: Rng, name: &str) -> usize {
    let actors = actors(infrastructure).await;
    let mut done = 0;
    for step in 0..LENGTH {
        if rng.below(6) == 0 {
            infrastructure.meddle(&mut rng).await;
            continue;
        }
        let actor = rng.pick(&actors);
        let known = actor.stack.engine().store().read(actor.stack.key()).await.expect("a state");
        let before = infrastructure.snapshot().await;
        let spec = spec(infrastructure, &mut rng);
        let options_of_plan = plan_options(infrastructure, &mut rng, &spec);
        let origins = Origins::default();
        let goal = match rng.below(5) {
            0 => Goal::Destroy,
            1 if known.releases.iter().any(|it| it.head.revision == 1) => Goal::Rollback { to: 1 },
            _ => Goal::Apply { spec: &spec, origins: &origins },
        };
        let desired = match goal {
            Goal::Destroy => Spec::default(),
            Goal::Rollback { to } => actor.stack.sealed_spec(to).await.expect("a release"),
            Goal::Apply { .. } => spec.clone(),
        };
        let end = run(&actor.stack, goal, &options_of_plan, &options()).await;
        if let Err(error) = &end
            && !matches!(error, EngineError::Guarded(_) | EngineError::Rejected(_))
        {
            unreachable!("{name}, step {step}: {error}");
        }
        done += usize::from(end.is_ok());
        let writes = infrastructure.writes();
        let after = infrastructure.snapshot().await;
        for (uid, was) in &before {
            if after.get(uid) == Some(was) && !writes.contains(&was.id) {
                continue;
            }
            let is_own = was.owner.as_ref() == Some(&actor.mark);
            // The stack may know the object by another id: moves change ids, not objects.
            let mut ids = vec![&was.id];
            ids.extend(known.resources.iter().filter(|(_, it)| is_of(it, uid, was)).map(|it| it.0));
            let is_known = ids.iter().any(|it| known.resources.contains_key(*it));
            let moved = options_of_plan.moved.iter().filter(|it| ids.contains(&&it.from));
            let moved: Vec<&ResourceId> = moved.map(|it| &it.to).collect();
            ids.extend(moved);
            let is_named_by =
                |rule: &String| rule == "*" || ids.iter().any(|it| it.as_str() == rule);
            let is_taken = options_of_plan.take_over.iter().any(is_named_by);
            let is_named = desired.resources.iter().any(|it| it.id == was.id);
            let is_free = was.owner.is_none() && (is_named || is_known);
            assert!(
                is_own || is_taken || is_free,
                "{name}, step {step}: {goal:?} of {} with {options_of_plan:?} changed {was:?} to {:?}",
                actor.mark,
                after.get(uid)
            );
        }
    }
    done
}

/// Returns whether a recorded resource is an object.
fn is_of(recorded: &ResourceState, uid: &str, object: &Seen) -> bool {
    let Identity { key, uid: recorded_uid } = &recorded.identity;
    recorded_uid.as_deref() == Some(uid) || object.id.as_str() == format!("fake:{key}")
}

fn spec(infrastructure: &impl Infrastructure, rng: &mut Rng) -> Spec {
    let mut resources = Vec::new();
    for container in 0..2 {
        if rng.below(2) == 0 {
            let is_shared = rng.below(3) == 0;
            resources.push(infrastructure.resource("", container, rng.below(3), is_shared));
        }
    }
    for name in NAMES {
        if rng.below(2) == 0 {
            let (container, value) = (rng.below(2), rng.below(3));
            resources.push(infrastructure.resource(name, container, value, rng.below(8) == 0));
        }
    }
    Spec { resources, ..Spec::default() }
}

fn plan_options(infrastructure: &impl Infrastructure, rng: &mut Rng, spec: &Spec) -> PlanOptions {
    let take_over = match rng.below(5) {
        0 => vec!["*".to_owned()],
        1 => spec.resources.first().map(|it| it.id.to_string()).into_iter().collect(),
        _ => Vec::new(),
    };
    let mut moved = Vec::new();
    if let Some(to) = spec.resources.last().filter(|_| rng.below(4) == 0) {
        let from = {
            let (name, container) = (*rng.pick(&NAMES), rng.below(2));
            infrastructure.resource(name, container, 0, false).id
        };
        moved.push(MoveRule { from, to: to.id.clone() });
    }
    let guards = Guards { allow_mass_delete: true, ..Guards::default() };
    PlanOptions { take_over, force: rng.below(3) == 0, guards, moved, ..PlanOptions::default() }
}

/// A folder.
struct Files {
    folder: PathBuf,
}

impl Infrastructure for Files {
    fn runtimes(&self) -> Runtimes {
        Runtimes::default().with_source(TYPE, Arc::new(FileSource::new(&self.folder)))
    }

    fn resource(&self, name: &str, container: usize, value: usize, is_shared: bool) -> Resource {
        let space = format!("space{container}");
        let (name, attributes) = match name {
            "" => (space.clone(), json!({"container": true, "provides": [space]})),
            _ => (format!("{name}{container}"), json!({"value": value, "in": space})),
        };
        let mut attributes = attributes;
        attributes["name"] = name.as_str().into();
        if is_shared {
            attributes["shared"] = true.into();
        }
        Resource {
            id: ResourceId::new(format!("fake:{name}")),
            resource_type: ResourceType::new(TYPE),
            attributes: attributes.into(),
            depends_on: Vec::new(),
            extensions: Map::new(),
        }
    }

    async fn snapshot(&self) -> Snapshot {
        let folder = FileRuntime::open(&self.folder, "").expect("a folder");
        let objects = folder.folder().objects().expect("objects");
        let seen = objects.into_iter().map(|it| {
            let id = ResourceId::new(format!("fake:{}", it.id));
            // The token differs between two objects of one name.
            let seen = Seen { id, owner: it.owner, content: Value::Object(it.attributes) };
            (format!("{}:{}", it.id, it.token), seen)
        });
        seen.collect()
    }

    fn writes(&self) -> Vec<ResourceId> {
        // The snapshot shows all of them.
        Vec::new()
    }

    async fn meddle(&self, rng: &mut Rng) {
        let files: Vec<PathBuf> = std::fs::read_dir(self.folder.join("objects"))
            .expect("a folder")
            .filter_map(|it| Some(it.ok()?.path()))
            .collect();
        if files.is_empty() {
            return;
        }
        let file = rng.pick(&files);
        if rng.below(2) == 0 {
            std::fs::remove_file(file).expect("removed");
        } else {
            let text = std::fs::read(file).expect("an object");
            let mut object: Value = serde_json::from_slice(&text).expect("JSON");
            object["owner"] = Value::Null;
            std::fs::write(file, object.to_string()).expect("written");
        }
    }
}

/// A cluster.
struct Cluster {
    /// How the stacks reach it.
    kubeconfig: String,
    client: kube::Client,
    /// Where the stacks' requests pass, and how many of them were judged.
    proxy: Option<Proxy>,
    judged: Cell<usize>,
    /// Tells the names of this sequence from those of others.
    prefix: String,
}

impl Cluster {
    async fn list(&self, path: &str) -> Vec<Value> {
        let list = self.send("GET", path, &Value::Null).await;
        list["items"].as_array().cloned().unwrap_or_default()
    }

    async fn send(&self, method: &str, path: &str, body: &Value) -> Value {
        let request = http::Request::builder()
            .method(method)
            .uri(path)
            .header("Content-Type", "application/merge-patch+json")
            .body(if body.is_null() { Vec::new() } else { body.to_string().into_bytes() })
            .expect("a request");
        self.client.request(request).await.unwrap_or_default()
    }

    fn space(&self, container: usize) -> String {
        format!("{}-{container}", self.prefix)
    }
}

impl Infrastructure for Cluster {
    fn runtimes(&self) -> Runtimes {
        let source = ClusterSource::Text(self.kubeconfig.clone());
        let kubernetes = KubernetesSource::new(source, Options::default());
        Runtimes::default().with_source(RESOURCE_TYPE, Arc::new(kubernetes))
    }

    fn resource(&self, name: &str, container: usize, value: usize, is_shared: bool) -> Resource {
        let space = self.space(container);
        let (id, mut object) = match name {
            "" => (
                format!("v1:Namespace:{space}"),
                json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}}),
            ),
            _ => (
                format!("v1:ConfigMap:{space}:{name}"),
                json!({"apiVersion": "v1", "kind": "ConfigMap",
                    "metadata": {"name": name, "namespace": space},
                    "data": {"value": value.to_string()}}),
            ),
        };
        if is_shared {
            object["metadata"]["annotations"] = json!({"kusion.io/shared": "true"});
        }
        Resource {
            id: ResourceId::new(id),
            resource_type: ResourceType::new(RESOURCE_TYPE),
            attributes: object.into(),
            depends_on: Vec::new(),
            extensions: Map::new(),
        }
    }

    async fn snapshot(&self) -> Snapshot {
        let mut objects = self.list("/api/v1/namespaces").await;
        let is_own = |it: &Value| {
            let name = it["metadata"]["name"].as_str().unwrap_or_default();
            name.starts_with(&format!("{}-", self.prefix))
        };
        objects.retain(is_own);
        for container in 0..2 {
            let path = format!("/api/v1/namespaces/{}/configmaps", self.space(container));
            objects.extend(self.list(&path).await);
        }
        let seen = objects.into_iter().filter_map(|it| {
            let metadata = &it["metadata"];
            let text = |name: &str| metadata[name].as_str().unwrap_or_default().to_owned();
            let id = match text("namespace") {
                space if space.is_empty() => format!("v1:Namespace:{}", text("name")),
                space => format!("v1:ConfigMap:{space}:{}", text("name")),
            };
            if text("name") == "kube-root-ca.crt" || !metadata["deletionTimestamp"].is_null() {
                return None;
            }
            let owner = metadata["annotations"]["kusion.io/owner"].as_str().map(str::to_owned);
            let content = json!([it["data"], metadata["annotations"], metadata["labels"]]);
            Some((text("uid"), Seen { id: ResourceId::new(id), owner, content }))
        });
        seen.collect()
    }

    fn writes(&self) -> Vec<ResourceId> {
        let Some(proxy) = &self.proxy else { return Vec::new() };
        let seen = proxy.seen();
        let new = &seen[self.judged.replace(seen.len())..];
        new.iter().filter(|it| it.method != "GET").filter_map(written).collect()
    }

    async fn meddle(&self, rng: &mut Rng) {
        let (container, name) = (rng.below(2), *rng.pick(&NAMES));
        let path = format!("/api/v1/namespaces/{}/configmaps", self.space(container));
        let object = format!("{path}/{name}");
        let metadata = json!({"name": name});
        match rng.below(4) {
            0 => self.send("DELETE", &object, &Value::Null).await,
            1 => {
                let mark = json!({"metadata": {"annotations": {"kusion.io/owner": null}}});
                self.send("PATCH", &object, &mark).await
            }
            2 => {
                let helm = json!({"meta.helm.sh/release-name": "web"});
                let metadata = json!({"name": name, "annotations": helm});
                self.send("POST", &path, &json!({"metadata": metadata})).await
            }
            _ => self.send("POST", &path, &json!({"metadata": metadata})).await,
        };
    }
}

/// Returns the id of the object that a request changes; `None` for a dry run.
fn written(seen: &Request) -> Option<ResourceId> {
    let (path, query) = seen.target.split_once('?').unwrap_or((&seen.target, ""));
    if query.contains("dryRun=All") {
        return None;
    }
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    Some(ResourceId::new(match parts.as_slice() {
        ["api", "v1", "namespaces", name] => format!("v1:Namespace:{name}"),
        ["api", "v1", "namespaces", space, "configmaps", name] => {
            format!("v1:ConfigMap:{space}:{name}")
        }
        _ => unreachable!("no stack has a reason to send {seen:?}"),
    }))
}

/// Returns the first seed and the number of sequences.
fn rounds(default: usize) -> (u64, usize) {
    let text = |name: &str| std::env::var(name).ok();
    let seed = text("KUSION_CI_SEED").and_then(|it| it.parse().ok()).unwrap_or(1);
    let count = text("KUSION_OWNERS_SEQUENCES").and_then(|it| it.parse().ok());
    (seed, count.unwrap_or(default))
}

#[tokio::test]
async fn stacks_on_a_folder_leave_the_objects_of_others_alone() {
    let (seed, count) = rounds(40);
    let mut done = 0;
    for at in 0..count {
        let name = format!("kusion-owners-{}-{at}", std::process::id());
        let folder = std::env::temp_dir().join(&name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("objects")).expect("a folder");
        let files = Files { folder: folder.clone() };
        done += sequence(&files, Rng::new(seed, at as u64), &format!("seed {seed}, sequence {at}"))
            .await;
        let _ = std::fs::remove_dir_all(&folder);
    }
    // Most operations are not refused: else little would be tested.
    assert!(done >= count * LENGTH / 4, "{done} of {}", count * LENGTH);
}

#[tokio::test(flavor = "multi_thread")]
async fn stacks_on_a_cluster_leave_the_objects_of_others_alone() {
    let (seed, count) = rounds(4);
    let real = std::env::var("KUSION_REAL_KUBECONFIG").ok().filter(|path| !path.is_empty());
    let mut sandbox = None;
    let kubeconfig = match real {
        Some(path) => std::fs::read_to_string(path).expect("a kubeconfig"),
        None => {
            // The proxy reads what is said.
            let plain = kusion_sandbox::Options { plain: true, ..Default::default() };
            let started = Sandbox::start(plain).expect("a sandbox");
            let kubeconfig = started.kubeconfig();
            sandbox = Some(started);
            kubeconfig
        }
    };
    let config = kube::config::Kubeconfig::from_yaml(&kubeconfig).expect("a kubeconfig");
    let config = kube::Config::from_custom_kubeconfig(config, &KubeConfigOptions::default()).await;
    let client = kube::Client::try_from(config.expect("a config")).expect("a client");
    let (mut done, mut writes) = (0, 0);
    for at in 0..count {
        let prefix = format!("own{}-{}", std::process::id(), at);
        let proxy = sandbox.as_ref().map(|it| Proxy::start(it.address(), |_| None));
        let kubeconfig = match &proxy {
            Some(proxy) => proxy.kubeconfig(&kubeconfig),
            None => kubeconfig.clone(),
        };
        let (client, judged) = (client.clone(), Cell::new(0));
        let cluster = Cluster { kubeconfig, client, proxy, judged, prefix };
        done +=
            sequence(&cluster, Rng::new(seed, at as u64), &format!("seed {seed}, sequence {at}"))
                .await;
        let seen = cluster.proxy.as_ref().map(Proxy::seen).unwrap_or_default();
        writes += seen.iter().filter(|it| it.method != "GET").count();
        for container in 0..2 {
            let path = format!("/api/v1/namespaces/{}", cluster.space(container));
            cluster.send("DELETE", &path, &Value::Null).await;
        }
    }
    assert!(sandbox.is_none() || writes > count * LENGTH, "the proxy saw {writes} writes");
    assert!(done >= count * LENGTH / 8, "{done} of {}", count * LENGTH);
}
