//! A locked stack, which no other process can change.

use crate::desired::Desired;
use crate::error::EngineError;
use crate::event::{Event, Outcome};
use crate::execute::Execution;
use crate::failpoints::Failpoint;
use crate::log::EventLog;
use crate::moves::records_of;
use crate::operation::{LockOptions, RunOptions};
use crate::preview::{Goal, Previewed};
use crate::report::Report;
use crate::saved::SavedPlanError;
use crate::scope::Scope;
use crate::stack::Stack;
use base_text::nearest;
use futures::FutureExt as _;
use kusion_model::{
    Ending, FieldPath, Origin, Origins, Phase, Plan, PlanOptions, PolicyDecision, Record,
    ReleaseHead, ResourceId, ResourceState, SpecOrigins, StackSource,
};
use kusion_plan::Refusal;
use kusion_store::{LockWait, Session, StackState};
use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::Arc;
use tracing::Instrument as _;

/// A stack that this process has locked, for one operation. The lock is released after the
/// operation, or shortly after a drop.
pub struct LockedStack {
    scope: Scope,
    session: Session,
    state: StackState,
    options: RunOptions,
}

impl LockedStack {
    pub(crate) async fn open(stack: &Stack, options: &RunOptions) -> Result<Self, EngineError> {
        let session = acquire(stack, options).await?;
        let engine = &stack.engine;
        engine.failpoints.pass(Failpoint::Locked, None);
        let key = stack.key().clone();
        let operation = session.operation().clone();
        let log = EventLog::keeping(key, operation, Arc::clone(&engine.events));
        log.emit(Event::Locked);
        let mut scope = Scope::new(stack, log);
        let span = scope.log.span();
        let done = prepare(&mut scope, &session, &options.lock).instrument(span).await;
        match done {
            Ok(state) => Ok(Self { scope, session, state, options: options.clone() }),
            Err(error) => leave(session, Err(error)).await,
        }
    }

    /// Makes the plan for a goal.
    pub async fn plan(
        &mut self,
        goal: Goal<'_>,
        options: &PlanOptions,
    ) -> Result<Previewed, EngineError> {
        let span = self.scope.log.span();
        self.scope.plan_goal(goal, self.state.clone(), options).instrument(span).await
    }

    /// Accepts a plan that was made before the stack was locked, if nothing has changed since.
    pub async fn check(&mut self, previewed: Previewed) -> Result<Previewed, EngineError> {
        let (state, moves) = self.moved(&previewed.plan, &previewed.desired).await?;
        let live = self.check_moved(&previewed.plan, &state).await?;
        self.scope.learn_secrets(&previewed.desired, &live, &state)?;
        // Time has passed, which policies may depend on.
        let Previewed { mut plan, mut refusals, origins, .. } = previewed;
        refusals.retain(|it| !matches!(it, Refusal::Policy { .. }));
        let scope = &self.scope;
        refusals.extend(scope.evaluate_policies(&mut plan, &live, &state, &origins, &[])?);
        let (desired, saved) = (previewed.desired, previewed.saved);
        Ok(Previewed { plan, refusals, desired, origins, live, state, moves, saved })
    }

    /// Accepts a saved plan, if nothing has changed since it was made. Guards are checked again, and
    /// policies are evaluated again. `digest` is the fingerprint of its file, `decisions` are those
    /// about it.
    pub async fn load(
        &mut self,
        mut plan: Plan,
        digest: &str,
        decisions: &[PolicyDecision],
    ) -> Result<Previewed, EngineError> {
        if plan.key != self.scope.key {
            let stack = Box::new(plan.key);
            return Err(SavedPlanError::OtherStack { stack }.into());
        }
        let sealed = desired_of(&plan);
        let (state, moves) = self.moved(&plan, &sealed).await?;
        let live = self.check_moved(&plan, &state).await?;
        let mut desired = Desired::new();
        for (id, resource) in &sealed {
            desired.insert(id.clone(), self.scope.unsealed(resource)?);
        }
        self.scope.check_source(&state)?;
        self.scope.learn_secrets(&desired, &live, &state)?;
        let mut refusals = self.scope.refusals(&plan, &state).await?;
        let (scope, origins) = (&self.scope, recorded_origins(&plan));
        refusals.extend(scope.evaluate_policies(&mut plan, &live, &state, &origins, decisions)?);
        let saved = Some(digest.to_owned());
        Ok(Previewed { plan, refusals, desired, origins, live, state, moves, saved })
    }

    /// Returns the state with the moves of a plan, and their records.
    async fn moved(
        &mut self,
        plan: &Plan,
        desired: &Desired,
    ) -> Result<(StackState, Vec<Record>), EngineError> {
        let mut state = self.state.clone();
        self.scope.start_for(&state, desired).await?;
        let moves = self.scope.apply_moves(&mut state, &plan.options.moved, desired)?;
        Ok((state, moves))
    }

    async fn check_moved(
        &self,
        plan: &Plan,
        state: &StackState,
    ) -> Result<crate::observe::LiveObjects, EngineError> {
        self.scope.check_moved(plan, state, &desired_of(plan)).await
    }

