//! What an operation would do.

use crate::engine::Engine;
use crate::error::EngineError;
use crate::ignore::IgnoreRule;
use crate::observe::{LiveObjects, Made, Sight, Watcher};
use crate::references::References;
use crate::wanted::{Wanted, wanted};
use kusion_model::{
    Ending, Operation, Origins, PLAN_VERSION, Plan, ResourceId, Spec, StackKey, Step,
};
use kusion_plan::{
    Context, Facts, Guards, Outlook, Refusal, decide, keep_targets, order, refusals,
};
use kusion_store::StackState;
use serde_json::Value;
use std::collections::BTreeMap;

/// How a plan is made.
#[derive(Clone, Debug, Default)]
pub struct PreviewOptions {
    /// Only these resources and what they need; all if empty. `*` stands for any text.
    pub targets: Vec<String>,
    /// Fields that keep their live values.
    pub ignore: Vec<IgnoreRule>,
    /// Whether fields of other owners are taken over.
    pub force: bool,
    /// What a plan may do.
    pub guards: Guards,
}

/// A plan, with what is needed to run it at once.
#[derive(Debug)]
pub struct Previewed {
    /// The plan.
    pub plan: Plan,
    /// What guards forbid of it.
    pub refusals: Vec<Refusal>,
    /// What is wanted, secrets plain.
    pub(crate) wanted: Wanted,
    /// What was there.
    pub(crate) live: LiveObjects,
    /// The state it was made from.
    pub(crate) state: StackState,
}

impl Engine {
    /// Names the owner of a state on the infrastructure that the runtimes lead to.
    pub async fn stack_key(
        &self,
        project: &str,
        stack: &str,
        cell: &str,
    ) -> Result<StackKey, EngineError> {
        let mut clusters = Vec::new();
        for (_, runtime) in self.runtimes.iter() {
            clusters.push(runtime.cluster_identity().await?);
        }
        Ok(StackKey {
            project: project.to_owned(),
            stack: stack.to_owned(),
            cell: cell.to_owned(),
            cluster: clusters.join("+"),
        })
    }

    /// Says what applying a Spec would do. Changes nothing, and needs no lease.
    pub async fn preview(
        &self,
        key: &StackKey,
        spec: &Spec,
        origins: &Origins,
        options: &PreviewOptions,
    ) -> Result<Previewed, EngineError> {
        let state = self.settled(self.store.read(key).await?).await?;
        self.plan(key, Operation::Apply, wanted(spec), origins, state, options).await
    }

    /// Says what destroying a stack would delete. Changes nothing, and needs no lease.
    pub async fn preview_destroy(
        &self,
        key: &StackKey,
        options: &PreviewOptions,
    ) -> Result<Previewed, EngineError> {
        let state = self.settled(self.store.read(key).await?).await?;
        let (wanted, origins) = (Wanted::new(), Origins::default());
        self.plan(key, Operation::Destroy, wanted, &origins, state, options).await
    }

    /// Returns the state as it will be when the calls without an ending were looked into.
    async fn settled(&self, mut state: StackState) -> Result<StackState, EngineError> {
        for (call, ending) in self.findings(&state).await? {
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
    pub(crate) async fn plan(
        &self,
        key: &StackKey,
        operation: Operation,
        mut wanted: Wanted,
        origins: &Origins,
        state: StackState,
        options: &PreviewOptions,
    ) -> Result<Previewed, EngineError> {
        let spec_digest = self.wanted_digest(&wanted);
        let references = References::of(&mut wanted)?;
        let live = self.read_live(&wanted, &state.resources).await?;
        let watcher = Watcher {
            engine: self,
            prior: &state.resources,
            live: &live,
            ignore: &options.ignore,
            force: options.force,
            made: Made::by(&wanted),
            redactor: self.redactor(&wanted)?,
        };
        let hash = |value: &Value| self.sealer.hash(value);
        let context = Context { origins, hash: &hash, is_destroy: operation == Operation::Destroy };
        let mut steps: BTreeMap<ResourceId, Step> = BTreeMap::new();
        let mut seen: Wanted = Wanted::new();
        for round in references.rounds(&wanted) {
            let mut resources = Vec::with_capacity(round.len());
            for id in round {
                let Some(mut resource) = wanted.remove(&id) else { continue };
                let later = references.resolve_known(&mut resource, &steps, &live)?;
                resources.push((resource, later));
            }
            for sight in watcher.look(resources).await? {
                let id = sight.desired.id.clone();
                seen.insert(id.clone(), sight.desired.clone());
                if let Some(step) = self.step(&context, &state, &live, &id, Some(sight))? {
                    steps.insert(id, step);
                }
            }
        }
        for id in state.resources.keys().filter(|id| !seen.contains_key(*id)) {
            if let Some(step) = self.step(&context, &state, &live, id, None)? {
                steps.insert(id.clone(), step);
            }
        }
        let mut steps: Vec<Step> = steps.into_values().collect();
        steps.sort_by_key(|step| step.desired.is_none());
        order(&mut steps, &state.resources);
        let mut plan = Plan {
            version: PLAN_VERSION,
            key: key.clone(),
            operation,
            state_seq: state.changed,
            spec_digest,
            steps,
        };
        let unknown = keep_targets(&mut plan, &options.targets);
        if !unknown.is_empty() {
            return Err(EngineError::Targets(unknown));
        }
        let refusals = refusals(&plan, &state.resources, &options.guards);
        Ok(Previewed { plan, refusals, wanted: seen, live, state })
    }

    /// Decides about one resource.
    fn step(
        &self,
        context: &Context<'_>,
        state: &StackState,
        live: &LiveObjects,
        id: &ResourceId,
        sight: Option<Sight>,
    ) -> Result<Option<Step>, EngineError> {
        let prior = state.resources.get(id);
        let (desired, wish, later, outlook, notes) = match sight {
            Some(it) => (Some(it.desired), it.wish, it.later, it.outlook, it.notes),
            None => (None, None, Vec::new(), Outlook::Unasked, Vec::new()),
        };
        let desired = desired.as_ref();
        let Some(resource) = desired.or(prior.map(|it| &it.resource)) else { return Ok(None) };
        let runtime = self.runtimes.find(id, &resource.resource_type)?;
        let object = live.get(id);
        let mut secrets = desired.map(|it| self.secrets(it)).transpose()?.unwrap_or_default();
        secrets.extend(object.map(|it| runtime.secret_paths(&it.attributes)).unwrap_or_default());
        secrets.sort();
        secrets.dedup();
        let facts = Facts {
            id,
            desired,
            sealed: desired.map(|it| self.sealed(it)).transpose()?,
            wish: wish.map(|it| self.sealed(&it)).transpose()?,
            prior,
            live: object.map(|it| self.observed(runtime.as_ref(), it)),
            later,
            outlook,
            secrets,
            notes,
        };
        Ok(decide(context, facts))
    }
}
