//! Observes stacks: reads live objects and makes dry runs of desired resources.

use crate::desired::Desired;
use crate::error::{EngineError, Finding};
use crate::ignore::take_live_values;
use crate::ownership::is_taken_over;
use crate::scope::Scope;
use futures::stream::{self, StreamExt as _};
use kusion_model::{
    Conflict, FieldPath, IgnoreRule, Note, Origins, Problem, Requirement, Resource, ResourceId,
    ResourceState, ResourceType,
};
use kusion_plan::{DryRun, Observed, Ownership};
use kusion_runtime::{Change, Comparison, Live, Runtime, RuntimeError, Target};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The live objects by resource.
pub(crate) type LiveObjects = BTreeMap<ResourceId, Live>;

/// The resources whose live objects cannot be read because their part of the infrastructure, such as
/// a host, cannot be reached; with the reason.
pub(crate) type Unreachable = BTreeMap<ResourceId, String>;

/// The observation of one desired resource.
pub(crate) struct Observation {
    /// The desired resource, with ignored fields set to their live values.
    pub(crate) desired: Resource,
    /// The desired resource before ignore rules were applied, if they changed it.
    pub(crate) before_ignore: Option<Resource>,
    /// Paths of strings whose values are known only after other steps.
    pub(crate) later: Vec<FieldPath>,
    pub(crate) ownership: Ownership,
    pub(crate) dry_run: DryRun,
    pub(crate) remarks: Remarks,
}

/// What the plan says about a resource beside its changes.
#[derive(Default)]
pub(crate) struct Remarks {
    pub(crate) notes: Vec<Note>,
    /// Conflicts with other managers that are not forced.
    pub(crate) conflicts: Vec<Conflict>,
    /// Why the infrastructure rejects it.
    pub(crate) problems: Vec<Problem>,
}

/// Inputs of observations.
pub(crate) struct Observer<'a> {
    pub(crate) scope: &'a Scope,
    pub(crate) prior: &'a BTreeMap<ResourceId, ResourceState>,
    pub(crate) live: &'a LiveObjects,
    /// Source locations of desired values.
    pub(crate) origins: &'a Origins,
    pub(crate) ignore: &'a [IgnoreRule],
    pub(crate) force: bool,
    pub(crate) take_over: &'a [String],
    pub(crate) provided: Provided,
}

/// The requirements that resources of the stack itself fulfil.
#[derive(Debug, Default)]
pub(crate) struct Provided(BTreeMap<Requirement, ResourceId>);

impl Provided {
    /// Collects the requirements that resources fulfil.
    pub(crate) fn by(scope: &Scope, desired: &Desired) -> Self {
        let mut provided = BTreeMap::new();
        for resource in desired.values() {
            for requirement in scope.describe(resource).provides {
                provided.insert(requirement, resource.id.clone());
            }
        }
        Self(provided)
    }

    /// Returns a requirement of a resource that the stack itself will create and that does not
    /// exist yet, so that a dry run is known to fail.
    fn missing(&self, required: &[Requirement], live: &LiveObjects) -> Option<Requirement> {
        let is_missing = |it: &&Requirement| {
            self.0.get(*it).is_some_and(|provider| !live.contains_key(provider))
        };
        required.iter().find(is_missing).cloned()
    }
}

impl Scope {
    /// Reads the live objects of all desired and recorded resources, all of which must be reachable.
    pub(crate) async fn read_all_live(
        &self,
        desired: &Desired,
        prior: &BTreeMap<ResourceId, ResourceState>,
    ) -> Result<LiveObjects, EngineError> {
        let (live, unreachable) = self.read_live(desired, prior).await?;
        if unreachable.is_empty() {
            return Ok(live);
        }
        let findings = unreachable.into_iter().map(|(id, message)| Finding::new(&id, message));
        Err(EngineError::Rejected(findings.collect()))
    }

    /// Reads the live objects of all desired and recorded resources that can be reached.
    pub(crate) async fn read_live(
        &self,
        desired: &Desired,
        prior: &BTreeMap<ResourceId, ResourceState>,
    ) -> Result<(LiveObjects, Unreachable), EngineError> {
        let mut groups: BTreeMap<&ResourceType, Vec<Target<'_>>> = BTreeMap::new();
        for (id, desired) in desired {
            let target = Target { id, desired: Some(desired), prior: prior.get(id) };
            groups.entry(&desired.resource_type).or_default().push(target);
        }
        for (id, state) in prior.iter().filter(|(id, _)| !desired.contains_key(*id)) {
            let target = Target { id, desired: None, prior: Some(state) };
            groups.entry(&state.resource.resource_type).or_default().push(target);
        }
        let (mut live, mut unreachable) = (LiveObjects::new(), Unreachable::new());
        let mut findings = Vec::new();
        for (resource_type, targets) in groups {
            let Some(first) = targets.first() else { continue };
            let runtime = self.runtime(first.id, resource_type)?;
            for (target, answer) in targets.iter().zip(runtime.read(&targets).await?) {
                match answer {
                    Ok(Some(object)) => {
                        live.insert(target.id.clone(), object);
                    }
                    Ok(None) => {}
                    Err(RuntimeError::Unreachable(message)) => {
                        unreachable.insert(target.id.clone(), message);
                    }
                    Err(fault) => findings.push(Finding::new(target.id, fault.to_string())),
                }
            }
        }
        if findings.is_empty() {
            Ok((live, unreachable))
        } else {
            Err(EngineError::Rejected(findings))
        }
    }

