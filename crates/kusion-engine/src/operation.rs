//! Operations from the first question to the last record.

use crate::call::Patience;
use crate::clock;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::event::{Event, Outcome};
use crate::execute::Execution;
use crate::points::Point;
use crate::preview::{PreviewOptions, Previewed};
use crate::report::Report;
use crate::stop::Stop;
use crate::wanted::{Wanted, wanted};
use kusion_model::{Operation, Origins, Phase, Plan, Record, ReleaseHead, Spec, StackKey};
use kusion_store::{Holder, LockWait, Session};
use std::time::Duration;

/// How a stack is taken.
#[derive(Clone, Debug)]
pub struct LockOptions {
    /// Who takes it.
    pub holder: Holder,
    /// How long to wait for a live holder.
    pub wait: LockWait,
}

/// How an operation is done.
#[derive(Clone, Debug)]
pub struct ApplyOptions {
    /// How its plan is made.
    pub preview: PreviewOptions,
    /// How the stack is taken.
    pub lock: LockOptions,
    /// Whether steps that do not need a failed one still begin.
    pub keep_going: bool,
    /// The time for one step with all its attempts.
    pub timeout: Duration,
    /// The number of attempts of a call.
    pub attempts: u32,
    /// The wish of the user to stop.
    pub stop: Stop,
}

impl ApplyOptions {
    /// Makes the usual options for a holder.
    pub fn new(holder: Holder) -> Self {
        Self {
            preview: PreviewOptions::default(),
            lock: LockOptions { holder, wait: LockWait::No },
            keep_going: true,
            timeout: Duration::from_mins(5),
            attempts: 6,
            stop: Stop::default(),
        }
    }
}

/// What a user says to a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirm {
    /// Go on at once.
    Agreed,
    /// Go on, after some time in which live may have moved.
    AgreedLater,
    /// Change nothing.
    Declined,
}

/// Shows a plan and says what its user wants.
type Ask<'a> = &'a (dyn Fn(&Previewed) -> Confirm + Send + Sync);

impl Engine {
    /// Brings a stack to what a Spec wants.
    pub async fn apply(
        &self,
        key: &StackKey,
        spec: &Spec,
        origins: &Origins,
        options: &ApplyOptions,
        ask: Ask<'_>,
    ) -> Result<Report, EngineError> {
        let wanted = wanted(spec);
        self.operate(key, Operation::Apply, wanted, origins, options, ask).await
    }

    /// Deletes everything of a stack.
    pub async fn destroy(
        &self,
        key: &StackKey,
        options: &ApplyOptions,
        ask: Ask<'_>,
    ) -> Result<Report, EngineError> {
        let origins = Origins::default();
        self.operate(key, Operation::Destroy, Wanted::new(), &origins, options, ask).await
    }

    /// Brings a stack to what an earlier release wanted, as a new release.
    pub async fn rollback(
        &self,
        key: &StackKey,
        to: u64,
        options: &ApplyOptions,
        ask: Ask<'_>,
    ) -> Result<Report, EngineError> {
        let wanted = wanted(&self.release_spec(key, to).await?);
        let origins = Origins::default();
        self.operate(key, Operation::Rollback { to }, wanted, &origins, options, ask).await
    }

    /// Returns what a release wanted, with its secrets plain.
    pub async fn release_spec(&self, key: &StackKey, revision: u64) -> Result<Spec, EngineError> {
        let sealed = self.store.spec(key, revision).await?.ok_or_else(|| {
            EngineError::Release(format!("release {revision} of {key} has no Spec to go back to"))
        })?;
        let resources = sealed
            .resources
            .iter()
            .map(|it| self.unsealed(it))
            .collect::<Result<Vec<_>, EngineError>>()?;
        Ok(Spec { resources, ..sealed })
    }

    /// Runs a saved plan, if nothing has moved since it was made.
    pub async fn apply_plan(
        &self,
        plan: Plan,
        options: &ApplyOptions,
    ) -> Result<Report, EngineError> {
        let key = plan.key.clone();
        let session = self.take(&key, options).await?;
        let done = self.run_saved(&session, plan, options).await;
        Self::leave(session, done).await
    }