    /// Runs a plan as one release, and releases the lock. A plan without changes creates no
    /// release.
    pub async fn run(self, previewed: Previewed) -> Result<Report, EngineError> {
        let Self { mut scope, session, state, options } = self;
        let span = scope.log.span();
        let work = async {
            if !previewed.refusals.is_empty() {
                return Err(EngineError::refused(previewed.refusals));
            }
            scope.start_for(&state, &previewed.desired).await?;
            if previewed.plan.is_empty() {
                session.append(previewed.moves.clone()).await?;
                scope.record_without_calls(&session, &previewed).await?;
                return Ok(Report::of_nothing(&previewed));
            }
            execute(&scope, &session, &previewed, &options).await
        };
        let done = work.instrument(span).await;
        leave(session, done).await
    }

    /// Removes resources from the state; their objects are left alone. Returns those that were
    /// recorded.
    pub async fn forget(&mut self, ids: &[ResourceId]) -> Result<Vec<ResourceId>, EngineError> {
        let known = |it: &&ResourceId| self.state.resources.contains_key(*it);
        let found: Vec<ResourceId> = ids.iter().filter(known).cloned().collect();
        let gone = |id: &ResourceId| Record::Noted { id: id.clone(), ending: Ending::Absent };
        if !found.is_empty() {
            self.session.append(found.iter().map(gone).collect()).await?;
            self.state = self.session.state();
        }
        Ok(found)
    }

    /// Gives a recorded resource another id. Its object is not changed.
    ///
    /// # Errors
    ///
    /// If it is not recorded, the new id is recorded already, or is the one of another object.
    pub async fn rename(&mut self, from: &ResourceId, to: &ResourceId) -> Result<(), EngineError> {
        let recorded = recorded(&self.state, from)?;
        if self.state.resources.contains_key(to) {
            return Err(EngineError::AlreadyRecorded { id: to.clone() });
        }
        let moved = self.scope.renamed(recorded, to)?;
        self.session.append(records_of(from, &moved).to_vec()).await?;
        self.state = self.session.state();
        Ok(())
    }

    /// Records where the files of the stack are now; `None` if they were there before, or if
    /// nothing tells where they are.
    pub async fn move_source(&mut self) -> Result<Option<StackSource>, EngineError> {
        let Some(record) = self.scope.source_record(&self.state) else { return Ok(None) };
        self.session.append(vec![record]).await?;
        self.state = self.session.state();
        Ok(self.state.source.clone())
    }

    /// Releases the lock without a change.
    pub async fn release(self) -> Result<(), EngineError> {
        leave(self.session, Ok(())).await
    }
}

/// Returns the desired resources of a plan, with sealed secrets.
fn desired_of(plan: &Plan) -> Desired {
    let steps = plan.steps.iter();
    steps.filter_map(|step| Some((step.id.clone(), step.desired.clone()?))).collect()
}

/// Returns the source locations that a saved plan has: those of its changes and findings.
fn recorded_origins(plan: &Plan) -> Origins {
    let mut table: BTreeMap<ResourceId, BTreeMap<FieldPath, Origin>> = BTreeMap::new();
    for step in &plan.steps {
        for change in &step.changes {
            if let Some(origin) = &change.origin {
                table
                    .entry(step.id.clone())
                    .or_default()
                    .insert(change.path.clone(), origin.clone());
            }
        }
    }
    for finding in plan.policies.iter().flat_map(|it| &it.findings) {
        if let (Some(id), Some(origin)) = (&finding.resource, &finding.origin) {
            table.entry(id.clone()).or_default().insert(finding.path.clone(), origin.clone());
        }
    }
    Origins::new(table)
}

/// Returns a recorded resource.
pub(crate) fn recorded<'a>(
    state: &'a StackState,
    id: &ResourceId,
) -> Result<&'a ResourceState, EngineError> {
    let near = || {
        let known = state.resources.keys().map(ResourceId::as_str);
        nearest(id.as_str(), known).map(ResourceId::from)
    };
    let found = state.resources.get(id);
    found.ok_or_else(|| EngineError::NotRecorded { id: id.clone(), near: near() })
}

/// Removes all resources from the state of a stack, and ends interrupted operations.
pub(crate) async fn forget_all(stack: &Stack, options: &RunOptions) -> Result<(), EngineError> {
    let session = acquire(stack, options).await?;
    let state = session.state();
    let ended = state.pending.into_iter().map(|it| Record::StepEnded {
        attempt: it.attempt,
        id: it.id,
        ending: Ending::Absent,
    });
    let gone = state.resources.into_keys().map(|id| Record::Noted { id, ending: Ending::Absent });
    let open = state.releases.iter().filter(|it| it.phase == Phase::Running);
    let closed = open.map(|it| Record::ReleaseClosed {
        revision: it.head.revision,
        phase: Phase::Interrupted,
        message: "the stack was forgotten".to_owned(),
    });
    let records: Vec<Record> = ended.chain(gone).chain(closed).collect();
    let appended = if records.is_empty() { Ok(0) } else { session.append(records).await };
    leave(session, appended.map(drop).map_err(EngineError::from)).await
}

