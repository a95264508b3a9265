//! Plans of operations.

use crate::desired::{Desired, desired};
use crate::error::EngineError;
use crate::execute::records_without_calls;
use crate::hooks::strip_runs;
use crate::moves::{add_notes, keep_renamed};
use crate::observe::{LiveObjects, Observation, Observer, Provided, Remarks};
use crate::references::References;
use crate::report::Report;
use crate::scope::Scope;
use crate::stages::Stages;
use kusion_model::{
    Action, Ending, FieldPath, Note, Operation, Origins, Plan, PlanOptions, Reason, Record,
    ReplaceOrder, Resource, ResourceId, ResourceState, Spec, Step,
};
use kusion_plan::{Context, DryRun, Facts, Refusal, decide, keep_targets, order};
use kusion_store::StackState;
use serde_json::Value;
use std::collections::BTreeMap;

/// The goal of an operation on a stack.
#[derive(Clone, Copy, Debug)]
pub enum Goal<'a> {
    /// Match a Spec.
    Apply {
        /// The Spec.
        spec: &'a Spec,
        /// Source locations of its values.
        origins: &'a Origins,
    },
    /// Delete all resources.
    Destroy,
    /// Match the Spec of an earlier release.
    Rollback {
        /// The revision of that release.
        to: u64,
    },
}

impl Goal<'_> {
    fn operation(self) -> Operation {
        match self {
            Self::Apply { .. } => Operation::Apply,
            Self::Destroy => Operation::Destroy,
            Self::Rollback { to } => Operation::Rollback { to },
        }
    }
}

/// A plan, with the data that is needed to run it.
#[derive(Debug)]
pub struct Previewed {
    /// The plan.
    pub plan: Plan,
    /// The steps that guards or the infrastructure reject.
    pub refusals: Vec<Refusal>,
    /// The desired resources, with plain secrets.
    pub(crate) desired: Desired,
    /// The source locations of their values; of a saved plan, those that it shows.
    pub(crate) origins: Origins,
    /// The live objects.
    pub(crate) live: LiveObjects,
    /// The state that it was made from, with moved resources.
    pub(crate) state: StackState,
    /// The records of moved resources.
    pub(crate) moves: Vec<Record>,
    /// The fingerprint of the plan file, if it was saved.
    pub(crate) saved: Option<String>,
}

impl Previewed {
    /// Returns the report of a plan without changes and records.
    pub fn nothing_to_do(&self) -> Option<Report> {
        let is_quiet =
            self.plan.is_empty() && self.moves.is_empty() && records_without_calls(self).is_empty();
        is_quiet.then(|| Report::of_nothing(self))
    }
}

impl Scope {
    /// Makes the plan for a goal from the state of a locked stack.
    pub(crate) async fn plan_goal(
        &mut self,
        goal: Goal<'_>,
        mut state: StackState,
        options: &PlanOptions,
    ) -> Result<Previewed, EngineError> {
        let (desired, origins) = match goal {
            Goal::Apply { spec, origins } => (desired(spec), origins.clone()),
            Goal::Destroy => (Desired::new(), Origins::default()),
            Goal::Rollback { to } => {
                let (spec, origins) = self.release_spec(to).await?;
                (desired(&spec), origins)
            }
        };
        self.start_for(&state, &desired).await?;
        self.check_place(&mut state, options.relocate)?;
        self.check_source(&state)?;
        let mut state = self.settled(state).await?;
        let moves = self.apply_moves(&mut state, &options.moved, &desired)?;
        let mut previewed =
            self.plan(goal.operation(), desired, origins, state, options, &moves).await?;
        previewed.moves = moves;
        Ok(previewed)
    }

    /// Returns the Spec of a release, with plain secrets, and the source locations of its values.
    async fn release_spec(&self, revision: u64) -> Result<(Spec, Origins), EngineError> {
        let stored = self.engine.store.spec_with_origins(&self.key, revision).await?;
        let (sealed, origins) = stored.ok_or(EngineError::NoRelease { revision })?;
        let origins = origins.by_path(&sealed);
        let resources = sealed
            .resources
            .iter()
            .map(|it| self.unsealed(it))
            .collect::<Result<Vec<_>, EngineError>>()?;
        Ok((Spec { resources, ..sealed }, origins))
    }

