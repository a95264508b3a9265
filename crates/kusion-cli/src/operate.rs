//! The common parts of apply, destroy and rollback: plan, confirmation, report, watch.

mod confirm;
mod failures;
mod several;

pub(crate) use confirm::{confirm_name, name_to_type};
pub(crate) use failures::Failures;
pub(crate) use several::run_all;

use crate::arguments::{ChangeArgs, Opener, SandboxStart, SiteArgs};
use crate::commands::release::ready_revision;
use crate::failure::{Exit, Failure};
use crate::interrupt;
use crate::view::{View, report};
use base_system::OsSystem;
use confirm::Confirmation;
use kusion_app::{OpenStack, wire};
use kusion_engine::{
    EngineError, Goal, LockedStack, Previewed, Report, RunOptions, StackHealth, Stop, WatchEnd,
    WatchOptions,
};
use kusion_generate::{Stack, git_revision};
use kusion_model::{Origins, Phase, PlanOptions, PolicyDecision};
use kusion_store::Holder;
use std::sync::Arc;
use std::time::Duration;

/// Texts of an operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wording {
    /// The command, shown to others who wait for the lock.
    command: &'static str,
    /// The confirmation prompt.
    question: &'static str,
}

/// Applies the Spec of a stack.
pub(crate) const APPLY: Wording = Wording { command: "apply", question: "Apply these changes?" };
/// Deletes all resources of a stack.
pub(crate) const DESTROY: Wording =
    Wording { command: "destroy", question: "Delete these resources?" };
/// Applies the Spec of an earlier release.
pub(crate) const ROLLBACK: Wording =
    Wording { command: "release rollback", question: "Roll back?" };

/// Runs an operation that changes stacks, may start sandboxes, and can be stopped by the user.
pub(crate) fn change<T>(
    view: &Arc<View>,
    site: &SiteArgs,
    args: &ChangeArgs,
    start: SandboxStart,
    work: impl AsyncFnOnce(&mut Opener<'_>, &Stop) -> Result<T, Failure>,
) -> Result<T, Failure> {
    view.set_diff_form(args.diff_form());
    let mut opener = site.opener_with(view, args.parallel(), start)?;
    let stop = Stop::default();
    interrupt::change(view, &stop, async {
        let done = work(&mut opener, &stop).await;
        opener.close().await;
        done
    })
}

/// Runs an operation on one stack with plan, confirmation and report.
pub(crate) struct OperationRunner<'a> {
    view: &'a Arc<View>,
    open: &'a OpenStack,
    title: String,
    wording: Wording,
    plan: PlanOptions,
    options: RunOptions,
    confirmation: Confirmation,
}

impl<'a> OperationRunner<'a> {
    /// Creates the runner of an operation on a stack; without its files if they no longer exist.
    pub(crate) fn new(
        view: &'a Arc<View>,
        open: &'a OpenStack,
        stack: Option<&Stack>,
        args: &ChangeArgs,
        wording: Wording,
        stop: &Stop,
    ) -> Self {
        let git = stack.and_then(|it| git_revision(&OsSystem, it));
        let options = args.options(wording.command, stack, git, stop);
        let (title, plan) = (open.title(), args.plan(stack));
        let confirmation = Confirmation::of(stack, args);
        Self { view, open, title, wording, plan, options, confirmation }
    }

    /// Returns the name of the stack, for users.
    fn name(&self) -> String {
        let key = self.open.key();
        match key.cell.as_str() {
            "" => format!("{}/{}", key.project, key.stack),
            cell => format!("{}/{} in {cell}", key.project, key.stack),
        }
    }

    /// Runs the plan of a file.
    pub(crate) async fn run_saved(
        &self,
        plan: kusion_model::Plan,
        digest: &str,
        decisions: &[PolicyDecision],
    ) -> Result<Report, Failure> {
        let options = RunOptions {
            lock: kusion_engine::LockOptions {
                relocate: plan.options.relocate,
                ..self.options.lock.clone()
            },
            ..self.options.clone()
        };
        let work = async {
            let mut locked = self.open.stack.lock(&options).await?;
            match locked.load(plan, digest, decisions).await {
                Ok(previewed) => self.show_and_run(locked, previewed, &Origins::default()).await,
                Err(error) => give_back(locked, error).await,
            }
        };
        let done = work.await;
        self.report(done)
    }

    /// Plans and runs under one lock, without confirmation.
    async fn run_at_once(&self, goal: Goal<'_>) -> Result<Report, Failure> {
        let work = async {
            let mut locked = self.open.stack.lock(&self.options).await?;
            match locked.plan(goal, &self.plan).await {
                Ok(previewed) => self.show_and_run(locked, previewed, &origins_of(goal)).await,
                Err(error) => give_back(locked, error).await,
            }
        };
        let done = work.await;
        self.report(done)
    }

