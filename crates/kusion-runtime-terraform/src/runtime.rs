//! The runtime of Terraform resources.

mod change;
mod read;
mod start;

pub use start::{Consent, NotFound, ProviderSource, TerraformSettings};

use self::change::MadePlan;
use crate::address::{ProviderAddress, Reference};
use crate::config;
use crate::error::ProviderError;
use crate::provider::Provider;
use crate::schema::Schema;
use async_trait::async_trait;
use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::{self, BoxStream, StreamExt as _};
use kusion_cty::{Value, convert};
use kusion_model::markers::unknown;
use kusion_model::{
    Description, FieldPath, Health, Identity, InfrastructureId, Protection, ReplaceOrder, Resource,
    ResourceId, ResourceState, parse_duration,
};
use kusion_runtime::{
    Applied, Change, Comparison, Deletion, DryRunResult, Live, Pending, Progress, Runtime,
    RuntimeError, Target,
};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::Mutex;

/// How many calls run at the same time; that is also Terraform's limit.
const PARALLEL_CALLS: usize = 10;

/// How long a change may take, unless the resource says otherwise. Databases take half an hour.
const STEP_TIME: Duration = Duration::from_hours(1);

/// Drives the providers of a stack.
pub struct TerraformRuntime {
    settings: TerraformSettings,
    /// Programs that were found, by address, constraints of the version, and the fingerprint of a
    /// configuration that is trusted.
    programs: Mutex<BTreeMap<(ProviderAddress, String, String), PathBuf>>,
    /// Schemas of the resource types that are in use, by provider and type.
    schemas: RwLock<BTreeMap<(String, String), Arc<Schema>>>,
    /// Plans of changes that are not made yet: what was shown is what is applied.
    plans: std::sync::Mutex<BTreeMap<ResourceId, MadePlan>>,
}

impl TerraformRuntime {
    /// Creates a runtime. Providers are started when they are needed.
    pub fn new(settings: TerraformSettings) -> Self {
        Self {
            settings,
            programs: Mutex::default(),
            schemas: RwLock::default(),
            plans: std::sync::Mutex::default(),
        }
    }

    /// Returns how many providers run.
    pub fn provider_count(&self) -> usize {
        self.settings.pool.len()
    }

    /// Asks all providers to cancel their calls, which then end with an error.
    pub async fn cancel(&self) {
        self.settings.pool.cancel().await;
    }

    /// Ends all providers, also those that other stacks use.
    pub async fn close(&self) {
        self.settings.pool.close().await;
    }

    fn plans(&self) -> std::sync::MutexGuard<'_, BTreeMap<ResourceId, MadePlan>> {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the schema of a resource, if it was prepared.
    fn known_schema(&self, resource: &Resource) -> Option<Arc<Schema>> {
        let reference = Reference::of(resource).ok()?;
        let schemas = self.schemas.read().unwrap_or_else(PoisonError::into_inner);
        schemas.get(&(reference.provider_name(), reference.type_name)).cloned()
    }
}

/// A resource with its provider and schema.
struct Managed {
    provider: Arc<Provider>,
    schema: Arc<Schema>,
    type_name: String,
}

#[async_trait]
impl Runtime for TerraformRuntime {
    async fn identity(&self) -> Result<InfrastructureId, RuntimeError> {
        // Where the objects of a provider are is the business of its configuration.
        let (id, name) = ("terraform".to_owned(), "Terraform providers".to_owned());
        Ok(InfrastructureId { id, name })
    }

    async fn prepare(&self, resources: &[&Resource]) -> Result<(), RuntimeError> {
        for resource in resources {
            self.managed(resource).await?;
        }
        Ok(())
    }

    fn parallel_calls(&self) -> usize {
        PARALLEL_CALLS
    }

    fn describe(&self, resource: &Resource) -> Description {
        let lifecycle = |name: &str| {
            resource.extensions.get("lifecycle").and_then(|it| it.get(name))
                == Some(&Json::Bool(true))
        };
        let reference = Reference::of(resource);
        let timeout = resource.extensions.get("timeout").and_then(Json::as_str);
        let timeout = timeout.and_then(|it| parse_duration(it).ok());
        Description {
            kind: reference.map(|it| it.type_name).unwrap_or_default(),
            protection: if lifecycle("preventDestroy") {
                Protection::Marked
            } else {
                Protection::None
            },
            replace_order: if lifecycle("createBeforeDestroy") {
                ReplaceOrder::CreateFirst
            } else {
                ReplaceOrder::DeleteFirst
            },
            timeout: Some(timeout.unwrap_or(STEP_TIME)),
            ..Description::default()
        }
    }

