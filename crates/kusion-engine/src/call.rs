//! One change of one object, with retries and a timeout.

use crate::event::Event;
use crate::failpoints::Failpoint;
use crate::scope::Scope;
use crate::stop::Stop;
use kusion_model::{
    Action, AttemptId, Identity, ReplaceOrder, Resource, ResourceId, ResourceState,
};
use kusion_runtime::{
    Applied, Change, Comparison, Deletion, Live, Pending, Runtime, RuntimeError, WaitSink,
};
use kusion_store::Session;
use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Timeout and number of attempts of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RetryPolicy {
    /// Timeout of one step, including all attempts.
    pub(crate) timeout: Duration,
    /// Maximum number of attempts.
    pub(crate) attempts: u32,
}

/// Inputs of one change of one object.
pub(crate) struct Call<'a> {
    pub(crate) scope: &'a Scope,
    pub(crate) session: &'a Session,
    pub(crate) runtime: &'a dyn Runtime,
    pub(crate) id: &'a ResourceId,
    pub(crate) action: Action,
    pub(crate) desired: Option<&'a Resource>,
    /// The recorded object that changes; private data of its runtime is plain.
    pub(crate) prior: Option<&'a ResourceState>,
    /// The live object that the plan was made from.
    pub(crate) live: Option<&'a Live>,
    pub(crate) replace_order: ReplaceOrder,
    pub(crate) attempt: AttemptId,
    pub(crate) force: bool,
    pub(crate) take_over: bool,
    pub(crate) retry_policy: RetryPolicy,
    pub(crate) stop: &'a Stop,
    /// What the call waits for, as it said last.
    pub(crate) waits_for: Mutex<String>,
}

/// The result of a change.
pub(crate) enum CallEnd {
    /// The object exists.
    Present(Box<Applied>),
    /// The object does not exist; an error if it was expected to.
    Absent(Option<RuntimeError>),
    /// Nothing changed.
    Failed(RuntimeError),
    /// Unknown: the change may or may not have been applied.
    Unknown(RuntimeError),
}

