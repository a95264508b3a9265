//! The runtime itself: one cluster, and the calls of the trait.

use crate::calls::{Call, Calls};
use crate::connect::{self, ClusterSource, Options};
use crate::discovery::{Discovery, Served};
use crate::key::ObjectKey;
use crate::owner::OwnMark;
use crate::{
    change, check, clean, compare, contents, delete, describe, identity, interruption, object,
    read, rename, requires, types, watch,
};
use async_trait::async_trait;
use futures::stream::BoxStream;
use kusion_model::{
    Description, FieldPath, InfrastructureId, ListItems, Problem, Requirement, Resource,
    ResourceId, ResourceState, StackOwner,
};
use kusion_runtime::{
    Applied, Change, Comparison, Content, Deletion, DryRunResult, Live, Pending, Progress, Runtime,
    RuntimeError, RuntimeSource, Target,
};
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::OnceCell;

/// A Kubernetes cluster as a runtime. Cheap to clone.
#[derive(Clone)]
pub struct KubernetesRuntime {
    pub(crate) calls: Arc<Calls>,
    pub(crate) discovery: Arc<Discovery>,
    pub(crate) options: Arc<Options>,
    pub(crate) mark: Arc<OwnMark>,
}

impl KubernetesRuntime {
    /// Creates a connection to a cluster for a stack. No request is sent yet.
    ///
    /// # Errors
    /// There is no kubeconfig, it cannot be read, or it has no such context.
    pub async fn connect(
        source: &ClusterSource,
        options: Options,
        owner: &StackOwner,
    ) -> Result<Self, RuntimeError> {
        let connection = connect::connect(source).await?;
        Ok(Self {
            calls: Arc::new(Calls::new(connection, &options)),
            discovery: Arc::default(),
            options: Arc::new(options),
            mark: Arc::new(OwnMark::new(owner)),
        })
    }

    /// Returns the same cluster for another stack.
    #[must_use]
    pub fn for_stack(&self, owner: &StackOwner) -> Self {
        Self { mark: Arc::new(OwnMark::new(owner)), ..self.clone() }
    }

    /// Returns the address of the server.
    pub fn server(&self) -> &str {
        self.calls.server()
    }

    /// Puts an object without a namespace into the one of the context, if its kind has one.
    pub(crate) fn placed(&self, served: &Served, mut key: ObjectKey) -> ObjectKey {
        if !served.namespaced {
            key.namespace.clear();
        } else if key.namespace.is_empty() {
            self.calls.default_namespace().clone_into(&mut key.namespace);
        }
        key
    }

    /// Reads one object.
    pub(crate) async fn get(
        &self,
        served: &Served,
        key: &ObjectKey,
    ) -> Result<Option<Live>, RuntimeError> {
        let call = Call::get(served.object(key));
        let Some(answer) = self.calls.send(call).await?.found()? else { return Ok(None) };
        let live = object::decode(&answer.body, served, &self.mark.manager)
            .map_err(|error| self.calls.lost(&format!("cannot parse `{key}`: {error}")))?;
        Ok(Some(live))
    }

    /// Finds and reads the object of a key.
    async fn look_up(&self, key: ObjectKey) -> Result<Option<Live>, RuntimeError> {
        let found = self.discovery.find(&self.calls, &key.api_version, &key.kind).await?;
        let Some(served) = found else { return Ok(None) };
        let key = self.placed(&served, key);
        self.get(&served, &key).await
    }
}

#[async_trait]
impl Runtime for KubernetesRuntime {
    async fn identity(&self) -> Result<InfrastructureId, RuntimeError> {
        identity::identity(&self.calls).await
    }

    fn parallel_calls(&self) -> usize {
        self.options.parallel_calls
    }

    fn describe(&self, resource: &Resource) -> Description {
        describe::describe(resource)
    }

