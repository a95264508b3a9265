//! What apply, destroy and rollback have in common: a question, a report, a watch.

use crate::arguments::{ChangeArgs, SiteArgs};
use crate::desk::{Desk, Place};
use crate::failure::{Exit, Failure};
use crate::view::{Answer, View, report};
use crate::work;
use kusion_engine::{
    ApplyOptions, Confirm, EngineError, Previewed, Report, Stop, WatchEnd, WatchOptions, Watched,
};
use kusion_model::Phase;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// An operation in the words of its user.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wording {
    /// The command, for others who wait for the stack.
    command: &'static str,
    /// What the user is asked.
    question: &'static str,
}

/// Brings a stack to what it compiles to.
pub(crate) const APPLY: Wording = Wording { command: "apply", question: "Apply these changes?" };
/// Deletes everything of a stack.
pub(crate) const DESTROY: Wording =
    Wording { command: "destroy", question: "Delete all of these?" };
/// Brings a stack to what an earlier release wanted.
pub(crate) const ROLLBACK: Wording =
    Wording { command: "release rollback", question: "Go back to this?" };

/// Opens a desk and does something that changes stacks, until the user wishes to stop.
pub(crate) fn change<T>(
    view: &Arc<View>,
    site: &SiteArgs,
    args: &ChangeArgs,
    work: impl AsyncFnOnce(&mut Desk<'_>, &Stop) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut desk = Desk::new(view, site, args.parallel())?;
    let stop = Stop::default();
    work::change(view, &stop, work(&mut desk, &stop))
}

/// An operation on one stack, as its user sees it.
pub(crate) struct Operating<'a> {
    view: &'a Arc<View>,
    place: &'a Place,
    wording: Wording,
    options: ApplyOptions,
    /// Whether the user has agreed beforehand.
    yes: bool,
    /// Whether nobody could be asked.
    is_unasked: AtomicBool,
}

impl<'a> Operating<'a> {
    /// Begins an operation on a stack.
    pub(crate) fn new(
        view: &'a Arc<View>,
        place: &'a Place,
        args: &ChangeArgs,
        wording: Wording,
        stop: &Stop,
    ) -> Self {
        let options = args.options(wording.command, stop);
        Self { view, place, wording, options, yes: args.yes, is_unasked: AtomicBool::new(false) }
    }

    /// Returns how the engine does it.
    pub(crate) fn options(&self) -> &ApplyOptions {
        &self.options
    }

    /// Returns what shows a plan and asks whether it is run.
    pub(crate) fn ask(&self) -> impl Fn(&Previewed) -> Confirm + Send + Sync + '_ {
        |previewed| self.confirm(previewed)
    }

    fn confirm(&self, previewed: &Previewed) -> Confirm {
        self.view.plan(&self.place.title, &previewed.plan, &previewed.refusals);
        if previewed.plan.is_empty() {
            return Confirm::Agreed;
        }
        let answer = if self.yes {
            Confirm::Agreed
        } else {
            match self.view.ask(self.wording.question, &self.options.stop) {
                Answer::Yes => Confirm::AgreedLater,
                Answer::No => Confirm::Declined,
                Answer::NoTerminal => {
                    self.is_unasked.store(true, Ordering::Relaxed);
                    Confirm::Declined
                }
            }
        };
        if answer != Confirm::Declined {
            self.view.begin(&self.place.title);
        }
        answer
    }

    /// Shows how an operation ended.
    pub(crate) fn conclude(&self, done: Result<Report, EngineError>) -> Result<Report, Failure> {
        self.view.end();
        match done {
            Ok(report) => {
                self.view.text(&report::of_operation(&report, self.view.style()));
                Ok(report)
            }
            Err(EngineError::Declined) if self.is_unasked.load(Ordering::Relaxed) => {
                Err(Failure::NeedsYes)
            }
            Err(EngineError::Declined) if self.options.stop.is_asked() => Err(Failure::Interrupted),
            Err(other) => Err(Failure::Engine(other)),
        }
    }

    /// Returns the exit code that a report calls for.
    pub(crate) fn exit(&self, report: &Report) -> Exit {
        match report.phase {
            _ if self.options.stop.is_asked() => Exit::Interrupted,
            Phase::Succeeded => Exit::Success,
            Phase::Stopped => Exit::Interrupted,
            Phase::Failed | Phase::Running | Phase::Interrupted => Exit::Failed,
        }
    }

    /// Shows how an operation ended, and returns the exit code for it.
    pub(crate) fn end(&self, done: Result<Report, EngineError>) -> Result<Exit, Failure> {
        self.conclude(done).map(|report| self.exit(&report))
    }

    /// Watches objects until they are ready, and shows how that ended.
    pub(crate) async fn watch(&self, live: Vec<Watched>) -> Result<Exit, Failure> {
        self.view.begin(&self.place.title);
        let (timeout, stop) = (Some(self.options.timeout), self.options.stop.clone());
        let options = WatchOptions { timeout, forever: false, stop };
        let end = self.place.engine.watch(live, &options).await;
        self.view.end_with_picture();
        Ok(watched(self.view, self.place, &end?))
    }
}

/// Shows how watching ended, and returns the exit code for it.
pub(crate) fn watched(view: &Arc<View>, place: &Place, end: &WatchEnd) -> Exit {
    view.json(&report::json_of_watch(place, end));
    view.text(&report::of_watch(view, place, end));
    match end {
        WatchEnd::Ready => Exit::Success,
        WatchEnd::Failed(_) | WatchEnd::TimedOut(_) => Exit::Failed,
        WatchEnd::Stopped => Exit::Interrupted,
    }
}