    async fn read(
        &self,
        targets: &[Target<'_>],
    ) -> Result<Vec<Result<Option<Live>, RuntimeError>>, RuntimeError> {
        let calls: Vec<BoxFuture<'_, _>> =
            targets.iter().map(|target| self.read_target(target).boxed()).collect();
        Ok(stream::iter(calls).buffered(PARALLEL_CALLS).collect().await)
    }

    fn compare(&self, _desired: &Resource, _live: &Live) -> Comparison {
        // Only the provider can tell.
        Comparison::Differs
    }

    fn comparable(&self, live: &Json) -> Json {
        live.clone()
    }

    fn plans_unknown(&self) -> bool {
        true
    }

    fn secret_paths(&self, resource: &Resource, attributes: &Json) -> Vec<FieldPath> {
        match self.known_schema(resource) {
            Some(schema) => config::secret_paths(&schema.block, attributes),
            // Without a schema, everything may be secret.
            None => vec![FieldPath::default()],
        }
    }

    fn is_secret_path(&self, resource: &Resource, path: &FieldPath) -> bool {
        let schema = self.known_schema(resource);
        schema.is_none_or(|it| config::is_secret_path(&it.block, path))
    }

    fn renamed(&self, prior: &ResourceState, to: &ResourceId) -> Result<ResourceState, String> {
        let mut state = prior.clone();
        state.resource.id = to.clone();
        Ok(state)
    }

    async fn dry_run(&self, change: Change<'_>) -> Result<DryRunResult, RuntimeError> {
        self.plan_change(change).await
    }

    async fn apply(&self, change: Change<'_>) -> Result<Applied, RuntimeError> {
        self.make_change(change).await
    }

    async fn delete(&self, deletion: Deletion<'_>) -> Result<(), RuntimeError> {
        self.delete_object(deletion).await
    }

    async fn recover(&self, pending: Pending<'_>) -> Result<Option<Live>, RuntimeError> {
        self.look_after(pending).await
    }

    async fn watch(
        &self,
        targets: Vec<(ResourceId, Live)>,
        _since: Option<&str>,
    ) -> Result<BoxStream<'static, Result<Progress, RuntimeError>>, RuntimeError> {
        // A provider waits until an object is ready before it answers.
        let all: Vec<_> = targets
            .into_iter()
            .map(|(id, _)| {
                let health = Health::ready("it exists");
                Ok(Progress { id, health, related: Vec::new(), settling_since: None })
            })
            .collect();
        Ok(stream::iter(all).chain(stream::pending()).boxed())
    }

    async fn close(&self) {
        Self::close(self).await;
    }
}

/// Returns a value as it is shown and referred to: without attributes that are null.
fn plain(value: &Value) -> Json {
    let mut out = convert::to_plain(value, &unknown());
    strip_nulls(&mut out);
    out
}

fn strip_nulls(value: &mut Json) {
    match value {
        Json::Object(fields) => {
            fields.retain(|_, it| !it.is_null());
            fields.values_mut().for_each(strip_nulls);
        }
        Json::Array(items) => items.iter_mut().for_each(strip_nulls),
        _ => {}
    }
}

/// Returns the identity of an object: its id, or the resource itself if the provider gives none.
fn identity(type_name: &str, state: &Value, id: &ResourceId) -> Identity {
    let key = match state.get("id") {
        Value::String(text) => text.to_string(),
        Value::Number(number) => number.to_string(),
        _ => id.to_string(),
    };
    Identity::new(format!("{type_name}/{key}"), None)
}

/// Returns the error of a provider that cannot be used.
fn unusable(message: String) -> RuntimeError {
    RuntimeError::Unusable { message, command: None }
}

/// Returns the error of a call that changes nothing.
fn fault(error: ProviderError) -> RuntimeError {
    match error {
        ProviderError::Refused(found) => RuntimeError::Rejected(
            found
                .into_iter()
                .filter(|it| it.is_error)
                .map(|it| {
                    let path = it.path.as_ref().map(config::field_path).unwrap_or_default();
                    config::problem(path, crate::Diagnostic { path: None, ..it })
                })
                .collect(),
        ),
        error => unusable(error.to_string()),
    }
}
