//! The runtime of resources of a program.

use crate::ask::{AskError, Program};
use crate::protocol::{
    ApplyResult, ChangeParams, DryRunResult as DryRunAnswer, HealthResult, HealthState,
    IdentifyResult, Object, ReadObject, ReadResult, RecoverParams, RecoverResult, SchemaResult,
    Target as Asked, Targets,
};
use crate::schema::TypeSchema;
use async_trait::async_trait;
use base_plugin::Launch;
use base_text::nearest;
use futures::stream::{self, BoxStream, StreamExt as _};
use kusion_model::{
    AttemptId, Description, FieldPath, Health, Identity, InfrastructureId, Problem, Resource,
    ResourceId, ResourceState, RuntimeData, StackOwner,
};
use kusion_runtime::{
    Applied, Change, Comparison, Deletion, DryRunResult, Live, Pending, Progress, Runtime,
    RuntimeError, RuntimeSource, Target,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

/// The time between two questions for health.
const PAUSE: Duration = Duration::from_secs(2);

/// Manages resources by a program. Their ids are `RUNTIME:TYPE:NAME`.
pub struct ProgramRuntime {
    program: Program,
    /// The schema, once it was asked for.
    types: RwLock<Option<Arc<BTreeMap<String, TypeSchema>>>>,
    /// The stack that owns objects, as part of attempts.
    owner: String,
}

impl ProgramRuntime {
    /// Creates a runtime for a stack, which attempts name. The program is started when it is needed.
    pub fn new(program: Program, owner: impl Into<String>) -> Self {
        Self { program, types: RwLock::default(), owner: owner.into() }
    }

    fn known_types(&self) -> Option<Arc<BTreeMap<String, TypeSchema>>> {
        self.types.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn types(&self) -> Result<Arc<BTreeMap<String, TypeSchema>>, RuntimeError> {
        if let Some(types) = self.known_types() {
            return Ok(types);
        }
        let asked: Result<SchemaResult, _> = self.program.read("schema", &json!({})).await;
        let asked = asked.map_err(|error| RuntimeError::Unavailable(error.message().to_owned()))?;
        let types = Arc::new(asked.types);
        *self.types.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&types));
        Ok(types)
    }

    /// Returns the schema of a resource, once the program was asked for it.
    fn schema_of(&self, id: &ResourceId) -> Option<TypeSchema> {
        let (type_name, _) = parts(id).ok()?;
        self.known_types()?.get(type_name).cloned()
    }

    /// Checks a desired resource; returns the names of its type and object.
    async fn checked<'r>(
        &self,
        resource: &'r Resource,
    ) -> Result<(&'r str, &'r str), RuntimeError> {
        let rejected = |message: String| {
            RuntimeError::Rejected(vec![Problem::new(FieldPath::default(), message)])
        };
        let (type_name, name) = parts(&resource.id).map_err(rejected)?;
        let types = self.types().await?;
        let Some(schema) = types.get(type_name) else {
            let near = nearest(type_name, types.keys().map(String::as_str));
            let hint = near.map(|it| format!(" (did you mean `{it}`?)")).unwrap_or_default();
            return Err(rejected(format!("unknown type `{type_name}`{hint}")));
        };
        match schema.problems(&resource.attributes) {
            problems if problems.is_empty() => Ok((type_name, name)),
            problems => Err(RuntimeError::Rejected(problems)),
        }
    }

    async fn change_params(&self, change: &Change<'_>) -> Result<ChangeParams, RuntimeError> {
        let (type_name, name) = self.checked(change.desired).await?;
        let data = change.live.and_then(|it| it.runtime.as_ref());
        let data = data.or(change.prior.and_then(|it| it.runtime.as_ref()));
        let live = change.live.and_then(|it| it.attributes.as_object().cloned());
        Ok(ChangeParams {
            target: Asked {
                type_name: type_name.to_owned(),
                name: name.to_owned(),
                key: change.prior.map(|it| it.identity.key.clone()),
                data: data.map(|it| it.value.clone()),
            },
            attributes: change.desired.attributes.as_object().cloned().unwrap_or_default(),
            live,
            attempt: change.attempt.map(|it| self.attempt(it)),
        })
    }

    fn attempt(&self, attempt: AttemptId) -> String {
        format!("{}#{attempt}", self.owner)
    }

    fn live(&self, id: &ResourceId, object: Object) -> Live {
        let is_secret = self.schema_of(id).is_none_or(|it| it.secrets().next().is_some());
        let data = object.data.map(|value| RuntimeData { schema_version: 1, value, is_secret });
        let identity = Identity::new(object.key, None);
        Live { runtime: data, ..Live::new(identity, Value::Object(object.attributes)) }
    }
}

