//! Walks the steps of a plan.

use crate::call::{Call, CallEnd, Patience};
use crate::engine::Engine;
use crate::error::{EngineError, Finding};
use crate::event::{Event, Outcome};
use crate::observe::UNREHEARSED;
use crate::operation::ApplyOptions;
use crate::points::Point;
use crate::preview::Previewed;
use crate::references::References;
use crate::report::{Report, StepReport, watched};
use crate::schedule::{Places, Schedule};
use crate::watch::Watched;
use futures::stream::{self, FuturesUnordered, StreamExt as _};
use kusion_model::{
    Action, Ending, OperationId, Phase, Record, Resource, ResourceId, ResourceState, ResourceType,
    Step,
};
use kusion_runtime::{Change, Live, RuntimeError};
use kusion_secret::Redactor;
use kusion_store::Session;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio::sync::Semaphore;

/// A walk over the steps of a plan.
pub(crate) struct Execution<'a> {
    engine: &'a Engine,
    session: &'a Session,
    previewed: &'a Previewed,
    revision: u64,
    patience: Patience,
    options: &'a ApplyOptions,
    redactor: Redactor,
    references: References,
    /// The calls that the runtimes take at a time.
    limits: BTreeMap<ResourceType, Limit>,
    /// Whether no further call begins, because a step failed.
    is_over: AtomicBool,
    places: Places<'a>,
    /// How many attempts have begun.
    attempts: AtomicU64,
    /// The objects that exist, as the latest call showed them.
    live: Mutex<HashMap<ResourceId, Live>>,
}

/// How many calls a runtime takes at a time.
struct Limit {
    calls: usize,
    room: Semaphore,
}

impl Limit {
    fn new(calls: usize) -> Self {
        Self { calls, room: Semaphore::new(calls) }
    }

    /// How many steps are under way: some are being recorded while others are being called. Who
    /// wants one call at a time wants one step at a time.
    fn steps(&self) -> usize {
        if self.calls == 1 { 1 } else { 3 * self.calls }
    }
}

