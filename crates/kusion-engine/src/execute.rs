//! Executes the steps of a plan.

use crate::call::{Call, CallEnd};
use crate::error::{EngineError, Finding};
use crate::event::{Event, Outcome};
use crate::failpoints::Failpoint;
use crate::hooks::without_run;
use crate::operation::RunOptions;
use crate::ownership::is_taken_over;
use crate::preview::Previewed;
use crate::references::References;
use crate::report::{Report, StepReport, watched};
use crate::schedule::{Schedule, StepIndexes};
use crate::scope::Scope;
use crate::stages::Stages;
use crate::watch::Watched;
use futures::FutureExt as _;
use futures::stream::{self, FuturesUnordered, StreamExt as _};
use kusion_model::{
    Action, AttemptId, Description, Ending, Leftover, Note, Phase, Reason, Record, ReplaceOrder,
    Resource, ResourceId, ResourceState, ResourceType, Step,
};
use kusion_runtime::{Change, Live, RuntimeError};
use kusion_store::Session;
use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;
use tracing::Instrument as _;

/// The execution of a plan.
pub(crate) struct Execution<'a> {
    scope: &'a Scope,
    session: &'a Session,
    previewed: &'a Previewed,
    revision: u64,
    options: &'a RunOptions,
    references: References,
    /// Limits of concurrent calls, by resource type.
    limits: BTreeMap<ResourceType, Limit>,
    /// Whether no more calls are started, because a step failed.
    is_over: AtomicBool,
    places: StepIndexes<'a>,
    stages: Stages<'a>,
    /// Number of started attempts.
    attempts: AtomicU64,
    /// The live objects, as returned by the latest call.
    live: Mutex<HashMap<ResourceId, Live>>,
    /// When it started, RFC 3339.
    started: String,
}

/// The limit of concurrent calls of one runtime.
struct Limit {
    calls: usize,
    room: Semaphore,
}

impl Limit {
    fn new(calls: usize) -> Self {
        Self { calls, room: Semaphore::new(calls) }
    }

    /// The number of concurrent steps: more than calls, because some steps are being recorded while
    /// others call. One if only one call is allowed at a time.
    fn steps(&self) -> usize {
        if self.calls == 1 { 1 } else { 3 * self.calls }
    }
}

/// The outcome of a step.
struct StepEnd {
    outcome: Outcome,
    message: String,
    warnings: Vec<String>,
}

impl StepEnd {
    fn done(warnings: Vec<String>) -> Self {
        Self { outcome: Outcome::Done, message: String::new(), warnings }
    }

    fn failed(message: String) -> Self {
        Self { outcome: Outcome::Failed, message, warnings: Vec::new() }
    }

    fn skipped(message: String) -> Self {
        Self { outcome: Outcome::Skipped, message, warnings: Vec::new() }
    }
}

impl<'a> Execution<'a> {
    pub(crate) fn new(
        scope: &'a Scope,
        session: &'a Session,
        previewed: &'a Previewed,
        revision: u64,
        options: &'a RunOptions,
    ) -> Self {
        let limits = scope
            .runtimes()
            .map(|(name, it)| (name.clone(), Limit::new(it.parallel_calls().max(1))))
            .collect();
        let steps = previewed.plan.steps.iter().enumerate();
        let live = previewed.live.iter().map(|(id, live)| (id.clone(), live.clone())).collect();
        Self {
            scope,
            session,
            previewed,
            revision,
            options,
            references: References::index(&previewed.desired),
            limits,
            is_over: AtomicBool::new(false),
            places: steps.map(|(place, step)| (&step.id, place)).collect(),
            stages: Stages::new(scope, &previewed.plan.steps),
            attempts: AtomicU64::new(0),
            live: Mutex::new(live),
            started: kusion_store::now(),
        }
    }