    /// Returns the state as it will be after the recovery of interrupted calls.
    async fn settled(&self, mut state: StackState) -> Result<StackState, EngineError> {
        for (call, ending) in self.findings(&state, &BTreeMap::new()).await? {
            match ending {
                Ending::Present(found) => {
                    state.resources.insert(call.id, *found);
                }
                Ending::Absent => {
                    state.resources.remove(&call.id);
                }
                Ending::Failed { .. } => {}
            }
        }
        state.pending.clear();
        Ok(state)
    }

    /// Makes a plan from a state.
    async fn plan(
        &self,
        operation: Operation,
        mut desired: Desired,
        origins: Origins,
        state: StackState,
        options: &PlanOptions,
        moves: &[Record],
    ) -> Result<Previewed, EngineError> {
        strip_runs(&mut desired);
        let spec_digest = self.desired_digest(&desired);
        self.mark_hooks(&mut desired, &spec_digest);
        let is_secret = |resource: &Resource, path: &FieldPath| self.is_secret(resource, path);
        let references = References::of(&mut desired, &is_secret)?;
        let prior = self.priors_for_runtimes(&state.resources);
        let (live, unreachable) = self.read_live(&desired, &prior).await?;
        self.learn_secrets(&desired, &live, &state)?;
        let options = &with_adopted(options, &live);
        let observer = Observer {
            scope: self,
            prior: &prior,
            live: &live,
            origins: &origins,
            ignore: &options.ignore,
            force: options.force,
            take_over: &options.take_over,
            provided: Provided::by(self, &desired),
        };
        let hash = |value: &Value| self.engine.sealer.hash(value);
        let is_destroy = operation == Operation::Destroy;
        let context = Context { origins: &origins, hash: &hash, is_destroy };
        let take_over = options.take_over.as_slice();
        let mut steps: BTreeMap<ResourceId, Step> = BTreeMap::new();
        let mut seen = Desired::new();
        for round in references.rounds(&desired) {
            let mut resources = Vec::with_capacity(round.len());
            for id in round {
                let Some(mut resource) = desired.remove(&id) else { continue };
                let later = references.resolve_known(&mut resource, &steps, &live)?;
                if let Some(message) = unreachable.get(&id) {
                    let step = self.unreachable_step(&state, Ok((&resource, later)), message)?;
                    seen.insert(id.clone(), resource);
                    steps.insert(id, step);
                    continue;
                }
                resources.push((resource, later));
            }
            for observation in observer.observe(resources).await? {
                let id = observation.desired.id.clone();
                seen.insert(id.clone(), observation.desired.clone());
                if let Some(step) = self.step(&context, &state, &live, &id, Ok(observation))? {
                    steps.insert(id, step);
                }
            }
        }
        drop(observer);
        drop(prior);
        for (id, recorded) in state.resources.iter().filter(|(id, _)| !seen.contains_key(*id)) {
            if let Some(message) = unreachable.get(id) {
                let step = self.unreachable_step(&state, Err(recorded), message)?;
                steps.insert(id.clone(), step);
                continue;
            }
            if let Some(step) = self.step(&context, &state, &live, id, Err(take_over))? {
                steps.insert(id.clone(), step);
            }
        }
        add_notes(&mut steps, moves);
        keep_renamed(&mut steps);
        self.plan_hooks(&mut steps, &state);
        let mut steps: Vec<Step> = steps.into_values().collect();
        steps.sort_by_key(|step| step.desired.is_none());
        order(&mut steps, &state.resources);
        let stages = Stages::new(self, &steps).numbers();
        steps.iter_mut().zip(stages).for_each(|(step, stage)| step.stage = stage);
        let mut plan = Plan {
            key: self.key.clone(),
            operation,
            options: options.clone(),
            infrastructure: self.infrastructure.clone(),
            state_seq: state.changed,
            spec_digest,
            steps,
            policies: None,
        };
        let unknown = keep_targets(&mut plan, &options.targets);
        if !unknown.is_empty() {
            return Err(EngineError::Targets(unknown));
        }
        let mut refusals = self.refusals(&plan, &state).await?;
        refusals.extend(self.evaluate_policies(&mut plan, &live, &state, &origins, &[])?);
        let moves = Vec::new();
        let (desired, saved) = (seen, None);
        Ok(Previewed { plan, refusals, desired, origins, live, state, moves, saved })
    }

