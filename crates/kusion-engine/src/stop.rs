//! The signal to stop an operation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;

/// A signal to stop an operation: running steps finish and are recorded, no others are started.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    asked: Arc<AtomicBool>,
    notify: Arc<Notify>,
}

impl Stop {
    /// Requests the stop.
    pub fn ask(&self) {
        self.asked.store(true, Ordering::SeqCst);
        self.notify.notify_waiters();
    }

    /// Returns whether the stop was requested.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }

    /// Waits until the stop is requested.
    pub async fn wait(&self) {
        loop {
            let notified = self.notify.notified();
            if self.is_asked() {
                return;
            }
            notified.await;
        }
    }
}