    /// Runs all steps, each after the steps that it waits for.
    pub(crate) async fn run(self) -> Result<Report, EngineError> {
        let steps = &self.previewed.plan.steps;
        let mut ends: Vec<Option<StepEnd>> = steps.iter().map(|_| None).collect();
        let early = self.early_steps();
        if !early.is_empty() {
            self.walk(early, &mut ends).await?;
            self.dry_run_late(&mut ends).await?;
        }
        for mask in self.stages.masks(steps, |id| self.places.get(id).copied()) {
            self.walk(mask, &mut ends).await?;
            self.stop_after_failure(&mut ends);
        }
        self.walk(vec![true; steps.len()], &mut ends).await?;
        self.scope.record_without_calls(self.session, self.previewed).await?;
        let reports = steps
            .iter()
            .zip(ends)
            .filter(|(step, _)| step.action.is_change())
            .map(|(step, end)| {
                let end = end.unwrap_or_else(|| StepEnd::skipped("not started".to_owned()));
                StepReport {
                    id: step.id.clone(),
                    action: step.action,
                    outcome: end.outcome,
                    message: end.message,
                }
            })
            .collect();
        let live = self.live.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut live: Vec<Watched> =
            live.into_iter().filter_map(|(id, live)| watched(self.previewed, id, live)).collect();
        live.sort_by(|a, b| a.id.cmp(&b.id));
        let (revision, started) = (Some(self.revision), Some(self.started));
        Ok(Report { revision, phase: Phase::Running, started, steps: reports, live })
    }

    /// Skips all other steps if one of a stage failed.
    fn stop_after_failure(&self, ends: &mut [Option<StepEnd>]) {
        let is_bad = |end: &StepEnd| matches!(end.outcome, Outcome::Failed | Outcome::Unknown);
        let failed = ends.iter().position(|end| end.as_ref().is_some_and(is_bad));
        let Some(reason) = failed.and_then(|place| self.reason(place, ends)) else { return };
        for place in 0..ends.len() {
            if ends[place].is_none() {
                self.finish(place, StepEnd::skipped(reason.clone()), ends);
            }
        }
    }

    /// Marks the steps that must end before deferred dry runs can be made. Empty if no dry run was
    /// deferred.
    fn early_steps(&self) -> Vec<bool> {
        let steps = &self.previewed.plan.steps;
        let mut open: Vec<&ResourceId> =
            steps.iter().filter(|step| is_deferred(step)).flat_map(|step| &step.after).collect();
        if open.is_empty() {
            return Vec::new();
        }
        let mut early = vec![false; steps.len()];
        while let Some(id) = open.pop() {
            // A step that waits for a dry run is not an early step.
            if let Some(&place) = self.places.get(id)
                && !is_deferred(&steps[place])
                && !std::mem::replace(&mut early[place], true)
            {
                open.extend(&steps[place].after);
            }
        }
        early
    }

    /// Makes the deferred dry runs. If the infrastructure rejects one, no other step is started.
    async fn dry_run_late(&self, ends: &mut [Option<StepEnd>]) -> Result<(), EngineError> {
        let steps = &self.previewed.plan.steps;
        let late: Vec<usize> = (0..steps.len())
            .filter(|&place| is_deferred(&steps[place]) && ends[place].is_none())
            .collect();
        let mut answers = stream::iter(
            late.into_iter().map(|place| async move { (place, self.dry_run(&steps[place]).await) }),
        )
        .buffer_unordered(self.limits.values().map(|it| it.calls).sum::<usize>().max(1));
        let mut refused = Vec::new();
        while let Some((place, answer)) = answers.next().await {
            if let Err(message) = answer? {
                refused.push((place, message));
            }
        }
        drop(answers);
        if refused.is_empty() {
            return Ok(());
        }
        for (place, message) in refused {
            self.finish(place, StepEnd::failed(message), ends);
        }
        for place in 0..steps.len() {
            if ends[place].is_none() && steps[place].action.is_change() {
                let message = "other resources were rejected".to_owned();
                self.finish(place, StepEnd::skipped(message), ends);
            }
        }
        Ok(())
    }

