//! The events of one operation, in order.

use crate::event::{Event, EventSink, StampedEvent};
use kusion_model::{OperationId, StackKey};
use kusion_secret::Redactor;
use std::sync::{Arc, Mutex, PoisonError};

/// Stamps the events of one operation and passes them to the sink.
pub(crate) struct EventLog {
    stack: StackKey,
    operation: OperationId,
    sink: Arc<dyn EventSink>,
    redactor: Redactor,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    seq: u64,
    /// The events so far, if they are kept.
    kept: Option<Vec<StampedEvent>>,
}

/// Above this number, events that infrastructures can repeat without limit are no longer kept.
const MANY: usize = 100_000;

/// Whether the number of such events depends on the infrastructure alone.
fn is_repeated(event: &Event) -> bool {
    matches!(event, Event::Health { .. } | Event::Warning { .. } | Event::StepWaiting { .. })
}

impl EventLog {
    /// Creates the log of an operation whose events are not kept.
    pub(crate) fn passing(
        stack: StackKey,
        operation: OperationId,
        sink: Arc<dyn EventSink>,
    ) -> Arc<Self> {
        Self::with(stack, operation, sink, Inner::default())
    }

    /// Creates the log of an operation whose events are kept.
    pub(crate) fn keeping(
        stack: StackKey,
        operation: OperationId,
        sink: Arc<dyn EventSink>,
    ) -> Arc<Self> {
        Self::with(stack, operation, sink, Inner { seq: 0, kept: Some(Vec::new()) })
    }

    fn with(
        stack: StackKey,
        operation: OperationId,
        sink: Arc<dyn EventSink>,
        inner: Inner,
    ) -> Arc<Self> {
        let (redactor, inner) = (Redactor::default(), Mutex::new(inner));
        Arc::new(Self { stack, operation, sink, redactor, inner })
    }

    /// Returns the redactor that hides secrets in the events of the operation.
    pub(crate) fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Returns the span of the operation in the log of the program.
    pub(crate) fn span(&self) -> tracing::Span {
        let place = &self.stack.place;
        tracing::info_span!("operation", stack = %self.stack, %place, id = %self.operation)
    }

    /// Stamps an event and passes it to the sink. Calls are serialized, so that events keep their
    /// order.
    pub(crate) fn emit(&self, mut event: Event) {
        event.hide_secrets(&self.redactor);
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.seq += 1;
        trace(inner.seq, &event);
        let stamped = StampedEvent {
            stack: self.stack.clone(),
            operation_id: self.operation.clone(),
            seq: inner.seq,
            time: kusion_store::now(),
            event,
        };
        self.sink.emit(&stamped);
        if let Some(kept) = &mut inner.kept
            && (kept.len() < MANY || !is_repeated(&stamped.event))
        {
            kept.push(stamped);
        }
    }

    /// Returns the events so far, if they are kept, and keeps no more.
    pub(crate) fn take(&self) -> Vec<StampedEvent> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.kept.take().unwrap_or_default()
    }
}

/// Writes an event to the log of the program: its name and subject, without values.
fn trace(seq: u64, event: &Event) {
    match event {
        Event::Locked => tracing::info!(seq, "locked"),
        Event::Recovered { id, action, exists } => {
            tracing::info!(seq, %id, ?action, exists, "recovered");
        }
        Event::ReleaseOpened { revision, operation, steps } => {
            tracing::info!(seq, revision, ?operation, steps, "release opened");
        }
        Event::StepStarted { id, action } => tracing::debug!(seq, %id, ?action, "step started"),
        Event::StepRetried { id, pause_ms, .. } => {
            tracing::warn!(seq, %id, pause_ms, "step retried");
        }
        Event::StepWaiting { id, action, .. } => tracing::debug!(seq, %id, ?action, "step waits"),
        Event::StepEnded { id, action, outcome, .. } => {
            tracing::info!(seq, %id, ?action, ?outcome, "step ended");
        }
        Event::Health { id, health, .. } => {
            tracing::debug!(seq, %id, state = ?health.state, "health");
        }
        Event::Warning { id, .. } => tracing::debug!(seq, %id, "warning from the infrastructure"),
        Event::ReleaseClosed { revision, phase, .. } => {
            tracing::info!(seq, revision, ?phase, "release closed");
        }
    }
}
