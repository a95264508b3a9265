//! How an operation is done.

use crate::call::Patience;
use crate::stop::Stop;
use kusion_model::GitRevision;
use kusion_store::{Holder, LockWait};
use std::time::Duration;

/// How a stack is locked.
#[derive(Clone, Debug)]
pub struct LockOptions {
    /// Who locks it.
    pub holder: Holder,
    /// How long to wait for a live holder.
    pub wait: LockWait,
    /// Whether the stack may be on another infrastructure than the recorded one.
    pub relocate: bool,
}

/// What is said about a release by those who make it.
#[derive(Clone, Debug, Default)]
pub struct ReleaseNote {
    /// What its author says about it.
    pub message: String,
    /// The commit of its sources.
    pub git: Option<GitRevision>,
}

/// How an operation is done.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// How the stack is locked.
    pub lock: LockOptions,
    /// Whether steps that do not need a failed one still begin.
    pub keep_going: bool,
    /// The time for one step with all its attempts.
    pub timeout: Duration,
    /// The number of attempts of a call.
    pub attempts: u32,
    /// What the release says about itself.
    pub note: ReleaseNote,
    /// The wish of the user to stop.
    pub stop: Stop,
}

impl RunOptions {
    /// Makes the usual options for a holder.
    pub fn new(holder: Holder) -> Self {
        Self {
            lock: LockOptions { holder, wait: LockWait::No, relocate: false },
            keep_going: true,
            timeout: Duration::from_mins(5),
            attempts: 6,
            note: ReleaseNote::default(),
            stop: Stop::default(),
        }
    }

    /// Returns the patience of a call.
    pub(crate) fn patience(&self) -> Patience {
        Patience { timeout: self.timeout, attempts: self.attempts.max(1) }
    }
}