    async fn dry_run(&self, step: &Step) -> Result<Result<(), String>, EngineError> {
        let Some(desired) = self.previewed.desired.get(&step.id) else { return Ok(Ok(())) };
        let runtime = self.scope.runtime(&step.id, &step.resource_type)?;
        let (force, take_over) = (self.force(), self.is_taken_over(&step.id));
        let change = Change { force, take_over, ..Change::new(desired) };
        Ok(match runtime.dry_run(change).await {
            Ok(result) if !result.conflicts.is_empty() && !force && !take_over => {
                let conflict = RuntimeError::Conflict(result.conflicts);
                Err(self.scope.hide(&step.id, &conflict.to_string()))
            }
            // Its requirement was not created; its own step reports that.
            Ok(_) | Err(RuntimeError::Missing(_)) => Ok(()),
            Err(fault) if fault.is_transient() => Ok(()),
            Err(fault) => Err(self.fault_text(step, &fault)),
        })
    }

    /// Returns the message of a failed call, with the source location of an invalid resource.
    fn fault_text(&self, step: &Step, fault: &RuntimeError) -> String {
        let text = self.scope.hide(&step.id, &fault.to_string());
        match (fault, &step.origin) {
            (RuntimeError::Rejected(_), Some(origin)) => format!("{origin}: {text}"),
            _ => text,
        }
    }

    fn force(&self) -> bool {
        self.previewed.plan.options.force
    }

    fn is_taken_over(&self, id: &ResourceId) -> bool {
        is_taken_over(id, &self.previewed.plan.options.take_over)
    }

    /// Runs the chosen steps that have not ended.
    async fn walk(
        &self,
        mut chosen: Vec<bool>,
        ends: &mut [Option<StepEnd>],
    ) -> Result<(), EngineError> {
        let steps = &self.previewed.plan.steps;
        for (chosen, end) in chosen.iter_mut().zip(&*ends) {
            *chosen &= end.is_none();
        }
        let limit = |it: &ResourceType| self.limits.get(it).map_or(1, Limit::steps);
        let ended = |place: usize| ends[place].is_some();
        let mut schedule = Schedule::new(steps, &self.places, chosen, ended, limit);
        let mut running = FuturesUnordered::new();
        loop {
            while let Some(place) = schedule.begin() {
                let reason = self.hindrance().map(str::to_owned);
                let reason = reason.or_else(|| self.missing(place, ends));
                let is_kept = !steps[place].action.is_change();
                let end = match reason {
                    None if is_kept && self.stages.waits(place, &steps[place]) => {
                        running.push(self.traced_step(place).boxed());
                        continue;
                    }
                    _ if is_kept => StepEnd::done(Vec::new()),
                    Some(reason) => StepEnd::skipped(reason),
                    None => {
                        running.push(self.traced_step(place).boxed());
                        continue;
                    }
                };
                self.finish(place, end, ends);
                schedule.end(place);
            }
            let Some((place, end)) = running.next().await else { break };
            let end = end?;
            if end.outcome != Outcome::Done && !self.options.keep_going {
                self.is_over.store(true, Ordering::Relaxed);
            }
            self.finish(place, end, ends);
            schedule.end(place);
        }
        Ok(())
    }