    /// Ends the view of an operation, and shows its report.
    fn report(&self, done: Result<Report, Failure>) -> Result<Report, Failure> {
        self.view.end();
        let report = done?;
        self.view.text(&report::of_operation(&report, self.view.style()));
        Ok(report)
    }

    async fn show_and_run(
        &self,
        locked: LockedStack,
        previewed: Previewed,
        origins: &Origins,
    ) -> Result<Report, Failure> {
        self.view.plan(&self.title, &previewed.plan, &previewed.refusals, origins);
        if !previewed.plan.is_empty() {
            self.view.begin(self.open.key(), &self.title);
        }
        Ok(locked.run(previewed).await?)
    }

    /// Plans a goal without a lock, and shows the plan.
    async fn plan(&self, goal: Goal<'_>) -> Result<Previewed, Failure> {
        let stack = &self.open.stack;
        stack.recover(&self.options).await?;
        let previewed = stack.preview(goal, &self.plan).await?;
        let origins = origins_of(goal);
        self.view.plan(&self.title, &previewed.plan, &previewed.refusals, &origins);
        Ok(previewed)
    }

    /// Runs a plan that was shown and confirmed, if nothing has changed since.
    async fn run_confirmed(&self, previewed: Previewed) -> Result<Report, Failure> {
        if let Some(report) = previewed.nothing_to_do() {
            return self.report(Ok(report));
        }
        if !previewed.plan.is_empty() {
            self.view.begin(self.open.key(), &self.title);
        }
        let work = async {
            let mut locked = self.open.stack.lock(&self.options).await?;
            match locked.check(previewed).await {
                Ok(previewed) => Ok(locked.run(previewed).await?),
                Err(EngineError::SavedPlan(moved)) => {
                    // The error takes precedence over an error of the release of the lock.
                    let _ = locked.release().await;
                    Err(Failure::Moved(moved))
                }
                Err(error) => give_back(locked, error).await,
            }
        };
        let done = work.await;
        self.report(done)
    }

    /// Rolls the stack back to the last release that was ready, without a question, and waits until
    /// it is ready.
    pub(crate) async fn roll_back(&self, settle: Duration) -> Result<(), Failure> {
        let to = ready_revision(self.open).await?;
        self.view.notice(&format!("rolling back to release {to}"));
        let report = self.run_at_once(Goal::Rollback { to }).await?;
        if self.exit(&report) == Exit::Success {
            self.watch(report, settle).await?;
        }
        Ok(())
    }

    /// Returns the exit code for a report.
    pub(crate) fn exit(&self, report: &Report) -> Exit {
        match report.phase {
            _ if self.options.stop.is_asked() => Exit::Interrupted,
            Phase::Succeeded => Exit::Success,
            Phase::Stopped => Exit::Interrupted,
            Phase::Failed | Phase::Running | Phase::Interrupted => Exit::Failed,
        }
    }

    /// Watches the objects of an operation until they are ready, and shows the result.
    pub(crate) async fn watch(&self, report: Report, settle: Duration) -> Result<Exit, Failure> {
        self.view.begin(self.open.key(), &self.title);
        let (timeout, stop) = (Some(self.options.ready_timeout), self.options.stop.clone());
        let options = WatchOptions { timeout, forever: false, settle, since: report.started, stop };
        let end = self.open.stack.watch_objects(report.live, &options).await;
        self.view.end_with_picture();
        let end = end?;
        record_health(self.open, StackHealth::of_watch(&end), "kusion apply").await;
        Ok(watched(self.view, self.open, &end))
    }
}

/// Returns the source locations of the values of a goal.
pub(crate) fn origins_of(goal: Goal<'_>) -> Origins {
    match goal {
        Goal::Apply { origins, .. } => origins.clone(),
        Goal::Destroy | Goal::Rollback { .. } => Origins::default(),
    }
}

/// Records what was seen of the health of a stack. It is not an error if that is not possible: the
/// store may be read-only, or the stack may be locked.
pub(crate) async fn record_health(open: &OpenStack, seen: Option<StackHealth>, command: &str) {
    if let Some(seen) = seen {
        let options = RunOptions::new(Holder::current(command));
        if let Err(error) = open.stack.record_health(&seen, &options).await {
            tracing::info!(%error, "the health of the release was not recorded");
        }
    }
}

/// Releases a lock after an error; the error takes precedence over an error of the release.
async fn give_back(locked: LockedStack, error: EngineError) -> Result<Report, Failure> {
    let _ = locked.release().await;
    Err(error.into())
}

/// Shows the result of a watch, and returns the exit code for it.
pub(crate) fn watched(view: &Arc<View>, open: &OpenStack, end: &WatchEnd) -> Exit {
    view.json(&wire::WatchLine::new(open.key(), end));
    view.text(&report::of_watch(view, open, end));
    match end {
        WatchEnd::Ready => Exit::Success,
        WatchEnd::Failed(_) | WatchEnd::TimedOut(_) => Exit::Failed,
        WatchEnd::Stopped => Exit::Interrupted,
    }
}