/// How a step ended, for the walk.
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
        engine: &'a Engine,
        session: &'a Session,
        previewed: &'a Previewed,
        revision: u64,
        options: &'a ApplyOptions,
    ) -> Result<Self, EngineError> {
        let limits = engine
            .runtimes
            .iter()
            .map(|(name, it)| (name.clone(), Limit::new(it.parallel_calls().max(1))))
            .collect();
        let steps = previewed.plan.steps.iter().enumerate();
        let live = previewed.live.iter().map(|(id, live)| (id.clone(), live.clone())).collect();
        Ok(Self {
            engine,
            session,
            previewed,
            revision,
            patience: Engine::patience(options),
            options,
            redactor: engine.redactor(&previewed.wanted)?,
            references: References::index(&previewed.wanted),
            limits,
            is_over: AtomicBool::new(false),
            places: steps.map(|(place, step)| (&step.id, place)).collect(),
            attempts: AtomicU64::new(0),
            live: Mutex::new(live),
        })
    }

    /// Walks all steps, each when what it waits for has ended.
    pub(crate) async fn run(self) -> Result<Report, EngineError> {
        let steps = &self.previewed.plan.steps;
        let mut ends: Vec<Option<StepEnd>> = steps.iter().map(|_| None).collect();
        let early = self.early_steps();
        if !early.is_empty() {
            self.walk(early, &mut ends).await?;
            self.rehearse_late(&mut ends).await?;
        }
        self.walk(vec![true; steps.len()], &mut ends).await?;
        self.engine.note_quiet_steps(self.session, self.previewed).await?;
        let reports = steps
            .iter()
            .zip(ends)
            .filter(|(step, _)| step.action.is_change())
            .map(|(step, end)| {
                let end = end.unwrap_or_else(|| StepEnd::skipped("it did not begin".to_owned()));
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
        Ok(Report { revision: Some(self.revision), phase: Phase::Running, steps: reports, live })
    }

    /// Marks the steps that must be done before the others can be rehearsed: what these wait
    /// for. Empty if everything was rehearsed.
    fn early_steps(&self) -> Vec<bool> {
        let steps = &self.previewed.plan.steps;
        let mut open: Vec<&ResourceId> =
            steps.iter().filter(|step| is_unrehearsed(step)).flat_map(|step| &step.after).collect();
        if open.is_empty() {
            return Vec::new();
        }
        let mut early = vec![false; steps.len()];
        while let Some(id) = open.pop() {
            // What waits for a rehearsal itself is no early step.
            if let Some(&place) = self.places.get(id)
                && !is_unrehearsed(&steps[place])
                && !std::mem::replace(&mut early[place], true)
            {
                open.extend(&steps[place].after);
            }
        }
        early
    }

    /// Rehearses what could not be rehearsed before its namespace or kind was there. If the
    /// infrastructure refuses one, none of the others begins.
    async fn rehearse_late(&self, ends: &mut [Option<StepEnd>]) -> Result<(), EngineError> {
        let steps = &self.previewed.plan.steps;
        let late: Vec<usize> = (0..steps.len())
            .filter(|&place| is_unrehearsed(&steps[place]) && ends[place].is_none())
            .collect();
        let mut answers = stream::iter(
            late.iter().map(|&place| async move { (place, self.rehearse(&steps[place]).await) }),
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
                let message = "the infrastructure refuses other resources".to_owned();
                self.finish(place, StepEnd::skipped(message), ends);
            }
        }
        Ok(())
    }

    async fn rehearse(&self, step: &Step) -> Result<Result<(), String>, EngineError> {
        let Some(desired) = self.previewed.wanted.get(&step.id) else { return Ok(Ok(())) };
        let runtime = self.engine.runtimes.find(&step.id, &step.resource_type)?;
        let change = Change { desired, prior: None, operation: None, force: self.force() };
        Ok(match runtime.rehearse(change).await {
            // What it needs was not made; its own step says so.
            Ok(_) | Err(RuntimeError::UnknownKind { .. } | RuntimeError::UnknownNamespace(_)) => {
                Ok(())
            }
            Err(fault) if fault.is_transient() => Ok(()),
            Err(fault) => Err(self.redactor.redact(&fault.to_string()).into_owned()),
        })
    }

    fn force(&self) -> bool {
        self.options.preview.force
    }

    /// Walks the steps that are meant; those that have ended stay.
    async fn walk(
        &self,
        mut meant: Vec<bool>,
        ends: &mut [Option<StepEnd>],
    ) -> Result<(), EngineError> {
        let steps = &self.previewed.plan.steps;
        for (meant, end) in meant.iter_mut().zip(&*ends) {
            *meant &= end.is_none();
        }
        let limit = |it: &ResourceType| self.limits.get(it).map_or(1, Limit::steps);
        let ended = |place: usize| ends[place].is_some();
        let mut schedule = Schedule::new(steps, &self.places, meant, ended, limit);
        let mut running = FuturesUnordered::new();
        loop {
            while let Some(place) = schedule.begin() {
                let reason = self.hindrance().map(str::to_owned);
                let reason = reason.or_else(|| self.missing(place, ends));
                let end = match reason {
                    _ if !steps[place].action.is_change() => StepEnd::done(Vec::new()),
                    Some(reason) => StepEnd::skipped(reason),
                    None => {
                        running.push(async move { (place, self.step(&steps[place]).await) });
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

    /// Says why no further call begins.
    fn hindrance(&self) -> Option<&'static str> {
        if self.is_over.load(Ordering::Relaxed) {
            Some("an earlier step failed")
        } else if self.options.stop.is_asked() {
            Some("the operation was stopped")
        } else {
            None
        }
    }

    /// Says which of the steps that a step waits for was not done.
    fn missing(&self, place: usize, ends: &[Option<StepEnd>]) -> Option<String> {
        let step = &self.previewed.plan.steps[place];
        step.after.iter().find_map(|id| {
            let end = ends[*self.places.get(id)?].as_ref()?;
            (end.outcome != Outcome::Done).then(|| match end.outcome {
                Outcome::Skipped => format!("{id} was skipped"),
                _ => format!("{id} failed"),
            })
        })
    }

    fn finish(&self, place: usize, end: StepEnd, ends: &mut [Option<StepEnd>]) {
        let step = &self.previewed.plan.steps[place];
        if step.action.is_change() {
            self.engine.emit(&Event::Ended {
                id: step.id.clone(),
                action: step.action,
                outcome: end.outcome,
                message: end.message.clone(),
                warnings: end.warnings.clone(),
            });
        }
        ends[place] = Some(end);
    }

    /// Does one step that changes something.
    async fn step(&self, step: &Step) -> Result<StepEnd, EngineError> {
        let desired = match self.previewed.wanted.get(&step.id) {
            None => None,
            Some(resource) => match self.resolved(step, resource) {
                Ok(resource) => Some(resource),
                Err(finding) => return Ok(StepEnd::failed(finding.message)),
            },
        };
        let desired = desired.filter(|_| step.action != Action::Delete);
        let sealed = desired.as_ref().map(|it| self.engine.sealed(it)).transpose()?;
        let operation = OperationId {
            revision: self.revision,
            step: self.attempts.fetch_add(1, Ordering::Relaxed) + 1,
        };
        self.session
            .append(vec![Record::Began {
                operation,
                id: step.id.clone(),
                action: step.action,
                desired: sealed.clone().map(Box::new),
            }])
            .await?;
        self.engine.points.pass(Point::Began, Some(&step.id));
        let prior = self.prior(step);
        let runtime = self.engine.runtimes.find(&step.id, &step.resource_type)?;
        let call = Call {
            engine: self.engine,
            session: self.session,
            runtime: runtime.as_ref(),
            id: &step.id,
            action: step.action,
            desired: desired.as_ref(),
            prior: prior.as_ref(),
            operation,
            force: self.force(),
            patience: self.patience,
            redactor: &self.redactor,
        };
        let Some(end) = self.make(step, &call).await? else {
            return self.leave_out(step, operation).await;
        };
        self.engine.points.pass(Point::Called, Some(&step.id));
        let end = self.record(step, operation, sealed, end).await?;
        self.engine.points.pass(Point::Ended, Some(&step.id));
        if end.outcome == Outcome::Done && waits_for_ready(desired.as_ref()) {
            return Ok(self.wait_until_ready(step, end).await);
        }
        Ok(end)
    }

    /// Makes a call as soon as its runtime has room; none if no further call begins by then.
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
        // What users see begin comes to its end.
        self.engine.emit(&Event::Started { id: step.id.clone(), action: step.action });
        let end = call.make().await;
        drop(permit);
        Ok(Some(end))
    }

    /// Records that a call was not made after all.
    async fn leave_out(&self, step: &Step, operation: OperationId) -> Result<StepEnd, EngineError> {
        let message = self.hindrance().unwrap_or_default().to_owned();
        let ending = Ending::Failed { message: message.clone() };
        let id = step.id.clone();
        self.session.append(vec![Record::Ended { operation, id, ending }]).await?;
        Ok(StepEnd::skipped(message))
    }

    /// Returns what is known of the object that a step changes: by the state, or by the plan if
    /// the state does not know it yet.
    fn prior(&self, step: &Step) -> Option<ResourceState> {
        let known = self.previewed.state.resources.get(&step.id).cloned();
        match (known, &step.identity, &step.desired) {
            // The live object may have another identity than the one that was recorded.
            (Some(known), Some(identity), _) => {
                Some(ResourceState { identity: identity.clone(), ..known })
            }
            (Some(known), None, _) => Some(known),
            (None, Some(identity), Some(desired)) if step.live_digest.is_some() => {
                Some(ResourceState {
                    resource: desired.clone(),
                    identity: identity.clone(),
                    revision: self.revision,
                })
            }
            _ => None,
        }
        // What is made or taken over is not the object that was known.
        .filter(|_| !matches!(step.action, Action::Create | Action::Adopt))
    }

    /// Fills in values that other resources have by now.
    fn resolved(&self, step: &Step, resource: &Resource) -> Result<Resource, Finding> {
        let mut resource = resource.clone();
        self.references.resolve_live(&mut resource, &step.later, |reference| {
            let live = self.live.lock().ok()?;
            reference.find(&live.get(&reference.id)?.attributes).cloned()
        })?;
        Ok(resource)
    }

    /// Records how a call ended.
    async fn record(
        &self,
        step: &Step,
        operation: OperationId,
        sealed: Option<Resource>,
        end: CallEnd,
    ) -> Result<StepEnd, EngineError> {
        let hidden = |fault: &RuntimeError| self.redactor.redact(&fault.to_string()).into_owned();
        let (ending, end) = match end {
            CallEnd::Present(applied) => {
                let Some(resource) = sealed else {
                    return Ok(StepEnd::failed("it still exists".to_owned()));
                };
                let identity = applied.live.identity.clone();
                self.keep_live(&step.id, Some(applied.live));
                let state = ResourceState { resource, identity, revision: self.revision };
                let warnings = applied
                    .warnings
                    .iter()
                    .map(|it| self.redactor.redact(it).into_owned())
                    .collect();
                (Ending::Present(Box::new(state)), StepEnd::done(warnings))
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
            // No ending: the next run looks again.
            CallEnd::Unknown(fault) => {
                return Ok(StepEnd {
                    outcome: Outcome::Unknown,
                    message: hidden(&fault),
                    warnings: Vec::new(),
                });
            }
        };
        let id = step.id.clone();
        self.session.append(vec![Record::Ended { operation, id, ending }]).await?;
        Ok(end)
    }

    fn keep_live(&self, id: &ResourceId, object: Option<Live>) {
        if let Ok(mut live) = self.live.lock() {
            match object {
                Some(object) => live.insert(id.clone(), object),
                None => live.remove(id),
            };
        }
    }

    /// Waits until an object does its work, because its dependents need that.
    async fn wait_until_ready(&self, step: &Step, end: StepEnd) -> StepEnd {
        let live = self.live.lock().ok().and_then(|live| live.get(&step.id).cloned());
        let Some(live) = live else { return end };
        match self.engine.wait_for(&step.id, &step.resource_type, live, self.options.timeout).await
        {
            Ok(()) => end,
            Err(message) => StepEnd { warnings: end.warnings, ..StepEnd::failed(message) },
        }
    }
}

fn is_unrehearsed(step: &Step) -> bool {
    step.action.is_change() && step.notes.iter().any(|note| note.starts_with(UNREHEARSED))
}

/// Whether dependents wait until a resource does its work: if it says so, and always for
/// definitions of kinds.
fn waits_for_ready(desired: Option<&Resource>) -> bool {
    let Some(desired) = desired else { return false };
    let said = desired.extensions.get("kusion.io/dependents-wait").and_then(Value::as_str);
    let kind = desired.attributes.get("kind").and_then(Value::as_str);
    said == Some("ready") || kind == Some("CustomResourceDefinition")
}

impl Engine {
    /// Records what needs no call: what the state forgets, and changed dependencies of resources
    /// that stay.
    pub(crate) async fn note_quiet_steps(
        &self,
        session: &Session,
        previewed: &Previewed,
    ) -> Result<(), EngineError> {
        let records: Vec<Record> = previewed
            .plan
            .steps
            .iter()
            .filter_map(|step| match (step.action, &step.desired) {
                (Action::Forget, _) => {
                    Some(Record::Noted { id: step.id.clone(), ending: Ending::Absent })
                }
                (Action::Keep, Some(desired)) => {
                    let known = previewed.state.resources.get(&step.id)?;
                    let is_new = known.resource.depends_on != desired.depends_on
                        || known.resource.extensions != desired.extensions;
                    is_new.then(|| Record::Noted {
                        id: step.id.clone(),
                        ending: Ending::Present(Box::new(ResourceState {
                            resource: desired.clone(),
                            ..known.clone()
                        })),
                    })
                }
                _ => None,
            })
            .collect();
        if !records.is_empty() {
            session.append(records).await?;
        }
        Ok(())
    }
}
