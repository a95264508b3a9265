//! What apply, destroy and rollback have in common: a question, a report, a watch.

use crate::desk::Place;
use crate::failure::{Exit, Failure};
use crate::view::{Answer, View, report};
use kusion_engine::{
    Confirm, EngineError, Previewed, Report, Stop, WatchEnd, WatchOptions, Watched,
};
use kusion_model::Phase;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// An operation on one stack, as its user sees it.
pub(crate) struct Operating<'a> {
    /// Where it is shown.
    pub(crate) view: &'a Arc<View>,
    /// The wish of the user to stop.
    pub(crate) stop: &'a Stop,
    /// Whether the user has agreed beforehand.
    pub(crate) yes: bool,
    /// What the user is asked.
    pub(crate) question: &'static str,
    /// The stack and its cluster.
    pub(crate) title: &'a str,
    /// Whether nobody could be asked.
    pub(crate) is_unasked: AtomicBool,
}

impl<'a> Operating<'a> {
    /// Begins an operation on a stack.
    pub(crate) fn new(
        view: &'a Arc<View>,
        stop: &'a Stop,
        yes: bool,
        question: &'static str,
        place: &'a Place,
    ) -> Self {
        let is_unasked = AtomicBool::new(false);
        Self { view, stop, yes, question, title: &place.title, is_unasked }
    }

    /// Shows a plan and asks whether it is run.
    pub(crate) fn confirm(&self, previewed: &Previewed) -> Confirm {
        self.view.plan(self.title, &previewed.plan, &previewed.refusals);
        if previewed.plan.is_empty() {
            return Confirm::Agreed;
        }
        let answer = if self.yes {
            Confirm::Agreed
        } else {
            match self.view.ask(self.question, self.stop) {
                Answer::Yes => Confirm::AgreedLater,
                Answer::No => Confirm::Declined,
                Answer::NoTerminal => {
                    self.is_unasked.store(true, Ordering::Relaxed);
                    Confirm::Declined
                }
            }
        };
        if answer != Confirm::Declined {
            self.view.begin(self.title);
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
            Err(EngineError::Declined) if self.stop.is_asked() => Err(Failure::Interrupted),
            Err(other) => Err(Failure::Engine(other)),
        }
    }

    /// Returns the exit code that a report calls for.
    pub(crate) fn exit(&self, report: &Report) -> Exit {
        match report.phase {
            _ if self.stop.is_asked() => Exit::Interrupted,
            Phase::Succeeded => Exit::Success,
            Phase::Stopped => Exit::Interrupted,
            Phase::Failed | Phase::Running | Phase::Interrupted => Exit::Failed,
        }
    }

    /// Watches objects until they are ready, and shows how that ended.
    pub(crate) async fn watch(
        &self,
        place: &Place,
        live: Vec<Watched>,
        timeout: Duration,
    ) -> Result<Exit, Failure> {
        self.view.begin(self.title);
        let options =
            WatchOptions { timeout: Some(timeout), forever: false, stop: self.stop.clone() };
        let end = place.engine.watch(live, &options).await;
        self.view.end_with_picture();
        Ok(watched(self.view, place, &end?))
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