    async fn read(
        &self,
        targets: &[Target<'_>],
    ) -> Result<Vec<Result<Option<Live>, RuntimeError>>, RuntimeError> {
        read::read(self, targets).await
    }

    fn renamed(&self, prior: &ResourceState, to: &ResourceId) -> Result<ResourceState, String> {
        rename::renamed(prior, to)
    }

    fn compare(&self, desired: &Resource, live: &Live) -> Comparison {
        compare::compare(desired, live, &self.mark)
    }

    fn comparable(&self, live: &Value) -> Value {
        clean::comparable(live)
    }

    fn secret_paths(&self, _resource: &Resource, attributes: &Value) -> Vec<FieldPath> {
        clean::secret_paths(attributes)
    }

    fn is_secret_path(&self, resource: &Resource, path: &FieldPath) -> bool {
        clean::is_secret_path(&resource.attributes, path)
    }

    fn list_items(&self, resource: &Resource, path: &FieldPath) -> ListItems {
        types::list_items(&resource.attributes, path)
    }

    fn replace_interruption(&self, live: &Live) -> String {
        interruption::interruption(live)
    }

    fn missing_problem(&self, missing: &Requirement) -> Problem {
        let problem = requires::problem(missing);
        let suggestion = requires::kind_name(missing)
            .and_then(|(kind, group)| self.discovery.similar_kind(kind, group));
        Problem { suggestion, ..problem }
    }

    fn check_offline(&self, desired: &Resource) -> Vec<Problem> {
        check::check(desired)
    }

    async fn dry_run_elsewhere(&self, desired: &Resource) -> Result<(), RuntimeError> {
        change::dry_run_elsewhere(self, desired).await
    }

    async fn contents(&self, container: &ResourceState) -> Result<Vec<Content>, RuntimeError> {
        contents::contents(self, container).await
    }

    async fn dry_run(&self, change: Change<'_>) -> Result<DryRunResult, RuntimeError> {
        change::dry_run(self, change).await
    }

    async fn apply(&self, change: Change<'_>) -> Result<Applied, RuntimeError> {
        change::apply(self, change).await
    }

    async fn delete(&self, deletion: Deletion<'_>) -> Result<(), RuntimeError> {
        delete::delete(self, deletion).await
    }

    async fn recover(&self, pending: Pending<'_>) -> Result<Option<Live>, RuntimeError> {
        let known = pending.prior.and_then(|prior| ObjectKey::parse(&prior.identity.key));
        let wanted = pending.desired.and_then(|it| ObjectKey::of_object(&it.attributes));
        let Some(key) = wanted.or_else(|| known.clone()) else { return Ok(None) };
        let found = self.look_up(key).await?;
        // An object that this stack did not create and that is not recorded is not managed.
        Ok(found.filter(|live| {
            known.is_some()
                || object::record_of(&live.attributes, &self.mark.manager).is_some()
                || pending.desired.is_some_and(|it| self.compare(it, live) == Comparison::Same)
        }))
    }

    async fn watch(
        &self,
        targets: Vec<(ResourceId, Live)>,
        since: Option<&str>,
    ) -> Result<BoxStream<'static, Result<Progress, RuntimeError>>, RuntimeError> {
        watch::watch(self.clone(), targets, since).await
    }
}

/// Connects to a cluster when the first stack needs it; all stacks share the connection.
#[derive(Clone)]
pub struct KubernetesSource {
    source: ClusterSource,
    options: Options,
    runtime: Arc<OnceCell<KubernetesRuntime>>,
}

impl KubernetesSource {
    /// Stores how to reach a cluster; reads nothing and does not connect yet.
    pub fn new(source: ClusterSource, options: Options) -> Self {
        Self { source, options, runtime: Arc::default() }
    }
}

#[async_trait]
impl RuntimeSource for KubernetesSource {
    async fn start(&self, owner: &StackOwner) -> Result<Arc<dyn Runtime>, RuntimeError> {
        let connect = || KubernetesRuntime::connect(&self.source, self.options.clone(), owner);
        Ok(Arc::new(self.runtime.get_or_try_init(connect).await?.for_stack(owner)))
    }
}
