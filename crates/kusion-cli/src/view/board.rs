//! The live board: running steps and watched resources, as lines for a terminal.

use super::related;
use super::style::{Role, Style, fit, one_line, pad, short_id};
use super::words::{self, count, of_action, of_duration, of_state};
use jiff::Timestamp;
use kusion_engine::{Event, Outcome, RelatedObject, StampedEvent};
use kusion_model::{Action, Health, HealthState, ResourceId, StackKey};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use unicode_width::UnicodeWidthStr as _;

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// Duration of one frame of the spinner.
const BEAT: Duration = Duration::from_millis(100);

/// The state of a live board.
#[derive(Debug)]
pub(crate) struct Board {
    title: String,
    /// Whether rows show their stack.
    has_several: bool,
    since: Instant,
    n_steps: usize,
    n_ended: usize,
    rows: BTreeMap<(StackKey, ResourceId), Row>,
}

#[derive(Debug)]
enum Row {
    /// A running step.
    Step { action: Action, since: Instant, note: String },
    /// A watched object.
    Watched { health: Health, related: Vec<RelatedObject> },
}

/// The size and time of one drawing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    /// The columns of the terminal.
    pub(crate) columns: usize,
    /// The lines of the terminal.
    pub(crate) lines: usize,
    /// The instant, for spinners and times that run.
    pub(crate) now: Instant,
    /// The same instant, for ages of objects.
    pub(crate) clock: Timestamp,
}

impl Board {
    /// Creates an empty board for one stack, or for several.
    pub(crate) fn new(title: &str, has_several: bool, now: Instant) -> Self {
        let rows = BTreeMap::new();
        let title = title.to_owned();
        Self { title, has_several, since: now, n_steps: 0, n_ended: 0, rows }
    }

    /// Returns the time of the first shown event.
    pub(crate) fn since(&self) -> Instant {
        self.since
    }

    /// Updates the board with an event.
    pub(crate) fn update(&mut self, stamped: &StampedEvent, now: Instant) {
        let name = |id: &ResourceId| (stamped.stack.clone(), id.clone());
        match &stamped.event {
            Event::ReleaseOpened { steps, .. } => self.n_steps = *steps,
            Event::StepStarted { id, action } => {
                let row = Row::Step { action: *action, since: now, note: String::new() };
                self.rows.insert(name(id), row);
            }
            Event::StepRetried { id, message, .. } => {
                if let Some(Row::Step { note, .. }) = self.rows.get_mut(&name(id)) {
                    *note = format!("retrying after: {}", one_line(message));
                }
            }
            Event::StepWaiting { id, message, .. } => {
                if let Some(Row::Step { note, .. }) = self.rows.get_mut(&name(id)) {
                    *note = one_line(message);
                }
            }
            Event::StepEnded { id, outcome, .. } => {
                self.n_ended += usize::from(*outcome != Outcome::Skipped);
                self.rows.remove(&name(id));
            }
            Event::Health { id, health, related } => {
                let row = Row::Watched { health: health.clone(), related: related.clone() };
                self.rows.insert(name(id), row);
            }
            Event::Locked
            | Event::Recovered { .. }
            | Event::Warning { .. }
            | Event::ReleaseClosed { .. } => {}
        }
    }

    /// Removes the related objects of ready resources: their last state may arrive after that of
    /// the resource.
    pub(crate) fn forget_related_of_ready(&mut self) {
        for row in self.rows.values_mut() {
            if let Row::Watched { health, related } = row
                && health.is_ready()
            {
                related.clear();
            }
        }
    }

