//! Server-side apply, as a change and as a dry run.

use crate::adopt::{self, Predecessors};
use crate::calls::{Answer, Call, push_escaped};
use crate::describe::is_shared;
use crate::discovery::Served;
use crate::explain;
use crate::failure::field_path;
use crate::key::ObjectKey;
use crate::object;
use crate::owner::{remove_mark, set_mark};
use crate::prepare::prepare;
use crate::requires;
use crate::runtime::KubernetesRuntime;
use crate::types::located;
use http::Method;
use kusion_model::Resource;
use kusion_runtime::{Applied, Change, Conflict, DryRunResult, Live, RuntimeError};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// A prepared request.
pub(crate) struct Patch {
    pub(crate) served: Arc<Served>,
    pub(crate) key: ObjectKey,
    path: String,
    object: Value,
    /// A warning about the object that the server does not give.
    warning: Option<String>,
}

impl Patch {
    async fn new(runtime: &KubernetesRuntime, change: &Change<'_>) -> Result<Self, RuntimeError> {
        let attributes = &change.desired.attributes;
        let key = ObjectKey::of_object(attributes).ok_or_else(|| {
            RuntimeError::Invalid(format!(
                "`{}` lacks apiVersion, kind or metadata.name",
                change.desired.id
            ))
        })?;
        let discovery = &runtime.discovery;
        let served = discovery.require(&runtime.calls, &key.api_version, &key.kind).await?;
        // Which kinds have namespaces is known for certain only here.
        let is_misplaced = !served.namespaced && !key.namespace.is_empty();
        let (kind, namespace) = (&key.kind, &key.namespace);
        let warning = is_misplaced
            .then(|| format!("`{kind}` is cluster-scoped: the namespace `{namespace}` is ignored"));
        let key = runtime.placed(&served, key);
        let mut object = prepare(attributes).into_owned();
        if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
            let uid = change.prior.and_then(|prior| prior.identity.uid.as_deref());
            stamp(metadata, &key, uid);
            if is_shared(change.desired) {
                remove_mark(metadata);
            } else {
                set_mark(metadata, &runtime.mark.text);
            }
        }
        let path = served.object(&key);
        Ok(Self { served, key, path, object, warning })
    }

    /// Returns all warnings about the object, with those of an answer.
    fn warnings(&self, mut of_server: Vec<String>) -> Vec<String> {
        of_server.extend(self.warning.clone());
        of_server
    }

    async fn send(
        &self,
        runtime: &KubernetesRuntime,
        force: bool,
        is_dry_run: bool,
    ) -> Result<Answer, RuntimeError> {
        let dry_run = if is_dry_run { "&dryRun=All" } else { "" };
        let mut target =
            format!("{}?fieldValidation=Strict&force={force}&fieldManager=", self.path);
        push_escaped(&mut target, &runtime.mark.manager);
        target.push_str(dry_run);
        let body = serde_json::to_vec(&self.object)
            .map_err(|error| RuntimeError::Invalid(error.to_string()))?;
        let call = Call::with_body(Method::PATCH, target, "application/apply-patch+yaml", body);
        let answer = runtime.calls.send(call).await?.success();
        answer.map_err(|error| match error {
            RuntimeError::Missing(missing) if requires::is_kind(&missing) => {
                RuntimeError::Missing(requires::kind(&self.key.api_version, &self.key.kind))
            }
            RuntimeError::Rejected(problems) => {
                let placed = problems.into_iter().map(|it| explain::placed(&self.object, it));
                RuntimeError::Rejected(placed.collect())
            }
            error => error,
        })
    }

    /// Adds the time of the last change by the managers of conflicts, and the places of their
    /// fields in an object.
    async fn described(
        &self,
        runtime: &KubernetesRuntime,
        mut conflicts: Vec<Conflict>,
        after: &Value,
    ) -> Vec<Conflict> {
        // Without the times, a plan is still of use.
        let answer = runtime.calls.send(Call::get(self.path.clone())).await;
        let body = answer.ok().map(|it| it.body).unwrap_or_default();
        let live: Value = serde_json::from_slice(&body).unwrap_or_default();
        for conflict in &mut conflicts {
            conflict.time = last_change(&live, &conflict.manager);
            let places = conflict.fields.iter().map(|it| located(after, &field_path(it)));
            conflict.paths = places.collect();
        }
        conflicts
    }

    pub(crate) fn read(
        &self,
        runtime: &KubernetesRuntime,
        answer: &Answer,
    ) -> Result<Live, RuntimeError> {
        object::decode(&answer.body, &self.served, &runtime.mark.manager)
            .map_err(|error| runtime.calls.lost(&format!("`{}`: {error}", self.path)))
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Sends a change.
    async fn send_change(
        &mut self,
        runtime: &KubernetesRuntime,
        change: &Change<'_>,
    ) -> Result<Answer, RuntimeError> {
        if change.force && !change.take_over && !is_shared(change.desired) {
            self.send_guarded(runtime).await
        } else {
            self.send(runtime, change.force || change.take_over, false).await
        }
    }

    /// Sends a forced change, unless the object has another owner: the server would overwrite the
    /// owner's mark, too. The change applies to the version of the object that was checked.
    async fn send_guarded(&mut self, runtime: &KubernetesRuntime) -> Result<Answer, RuntimeError> {
        let mut n_left = CHECKS;
        loop {
            let live = runtime.get(&self.served, &self.key).await?;
            let owner = live.as_ref().and_then(|it| it.owner.clone());
            if let Some(owner) = owner.filter(|it| runtime.mark.is_foreign(Some(it))) {
                return Err(RuntimeError::Owned(Box::new(owner)));
            }
            let version = live.as_ref().and_then(object::version_of);
            let metadata = self.object.get_mut("metadata").and_then(Value::as_object_mut);
            if let (Some(version), Some(metadata)) = (version, metadata) {
                metadata.insert("resourceVersion".to_owned(), version.into());
            }
            n_left -= 1;
            match self.send(runtime, true, false).await {
                Err(RuntimeError::Transient { .. }) if n_left > 0 => {}
                result => return result,
            }
        }
    }
}