    /// Reduces a live object to comparable attributes.
    pub(crate) fn observed(&self, runtime: &dyn Runtime, live: &Live) -> Observed {
        let attributes = runtime.comparable(&live.attributes);
        // A plan is for objects of the owner that they had.
        let digest = match &live.owner {
            Some(owner) => self.engine.sealer.hash_of(&(&attributes, owner)),
            None => self.engine.sealer.hash(&attributes),
        };
        Observed { identity: live.identity.clone(), attributes, digest }
    }
}

impl Observer<'_> {
    /// Observes desired resources, within the limits of concurrent calls of their runtimes.
    pub(crate) async fn observe(
        &self,
        resources: Vec<(Resource, Vec<FieldPath>)>,
    ) -> Result<Vec<Observation>, EngineError> {
        let parallel = self.scope.runtimes().map(|(_, it)| it.parallel_calls()).sum::<usize>();
        let mut observations = Vec::with_capacity(resources.len());
        let mut all = stream::iter(resources.into_iter().enumerate().map(
            |(place, (resource, later))| async move { (place, self.one(resource, later).await) },
        ))
        .buffer_unordered(parallel.max(1));
        while let Some((place, observation)) = all.next().await {
            observations.push((place, observation?));
        }
        observations.sort_by_key(|(place, _)| *place);
        Ok(observations.into_iter().map(|(_, it)| it).collect())
    }

    async fn one(
        &self,
        mut desired: Resource,
        later: Vec<FieldPath>,
    ) -> Result<Observation, EngineError> {
        let runtime = self.scope.runtime(&desired.id, &desired.resource_type)?;
        let live = self.live.get(&desired.id);
        let mut ownership = self.scope.ownership(&desired, live, self.take_over);
        let notes = self.ownership_notes(&desired, live, &ownership);
        let mut remarks = Remarks { notes, ..Remarks::default() };
        if matches!(ownership, Ownership::Foreign(_) | Ownership::Shared) {
            let (before_ignore, dry_run) = (None, DryRun::None);
            return Ok(Observation { desired, before_ignore, later, ownership, dry_run, remarks });
        }
        let mut before_ignore = None;
        if let Some(live) = live
            && !self.ignore.is_empty()
        {
            let before = desired.clone();
            let kind = self.scope.describe(&desired).kind;
            let kept = take_live_values(self.ignore, &kind, &mut desired, &live.attributes);
            before_ignore = Some(before).filter(|_| !kept.is_empty());
            remarks.notes.extend(kept);
        }
        let is_later = !later.is_empty() && !runtime.plans_unknown();
        let dry_run = match live {
            _ if is_later => DryRun::Later,
            Some(live) => match runtime.compare(&desired, live) {
                Comparison::Same => DryRun::Same,
                Comparison::Immutable(fields) => {
                    let message = "these fields cannot be updated in place".to_owned();
                    DryRun::Immutable { fields, message }
                }
                Comparison::Differs => {
                    self.dry_run(runtime, &desired, &later, &mut remarks).await?
                }
                Comparison::Unmarked => {
                    if ownership == Ownership::Own {
                        ownership = Ownership::Unmarked;
                    }
                    self.dry_run(runtime, &desired, &later, &mut remarks).await?
                }
            },
            None => {
                // The result for a new object is not needed; the dry run only checks that
                // the infrastructure accepts it.
                self.dry_run(runtime, &desired, &later, &mut remarks).await?;
                DryRun::None
            }
        };
        if is_later {
            self.check_offline(runtime, &desired, &mut remarks);
            remarks.notes.push(Note::NoDryRun);
        }
        if let Some(prior) = self.prior.get(&desired.id).filter(|it| !it.leftovers.is_empty()) {
            remarks.notes.push(Note::DeletesLeftovers { count: prior.leftovers.len() });
        }
        Ok(Observation { desired, before_ignore, later, ownership, dry_run, remarks })
    }

    /// Returns the notes on an object that the stack starts to manage.
    fn ownership_notes(
        &self,
        desired: &Resource,
        live: Option<&Live>,
        ownership: &Ownership,
    ) -> Vec<Note> {
        let is_new = || live.is_some() && !self.prior.contains_key(&desired.id);
        match ownership {
            Ownership::TakenOver(owner) => vec![Note::TakesOver { owner: owner.clone() }],
            Ownership::Own if is_new() && !self.scope.describe(desired).is_restored => {
                vec![Note::Adopts]
            }
            _ => Vec::new(),
        }
    }

    async fn dry_run(
        &self,
        runtime: &Arc<dyn Runtime>,
        desired: &Resource,
        unknown: &[FieldPath],
        remarks: &mut Remarks,
    ) -> Result<DryRun, EngineError> {
        let required = runtime.describe(desired).requires;
        if let Some(requirement) = self.provided.missing(&required, self.live) {
            return self.deferred(runtime, desired, requirement, remarks).await;
        }
        let change = Change {
            // A missing object is recreated: its recorded state no longer applies.
            prior: self.prior.get(&desired.id).filter(|_| self.live.contains_key(&desired.id)),
            live: self.live.get(&desired.id),
            unknown,
            force: self.force,
            take_over: is_taken_over(&desired.id, self.take_over),
            ..Change::new(desired)
        };
        match runtime.dry_run(change).await {
            Ok(result) => {
                if self.force || change.take_over {
                    remarks.notes.extend(
                        result
                            .conflicts
                            .into_iter()
                            .map(|it| Note::TakesFields { manager: it.manager, fields: it.fields }),
                    );
                } else {
                    remarks.conflicts = result.conflicts;
                }
                let warnings = result.warnings.iter().map(|it| self.scope.hide(&desired.id, it));
                remarks.notes.extend(warnings.map(|message| Note::Warning { message }));
                Ok(DryRun::After(runtime.comparable(&result.after)))
            }
            Err(RuntimeError::Immutable { fields, message }) => {
                let message = self.scope.hide(&desired.id, &message);
                Ok(DryRun::Immutable { fields: unique(fields), message })
            }
            Err(RuntimeError::Missing(it)) if self.provided.0.contains_key(&it) => {
                self.deferred(runtime, desired, it, remarks).await
            }
            Err(fault) => self.rejected(runtime, &desired.id, fault, remarks),
        }
    }

    /// Checks a resource whose dry run is deferred.
    async fn deferred(
        &self,
        runtime: &Arc<dyn Runtime>,
        desired: &Resource,
        requirement: Requirement,
        remarks: &mut Remarks,
    ) -> Result<DryRun, EngineError> {
        match runtime.dry_run_elsewhere(desired).await {
            Ok(()) => {}
            Err(RuntimeError::Missing(it)) if self.provided.0.contains_key(&it) => {}
            Err(fault) => return self.rejected(runtime, &desired.id, fault, remarks),
        }
        self.check_offline(runtime, desired, remarks);
        remarks.notes.push(Note::DryRunDeferred { requirement });
        Ok(DryRun::Later)
    }

    /// Checks a resource without the infrastructure, which may decide differently: problems are
    /// warnings.
    fn check_offline(&self, runtime: &Arc<dyn Runtime>, desired: &Resource, remarks: &mut Remarks) {
        for problem in self.placed(&desired.id, runtime.check_offline(desired)) {
            let message = format!("the server may reject it: {problem}");
            remarks.notes.push(Note::Warning { message });
        }
    }

    /// Notes why the infrastructure rejects a resource. An error that is not about the resource
    /// ends the operation.
    fn rejected(
        &self,
        runtime: &Arc<dyn Runtime>,
        id: &ResourceId,
        fault: RuntimeError,
        remarks: &mut Remarks,
    ) -> Result<DryRun, EngineError> {
        let problems = match fault {
            RuntimeError::Unavailable(_) | RuntimeError::Unusable { .. } => {
                return Err(fault.into());
            }
            RuntimeError::Rejected(problems) => problems,
            RuntimeError::Missing(requirement) => vec![runtime.missing_problem(&requirement)],
            fault => vec![Problem::new(FieldPath::default(), fault.to_string())],
        };
        remarks.problems = self.placed(id, problems);
        Ok(DryRun::Later)
    }

    /// Adds source locations to problems, and hides secrets in them.
    fn placed(&self, id: &ResourceId, mut problems: Vec<Problem>) -> Vec<Problem> {
        for problem in &mut problems {
            problem.message = self.scope.hide(id, &problem.message);
            // A field that does not exist has no location; the one above it has.
            let mut path = problem.path.clone();
            problem.origin = loop {
                let found = self.origins.find(id, &path);
                if found.is_some() || path.0.pop().is_none() {
                    break found;
                }
            };
        }
        problems
    }
}

fn unique(mut fields: Vec<FieldPath>) -> Vec<FieldPath> {
    fields.sort();
    fields.dedup();
    fields
}