/// Splits the id `RUNTIME:TYPE:NAME`.
fn parts(id: &ResourceId) -> Result<(&str, &str), String> {
    let mut parts = id.as_str().splitn(3, ':').skip(1);
    match (parts.next(), parts.next()) {
        (Some(type_name), Some(name)) if !type_name.is_empty() && !name.is_empty() => {
            Ok((type_name, name))
        }
        _ => Err("invalid id: expected `RUNTIME:TYPE:NAME`".to_owned()),
    }
}

/// Names an object by its recorded state.
fn asked(id: &ResourceId, prior: Option<&ResourceState>) -> Result<Asked, RuntimeError> {
    let (type_name, name) = parts(id).map_err(RuntimeError::Invalid)?;
    Ok(Asked {
        type_name: type_name.to_owned(),
        name: name.to_owned(),
        key: prior.map(|it| it.identity.key.clone()),
        data: prior.and_then(|it| it.runtime.as_ref()).map(|it| it.value.clone()),
    })
}

#[async_trait]
impl Runtime for ProgramRuntime {
    async fn identity(&self) -> Result<InfrastructureId, RuntimeError> {
        let result: Result<IdentifyResult, _> = self.program.read("identify", &json!({})).await;
        let it = result.map_err(|error| RuntimeError::Unavailable(error.message().to_owned()))?;
        Ok(InfrastructureId { id: it.id, name: it.name })
    }

    async fn prepare(&self, _: &[&Resource]) -> Result<(), RuntimeError> {
        self.types().await.map(|_| ())
    }

    fn parallel_calls(&self) -> usize {
        // A program answers one question after the other.
        1
    }

    fn describe(&self, resource: &Resource) -> Description {
        let kind = parts(&resource.id).map(|(type_name, _)| type_name.to_owned());
        Description { kind: kind.unwrap_or_default(), ..Description::default() }
    }

    async fn read(
        &self,
        targets: &[Target<'_>],
    ) -> Result<Vec<Result<Option<Live>, RuntimeError>>, RuntimeError> {
        let objects: Result<Vec<Asked>, _> =
            targets.iter().map(|it| asked(it.id, it.prior)).collect();
        let params = Targets { objects: objects? };
        let result: Result<ReadResult, _> = self.program.read("read", &params).await;
        let found = result.map_err(|error| match error.fault() {
            RuntimeError::Transient { message, .. } => RuntimeError::Unavailable(message),
            fault => fault,
        })?;
        if found.objects.len() != targets.len() {
            let (n_asked, n_found) = (targets.len(), found.objects.len());
            let message = format!("`read` returned {n_found} objects instead of {n_asked}");
            return Err(RuntimeError::Unavailable(message));
        }
        let live = |(target, found): (&Target<'_>, ReadObject)| match found {
            ReadObject::Failed { error } => Err(RuntimeError::Invalid(error)),
            ReadObject::Found(object) => Ok(Some(self.live(target.id, object))),
            ReadObject::Missing => Ok(None),
        };
        Ok(targets.iter().zip(found.objects).map(live).collect())
    }

    fn compare(&self, desired: &Resource, live: &Live) -> Comparison {
        let (Some(schema), Some(fields)) =
            (self.schema_of(&desired.id), desired.attributes.as_object())
        else {
            return Comparison::Differs;
        };
        let immutable = schema.immutable(fields, &live.attributes);
        if !immutable.is_empty() {
            return Comparison::Immutable(immutable);
        }
        let is_same = |(name, it): (&String, &Value)| live.attributes.get(name) == Some(it);
        if fields.iter().all(is_same) { Comparison::Same } else { Comparison::Differs }
    }

    fn comparable(&self, live: &Value) -> Value {
        live.clone()
    }

    fn secret_paths(&self, resource: &Resource, attributes: &Value) -> Vec<FieldPath> {
        let Some(schema) = self.schema_of(&resource.id) else {
            // Without a schema, everything may be secret.
            return vec![FieldPath::default()];
        };
        let names = schema.secrets().filter(|name| attributes.get(name.as_str()).is_some());
        names.map(|name| FieldPath::default().key(name)).collect()
    }

    fn is_secret_path(&self, resource: &Resource, path: &FieldPath) -> bool {
        let Some(schema) = self.schema_of(&resource.id) else { return true };
        let mut secrets = schema.secrets().map(|name| FieldPath::default().key(name));
        secrets.any(|it| it.is_prefix_of(path) || path.is_prefix_of(&it))
    }

    fn renamed(&self, prior: &ResourceState, to: &ResourceId) -> Result<ResourceState, String> {
        if prior.resource.id == *to {
            return Ok(prior.clone());
        }
        Err("cannot be renamed: the id names the object".to_owned())
    }

    async fn dry_run(&self, change: Change<'_>) -> Result<DryRunResult, RuntimeError> {
        let params = ChangeParams { attempt: None, ..self.change_params(&change).await? };
        let result: Result<DryRunAnswer, _> = self.program.read("dryRun", &params).await;
        let DryRunAnswer { attributes, warnings } = result.map_err(AskError::fault)?;
        Ok(DryRunResult { after: Value::Object(attributes), conflicts: Vec::new(), warnings })
    }

    async fn apply(&self, change: Change<'_>) -> Result<Applied, RuntimeError> {
        let params = self.change_params(&change).await?;
        let result: Result<ApplyResult, _> = self.program.change("apply", &params).await;
        let ApplyResult { object, warnings, failure } = result.map_err(AskError::fault)?;
        let live = self.live(&change.desired.id, object);
        Ok(Applied { live, warnings, failure })
    }

    async fn delete(&self, deletion: Deletion<'_>) -> Result<(), RuntimeError> {
        let params = asked(&deletion.prior.resource.id, Some(deletion.prior))?;
        let result: Result<Map<String, Value>, _> = self.program.change("delete", &params).await;
        result.map(|_| ()).map_err(AskError::fault)
    }

    async fn recover(&self, pending: Pending<'_>) -> Result<Option<Live>, RuntimeError> {
        let target = asked(pending.id, pending.prior)?;
        let params = RecoverParams { target, attempt: self.attempt(pending.attempt) };
        let result: Result<RecoverResult, _> = self.program.read("recover", &params).await;
        let found = result.map_err(AskError::fault)?;
        Ok(found.object.map(|it| self.live(pending.id, it)))
    }

    async fn watch(
        &self,
        targets: Vec<(ResourceId, Live)>,
        _since: Option<&str>,
    ) -> Result<BoxStream<'static, Result<Progress, RuntimeError>>, RuntimeError> {
        let mut objects = Vec::with_capacity(targets.len());
        for (id, live) in &targets {
            let key = Some(live.identity.key.clone());
            objects.push(Asked { key, ..asked(id, None)? });
        }
        let watch = Watch {
            program: self.program.clone(),
            ids: targets.into_iter().map(|(id, _)| id).collect(),
            params: Targets { objects },
            told: Vec::new(),
        };
        let rounds = stream::unfold(watch, |mut watch| async move {
            let news = watch.look().await;
            Some((stream::iter(news), watch))
        });
        Ok(rounds.flatten().boxed())
    }

