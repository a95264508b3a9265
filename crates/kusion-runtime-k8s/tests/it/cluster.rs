//! A cluster for one test, with a namespace of its own.

use kusion_model::{
    AttemptId, Identity, Place, Resource, ResourceState, ResourceType, StackKey, StackOwner,
};
use kusion_runtime::{Applied, Change, Comparison, Live, Runtime, RuntimeError, Target};
use kusion_runtime_k8s::{ClusterSource, KubernetesRuntime, Options};
use kusion_sandbox::Sandbox;
use serde_json::{Map, Value, json};

/// A cluster, ours or a real one.
pub(crate) struct Cluster {
    pub(crate) runtime: KubernetesRuntime,
    pub(crate) namespace: String,
    pub(crate) kubeconfig: String,
    sandbox: Option<Sandbox>,
}

impl Cluster {
    pub(crate) async fn start() -> Self {
        Self::with(Options::default()).await
    }

    pub(crate) async fn with(options: Options) -> Self {
        let real = std::env::var("KUSION_REAL_KUBECONFIG").ok().filter(|path| !path.is_empty());
        let (kubeconfig, sandbox) = match real {
            Some(path) => (std::fs::read_to_string(path).expect("a kubeconfig"), None),
            None => {
                let sandbox =
                    Sandbox::start(kusion_sandbox::Options::default()).expect("a sandbox");
                (sandbox.kubeconfig(), Some(sandbox))
            }
        };
        let source = ClusterSource::Text(kubeconfig.clone());
        let runtime =
            KubernetesRuntime::connect(&source, options, &owner()).await.expect("a runtime");
        let unique = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .expect("a clock")
            .as_nanos();
        let namespace = format!("t-{unique}");
        let cluster = Self { runtime, namespace, kubeconfig, sandbox };
        let wanted = json!({"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": cluster.namespace}});
        cluster.apply(&resource(wanted)).await;
        cluster
    }

    /// Makes a resource in the namespace of the test.
    pub(crate) fn resource(&self, mut attributes: Value) -> Resource {
        attributes["metadata"]["namespace"] = self.namespace.as_str().into();
        resource(attributes)
    }

    pub(crate) fn config_map(&self, name: &str, data: impl Into<Value>) -> Resource {
        self.resource(json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name}, "data": data.into()}))
    }

    pub(crate) async fn try_apply(&self, desired: &Resource) -> Result<Applied, RuntimeError> {
        let attempt = Some(AttemptId { revision: 1, step: 1 });
        self.runtime.apply(Change { attempt, ..Change::new(desired) }).await
    }

    pub(crate) async fn apply(&self, desired: &Resource) -> Live {
        self.try_apply(desired).await.expect("an apply").live
    }

    /// Another client, with another field manager.
    pub(crate) async fn other(&self) -> kube::Client {
        let kubeconfig = kube::config::Kubeconfig::from_yaml(&self.kubeconfig).expect("kubeconfig");
        let options = kube::config::KubeConfigOptions::default();
        let config = kube::Config::from_custom_kubeconfig(kubeconfig, &options).await;
        kube::Client::try_from(config.expect("config")).expect("client")
    }

    /// Sends a request as another client.
    pub(crate) async fn send(
        &self,
        method: &str,
        target: &str,
        content: &str,
        body: &Value,
    ) -> Value {
        let request = http::Request::builder()
            .method(method)
            .uri(target)
            .header("Content-Type", content)
            .body(body.to_string().into_bytes())
            .expect("a request");
        self.other().await.request(request).await.expect("an answer")
    }

    /// Whether pods can run here.
    pub(crate) fn is_sandbox(&self) -> bool {
        self.sandbox.is_some()
    }

    pub(crate) async fn has_nodes(&self) -> bool {
        let request = http::Request::get("/api/v1/nodes").body(Vec::new()).expect("a request");
        let nodes: Value = self.other().await.request(request).await.expect("an answer");
        nodes["items"].as_array().is_some_and(|nodes| !nodes.is_empty())
    }

    pub(crate) async fn read_one(&self, desired: &Resource) -> Option<Live> {
        let target = Target { id: &desired.id, desired: Some(desired), prior: None };
        let mut found = self.runtime.read(&[target]).await.expect("a reading");
        found.remove(0).expect("an answer")
    }

    pub(crate) async fn compare(&self, desired: &Resource) -> Comparison {
        let live = self.read_one(desired).await.expect("an object");
        self.runtime.compare(desired, &live)
    }

    pub(crate) fn path(&self, collection: &str, name: &str) -> String {
        let (root, plural) = collection.rsplit_once('/').expect("a collection");
        format!("{root}/namespaces/{}/{plural}/{name}", self.namespace)
    }
}

/// The stack of the tests.
pub(crate) fn owner() -> StackOwner {
    StackOwner::new(StackKey::new("shop", "dev", Place::Main), "s1")
}

pub(crate) fn resource(attributes: Value) -> Resource {
    let id =
        kusion_k8s_schema::ObjectId::of_object(&attributes).expect("an identity").resource_id();
    Resource {
        id: kusion_model::ResourceId::new(id),
        resource_type: ResourceType::new(kusion_k8s_schema::RESOURCE_TYPE),
        attributes: attributes.into(),
        depends_on: Vec::new(),
        extensions: Map::new(),
    }
}

pub(crate) fn state(resource: &Resource, live: &Live) -> ResourceState {
    let identity: Identity = live.identity.clone();
    ResourceState::new(resource.clone(), identity, 1)
}

pub(crate) fn target(resource: &Resource) -> Target<'_> {
    Target { id: &resource.id, desired: Some(resource), prior: None }
}

pub(crate) fn attempt() -> AttemptId {
    AttemptId { revision: 1, step: 7 }
}

pub(crate) fn deployment(name: &str, image: &str, replicas: u64) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{
                    "name": "main", "image": image,
                    "ports": [{"containerPort": 80}],
                    "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
                    "resources": {"requests": {"cpu": "100m"}},
                }]},
            },
        },
    })
}