    /// Returns why no more calls are started, if that is so.
    fn hindrance(&self) -> Option<&'static str> {
        if self.is_over.load(Ordering::Relaxed) {
            Some("an earlier step failed")
        } else if self.options.stop.is_asked() {
            Some("the operation was stopped")
        } else {
            None
        }
    }

    /// Returns which of the steps that a step waits for did not succeed.
    fn missing(&self, place: usize, ends: &[Option<StepEnd>]) -> Option<String> {
        let step = &self.previewed.plan.steps[place];
        step.after.iter().find_map(|id| self.reason(*self.places.get(id)?, ends))
    }

    /// Returns why a step did not succeed, for those that wait for it.
    fn reason(&self, place: usize, ends: &[Option<StepEnd>]) -> Option<String> {
        let step = &self.previewed.plan.steps[place];
        let end = ends[place].as_ref().filter(|end| end.outcome != Outcome::Done)?;
        Some(match end.outcome {
            Outcome::Skipped => format!("{} was skipped", step.id),
            // It has no step of its own in the report.
            _ if !step.action.is_change() => format!("{} is not ready: {}", step.id, end.message),
            _ => format!("{} failed", step.id),
        })
    }

    fn finish(&self, place: usize, end: StepEnd, ends: &mut [Option<StepEnd>]) {
        let step = &self.previewed.plan.steps[place];
        if step.action.is_change() {
            self.scope.log.emit(Event::StepEnded {
                id: step.id.clone(),
                action: step.action,
                outcome: end.outcome,
                message: end.message.clone(),
                warnings: end.warnings.clone(),
            });
        }
        ends[place] = Some(end);
    }

    /// Runs one step in its own tracing span.
    async fn traced_step(&self, place: usize) -> (usize, Result<StepEnd, EngineError>) {
        let step = &self.previewed.plan.steps[place];
        let span = tracing::info_span!("step", id = %step.id, action = ?step.action);
        (place, self.step_until_ready(place, step).instrument(span).await)
    }

    /// Runs one step, and waits until its resource is ready if others wait for that. A hook that
    /// failed runs again in the next operation.
    async fn step_until_ready(&self, place: usize, step: &Step) -> Result<StepEnd, EngineError> {
        let end = if step.action.is_change() {
            self.step(step).await?
        } else {
            StepEnd::done(Vec::new())
        };
        if end.outcome != Outcome::Done || !self.stages.waits(place, step) {
            return Ok(end);
        }
        let described = &self.stages.described[place];
        let end = self.wait_until_ready(step, described, end).await;
        if end.outcome == Outcome::Failed && described.hook.is_some() {
            let state = self.session.with_state(|it| it.resources.get(&step.id).cloned());
            if let Some(state) = state {
                let ending = Ending::Present(Box::new(without_run(state)));
                self.session.append(vec![Record::Noted { id: step.id.clone(), ending }]).await?;
            }
        }
        Ok(end)
    }

    /// Runs one step that changes something.
    async fn step(&self, step: &Step) -> Result<StepEnd, EngineError> {
        if let Reason::Unreachable { message } = &step.reason {
            return Ok(StepEnd::failed(message.clone()));
        }
        let desired = match self.previewed.desired.get(&step.id) {
            None => None,
            Some(resource) => match self.resolved(step, resource) {
                Ok(resource) => Some(resource),
                Err(finding) => return Ok(StepEnd::failed(finding.message)),
            },
        };
        let desired = desired.filter(|_| step.action != Action::Delete);
        let sealed = desired.as_ref().map(|it| self.scope.sealed(it)).transpose()?;
        let mut recorded = self.recorded(step);
        if step.action == Action::Delete
            && let Some(state) = recorded.as_mut().filter(|it| !it.leftovers.is_empty())
        {
            let end = StepEnd::done(Vec::new());
            let end = self.delete_leftovers(step, state.clone(), end).await?;
            if end.outcome != Outcome::Done {
                return Ok(end);
            }
            state.leftovers.clear();
        }
        let prior = recorded.as_ref().map(|it| self.scope.prior_for_runtime(it));
        let described = desired.as_ref().map(|it| self.scope.describe(it)).unwrap_or_default();
        let attempt = self.next_attempt();
        self.session
            .append(vec![Record::StepBegan {
                attempt,
                id: step.id.clone(),
                action: step.action,
                desired: sealed.clone().map(Box::new),
                replace_order: described.replace_order,
            }])
            .await?;
        self.scope.engine.failpoints.pass(Failpoint::Began, Some(&step.id));
        let runtime = self.scope.runtime(&step.id, &step.resource_type)?;
        let call = Call {
            scope: self.scope,
            session: self.session,
            runtime: runtime.as_ref(),
            id: &step.id,
            action: step.action,
            desired: desired.as_ref(),
            prior: prior.as_ref(),
            live: self.previewed.live.get(&step.id),
            replace_order: described.replace_order,
            attempt,
            force: self.force(),
            take_over: self.is_taken_over(&step.id),
            retry_policy: self.options.retry_policy_of(&described),
            stop: &self.options.stop,
            waits_for: Mutex::default(),
        };
        let Some(end) = self.make(step, &call).await? else {
            return self.leave_out(step, attempt).await;
        };
        self.scope.engine.failpoints.pass(Failpoint::Called, Some(&step.id));
        let target = CallTarget { sealed, recorded, replace_order: described.replace_order };
        let (end, state) = self.record(step, attempt, target, end).await?;
        self.scope.engine.failpoints.pass(Failpoint::Ended, Some(&step.id));
        if end.outcome != Outcome::Done {
            return Ok(end);
        }
        match state.filter(|it| !it.leftovers.is_empty()) {
            Some(state) => {
                self.scope.engine.failpoints.pass(Failpoint::Created, Some(&step.id));
                self.delete_leftovers(step, state, end).await
            }
            None => Ok(end),
        }
    }

    fn next_attempt(&self) -> AttemptId {
        let step = self.attempts.fetch_add(1, Ordering::Relaxed) + 1;
        AttemptId { revision: self.revision, step }
    }

    /// Deletes the objects that replacements left behind, one after the other.
    async fn delete_leftovers(
        &self,
        step: &Step,
        mut state: ResourceState,
        end: StepEnd,
    ) -> Result<StepEnd, EngineError> {
        let runtime = self.scope.runtime(&step.id, &step.resource_type)?;
        while let Some(leftover) = state.leftovers.first().cloned() {
            let attempt = self.next_attempt();
            self.session
                .append(vec![Record::StepBegan {
                    attempt,
                    id: step.id.clone(),
                    action: Action::Delete,
                    desired: None,
                    replace_order: ReplaceOrder::default(),
                }])
                .await?;
            let Leftover { identity, runtime: data } = leftover;
            let old = ResourceState { identity, runtime: data, ..state.clone() };
            let old = self.scope.prior_for_runtime(&old);
            let call = Call {
                scope: self.scope,
                session: self.session,
                runtime: runtime.as_ref(),
                id: &step.id,
                action: Action::Delete,
                desired: None,
                prior: Some(&old),
                live: None,
                replace_order: ReplaceOrder::default(),
                attempt,
                force: false,
                take_over: false,
                retry_policy: self.options.retry_policy(),
                stop: &self.options.stop,
                waits_for: Mutex::default(),
            };
            let fault = match call.make().await {
                CallEnd::Absent(None) => {
                    state.leftovers.remove(0);
                    None
                }
                CallEnd::Absent(Some(fault)) | CallEnd::Failed(fault) | CallEnd::Unknown(fault) => {
                    Some(self.scope.hide(&step.id, &fault.to_string()))
                }
                CallEnd::Present(_) => Some("the replaced object still exists".to_owned()),
            };
            // The new object exists, whether or not the old one was deleted.
            let ending = Ending::Present(Box::new(state.clone()));
            let id = step.id.clone();
            self.session.append(vec![Record::StepEnded { attempt, id, ending }]).await?;
            if let Some(message) = fault {
                let message = format!("cannot delete the replaced object: {message}");
                return Ok(StepEnd { warnings: end.warnings, ..StepEnd::failed(message) });
            }
        }
        Ok(end)
    }

    /// Makes a call as soon as the limit of its runtime allows; returns `None` if no more calls are
    /// started by then.
    async fn make(&self, step: &Step, call: &Call<'_>) -> Result<Option<CallEnd>, EngineError> {
        let limit = self.limits.get(&step.resource_type);
        let permit = match limit {
            Some(limit) => limit.room.acquire().await.ok(),
            None => None,
        };
        if self.hindrance().is_some() {
            return Ok(None);
        }
        self.session.check()?;
        // Every started event is followed by an ended event.
        self.scope.log.emit(Event::StepStarted { id: step.id.clone(), action: step.action });
        let end = call.make().await;
        drop(permit);
        Ok(Some(end))
    }

    /// Records that a started step made no call.
    async fn leave_out(&self, step: &Step, attempt: AttemptId) -> Result<StepEnd, EngineError> {
        let message = self.hindrance().unwrap_or_default().to_owned();
        let ending = Ending::Failed { message: message.clone() };
        let id = step.id.clone();
        self.session.append(vec![Record::StepEnded { attempt, id, ending }]).await?;
        Ok(StepEnd::skipped(message))
    }

    /// Returns the recorded state of the object that a step changes, or the state from the plan if
    /// it is not recorded yet.
    fn recorded(&self, step: &Step) -> Option<ResourceState> {
        let known = self.previewed.state.resources.get(&step.id).cloned();
        let live = self.previewed.live.get(&step.id);
        match (known, &step.identity, &step.desired) {
            // The identity of the live object may differ from the recorded one.
            (Some(known), Some(identity), _) => {
                Some(ResourceState { identity: identity.clone(), ..known })
            }
            (Some(known), None, _) => Some(known),
            (None, Some(identity), Some(desired)) if step.live_digest.is_some() => {
                let data = live.and_then(|it| it.runtime.clone());
                Some(ResourceState {
                    runtime: data.map(|it| self.scope.sealed_data(&step.id, it)),
                    ..ResourceState::new(desired.clone(), identity.clone(), self.revision)
                })
            }
            _ => None,
        }
        // A created or adopted object is not the recorded one.
        .filter(|_| !matches!(step.action, Action::Create | Action::Adopt))
    }

    /// Resolves references to values that are known by now.
    fn resolved(&self, step: &Step, resource: &Resource) -> Result<Resource, Finding> {
        let mut resource = resource.clone();
        self.references.resolve_live(&mut resource, &step.later, |reference| {
            let live = self.live.lock().ok()?;
            reference.find(&live.get(&reference.id)?.attributes).cloned()
        })?;
        Ok(resource)
    }

    /// Records the result of a call. Also returns the state of the resource if it exists.
    async fn record(
        &self,
        step: &Step,
        attempt: AttemptId,
        target: CallTarget,
        end: CallEnd,
    ) -> Result<(StepEnd, Option<ResourceState>), EngineError> {
        let hidden = |fault: &RuntimeError| self.fault_text(step, fault);
        let mut state = None;
        let (ending, end) = match end {
            CallEnd::Present(applied) => {
                let Some(resource) = target.sealed else {
                    return Ok((StepEnd::failed("it still exists".to_owned()), None));
                };
                let present = self.present(
                    step,
                    &applied.live,
                    resource,
                    target.recorded,
                    target.replace_order,
                )?;
                // An infrastructure may add secrets of its own, which others may refer to.
                if let Some(desired) = self.previewed.desired.get(&step.id) {
                    self.scope.learn(desired, &applied.live.attributes)?;
                }
                self.keep_live(&step.id, Some(applied.live));
                let warnings =
                    applied.warnings.iter().map(|it| self.scope.hide(&step.id, it)).collect();
                state = Some(present.clone());
                let end = match applied.failure {
                    None => StepEnd::done(warnings),
                    Some(failure) => {
                        let message = self.scope.hide(&step.id, &failure);
                        StepEnd { warnings, ..StepEnd::failed(message) }
                    }
                };
                (Ending::Present(Box::new(present)), end)
            }
            CallEnd::Absent(fault) => {
                self.keep_live(&step.id, None);
                let end = match fault {
                    None => StepEnd::done(Vec::new()),
                    Some(fault) => StepEnd::failed(hidden(&fault)),
                };
                (Ending::Absent, end)
            }
            CallEnd::Failed(fault) => {
                let message = hidden(&fault);
                (Ending::Failed { message: message.clone() }, StepEnd::failed(message))
            }
            // No end is recorded: the next run checks again.
            CallEnd::Unknown(fault) => {
                let (outcome, message) = (Outcome::Unknown, hidden(&fault));
                return Ok((StepEnd { outcome, message, warnings: Vec::new() }, None));
            }
        };
        let id = step.id.clone();
        self.session.append(vec![Record::StepEnded { attempt, id, ending }]).await?;
        Ok((end, state))
    }

    /// Returns the state to record for an object that a call created or updated.
    fn present(
        &self,
        step: &Step,
        live: &Live,
        resource: Resource,
        recorded: Option<ResourceState>,
        replace_order: ReplaceOrder,
    ) -> Result<ResourceState, EngineError> {
        let mut state = ResourceState::new(resource, live.identity.clone(), self.revision);
        if let Some(desired) = self.previewed.desired.get(&step.id) {
            state.secrets = self.scope.secrets(desired)?;
        }
        let data = live.runtime.clone();
        state.runtime = data.map(|it| self.scope.sealed_data(&step.id, it));
        if let Some(old) = recorded {
            state.leftovers = old.leftovers;
            if step.action == Action::Replace && replace_order == ReplaceOrder::CreateFirst {
                state.leftovers.push(Leftover { identity: old.identity, runtime: old.runtime });
            }
        }
        Ok(state)
    }

    fn keep_live(&self, id: &ResourceId, object: Option<Live>) {
        if let Ok(mut live) = self.live.lock() {
            match object {
                Some(object) => live.insert(id.clone(), object),
                None => live.remove(id),
            };
        }
    }

    /// Waits until an object is ready, because its dependents require that. Stopping the operation
    /// ends the wait; completed steps are kept.
    async fn wait_until_ready(
        &self,
        step: &Step,
        described: &Description,
        end: StepEnd,
    ) -> StepEnd {
        let live = self.live.lock().ok().and_then(|live| live.get(&step.id).cloned());
        let Some(live) = live else { return end };
        let (id, resource_type) = (step.id.clone(), step.resource_type.clone());
        let watched = Watched { id, resource_type, live };
        let settle = Duration::from_secs(described.settle_seconds.into());
        let timeout = described.timeout.unwrap_or(self.options.ready_timeout);
        let stop = &self.options.stop;
        match self.scope.wait_for(watched, settle, timeout, stop, &self.started).await {
            Ok(()) => end,
            Err(message) => StepEnd { warnings: end.warnings, ..StepEnd::failed(message) },
        }
    }
}

