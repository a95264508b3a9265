//! Handles of stacks.

use crate::engine::Engine;
use crate::error::EngineError;
use crate::event::StampedEvent;
use crate::lock::{LockedStack, forget_all, recorded};
use crate::log::EventLog;
use crate::operation::RunOptions;
use crate::policies::StackPolicies;
use crate::preview::{Goal, Previewed};
use crate::replay;
use crate::scope::Scope;
use kusion_model::{
    Origins, Phase, PlanOptions, ResourceId, ResourceType, Spec, StackKey, StackSource,
};
use kusion_store::StackState;
use std::collections::BTreeMap;
use tracing::Instrument as _;

/// One stack of an engine. Cheap to clone; holds nothing open.
#[derive(Clone)]
pub struct Stack {
    pub(crate) engine: Engine,
    key: StackKey,
    pub(crate) sources: Vec<StackSource>,
    pub(crate) pins: BTreeMap<ResourceType, String>,
    pub(crate) policies: Option<StackPolicies>,
}

impl Stack {
    pub(crate) fn new(engine: Engine, key: StackKey) -> Self {
        Self { engine, key, sources: Vec::new(), pins: BTreeMap::new(), policies: None }
    }

    /// Says where the files of the stack come from, the most specific source first. A plan for a
    /// stack that was deployed from elsewhere is refused.
    #[must_use]
    pub fn with_sources(self, sources: Vec<StackSource>) -> Self {
        Self { sources, ..self }
    }

    /// Says which infrastructures the stack is deployed to, by the type of its resources: every
    /// operation on another one is refused, except on temporary ones.
    #[must_use]
    pub fn with_pins(self, pins: BTreeMap<ResourceType, String>) -> Self {
        Self { pins, ..self }
    }

    /// Says which policies the stack has: they are evaluated on every plan, when it is made and
    /// again when a saved one runs.
    #[must_use]
    pub fn with_policies(self, policies: Option<StackPolicies>) -> Self {
        Self { policies, ..self }
    }

    /// Returns the key of the stack.
    pub fn key(&self) -> &StackKey {
        &self.key
    }

    /// Returns the engine.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns the plan for a goal. Changes nothing, and needs no lock.
    pub async fn preview(
        &self,
        goal: Goal<'_>,
        options: &PlanOptions,
    ) -> Result<Previewed, EngineError> {
        let state = self.engine.store.read(&self.key).await?;
        let mut scope = self.scope();
        let span = scope.log.span();
        scope.plan_goal(goal, state, options).instrument(span).await
    }

    /// Locks the stack, and recovers an interrupted operation.
    pub async fn lock(&self, options: &RunOptions) -> Result<LockedStack, EngineError> {
        LockedStack::open(self, options).await
    }

    /// Recovers an interrupted operation, if there is one, so that the next plan starts from the
    /// recorded state.
    pub async fn recover(&self, options: &RunOptions) -> Result<(), EngineError> {
        let state = self.engine.store.read(&self.key).await?;
        if state.pending.is_empty() && state.releases.iter().all(|it| it.ended.is_some()) {
            return Ok(());
        }
        self.lock(options).await?.release().await
    }

    /// Checks that a resource is recorded.
    pub async fn recorded(&self, id: &ResourceId) -> Result<(), EngineError> {
        recorded(&self.state().await?, id).map(drop)
    }

    /// Removes all resources from the state, and ends interrupted operations; no object is looked
    /// at or changed.
    pub async fn forget_all(&self, options: &RunOptions) -> Result<(), EngineError> {
        forget_all(self, options).await
    }

    /// Returns the recorded state of the stack. The state on a temporary infrastructure that was
    /// replaced is discarded, and a release whose process has ended is interrupted; no other calls
    /// are made.
    pub async fn state(&self) -> Result<StackState, EngineError> {
        let mut state = self.engine.store.read(&self.key).await?;
        if self.key.place.is_temporary() && !state.infrastructure.is_empty() {
            let mut scope = self.scope();
            let names = state.infrastructure.keys().cloned();
            scope.start(names.map(|it| (it, ResourceId::new(""))).collect()).await?;
            scope.check_place(&mut state, false)?;
        }
        let is_open = state.releases.iter().any(|it| it.phase == Phase::Running);
        if is_open && !self.engine.store.is_locked(&self.key).await? {
            let open = state.releases.iter_mut().filter(|it| it.phase == Phase::Running);
            open.for_each(|it| it.phase = Phase::Interrupted);
        }
        Ok(state)
    }

    /// Returns the Spec of a release, with sealed secrets.
    pub async fn sealed_spec(&self, revision: u64) -> Result<Spec, EngineError> {
        let spec = self.engine.store.spec(&self.key, revision).await?;
        spec.ok_or(EngineError::NoRelease { revision })
    }

    /// Returns the Spec of a release, with sealed secrets, and the source locations of its values.
    pub async fn sealed_spec_with_origins(
        &self,
        revision: u64,
    ) -> Result<(Spec, Origins), EngineError> {
        let stored = self.engine.store.spec_with_origins(&self.key, revision).await?;
        let (spec, origins) = stored.ok_or(EngineError::NoRelease { revision })?;
        let origins = origins.by_path(&spec);
        Ok((spec, origins))
    }

    /// Returns the events of a release, in order.
    pub async fn replay(&self, revision: u64) -> Result<Vec<StampedEvent>, EngineError> {
        if let Some(events) = self.engine.store.events(&self.key, revision).await? {
            return Ok(events);
        }
        let records = self.engine.store.records(&self.key).await?;
        let events = replay::of_records(&records, revision);
        if events.is_empty() { Err(EngineError::NoRelease { revision }) } else { Ok(events) }
    }

    /// Creates the context of an operation that needs no lock.
    pub(crate) fn scope(&self) -> Scope {
        let sink = std::sync::Arc::clone(&self.engine.events);
        let log = EventLog::passing(self.key.clone(), kusion_store::new_id(), sink);
        Scope::new(self, log)
    }
}
