//! What is there, and what the infrastructure says about what is wanted.

use crate::engine::Engine;
use crate::error::{EngineError, Finding};
use crate::ignore::{IgnoreRule, take_live_values};
use crate::wanted::Wanted;
use futures::stream::{self, StreamExt as _};
use kusion_model::{FieldPath, Resource, ResourceId, ResourceState, ResourceType};
use kusion_plan::{Observed, Outlook};
use kusion_runtime::{Change, Comparison, Live, Runtime, RuntimeError, Target};
use kusion_secret::Redactor;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The live objects by resource.
pub(crate) type LiveObjects = BTreeMap<ResourceId, Live>;

/// What was found out about one wanted resource.
pub(crate) struct Sight {
    /// What is wanted, ignored fields as they are.
    pub(crate) desired: Resource,
    /// What is wanted without regard to ignored fields, if that is something else.
    pub(crate) wish: Option<Resource>,
    /// The places of texts whose values are known later.
    pub(crate) later: Vec<FieldPath>,
    pub(crate) outlook: Outlook,
    pub(crate) notes: Vec<String>,
}

/// What an observation is made with.
pub(crate) struct Watcher<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) prior: &'a BTreeMap<ResourceId, ResourceState>,
    pub(crate) live: &'a LiveObjects,
    pub(crate) ignore: &'a [IgnoreRule],
    pub(crate) force: bool,
    pub(crate) made: Made,
    pub(crate) redactor: Redactor,
}

/// What a stack makes that its other resources need before they can be rehearsed.
#[derive(Debug, Default)]
pub(crate) struct Made {
    /// The resources that make namespaces, by the names of these.
    namespaces: BTreeMap<String, ResourceId>,
    kinds: BTreeSet<(String, String)>,
}

impl Made {
    /// Finds the namespaces and kinds that resources make.
    pub(crate) fn by(wanted: &Wanted) -> Self {
        let mut made = Self::default();
        for resource in wanted.values() {
            let text = |path: &str| resource.attributes.pointer(path).and_then(Value::as_str);
            match text("/kind") {
                Some("Namespace") => {
                    let name = text("/metadata/name").map(str::to_owned);
                    made.namespaces.extend(name.map(|name| (name, resource.id.clone())));
                }
                Some("CustomResourceDefinition") => {
                    let group = text("/spec/group").unwrap_or_default();
                    let kind = text("/spec/names/kind").unwrap_or_default();
                    made.kinds.insert((group.to_owned(), kind.to_owned()));
                }
                _ => {}
            }
        }
        made
    }

    /// Names the namespace that a resource needs, that the stack makes and that is not there yet,
    /// so that nobody need ask for it.
    fn lacks(&self, desired: &Resource, live: &LiveObjects) -> Option<RuntimeError> {
        let name = desired.attributes.pointer("/metadata/namespace").and_then(Value::as_str)?;
        let is_new = self.namespaces.get(name).is_some_and(|maker| !live.contains_key(maker));
        is_new.then(|| RuntimeError::UnknownNamespace(name.to_owned()))
    }

    /// Whether what a resource lacks is made by the stack itself.
    fn answers(&self, fault: &RuntimeError) -> bool {
        match fault {
            RuntimeError::UnknownNamespace(name) => self.namespaces.contains_key(name),
            RuntimeError::UnknownKind { api_version, kind } => {
                let group = api_version.split_once('/').map_or("", |(group, _)| group);
                self.kinds.contains(&(group.to_owned(), kind.clone()))
            }
            _ => false,
        }
    }
}

impl Engine {
    /// Reads the live objects of all wanted and known resources.
    pub(crate) async fn read_live(
        &self,
        wanted: &Wanted,
        prior: &BTreeMap<ResourceId, ResourceState>,
    ) -> Result<LiveObjects, EngineError> {
        let mut groups: BTreeMap<&ResourceType, Vec<Target<'_>>> = BTreeMap::new();
        for (id, desired) in wanted {
            let target = Target { id, desired: Some(desired), prior: prior.get(id) };
            groups.entry(&desired.resource_type).or_default().push(target);
        }
        for (id, state) in prior.iter().filter(|(id, _)| !wanted.contains_key(*id)) {
            let target = Target { id, desired: None, prior: Some(state) };
            groups.entry(&state.resource.resource_type).or_default().push(target);
        }
        let mut live = LiveObjects::new();
        let mut findings = Vec::new();
        for (resource_type, targets) in groups {
            let Some(first) = targets.first() else { continue };
            let runtime = self.runtimes.find(first.id, resource_type)?;
            for (target, answer) in targets.iter().zip(runtime.read(&targets).await?) {
                match answer {
                    Ok(Some(object)) => {
                        live.insert(target.id.clone(), object);
                    }
                    Ok(None) => {}
                    Err(fault) => {
                        findings
                            .push(Finding { id: target.id.clone(), message: fault.to_string() });
                    }
                }
            }
        }
        if findings.is_empty() { Ok(live) } else { Err(EngineError::Refused(findings)) }
    }

    /// Reduces a live object to what can be compared.
    pub(crate) fn observed(&self, runtime: &dyn Runtime, live: &Live) -> Observed {
        let attributes = runtime.comparable(&live.attributes);
        let digest = self.sealer.hash(&attributes);
        Observed { identity: live.identity.clone(), attributes, digest }
    }
}

