//! The runtime over a folder.

use crate::faults::Faults;
use crate::folder::{Folder, Stored, Tag};
use async_trait::async_trait;
use futures::stream::{self, BoxStream, StreamExt as _};
use kusion_model::{
    AttemptId, Description, FieldPath, Health, Identity, InfrastructureId, Owner, Protection,
    ReplaceOrder, Requirement, Resource, ResourceId, ResourceState, RuntimeData, StackOwner,
};
use kusion_runtime::{
    Applied, Change, Comparison, Content, Deletion, DryRunResult, Live, Pending, Progress, Runtime,
    RuntimeError, RuntimeSource, Target,
};
use serde_json::{Map, Value};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A runtime whose objects are files and get ids that it chooses itself.
///
/// An object with the attribute `name` has this name as its id, so that several stacks can contain
/// it; `shared` says that they do. The attribute `forceNew` lists attributes that cannot change in place; values of the attribute
/// `secrets` are secret. `provides` and `requires` list names that objects need of each other,
/// `container` says that an object contains those that require it, `createFirst` how it is
/// replaced, `dependentsWait` that its dependents wait until it is ready, `settles` that it must
/// stay so for a second. Each object has a token that the engine must keep and bring along; that
/// of an object with secrets is secret.
#[derive(Debug)]
pub struct FileRuntime {
    folder: Folder,
    stack: String,
    faults: Faults,
    latency: Duration,
    parallel_calls: usize,
    made: AtomicU64,
    owner: Option<StackOwner>,
}

/// Starts runtimes over one folder, which mark the objects of their stacks. They change whatever
/// the engine tells them to: only the engine keeps stacks apart.
#[derive(Debug)]
pub struct FileSource(PathBuf);

impl FileSource {
    /// Creates a source of runtimes over a folder.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }
}

#[async_trait]
impl RuntimeSource for FileSource {
    async fn start(&self, owner: &StackOwner) -> Result<Arc<dyn Runtime>, RuntimeError> {
        let runtime = FileRuntime::open(&self.0, &owner.stack.to_string());
        let runtime = runtime.map_err(|error| RuntimeError::Unavailable(error.to_string()))?;
        Ok(Arc::new(FileRuntime { owner: Some(owner.clone()), ..runtime }))
    }
}