    /// Draws the board: a header line, then the resources with their related objects, most urgent
    /// first, as many as fit.
    pub(crate) fn lines(&self, frame: Frame, style: Style) -> Vec<String> {
        let room = frame.lines.saturating_sub(2).max(1);
        let mut rows: Vec<(String, &Row)> = self
            .rows
            .iter()
            .map(|(name, row)| (self.label(name, frame.columns / 2), row))
            .collect();
        rows.sort_by_key(|(_, row)| row.rank());
        let n_hidden = rows.len().saturating_sub(room);
        let n_hidden = if n_hidden > 0 { n_hidden + 1 } else { 0 };
        rows.truncate(rows.len() - n_hidden.min(rows.len()));
        let mut left = room - rows.len().min(room) - usize::from(n_hidden > 0).min(room);
        let width = rows.iter().map(|(label, _)| label.width()).max().unwrap_or(0);
        let width = width.min(frame.columns / 2);
        let mut lines = vec![self.head(frame, style)];
        for (label, row) in rows {
            lines.push(row.line(&label, width, frame, style));
            let Row::Watched { related, .. } = row else { continue };
            let mut below = related::lines(related, frame, style);
            below.truncate(left);
            left -= below.len();
            lines.extend(below);
        }
        if n_hidden > 0 {
            lines.push(style.paint(Role::Muted, &format!("  … and {n_hidden} more")));
        }
        lines
    }

    /// Names a resource; with its stack where there are several.
    fn label(&self, (stack, id): &(StackKey, ResourceId), columns: usize) -> String {
        let stack = if self.has_several { format!("{stack}  ") } else { String::new() };
        let room = columns.saturating_sub(stack.width()).max(columns / 2);
        format!("{stack}{}", short_id(&one_line(id.as_str()), Some(room)))
    }

    fn head(&self, frame: Frame, style: Style) -> String {
        let n_watched = self.rows.values().filter(|it| matches!(it, Row::Watched { .. })).count();
        let n_ready = self.rows.values().filter(|it| it.rank() == 3).count();
        let how_far = if n_watched > 0 {
            format!("{n_ready} of {n_watched} ready")
        } else {
            format!("{} of {}", self.n_ended, count(self.n_steps, "step"))
        };
        let elapsed = frame.now.duration_since(self.since);
        let text =
            format!("{} {}  {how_far}  {}", spinner(elapsed), self.title, of_duration(elapsed));
        style.paint(Role::Heading, &fit(&text, frame.columns.saturating_sub(1)))
    }
}

impl Row {
    /// How urgent it is to show it, the most urgent first.
    fn rank(&self) -> u8 {
        match self {
            Self::Watched { health, .. } => match health.state {
                HealthState::Failed => 0,
                HealthState::Progressing => 1,
                HealthState::Terminating => 2,
                HealthState::Ready => 3,
            },
            Self::Step { note, .. } => u8::from(note.is_empty()),
        }
    }

    fn line(&self, label: &str, width: usize, frame: Frame, style: Style) -> String {
        let id = pad(&fit(&one_line(label), width), width);
        let (mark, role, text) = match self {
            Self::Step { action, since, note } => {
                let words = of_action(*action);
                let elapsed = frame.now.duration_since(*since);
                let text = format!("{} {} {note}", words.doing, of_duration(elapsed));
                (spinner(elapsed), words.role, text)
            }
            Self::Watched { health, .. } => {
                let (mark, _, role) = of_state(health.state);
                (mark, role, words::of_health(health))
            }
        };
        let room = frame.columns.saturating_sub(width + 7);
        format!("  {} {id}  {}", style.paint(role, mark), fit(text.trim_end(), room))
    }
}