    /// Returns the step of a resource whose live state is unknown: of a desired one, or of a recorded
    /// one that is no longer desired. It fails, and with it only what depends on it.
    fn unreachable_step(
        &self,
        state: &StackState,
        resource: Result<(&Resource, Vec<FieldPath>), &ResourceState>,
        message: &str,
    ) -> Result<Step, EngineError> {
        let (resource, later, is_desired) = match resource {
            Ok((desired, later)) => (desired, later, true),
            Err(recorded) => (&recorded.resource, Vec::new(), false),
        };
        let id = &resource.id;
        let prior = state.resources.get(id);
        let action = match (is_desired, prior) {
            (true, None) => Action::Create,
            (true, Some(_)) => Action::Update,
            (false, _) => Action::Delete,
        };
        let reason = Reason::Unreachable { message: self.hide(id, message) };
        Ok(Step {
            desired: if is_desired { Some(self.sealed(resource)?) } else { None },
            later,
            identity: prior.map(|it| it.identity.clone()),
            ..Step::new(id.clone(), resource.resource_type.clone(), action, reason)
        })
    }

    /// Decides the step of one resource: of a desired one by its observation, of another one with
    /// the patterns of ids that are taken over.
    fn step(
        &self,
        context: &Context<'_>,
        state: &StackState,
        live: &LiveObjects,
        id: &ResourceId,
        observation: Result<Observation, &[String]>,
    ) -> Result<Option<Step>, EngineError> {
        let prior = state.resources.get(id);
        let object = live.get(id);
        let (desired, before_ignore, later, ownership, dry_run, remarks) = match observation {
            Ok(it) => {
                let Observation { desired, before_ignore, later, ownership, dry_run, remarks } = it;
                (Some(desired), before_ignore, later, ownership, dry_run, remarks)
            }
            Err(take_over) => {
                let owner = prior.map(|it| self.ownership(&it.resource, object, take_over));
                let remarks = Remarks { notes: leftovers(prior), ..Remarks::default() };
                (None, None, Vec::new(), owner.unwrap_or_default(), DryRun::None, remarks)
            }
        };
        let desired = desired.as_ref();
        let Some(resource) = desired.or(prior.map(|it| &it.resource)) else { return Ok(None) };
        let runtime = self.runtime(id, &resource.resource_type)?;
        let mut secrets: Vec<FieldPath> =
            desired.map(|it| self.secrets(it)).transpose()?.unwrap_or_default();
        let mut objects: Vec<&Value> = Vec::new();
        if let Some(object) = object {
            secrets.extend(self.secrets_in(resource, &object.attributes)?);
            objects.push(&object.attributes);
        }
        if let DryRun::After(after) = &dry_run {
            objects.push(after);
        }
        secrets.extend(self.moved_secrets(desired, prior, &objects));
        secrets.sort();
        secrets.dedup();
        let facts = Facts {
            id,
            desired,
            sealed: desired.map(|it| self.sealed(it)).transpose()?,
            before_ignore: before_ignore.map(|it| self.sealed(&it)).transpose()?,
            prior,
            live: object.map(|it| self.observed(runtime.as_ref(), it)),
            later,
            ownership,
            dry_run,
            secrets,
            notes: remarks.notes,
        };
        let lists = |path: &FieldPath| runtime.list_items(resource, path);
        let Some(mut step) = decide(context, facts, &lists) else { return Ok(None) };
        step.conflicts = remarks.conflicts;
        step.problems = remarks.problems;
        if let Some(object) = object {
            step.terminating = object.terminating.clone().map(|it| self.hide(id, &it));
            let order = runtime.describe(resource).replace_order;
            if step.action == Action::Replace && order == ReplaceOrder::DeleteFirst {
                step.interruption = runtime.replace_interruption(object);
            }
        }
        // A resource that is kept has no leftovers: else it would be an update.
        if step.action == Action::Keep {
            step.notes.retain(|it| !matches!(it, Note::DeletesLeftovers { .. }));
        }
        Ok(Some(step))
    }
}

/// Adds the objects to take over whose owners the rules of the stack name.
fn with_adopted(options: &PlanOptions, live: &LiveObjects) -> PlanOptions {
    let mut options = options.clone();
    for rule in &options.adopt {
        let owner = live.get(&rule.id).and_then(|it| it.owner.as_ref());
        if owner.is_some_and(|it| rule.is_from(it)) {
            options.take_over.push(rule.id.to_string());
        }
    }
    options
}

fn leftovers(prior: Option<&kusion_model::ResourceState>) -> Vec<Note> {
    match prior.map_or(0, |it| it.leftovers.len()) {
        0 => Vec::new(),
        count => vec![Note::DeletesLeftovers { count }],
    }
}