    async fn operate(
        &self,
        key: &StackKey,
        operation: Operation,
        wanted: Wanted,
        origins: &Origins,
        options: &ApplyOptions,
        ask: Ask<'_>,
    ) -> Result<Report, EngineError> {
        let session = self.take(key, options).await?;
        let work = async {
            let state = self.recover(&session).await?;
            let previewed =
                self.plan(key, operation, wanted, origins, state, &options.preview).await?;
            self.run(&session, previewed, options, ask).await
        };
        let done = work.await;
        Self::leave(session, done).await
    }

    async fn take(&self, key: &StackKey, options: &ApplyOptions) -> Result<Session, EngineError> {
        let LockOptions { holder, wait } = options.lock.clone();
        let session = self.store.take(key, holder, wait).await?;
        self.points.pass(Point::Taken, None);
        self.emit(&Event::Taken { stack: key.clone() });
        Ok(session)
    }

    /// Gives the stack back, whatever happened. What happened counts more than how that went.
    async fn leave(
        session: Session,
        done: Result<Report, EngineError>,
    ) -> Result<Report, EngineError> {
        let closed = session.close().await;
        let report = done?;
        closed?;
        Ok(report)
    }

    async fn run(
        &self,
        session: &Session,
        previewed: Previewed,
        options: &ApplyOptions,
        ask: Ask<'_>,
    ) -> Result<Report, EngineError> {
        if !previewed.refusals.is_empty() {
            return Err(EngineError::Guarded(previewed.refusals));
        }
        if previewed.plan.is_empty() {
            self.note_quiet_steps(session, &previewed).await?;
            ask(&previewed);
            return Ok(Report::of_nothing(&previewed));
        }
        match ask(&previewed) {
            Confirm::Agreed => {}
            Confirm::AgreedLater => self.check_still_true(&previewed.plan).await?,
            Confirm::Declined => return Err(EngineError::Declined),
        }
        self.execute(session, &previewed, options).await
    }

    async fn run_saved(
        &self,
        session: &Session,
        plan: Plan,
        options: &ApplyOptions,
    ) -> Result<Report, EngineError> {
        let state = self.recover(session).await?;
        let live = self.check_saved(&plan, &state).await?;
        let mut wanted = Wanted::new();
        for step in &plan.steps {
            if let Some(desired) = &step.desired {
                wanted.insert(step.id.clone(), self.unsealed(desired)?);
            }
        }
        let previewed = Previewed { plan, refusals: Vec::new(), wanted, live, state };
        if previewed.plan.is_empty() {
            self.note_quiet_steps(session, &previewed).await?;
            return Ok(Report::of_nothing(&previewed));
        }
        self.execute(session, &previewed, options).await
    }

    /// Runs the steps of a plan as one release.
    async fn execute(
        &self,
        session: &Session,
        previewed: &Previewed,
        options: &ApplyOptions,
    ) -> Result<Report, EngineError> {
        let plan = &previewed.plan;
        let revision = previewed.state.next_revision();
        let sealed = self.sealed_spec(&previewed.wanted)?;
        session.put_spec(revision, &sealed).await?;
        session
            .append(vec![Record::Opened(ReleaseHead {
                revision,
                operation: plan.operation,
                operator: options.lock.holder.to_string(),
                engine: env!("CARGO_PKG_VERSION").to_owned(),
                started: clock::now(),
                spec_digest: plan.spec_digest.clone(),
                plan_digest: self.sealer.hash_of(plan),
            })])
            .await?;
        self.points.pass(Point::Opened, None);
        let steps = plan.steps.iter().filter(|step| step.action.is_change()).count();
        self.emit(&Event::Opened { revision, operation: plan.operation, steps });
        let execution = Execution::new(self, session, previewed, revision, options)?;
        let mut report = execution.run().await?;
        report.phase = phase(&report, options);
        let message = report.summary();
        session
            .append(vec![Record::Closed {
                revision,
                phase: report.phase,
                ended: clock::now(),
                message: message.clone(),
            }])
            .await?;
        self.points.pass(Point::Closed, None);
        self.emit(&Event::Closed { revision, phase: report.phase, message });
        Ok(report)
    }
}

fn phase(report: &Report, options: &ApplyOptions) -> Phase {
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

impl Engine {
    /// Returns the patience of a call.
    pub(crate) fn patience(options: &ApplyOptions) -> Patience {
        Patience { timeout: options.timeout, attempts: options.attempts.max(1) }
    }
}