    async fn close(&self) {
        let program = self.program.clone();
        // Waits for the end of the program.
        let _ = tokio::task::spawn_blocking(move || program.stop()).await;
    }
}

/// Asks for health, again and again.
struct Watch {
    program: Program,
    ids: Vec<ResourceId>,
    params: Targets,
    /// What was told last; empty before the first time.
    told: Vec<Health>,
}

impl Watch {
    /// Returns what is new.
    async fn look(&mut self) -> Vec<Result<Progress, RuntimeError>> {
        if self.ids.is_empty() {
            // The engine ends the watch.
            std::future::pending::<()>().await;
        }
        if !self.told.is_empty() {
            tokio::time::sleep(PAUSE).await;
        }
        let result: Result<HealthResult, _> = self.program.read("health", &self.params).await;
        let healths: Vec<Health> = match result {
            Ok(it) if it.objects.len() == self.ids.len() => it
                .objects
                .into_iter()
                .map(|it| match it.state {
                    HealthState::Ready => Health::ready(it.message),
                    HealthState::Progressing => Health::progressing(it.message),
                    HealthState::Failed => Health::failed("Failed", it.message),
                })
                .collect(),
            Ok(_) => {
                let message = "`health` returned another number of objects".to_owned();
                return vec![Err(RuntimeError::Unavailable(message))];
            }
            Err(error) => return vec![Err(error.fault())],
        };
        let mut news = Vec::new();
        for (place, (id, health)) in self.ids.iter().zip(&healths).enumerate() {
            if self.told.get(place) != Some(health) {
                let (id, health, related) = (id.clone(), health.clone(), Vec::new());
                news.push(Ok(Progress { id, health, related, settling_since: None }));
            }
        }
        self.told = healths;
        news
    }
}

/// Starts the runtime of a program for each stack.
#[derive(Clone, Debug)]
pub struct ProgramSource(pub Launch);

#[async_trait]
impl RuntimeSource for ProgramSource {
    async fn start(&self, owner: &StackOwner) -> Result<Arc<dyn Runtime>, RuntimeError> {
        let program = Program::new(self.0.clone());
        Ok(Arc::new(ProgramRuntime::new(program, owner.to_string())))
    }
}
