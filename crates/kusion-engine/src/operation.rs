//! Options of operations.

use crate::call::RetryPolicy;
use crate::stop::Stop;
use kusion_model::{Description, GitRevision, ResourceId};
use kusion_store::{Holder, LockWait};
use std::collections::BTreeMap;
use std::time::Duration;

/// The default timeout of a step, and of waiting until resources are ready.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_mins(5);

/// The default number of attempts of a call.
pub const DEFAULT_ATTEMPTS: u32 = 6;

/// Options of a lock.
#[derive(Clone, Debug)]
pub struct LockOptions {
    /// The lock holder.
    pub holder: Holder,
    /// How long to wait for another lock holder.
    pub wait: LockWait,
    /// Whether the stack may move from the recorded infrastructure to another one.
    pub relocate: bool,
    /// What the user says about interrupted calls, by resource: nothing is asked for these.
    pub settle: BTreeMap<ResourceId, Settlement>,
}

/// What a user says about an interrupted call that may have created an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// There is no object, or it is to be left alone: the resource is not recorded.
    Forget,
    /// The object with this id of its infrastructure is the one of the resource.
    Adopt(String),
}

/// Metadata of a release from its author.
#[derive(Clone, Debug, Default)]
pub struct ReleaseNote {
    /// Message of its author.
    pub message: String,
    /// The commit of its sources.
    pub git: Option<GitRevision>,
}

/// Options of an operation.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Options of the lock.
    pub lock: LockOptions,
    /// Whether steps that do not depend on a failed one are still started.
    pub keep_going: bool,
    /// Timeout of one step, including all attempts.
    pub timeout: Duration,
    /// Timeout of waiting until a resource is ready.
    pub ready_timeout: Duration,
    /// Maximum number of attempts of a call.
    pub attempts: u32,
    /// Metadata of the release.
    pub note: ReleaseNote,
    /// Signal of the user to stop.
    pub stop: Stop,
}

impl RunOptions {
    /// Creates the default options for a lock holder.
    pub fn new(holder: Holder) -> Self {
        Self {
            lock: LockOptions {
                holder,
                wait: LockWait::No,
                relocate: false,
                settle: BTreeMap::new(),
            },
            keep_going: true,
            timeout: DEFAULT_TIMEOUT,
            ready_timeout: DEFAULT_TIMEOUT,
            attempts: DEFAULT_ATTEMPTS,
            note: ReleaseNote::default(),
            stop: Stop::default(),
        }
    }

    /// Returns the timeout and number of attempts of a step, as its resource says.
    pub(crate) fn retry_policy_of(&self, described: &Description) -> RetryPolicy {
        let policy = self.retry_policy();
        RetryPolicy {
            timeout: described.timeout.unwrap_or(policy.timeout),
            attempts: described.attempts.unwrap_or(policy.attempts).max(1),
        }
    }

    /// Returns the timeout and number of attempts of a step.
    pub(crate) fn retry_policy(&self) -> RetryPolicy {
        RetryPolicy { timeout: self.timeout, attempts: self.attempts.max(1) }
    }
}