/// The desired result of a call.
struct CallTarget {
    sealed: Option<Resource>,
    recorded: Option<ResourceState>,
    replace_order: ReplaceOrder,
}

fn is_deferred(step: &Step) -> bool {
    let is_deferral = |note: &Note| matches!(note, Note::DryRunDeferred { .. });
    step.action.is_change() && step.notes.iter().any(is_deferral)
}

impl Scope {
    /// Records changes of the state that need no call.
    pub(crate) async fn record_without_calls(
        &self,
        session: &Session,
        previewed: &Previewed,
    ) -> Result<(), EngineError> {
        let records = records_without_calls(previewed);
        if !records.is_empty() {
            session.append(records).await?;
        }
        Ok(())
    }
}

/// Records a shared resource that exists already.
fn found(step: &Step, desired: &Resource) -> Option<Record> {
    let state = ResourceState::new(desired.clone(), step.identity.clone()?, 0);
    Some(Record::Noted { id: step.id.clone(), ending: Ending::Present(Box::new(state)) })
}

/// Returns the records that need no call: removed resources, shared ones that exist already, and
/// changed dependencies of unchanged resources.
pub(crate) fn records_without_calls(previewed: &Previewed) -> Vec<Record> {
    let record = |step: &Step| match (step.action, &step.desired) {
        (Action::Forget, _) => Some(Record::Noted { id: step.id.clone(), ending: Ending::Absent }),
        (Action::Keep, Some(desired)) => {
            let Some(known) = previewed.state.resources.get(&step.id) else {
                return found(step, desired);
            };
            let is_new = known.resource.depends_on != desired.depends_on
                || known.resource.extensions != desired.extensions;
            let state = || ResourceState { resource: desired.clone(), ..known.clone() };
            is_new.then(|| Record::Noted {
                id: step.id.clone(),
                ending: Ending::Present(Box::new(state())),
            })
        }
        _ => None,
    };
    previewed.plan.steps.iter().filter_map(record).collect()
}