impl Call<'_> {
    /// Runs the change.
    pub(crate) async fn make(&self) -> CallEnd {
        let deadline = tokio::time::Instant::now() + self.retry_policy.timeout;
        match tokio::time::timeout_at(deadline, self.try_once()).await {
            Ok(end) => end,
            Err(_) => {
                let mut message =
                    format!("timed out after {} s", self.retry_policy.timeout.as_secs());
                let reason = self.waits_for.lock().unwrap_or_else(PoisonError::into_inner).clone();
                if !reason.is_empty() {
                    message = format!("{message}: {reason}");
                }
                self.check_live(RuntimeError::Transient { message, retry_after_ms: None }).await
            }
        }
    }

    async fn try_once(&self) -> CallEnd {
        match (self.action, self.desired) {
            (Action::Delete, _) | (_, None) => match self.delete().await {
                Ok(()) => CallEnd::Absent(None),
                Err(fault) => self.judge(fault).await,
            },
            (Action::Replace, Some(desired)) if self.is_create_first() => {
                match self.apply(desired, None).await {
                    Ok(applied) => CallEnd::Present(Box::new(applied)),
                    Err(fault) => self.judge(fault).await,
                }
            }
            (Action::Replace, Some(desired)) => {
                if let Err(fault) = self.delete().await {
                    return self.judge(fault).await;
                }
                self.scope.engine.failpoints.pass(Failpoint::Removed, Some(self.id));
                match self.apply(desired, None).await {
                    Ok(applied) => CallEnd::Present(Box::new(applied)),
                    Err(fault) if fault.is_transient() => self.check_live(fault).await,
                    Err(fault @ RuntimeError::Ambiguous(_)) => CallEnd::Unknown(fault),
                    Err(fault) => CallEnd::Absent(Some(fault)),
                }
            }
            (_, Some(desired)) => match self.apply(desired, self.prior).await {
                Ok(applied) => CallEnd::Present(Box::new(applied)),
                Err(fault) => self.judge(fault).await,
            },
        }
    }

    async fn delete(&self) -> Result<(), RuntimeError> {
        let Some(prior) = self.prior else { return Ok(()) };
        let (live, attempt, take_over) = (self.live, self.attempt, self.take_over);
        let tell = |text: &str| self.wait(text);
        let waits = WaitSink(&tell);
        let deletion = Deletion { prior, live, attempt, take_over, waits };
        self.patiently(|_| self.runtime.delete(deletion)).await
    }

    /// Reports what the call waits for, if that is news.
    fn wait(&self, reason: &str) {
        let mut last = self.waits_for.lock().unwrap_or_else(PoisonError::into_inner);
        if *last != reason {
            reason.clone_into(&mut last);
            drop(last);
            self.scope.log.emit(Event::StepWaiting {
                id: self.id.clone(),
                action: self.action,
                message: self.scope.hide(self.id, reason),
            });
        }
    }

    /// Applies the change. Checks first whether an earlier attempt has already succeeded: an object
    /// whose id the infrastructure assigns must not be created twice.
    async fn apply(
        &self,
        desired: &Resource,
        prior: Option<&ResourceState>,
    ) -> Result<Applied, RuntimeError> {
        self.patiently(async |attempt| {
            let change = Change {
                prior,
                // A replaced object is not the one that changes.
                live: self.live.filter(|_| self.action != Action::Replace),
                attempt: Some(self.attempt),
                force: self.force,
                take_over: self.take_over,
                ..Change::new(desired)
            };
            if attempt == 0 {
                return self.runtime.apply(change).await;
            }
            match self.runtime.recover(self.pending()).await? {
                // The old object: the new one was not created.
                Some(live) if self.is_create_first() && self.is_known(&live) => {
                    self.runtime.apply(change).await
                }
                Some(live) if self.runtime.compare(desired, &live) == Comparison::Same => {
                    Ok(Applied::new(live))
                }
                Some(live) => {
                    let revision = self.attempt.revision;
                    let known = ResourceState {
                        runtime: live.runtime.clone(),
                        ..ResourceState::new(desired.clone(), live.identity.clone(), revision)
                    };
                    let (prior, live) = (Some(&known), Some(&live));
                    self.runtime.apply(Change { prior, live, ..change }).await
                }
                None => self.runtime.apply(change).await,
            }
        })
        .await
    }

    /// Retries a call while it fails with transient errors and the stack is locked.
    async fn patiently<T, F: Future<Output = Result<T, RuntimeError>>>(
        &self,
        call: impl Fn(u32) -> F,
    ) -> Result<T, RuntimeError> {
        let mut attempt = 0;
        let mut last = None;
        loop {
            if let Err(lost) = self.session.check() {
                // The result of an earlier attempt must be checked.
                return Err(last.unwrap_or_else(|| RuntimeError::Unavailable(lost.to_string())));
            }
            let fault = match call(attempt).await {
                Ok(value) => return Ok(value),
                Err(fault) => fault,
            };
            attempt += 1;
            let RuntimeError::Transient { message, retry_after_ms } = &fault else {
                return Err(fault);
            };
            if attempt >= self.retry_policy.attempts {
                return Err(fault);
            }
            let pause_ms = retry_after_ms.unwrap_or_else(|| pause_ms(attempt));
            self.scope.log.emit(Event::StepRetried {
                id: self.id.clone(),
                message: self.scope.hide(self.id, message),
                pause_ms,
            });
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(pause_ms)) => {}
                // No further attempt; the result of the earlier ones is checked.
                () = self.stop.wait() => return Err(fault),
            }
            last = Some(fault);
        }
    }

    /// Interprets a failed call: nothing changed, or the live object must be checked.
    async fn judge(&self, fault: RuntimeError) -> CallEnd {
        match fault {
            RuntimeError::Ambiguous(_) => CallEnd::Unknown(fault),
            fault if fault.is_transient() => self.check_live(fault).await,
            fault => CallEnd::Failed(fault),
        }
    }

    /// Reads the live object after a call whose result is unknown.
    async fn check_live(&self, fault: RuntimeError) -> CallEnd {
        let looked = tokio::time::timeout(LOOK_TIME, self.runtime.recover(self.pending())).await;
        match (looked, self.desired) {
            (Ok(Ok(None)), _) => CallEnd::Absent(self.desired.map(|_| fault)),
            (Ok(Ok(Some(live))), Some(desired))
                if self.runtime.compare(desired, &live) == Comparison::Same =>
            {
                CallEnd::Present(Box::new(Applied::new(live)))
            }
            (Ok(Ok(Some(live))), _) if self.is_known(&live) => CallEnd::Failed(fault),
            _ => CallEnd::Unknown(fault),
        }
    }

    /// Returns whether a live object is the recorded one, so that no new object was created.
    fn is_known(&self, live: &Live) -> bool {
        self.prior.is_some_and(|prior| same_object(&prior.identity, &live.identity))
    }

    fn is_create_first(&self) -> bool {
        self.action == Action::Replace && self.replace_order == ReplaceOrder::CreateFirst
    }

    fn pending(&self) -> Pending<'_> {
        Pending {
            attempt: self.attempt,
            id: self.id,
            action: self.action,
            desired: self.desired,
            prior: self.prior,
        }
    }
}

/// Returns whether two identities refer to the same object.
pub(crate) fn same_object(a: &Identity, b: &Identity) -> bool {
    a.key == b.key && (a.uid.is_none() || b.uid.is_none() || a.uid == b.uid)
}

const LOOK_TIME: Duration = Duration::from_secs(10);

/// Returns the pause before the next attempt: exponential, at most 10 s, with jitter.
fn pause_ms(attempt: u32) -> u64 {
    let full = 200_u64.saturating_mul(1 << attempt.min(6)).min(10_000);
    full / 2 + fastrand::u64(0..=full / 2)
}