impl FileRuntime {
    /// Opens a folder for one stack.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn open(path: &Path, stack: &str) -> io::Result<Self> {
        Ok(Self {
            folder: Folder::open(path)?,
            stack: stack.to_owned(),
            faults: Faults::default(),
            latency: Duration::ZERO,
            parallel_calls: 8,
            made: AtomicU64::new(0),
            owner: None,
        })
    }

    /// Injects faults into calls.
    #[must_use]
    pub fn with_faults(self, faults: Faults) -> Self {
        Self { faults, ..self }
    }

    /// Sets the duration of every call.
    #[must_use]
    pub fn with_latency(self, latency: Duration) -> Self {
        Self { latency, ..self }
    }

    /// Sets the number of concurrent calls.
    #[must_use]
    pub fn with_parallel_calls(self, parallel_calls: usize) -> Self {
        Self { parallel_calls, ..self }
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Runs a call with its faults.
    async fn call<T>(
        &self,
        name: &str,
        work: impl FnOnce() -> Result<T, RuntimeError>,
    ) -> Result<T, RuntimeError> {
        let fault = self.faults.count(name);
        if !self.latency.is_zero() {
            tokio::time::sleep(self.latency / 2).await;
        }
        if let Some(fault) = fault {
            fault.before()?;
        }
        let result = work()?;
        if !self.latency.is_zero() {
            tokio::time::sleep(self.latency / 2).await;
        }
        if let Some(fault) = fault {
            fault.after()?;
        }
        Ok(result)
    }

    fn new_id(&self) -> String {
        let count = self.made.fetch_add(1, Ordering::Relaxed) + 1;
        format!("f{count}-{:08x}", fastrand::u32(..))
    }

    /// Finds the object that a change is for; `None` if one is to be made.
    fn changed(&self, change: &Change<'_>) -> Result<Option<Stored>, RuntimeError> {
        let Some(prior) = change.prior else {
            let Some(name) = name_of(change.desired) else { return Ok(None) };
            return self.folder.get(name).map_err(|error| broken(&error));
        };
        let id = &prior.identity.key;
        let found = self.folder.get(id).map_err(|error| broken(&error))?;
        let found = found.ok_or_else(|| RuntimeError::Moved(format!("`{id}` does not exist")))?;
        check_token(&found, prior)?;
        Ok(Some(found))
    }

    /// Returns the object as it is to be.
    fn next(&self, change: &Change<'_>) -> Result<(Stored, bool), RuntimeError> {
        let attributes = wanted(change.desired)?;
        let is_shared = change.desired.attributes.get("shared") == Some(&Value::Bool(true));
        let owner = self.owner.as_ref().filter(|_| !is_shared).map(ToString::to_string);
        match self.changed(change)? {
            Some(old) => {
                let fields = immutable(&attributes, &old.attributes);
                if !fields.is_empty() {
                    let names: Vec<String> = fields.iter().map(ToString::to_string).collect();
                    let message = format!("{} cannot be updated in place", names.join(", "));
                    return Err(RuntimeError::Immutable { fields, message });
                }
                Ok((Stored { owner, attributes, ..old }, false))
            }
            None => {
                let tag = change.attempt.map(|attempt| self.tag(attempt));
                let resource = change.desired.id.clone();
                let token = format!("{:016x}", fastrand::u64(..));
                let id = name_of(change.desired).map_or_else(|| self.new_id(), str::to_owned);
                Ok((Stored { id, resource, tag, token, owner, attributes }, true))
            }
        }
    }

    fn tag(&self, attempt: AttemptId) -> Tag {
        Tag { stack: self.stack.clone(), attempt }
    }

    /// Whether a live object has the mark that it should have.
    fn is_marked(&self, desired: &Resource, live: &Live) -> bool {
        let is_shared = desired.attributes.get("shared") == Some(&Value::Bool(true));
        match self.owner.as_ref().filter(|_| !is_shared) {
            Some(own) => live.owner.as_ref().is_some_and(|it| it.is(own)),
            None => live.owner.is_none(),
        }
    }

    /// Checks that everything that a resource requires exists.
    fn check_requirements(&self, desired: &Resource) -> Result<(), RuntimeError> {
        let required = names(&desired.attributes, "requires");
        if required.is_empty() {
            return Ok(());
        }
        let objects = self.folder.objects().map_err(|error| broken(&error))?;
        let provided: Vec<Requirement> = objects
            .into_iter()
            .flat_map(|it| names(&Value::Object(it.attributes), "provides"))
            .collect();
        match required.into_iter().find(|it| !provided.contains(it)) {
            Some(missing) => Err(RuntimeError::Missing(missing)),
            None => Ok(()),
        }
    }
}

#[async_trait]
impl Runtime for FileRuntime {
    async fn identity(&self) -> Result<InfrastructureId, RuntimeError> {
        let id = self.folder.identity();
        let id = id.map_err(|error| RuntimeError::Unavailable(error.to_string()))?;
        Ok(InfrastructureId { name: "a folder".to_owned(), id })
    }

    fn describe(&self, resource: &Resource) -> Description {
        let is = |name: &str| resource.attributes.get(name) == Some(&Value::Bool(true));
        let kind = resource.attributes.get("kind").and_then(Value::as_str);
        Description {
            kind: kind.unwrap_or("File").to_owned(),
            provides: names(&resource.attributes, "provides"),
            requires: names(&resource.attributes, "requires"),
            protection: if is("protected") { Protection::Kind } else { Protection::None },
            replace_order: if is("createFirst") {
                ReplaceOrder::CreateFirst
            } else {
                ReplaceOrder::DeleteFirst
            },
            is_shared: is("shared"),
            is_container: is("container"),
            dependents_wait: is("dependentsWait"),
            settle_seconds: u32::from(is("settles")),
            ..Description::default()
        }
    }

