//! Reconstruction of the events of a release from records.

use crate::event::{Event, Outcome, StampedEvent};
use kusion_model::{Ending, LoggedRecord, Record};
use std::collections::HashMap;

/// Reconstructs the events of an interrupted release, whose events were not stored.
pub(crate) fn of_records(records: &[LoggedRecord], revision: u64) -> Vec<StampedEvent> {
    let opened = records
        .iter()
        .rfind(|it| matches!(&it.record, Record::ReleaseOpened(head) if head.revision == revision));
    let Some(opened) = opened else { return Vec::new() };
    let mut actions = HashMap::new();
    let mut events: Vec<StampedEvent> = Vec::new();
    for it in records.iter().filter(|it| it.seq >= opened.seq) {
        let event = match &it.record {
            Record::ReleaseOpened(head) if head.revision == revision => Event::ReleaseOpened {
                revision,
                operation: head.operation,
                // The number of planned steps is not recorded.
                steps: 0,
            },
            Record::StepBegan { attempt, id, action, .. } if attempt.revision == revision => {
                actions.insert(*attempt, *action);
                Event::StepStarted { id: id.clone(), action: *action }
            }
            Record::StepEnded { attempt, id, ending } if attempt.revision == revision => {
                let Some(action) = actions.get(attempt).copied() else { continue };
                let (outcome, message) = match ending {
                    Ending::Failed { message } => (Outcome::Failed, message.clone()),
                    Ending::Present(_) | Ending::Absent => (Outcome::Done, String::new()),
                };
                let (id, warnings) = (id.clone(), Vec::new());
                Event::StepEnded { id, action, outcome, message, warnings }
            }
            Record::ReleaseClosed { revision: closed, phase, message } if *closed == revision => {
                Event::ReleaseClosed { revision, phase: *phase, message: message.clone() }
            }
            _ => continue,
        };
        events.push(StampedEvent {
            stack: it.stack.clone(),
            operation_id: opened.operation_id.clone(),
            seq: events.len() as u64 + 1,
            time: it.time.clone(),
            event,
        });
    }
    events
}