impl Watcher<'_> {
    /// Looks at wanted resources, with as many questions at a time as their runtimes take.
    pub(crate) async fn look(
        &self,
        resources: Vec<(Resource, Vec<FieldPath>)>,
    ) -> Result<Vec<Sight>, EngineError> {
        let parallel =
            self.engine.runtimes.iter().map(|(_, it)| it.parallel_calls()).sum::<usize>().max(1);
        let mut sights = Vec::with_capacity(resources.len());
        let mut findings = Vec::new();
        let mut looks = stream::iter(resources.into_iter().enumerate().map(
            |(place, (resource, later))| async move {
                (place, resource.id.clone(), self.look_at(resource, later).await)
            },
        ))
        .buffer_unordered(parallel);
        while let Some((place, id, sight)) = looks.next().await {
            match sight {
                Ok(sight) => sights.push((place, sight)),
                Err(Trouble::Engine(error)) => return Err(*error),
                Err(Trouble::Resource(message)) => {
                    let message = self.redactor.redact(&message).into_owned();
                    findings.push(Finding { id, message });
                }
            }
        }
        if !findings.is_empty() {
            findings.sort_by(|a, b| a.id.cmp(&b.id));
            return Err(EngineError::Refused(findings));
        }
        sights.sort_by_key(|(place, _)| *place);
        Ok(sights.into_iter().map(|(_, sight)| sight).collect())
    }

    async fn look_at(
        &self,
        mut desired: Resource,
        later: Vec<FieldPath>,
    ) -> Result<Sight, Trouble> {
        let runtime = self.engine.runtimes.find(&desired.id, &desired.resource_type)?;
        let live = self.live.get(&desired.id);
        let mut notes = Vec::new();
        let mut wish = None;
        if let Some(live) = live
            && !self.ignore.is_empty()
        {
            let before = desired.clone();
            notes = take_live_values(self.ignore, &mut desired, &live.attributes);
            wish = Some(before).filter(|_| !notes.is_empty());
        }
        let is_later = !later.is_empty();
        let outlook = match live {
            _ if is_later => Outlook::Later,
            Some(live) => match runtime.compare(&desired, live) {
                Comparison::Same => Outlook::Same,
                Comparison::Immutable(fields) => {
                    let message = "these fields cannot change in place".to_owned();
                    Outlook::Immutable { fields, message }
                }
                Comparison::Differs => self.rehearse(runtime, &desired, &mut notes).await?,
            },
            None => {
                // What a new object would look like is known well enough; what counts is that
                // the infrastructure would take it.
                self.rehearse(runtime, &desired, &mut notes).await?;
                Outlook::Unasked
            }
        };
        if is_later {
            check_offline(runtime, &desired)?;
            notes.push("cannot be rehearsed: it needs values that are known later".to_owned());
        }
        Ok(Sight { desired, wish, later, outlook, notes })
    }

    async fn rehearse(
        &self,
        runtime: &Arc<dyn Runtime>,
        desired: &Resource,
        notes: &mut Vec<String>,
    ) -> Result<Outlook, Trouble> {
        if let Some(fault) = self.made.lacks(desired, self.live) {
            return check_only(runtime, desired, &fault, notes);
        }
        let change = Change {
            desired,
            // What has vanished is made anew: what was known of it no longer counts.
            prior: self.prior.get(&desired.id).filter(|_| self.live.contains_key(&desired.id)),
            operation: None,
            force: self.force,
        };
        match runtime.rehearse(change).await {
            Ok(rehearsal) => {
                for conflict in &rehearsal.conflicts {
                    notes.push(format!(
                        "takes {} from `{}`",
                        conflict.fields.join(", "),
                        conflict.owner
                    ));
                }
                let warnings = rehearsal.warnings.iter();
                notes.extend(warnings.map(|it| self.redactor.redact(it).into_owned()));
                Ok(Outlook::After(runtime.comparable(&rehearsal.after)))
            }
            Err(RuntimeError::Immutable { fields, message }) => {
                let message = self.redactor.redact(&message).into_owned();
                Ok(Outlook::Immutable { fields: unique(fields), message })
            }
            Err(fault) if self.made.answers(&fault) => check_only(runtime, desired, &fault, notes),
            Err(fault @ RuntimeError::Conflict(_)) => Err(Trouble::Resource(format!(
                "{fault}; leave these fields out, or take them with `--force-conflicts`"
            ))),
            Err(fault @ RuntimeError::Unavailable(_)) => {
                Err(Trouble::Engine(Box::new(fault.into())))
            }
            Err(fault) => Err(Trouble::Resource(fault.to_string())),
        }
    }
}

/// Checks a resource that cannot be rehearsed before what it lacks is there.
fn check_only(
    runtime: &Arc<dyn Runtime>,
    desired: &Resource,
    lack: &RuntimeError,
    notes: &mut Vec<String>,
) -> Result<Outlook, Trouble> {
    check_offline(runtime, desired)?;
    notes.push(format!("{UNREHEARSED}: {lack} yet"));
    Ok(Outlook::Later)
}

fn check_offline(runtime: &Arc<dyn Runtime>, desired: &Resource) -> Result<(), Trouble> {
    let faults = runtime.check_offline(desired);
    if faults.is_empty() { Ok(()) } else { Err(Trouble::Resource(faults.join("; "))) }
}

/// How the note begins of a resource that is rehearsed when what it needs is there.
pub(crate) const UNREHEARSED: &str = "rehearsed when what it needs is there";

fn unique(mut fields: Vec<FieldPath>) -> Vec<FieldPath> {
    fields.sort();
    fields.dedup();
    fields
}

/// Why a look failed.
enum Trouble {
    /// Nothing can be looked at.
    Engine(Box<EngineError>),
    /// This resource is wrong.
    Resource(String),
}

impl From<EngineError> for Trouble {
    fn from(error: EngineError) -> Self {
        Self::Engine(Box::new(error))
    }
}