    fn parallel_calls(&self) -> usize {
        self.parallel_calls
    }

    async fn read(
        &self,
        targets: &[Target<'_>],
    ) -> Result<Vec<Result<Option<Live>, RuntimeError>>, RuntimeError> {
        let read = || {
            let read = targets.iter().map(|target| {
                // Only the state knows ids that are not names.
                let known = target.prior.map(|it| it.identity.key.as_str());
                // If that object is gone, one with the desired name may be in its place.
                let ids = known.into_iter().chain(target.desired.and_then(name_of));
                for id in ids {
                    if let Some(found) = self.folder.get(id).map_err(|error| broken(&error))? {
                        return Ok(Some(live(&found)));
                    }
                }
                Ok(None)
            });
            Ok(read.collect())
        };
        self.call("read", read).await
    }

    fn compare(&self, desired: &Resource, live: &Live) -> Comparison {
        let (Value::Object(wanted), Value::Object(there)) =
            (&*desired.attributes, &*live.attributes)
        else {
            return Comparison::Differs;
        };
        let mut there = there.clone();
        there.retain(|key, _| !is_given(key));
        let fields = immutable(wanted, &there);
        if !fields.is_empty() {
            Comparison::Immutable(fields)
        } else if *wanted == there && self.is_marked(desired, live) {
            Comparison::Same
        } else {
            Comparison::Differs
        }
    }

    fn comparable(&self, live: &Value) -> Value {
        let mut out = live.clone();
        if let Value::Object(attributes) = &mut out {
            attributes.retain(|key, _| !is_given(key));
        }
        out
    }

    fn secret_paths(&self, _resource: &Resource, attributes: &Value) -> Vec<FieldPath> {
        let base = FieldPath::default().key("secrets");
        match attributes.get("secrets") {
            Some(Value::Object(secrets)) => secrets.keys().map(|key| base.key(key)).collect(),
            Some(Value::Null) | None => Vec::new(),
            Some(_) => vec![base],
        }
    }

    async fn contents(&self, container: &ResourceState) -> Result<Vec<Content>, RuntimeError> {
        let provided = names(&container.resource.attributes, "provides");
        let objects = self.folder.objects().map_err(|error| broken(&error))?;
        let inside = objects.iter().filter(|object| {
            let required = names(&Value::Object(object.attributes.clone()), "requires");
            required.iter().any(|it| provided.contains(it))
        });
        let content = |object: &Stored| Content {
            name: format!("File {}", object.resource),
            identity: Some(live(object).identity),
            owner: live(object).owner,
        };
        Ok(inside.map(content).collect())
    }

    async fn dry_run(&self, change: Change<'_>) -> Result<DryRunResult, RuntimeError> {
        let dry_run = || {
            self.check_requirements(change.desired)?;
            let (next, is_new) = self.next(&change)?;
            let after = if is_new { Value::Object(next.attributes) } else { next.shown() };
            Ok(DryRunResult { after, conflicts: Vec::new(), warnings: Vec::new() })
        };
        self.call("dry-run", dry_run).await
    }

    async fn apply(&self, change: Change<'_>) -> Result<Applied, RuntimeError> {
        let apply = || {
            self.check_requirements(change.desired)?;
            let (next, _) = self.next(&change)?;
            self.folder.put(&next).map_err(|error| broken(&error))?;
            let is_half_made =
                change.desired.attributes.get("halfMade") == Some(&Value::Bool(true));
            let failure = is_half_made.then(|| "it is only half made".to_owned());
            Ok(Applied { failure, ..Applied::new(live(&next)) })
        };
        self.call("apply", apply).await
    }

    async fn delete(&self, deletion: Deletion<'_>) -> Result<(), RuntimeError> {
        let id = &deletion.prior.identity.key;
        let delete = || {
            if let Some(found) = self.folder.get(id).map_err(|error| broken(&error))? {
                check_token(&found, deletion.prior)?;
            }
            self.folder.remove(id).map_err(|error| broken(&error))
        };
        self.call("delete", delete).await
    }

    async fn recover(&self, pending: Pending<'_>) -> Result<Option<Live>, RuntimeError> {
        let recover = || {
            // What the attempt itself made comes before what it was to replace.
            let tag = self.tag(pending.attempt);
            let objects = self.folder.objects().map_err(|error| broken(&error))?;
            let made = objects.iter().find(|object| object.tag.as_ref() == Some(&tag));
            let known = || {
                let id = &pending.prior?.identity.key;
                objects.iter().find(|object| object.id == *id)
            };
            Ok(made.or_else(known).map(live))
        };
        self.call("recover", recover).await
    }

    async fn watch(
        &self,
        targets: Vec<(ResourceId, Live)>,
        _since: Option<&str>,
    ) -> Result<BoxStream<'static, Result<Progress, RuntimeError>>, RuntimeError> {
        let all = targets.into_iter().flat_map(|(id, live)| {
            let ready = Health::ready("it exists");
            // One that must settle is ready for a moment before it stays ready.
            let healths = if live.attributes.get("settles").is_some() {
                vec![ready.clone(), Health::progressing("it restarts"), ready]
            } else {
                vec![ready]
            };
            let progress = move |health| {
                let (id, related) = (id.clone(), Vec::new());
                Ok(Progress { id, health, related, settling_since: None })
            };
            healths.into_iter().map(progress)
        });
        let all: Vec<_> = all.collect();
        Ok(stream::iter(all).chain(stream::pending()).boxed())
    }
}