fn spinner(elapsed: Duration) -> &'static str {
    let beat = elapsed.as_millis() / BEAT.as_millis();
    SPINNER[usize::try_from(beat % SPINNER.len() as u128).unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(now: Instant, lines: usize) -> Frame {
        let clock = "2026-01-01T00:01:00Z".parse().expect("a time");
        Frame { columns: 60, lines, now, clock }
    }

    /// Tells a board of an event of a stack.
    fn take(board: &mut Board, event: Event, now: Instant) {
        take_of(board, "dev", event, now);
    }

    fn take_of(board: &mut Board, stack: &str, event: Event, now: Instant) {
        let stack = StackKey::new("shop", stack, kusion_model::Place::Main);
        let operation_id = kusion_model::OperationId::new("1");
        let (seq, time) = (1, String::new());
        board.update(&StampedEvent { stack, operation_id, seq, time, event }, now);
    }

    fn pod(name: &str, health: Health) -> RelatedObject {
        let created = Some("2026-01-01T00:00:30Z".to_owned());
        RelatedObject { kind: "Pod".into(), name: name.into(), depth: 1, health, created }
    }

    #[test]
    fn the_board_shows_running_steps_and_what_objects_own() {
        let start = Instant::now();
        let mut board = Board::new("shop/dev", false, start);
        let (a, b, c) = (ResourceId::new("a"), ResourceId::new("bb"), ResourceId::new("c"));
        take(
            &mut board,
            Event::ReleaseOpened {
                revision: 1,
                operation: kusion_model::Operation::Apply,
                steps: 3,
            },
            start,
        );
        take(&mut board, Event::StepStarted { id: a.clone(), action: Action::Create }, start);
        take(&mut board, Event::StepStarted { id: b.clone(), action: Action::Update }, start);
        let ended = Event::StepEnded {
            id: a.clone(),
            action: Action::Create,
            outcome: Outcome::Done,
            message: String::new(),
            warnings: Vec::new(),
        };
        take(&mut board, ended, start);
        let later = start + Duration::from_secs(2);
        let lines = board.lines(frame(later, 10), Style::default());
        assert_eq!(lines, ["⠋ shop/dev  1 of 3 steps  2s", "  ⠋ bb  updating 2s"]);
        let ready = Event::Health { id: a, health: Health::ready(""), related: Vec::new() };
        take(&mut board, ready, start);
        take(
            &mut board,
            Event::Health { id: b, health: Health::ready("ok"), related: Vec::new() },
            start,
        );
        let health = Health::failed("ImagePullBackOff", "no image");
        let related = vec![pod("c-1", health.clone())];
        take(&mut board, Event::Health { id: c, health, related }, start);
        let lines = board.lines(frame(later, 10), Style::default());
        assert_eq!(
            lines,
            [
                "⠋ shop/dev  2 of 3 ready  2s",
                "  ✗ c   failed, ImagePullBackOff: no image",
                "    └ ✗ Pod c-1  30s  failed, ImagePullBackOff: no image",
                "  ● a   ready",
                "  ● bb  ready: ok",
            ]
        );
    }

    #[test]
    fn equal_ids_of_two_stacks_stay_apart() {
        let start = Instant::now();
        let mut board = Board::new("watching", true, start);
        for (stack, health) in [("dev", Health::ready("")), ("prod", Health::progressing("0 of 1"))]
        {
            let event = Event::Health { id: ResourceId::new("a"), health, related: Vec::new() };
            take_of(&mut board, stack, event, start);
        }
        let lines = board.lines(frame(start, 10), Style::default());
        let expected = [
            "⠋ watching  1 of 2 ready  0s",
            "  ◌ shop/prod  a  progressing: 0 of 1",
            "  ● shop/dev  a   ready",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn the_board_is_never_higher_or_wider_than_the_terminal() {
        let start = Instant::now();
        let mut board = Board::new("shop/dev", false, start);
        for number in 0..50 {
            let id = ResourceId::new(format!("apps/v1:Deployment:日本語:name-{number:0>60}"));
            let related =
                vec![pod("x", Health::progressing("waiting for a very long time to come"))];
            let health = Health::progressing("1 of 3 new pods are available, and so on and on");
            take(&mut board, Event::Health { id, health, related }, start);
        }
        for height in [1, 2, 3, 5, 24, 51, 60, 200] {
            let lines = board.lines(frame(start, height), Style::default());
            assert!(lines.len() < height.max(4), "{} lines of {height}", lines.len());
            assert!(lines.iter().all(|it| it.width() < 60), "{lines:#?}");
        }
        let lines = board.lines(frame(start, 24), Style::default());
        assert_eq!(lines.last().map(String::as_str), Some("  … and 29 more"));
    }
}