/// Acquires the lock. The user can stop the wait for another lock holder.
pub(crate) async fn acquire(stack: &Stack, options: &RunOptions) -> Result<Session, EngineError> {
    let lock = options.lock.clone();
    let acquired = stack.engine.store.lock(stack.key(), lock.holder, lock.wait);
    if lock.wait == LockWait::No {
        return Ok(acquired.await?);
    }
    tokio::select! {
        session = acquired => Ok(session?),
        () = options.stop.wait() => Err(EngineError::Stopped),
    }
}

/// Checks that the stack is on its recorded infrastructure, and recovers an interrupted operation.
async fn prepare(
    scope: &mut Scope,
    session: &Session,
    options: &LockOptions,
) -> Result<StackState, EngineError> {
    let mut state = session.state();
    scope.start_for(&state, &Desired::new()).await?;
    let infrastructure = scope.check_place(&mut state, options.relocate)?;
    if !infrastructure.is_empty() {
        session.append(vec![Record::Located { infrastructure, is_new: true }]).await?;
    }
    scope.recover(session, &options.settle).await
}

/// Releases the lock in any case. An earlier error takes precedence over an error of the release.
async fn leave<T>(session: Session, done: Result<T, EngineError>) -> Result<T, EngineError> {
    let closed = session.close().await;
    let done = done?;
    closed?;
    Ok(done)
}

/// Runs the steps of a plan as one release.
async fn execute(
    scope: &Scope,
    session: &Session,
    previewed: &Previewed,
    options: &RunOptions,
) -> Result<Report, EngineError> {
    let plan = &previewed.plan;
    let engine = &scope.engine;
    let revision = previewed.state.next_revision();
    let sealed = scope.sealed_spec(&previewed.desired)?;
    let origins = SpecOrigins::of(&sealed, &previewed.origins);
    session.put_spec(revision, &sealed, &origins).await?;
    let mut records = Vec::new();
    let infrastructure = scope.news(&previewed.state);
    if !infrastructure.is_empty() {
        records.push(Record::Located { infrastructure, is_new: false });
    }
    records.extend(scope.source_record(&previewed.state));
    records.extend(previewed.moves.iter().cloned());
    records.push(Record::ReleaseOpened(ReleaseHead {
        revision,
        operation: plan.operation,
        operator: options.lock.holder.to_string(),
        engine: env!("CARGO_PKG_VERSION").to_owned(),
        spec_digest: plan.spec_digest.clone(),
        plan_digest: engine.sealer.hash_of(plan),
        saved_plan: previewed.saved.clone(),
        message: options.note.message.clone(),
        git: options.note.git.clone(),
    }));
    session.append(records).await?;
    engine.failpoints.pass(Failpoint::Opened, None);
    let steps = plan.steps.iter().filter(|step| step.action.is_change()).count();
    scope.log.emit(Event::ReleaseOpened { revision, operation: plan.operation, steps });
    let run = async {
        let execution = Execution::new(scope, session, previewed, revision, options);
        execution.run().await
    };
    let end = End::of(AssertUnwindSafe(run).catch_unwind().await, options);
    let (phase, message) = (end.phase, end.message.clone());
    let record = Record::ReleaseClosed { revision, phase, message: message.clone() };
    let closed = session.append(vec![record]).await;
    engine.failpoints.pass(Failpoint::Closed, None);
    scope.log.emit(Event::ReleaseClosed { revision, phase, message });
    let kept = match &closed {
        Ok(_) => session.put_events(revision, &scope.log.take()).await,
        Err(_) => Ok(()),
    };
    let report = end.into_report()?;
    closed?;
    kept?;
    Ok(report)
}

/// The phase of a release by the outcomes of its steps.
struct End {
    phase: Phase,
    message: String,
    result: Result<Result<Report, EngineError>, Box<dyn Any + Send>>,
}

impl End {
    fn of(
        result: Result<Result<Report, EngineError>, Box<dyn Any + Send>>,
        options: &RunOptions,
    ) -> Self {
        let (phase, message) = match &result {
            Ok(Ok(report)) => (phase(report, options), report.summary()),
            Ok(Err(error)) => (Phase::Failed, error.to_string()),
            Err(_) => (Phase::Failed, "internal error: the operation panicked".to_owned()),
        };
        Self { phase, message, result }
    }

    fn into_report(self) -> Result<Report, EngineError> {
        match self.result {
            Ok(done) => done.map(|report| Report { phase: self.phase, ..report }),
            Err(panic) => resume_unwind(panic),
        }
    }
}

fn phase(report: &Report, options: &RunOptions) -> Phase {
    let has = |outcome: Outcome| report.steps.iter().any(|step| step.outcome == outcome);
    if has(Outcome::Failed) || has(Outcome::Unknown) {
        Phase::Failed
    } else if has(Outcome::Skipped) && options.stop.is_asked() {
        Phase::Stopped
    } else if has(Outcome::Skipped) {
        Phase::Failed
    } else {
        Phase::Succeeded
    }
}