fn live(object: &Stored) -> Live {
    let remembered = RuntimeData {
        schema_version: 1,
        value: object.token.as_str().into(),
        is_secret: object.attributes.contains_key("secrets"),
    };
    Live {
        identity: Identity::new(object.id.as_str(), None),
        attributes: object.shown().into(),
        runtime: Some(remembered),
        owner: object.owner.as_deref().map(Owner::of_mark),
        terminating: None,
    }
}

/// Checks that the engine brings along what this runtime gave it to remember.
fn check_token(object: &Stored, prior: &ResourceState) -> Result<(), RuntimeError> {
    let told = prior.runtime.as_ref().and_then(|it| it.value.as_str());
    if told == Some(object.token.as_str()) {
        return Ok(());
    }
    let message = format!("`{}` is changed without its token: {told:?}", object.id);
    Err(RuntimeError::Invalid(message))
}

/// Reads a list of names that objects need of each other.
fn names(attributes: &Value, key: &str) -> Vec<Requirement> {
    let names = attributes.get(key).and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).map(|it| Requirement::new("name", it)).collect()
}

/// Returns the name that is the id of an object.
fn name_of(resource: &Resource) -> Option<&str> {
    resource.attributes.get("name").and_then(Value::as_str)
}

/// Whether the runtime itself gives this attribute.
fn is_given(name: &str) -> bool {
    matches!(name, "id" | "address")
}

fn wanted(resource: &Resource) -> Result<Map<String, Value>, RuntimeError> {
    match &*resource.attributes {
        Value::Object(attributes) if !attributes.keys().any(|key| is_given(key)) => {
            Ok(attributes.clone())
        }
        _ => Err(RuntimeError::Invalid(format!(
            "`{}`: attributes must be a map without `id` and `address`",
            resource.id
        ))),
    }
}

/// Returns the attributes that are to change and cannot.
fn immutable(wanted: &Map<String, Value>, there: &Map<String, Value>) -> Vec<FieldPath> {
    let fixed = there.get("forceNew").and_then(Value::as_array);
    let fixed = fixed.into_iter().flatten().filter_map(Value::as_str);
    fixed
        .filter(|name| wanted.get(*name) != there.get(*name))
        .map(|name| FieldPath::default().key(name))
        .collect()
}

fn broken(error: &io::Error) -> RuntimeError {
    RuntimeError::Transient { message: error.to_string(), retry_after_ms: None }
}