/// How often an object is read again because it changed after its owner was checked.
const CHECKS: u32 = 5;

/// Sets the namespace, and the uid of the expected object, in the metadata.
fn stamp(metadata: &mut Map<String, Value>, key: &ObjectKey, uid: Option<&str>) {
    for counted in ["managedFields", "resourceVersion", "generation", "selfLink", "uid"] {
        metadata.remove(counted);
    }
    match key.namespace.as_str() {
        "" => metadata.remove("namespace"),
        namespace => metadata.insert("namespace".to_owned(), namespace.into()),
    };
    if let Some(uid) = uid {
        metadata.insert("uid".to_owned(), uid.into());
    }
}

/// How long to wait for a kind that is not served yet: its definition may be new.
const KIND_WAIT: Duration = Duration::from_secs(3);
const KIND_PAUSE: Duration = Duration::from_millis(100);

/// Creates or updates an object.
pub(crate) async fn apply(
    runtime: &KubernetesRuntime,
    change: Change<'_>,
) -> Result<Applied, RuntimeError> {
    let deadline = Instant::now() + KIND_WAIT;
    loop {
        match attempt(runtime, change).await {
            Err(RuntimeError::Missing(missing))
                if requires::is_kind(&missing) && Instant::now() < deadline =>
            {
                tokio::time::sleep(KIND_PAUSE).await;
            }
            result => return result,
        }
    }
}

async fn attempt(runtime: &KubernetesRuntime, change: Change<'_>) -> Result<Applied, RuntimeError> {
    let mut patch = Patch::new(runtime, &change).await?;
    let (predecessors, own) = (predecessors(&change), runtime.mark.manager.as_str());
    let mut result = patch.send_change(runtime, &change).await;
    let must_adopt = match &result {
        Ok(answer) => predecessors.are_in(&answer.body, own),
        Err(RuntimeError::Conflict(conflicts)) => predecessors.explain(conflicts, own),
        Err(_) => false,
    };
    if must_adopt && adopt::migrate(runtime, &patch, predecessors).await? {
        result = patch.send_change(runtime, &change).await;
    }
    let answer = result?;
    let live = patch.read(runtime, &answer)?;
    Ok(Applied { warnings: patch.warnings(answer.warnings), ..Applied::new(live) })
}

/// Returns whose records a change takes over.
fn predecessors(change: &Change<'_>) -> Predecessors {
    match (change.take_over, change.prior) {
        (true, _) => Predecessors::Stacks,
        (false, None) => Predecessors::ClientSide,
        (false, Some(_)) => Predecessors::Earlier,
    }
}

/// Makes a dry run of a change.
pub(crate) async fn dry_run(
    runtime: &KubernetesRuntime,
    change: Change<'_>,
) -> Result<DryRunResult, RuntimeError> {
    let patch = Patch::new(runtime, &change).await?;
    let (answer, conflicts) = match patch.send(runtime, false, true).await {
        Ok(answer) => (answer, Vec::new()),
        Err(RuntimeError::Conflict(conflicts)) => {
            // Fields of predecessors are adopted without a conflict.
            let ours = predecessors(&change).explain(&conflicts, &runtime.mark.manager);
            let answer = patch.send(runtime, true, true).await?;
            (answer, if ours { Vec::new() } else { conflicts })
        }
        Err(error) => return Err(error),
    };
    let live = patch.read(runtime, &answer)?;
    let warnings = patch.warnings(answer.warnings);
    let after = live.attributes.into_value();
    let conflicts = if conflicts.is_empty() {
        conflicts
    } else {
        patch.described(runtime, conflicts, &after).await
    };
    Ok(DryRunResult { after, conflicts, warnings })
}

/// Returns when a manager last changed an object.
fn last_change(object: &Value, manager: &str) -> Option<String> {
    let records = object.pointer("/metadata/managedFields")?.as_array()?;
    let text =
        |record: &Value, name: &str| record.get(name).and_then(Value::as_str).map(str::to_owned);
    let own = records.iter().filter(|it| text(it, "manager").as_deref() == Some(manager));
    own.filter_map(|it| text(it, "time")).max()
}

/// Makes a dry run of the creation of an object in another namespace, if the runtime has one for
/// that. Only errors count that the object would have in every namespace.
pub(crate) async fn dry_run_elsewhere(
    runtime: &KubernetesRuntime,
    desired: &Resource,
) -> Result<(), RuntimeError> {
    let Some(namespace) = &runtime.options.stand_in_namespace else { return Ok(()) };
    let mut moved = desired.clone();
    match moved.attributes.get_mut("metadata").and_then(Value::as_object_mut) {
        Some(metadata) if metadata.contains_key("namespace") => {
            metadata.insert("namespace".to_owned(), namespace.as_str().into());
        }
        // A cluster-scoped object, or one that is placed in the namespace of the context.
        _ => return Ok(()),
    }
    match dry_run(runtime, Change::new(&moved)).await {
        Err(error @ RuntimeError::Rejected(_)) => Err(error),
        Err(RuntimeError::Missing(it)) if requires::is_kind(&it) => Err(RuntimeError::Missing(it)),
        _ => Ok(()),
    }
}
