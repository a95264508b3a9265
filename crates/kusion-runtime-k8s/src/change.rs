//! Server-side apply, as a change and as a dry run.

use crate::adopt;
use crate::calls::{Answer, Call};
use crate::discovery::Served;
use crate::key::ObjectKey;
use crate::prepare::prepare;
use crate::requires;
use crate::runtime::KubernetesRuntime;
use crate::{FIELD_MANAGER, object};
use http::Method;
use kusion_runtime::{Applied, Change, DryRunResult, Live, RuntimeError};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// A prepared request.
pub(crate) struct Patch {
    pub(crate) served: Arc<Served>,
    pub(crate) key: ObjectKey,
    path: String,
    body: Vec<u8>,
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
        if !served.namespaced && !key.namespace.is_empty() {
            return Err(RuntimeError::Invalid(format!(
                "`{}` is cluster-scoped, but has the namespace `{}`",
                key.kind, key.namespace
            )));
        }
        let key = runtime.placed(&served, key);
        let mut object = prepare(attributes).into_owned();
        if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
            let uid = change.prior.and_then(|prior| prior.identity.uid.as_deref());
            stamp(metadata, &key, uid);
        }
        let path = served.object(&key);
        let body = serde_json::to_vec(&object)
            .map_err(|error| RuntimeError::Invalid(error.to_string()))?;
        Ok(Self { served, key, path, body })
    }

    async fn send(
        &self,
        runtime: &KubernetesRuntime,
        force: bool,
        is_dry_run: bool,
    ) -> Result<Answer, RuntimeError> {
        let dry_run = if is_dry_run { "&dryRun=All" } else { "" };
        let target = format!(
            "{}?fieldManager={FIELD_MANAGER}&fieldValidation=Strict&force={force}{dry_run}",
            self.path
        );
        let body = self.body.clone();
        let call = Call::with_body(Method::PATCH, target, "application/apply-patch+yaml", body);
        let answer = runtime.calls.send(call).await?.success();
        answer.map_err(|error| match error {
            RuntimeError::Missing(missing) if requires::is_kind(&missing) => {
                RuntimeError::Missing(requires::kind(&self.key.api_version, &self.key.kind))
            }
            error => error,
        })
    }

    pub(crate) fn read(
        &self,
        runtime: &KubernetesRuntime,
        answer: &Answer,
    ) -> Result<Live, RuntimeError> {
        object::decode(&answer.body, &self.served)
            .map_err(|error| runtime.calls.lost(&format!("`{}`: {error}", self.path)))
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }
}

/// Sets the namespace, and the uid of the expected object, in the metadata.
fn stamp(metadata: &mut Map<String, Value>, key: &ObjectKey, uid: Option<&str>) {
    for counted in ["managedFields", "resourceVersion", "generation", "selfLink", "uid"] {
        metadata.remove(counted);
    }
    if !key.namespace.is_empty() {
        metadata.insert("namespace".to_owned(), key.namespace.as_str().into());
    }
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
    let patch = Patch::new(runtime, &change).await?;
    let is_new_to_us = change.prior.is_none();
    let mut result = patch.send(runtime, change.force, false).await;
    let must_adopt = is_new_to_us
        && match &result {
            Ok(answer) => adopt::is_client_side(&answer.body),
            Err(RuntimeError::Conflict(conflicts)) => adopt::are_client_side(conflicts),
            Err(_) => false,
        };
    if must_adopt && adopt::migrate(runtime, &patch).await? {
        result = patch.send(runtime, change.force, false).await;
    }
    let answer = result?;
    let live = patch.read(runtime, &answer)?;
    Ok(Applied { live, warnings: answer.warnings })
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
            // Fields that kubectl applied before are adopted without a conflict.
            let ours = change.prior.is_none() && adopt::are_client_side(&conflicts);
            if !ours && !change.force {
                return Err(RuntimeError::Conflict(conflicts));
            }
            let answer = patch.send(runtime, true, true).await?;
            (answer, if ours { Vec::new() } else { conflicts })
        }
        Err(error) => return Err(error),
    };
    let live = patch.read(runtime, &answer)?;
    Ok(DryRunResult { after: live.attributes.into_value(), conflicts, warnings: answer.warnings })
}
