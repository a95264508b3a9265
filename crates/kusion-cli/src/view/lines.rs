//! Events as lines.

use super::style::{Role, Style, one_line};
use super::words::{self, count, of_action};
use kusion_engine::{Event, Outcome};
use std::fmt::Write as _;

/// Returns whether a live board shows an event, so that it needs no line.
pub(crate) fn is_on_board(event: &Event) -> bool {
    matches!(
        event,
        Event::StepStarted { .. }
            | Event::StepRetried { .. }
            | Event::StepWaiting { .. }
            | Event::Health { .. }
    )
}

/// Formats an event as a line; `None` if it is not shown to users.
pub(crate) fn line(event: &Event, style: Style) -> Option<String> {
    Some(match event {
        // The report shows the end of a release, and health lines include warnings.
        Event::Locked | Event::ReleaseClosed { .. } | Event::Warning { .. } => return None,
        Event::Recovered { id, action, exists } => {
            let found = if *exists { "it exists" } else { "it does not exist" };
            format!("checked an interrupted {} of {id}: {found}", of_action(*action).verb)
        }
        Event::ReleaseOpened { revision, operation, steps } => {
            let operation = words::of_operation(*operation);
            // How many steps an interrupted release would have had is not known.
            let steps =
                if *steps == 0 { String::new() } else { format!(", {}", count(*steps, "step")) };
            format!("release {revision}: {operation}{steps}")
        }
        Event::StepStarted { id, action } => format!("{} {id}", of_action(*action).doing),
        Event::StepRetried { id, message, pause_ms } => {
            format!("retrying {id} in {pause_ms} ms: {}", one_line(message))
        }
        Event::StepWaiting { id, action, message } => {
            format!("still {} {id}: {}", of_action(*action).doing, one_line(message))
        }
        Event::StepEnded { id, action, outcome, message, warnings } => {
            let words = of_action(*action);
            let message = one_line(message);
            let mut line = match outcome {
                Outcome::Done => format!("{} {id}", style.paint(words.role, words.done)),
                Outcome::Failed => {
                    let failed = style.paint(Role::Bad, "failed");
                    format!("{failed} to {} {id}: {message}", words.verb)
                }
                Outcome::Skipped => {
                    format!("{} {id}: {message}", style.paint(Role::Muted, "skipped"))
                }
                Outcome::Unknown => {
                    let unknown = style.paint(Role::Bad, "unknown");
                    format!(
                        "{unknown}: the {} of {id} may or may not have been applied: {message}",
                        words.verb
                    )
                }
            };
            for warning in warnings {
                let _ = write!(line, "\n  warning: {}", one_line(warning));
            }
            line
        }
        Event::Health { id, health, .. } => format!("{id}: {}", words::of_health(health)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kusion_model::{Action, Health, ResourceId};

    fn check(event: &Event, expected: &str) {
        assert_eq!(line(event, Style::default()).as_deref(), Some(expected));
    }

    #[test]
    fn events_are_lines() {
        let id = ResourceId::new("v1:Pod:a:b");
        let started = Event::StepStarted { id: id.clone(), action: Action::Delete };
        check(&started, "deleting v1:Pod:a:b");
        let ended = Event::StepEnded {
            id: id.clone(),
            action: Action::Update,
            outcome: Outcome::Failed,
            message: "no\nway".into(),
            warnings: vec!["old\u{7}".into()],
        };
        check(&ended, "failed to update v1:Pod:a:b: no way\n  warning: old\\u{7}");
        let (action, message) = (Action::Delete, "waiting for the finalizers `x`".into());
        let waiting = Event::StepWaiting { id: id.clone(), action, message };
        check(&waiting, "still deleting v1:Pod:a:b: waiting for the finalizers `x`");
        let health = Health::progressing("0 of 1");
        let progress = Event::Health { id, health, related: Vec::new() };
        check(&progress, "v1:Pod:a:b: progressing: 0 of 1");
    }
}
