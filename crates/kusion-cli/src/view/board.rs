//! What happens right now, as lines for a terminal.

use super::style::{Role, Style, fit, one_line, pad};
use super::words::{self, count, of_action, of_duration, of_state};
use jiff::Timestamp;
use kusion_engine::{Event, Outcome, RelatedObject};
use kusion_model::{Action, Health, HealthState, ResourceId};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use unicode_width::UnicodeWidthStr as _;

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// The time that one picture of the spinner lasts.
const BEAT: Duration = Duration::from_millis(100);

/// What happens to the resources of a stack.
#[derive(Debug)]
pub(crate) struct Board {
    title: String,
    since: Instant,
    n_steps: usize,
    n_ended: usize,
    rows: BTreeMap<ResourceId, Row>,
}

#[derive(Debug)]
enum Row {
    /// A step runs.
    Step { action: Action, since: Instant, note: String },
    /// An object is watched.
    Watched { health: Health, related: Vec<RelatedObject> },
}

/// The size and the instant of a picture.
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
    /// Makes an empty board.
    pub(crate) fn new(title: &str, now: Instant) -> Self {
        let rows = BTreeMap::new();
        Self { title: title.to_owned(), since: now, n_steps: 0, n_ended: 0, rows }
    }

    /// Returns since when it shows something.
    pub(crate) fn since(&self) -> Instant {
        self.since
    }

    /// Notes what happened.
    pub(crate) fn take(&mut self, event: &Event, now: Instant) {
        match event {
            Event::Opened { steps, .. } => self.n_steps = *steps,
            Event::Started { id, action } => {
                let row = Row::Step { action: *action, since: now, note: String::new() };
                self.rows.insert(id.clone(), row);
            }
            Event::Retried { id, message, .. } => {
                if let Some(Row::Step { note, .. }) = self.rows.get_mut(id) {
                    *note = format!("again, after: {}", one_line(message));
                }
            }
            Event::Ended { id, outcome, .. } => {
                self.n_ended += usize::from(*outcome != Outcome::Skipped);
                self.rows.remove(id);
            }
            Event::Progress { id, health, related } => {
                let row = Row::Watched { health: health.clone(), related: related.clone() };
                self.rows.insert(id.clone(), row);
            }
            Event::Taken { .. }
            | Event::Recovered { .. }
            | Event::Warned { .. }
            | Event::Closed { .. } => {}
        }
    }

    /// Draws the board: a head line, the resources, and below them what they own, most urgent
    /// first, no more than fits.
    pub(crate) fn lines(&self, frame: Frame, style: Style) -> Vec<String> {
        let room = frame.lines.saturating_sub(2).max(1);
        let mut rows: Vec<(&ResourceId, &Row)> = self.rows.iter().collect();
        rows.sort_by_key(|(_, row)| row.rank());
        let n_hidden = rows.len().saturating_sub(room);
        let n_hidden = if n_hidden > 0 { n_hidden + 1 } else { 0 };
        rows.truncate(rows.len() - n_hidden.min(rows.len()));
        let mut left = room - rows.len().min(room) - usize::from(n_hidden > 0).min(room);
        let width = rows.iter().map(|(id, _)| id.as_str().width()).max().unwrap_or(0);
        let width = width.min(frame.columns / 2);
        let mut lines = vec![self.head(frame, style)];
        for (id, row) in rows {
            lines.push(row.line(id, width, frame, style));
            let Row::Watched { related, .. } = row else { continue };
            let n_shown = related.len().min(left);
            left -= n_shown;
            lines.extend(related[..n_shown].iter().map(|it| related_line(it, frame, style)));
        }
        if n_hidden > 0 {
            lines.push(style.paint(Role::Muted, &format!("  … and {n_hidden} more")));
        }
        lines
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

    fn line(&self, id: &ResourceId, width: usize, frame: Frame, style: Style) -> String {
        let id = pad(&fit(&one_line(id.as_str()), width), width);
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

/// Draws an object that belongs to a resource.
pub(crate) fn related_line(object: &RelatedObject, frame: Frame, style: Style) -> String {
    let (mark, _, role) = of_state(object.health.state);
    let indent = "  ".repeat(object.depth.min(8));
    let age = object.created.as_deref().and_then(|it| words::between(it, frame.clock));
    let age = age.map(|it| format!("  {}", of_duration(it))).unwrap_or_default();
    let name = format!("{} {}", one_line(&object.kind), one_line(&object.name));
    let text = format!("{name}{age}  {}", words::of_health(&object.health));
    let room = frame.columns.saturating_sub(indent.len() + 7);
    format!("  {indent}└ {} {}", style.paint(role, mark), fit(&text, room))
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

    fn pod(name: &str, health: Health) -> RelatedObject {
        let created = Some("2026-01-01T00:00:30Z".to_owned());
        RelatedObject { kind: "Pod".into(), name: name.into(), depth: 1, health, created }
    }

    #[test]
    fn the_board_shows_running_steps_and_what_objects_own() {
        let start = Instant::now();
        let mut board = Board::new("shop/dev", start);
        let (a, b, c) = (ResourceId::new("a"), ResourceId::new("bb"), ResourceId::new("c"));
        board.take(
            &Event::Opened { revision: 1, operation: kusion_model::Operation::Apply, steps: 3 },
            start,
        );
        board.take(&Event::Started { id: a.clone(), action: Action::Create }, start);
        board.take(&Event::Started { id: b.clone(), action: Action::Update }, start);
        let ended = Event::Ended {
            id: a.clone(),
            action: Action::Create,
            outcome: Outcome::Done,
            message: String::new(),
            warnings: Vec::new(),
        };
        board.take(&ended, start);
        let later = start + Duration::from_secs(2);
        let lines = board.lines(frame(later, 10), Style::default());
        assert_eq!(lines, ["⠋ shop/dev  1 of 3 steps  2s", "  ⠋ bb  changing 2s"]);
        let ready = Event::Progress { id: a, health: Health::ready(""), related: Vec::new() };
        board.take(&ready, start);
        board.take(
            &Event::Progress { id: b, health: Health::ready("ok"), related: Vec::new() },
            start,
        );
        let health = Health::failed("ImagePullBackOff", "no image");
        let related = vec![pod("c-1", health.clone())];
        board.take(&Event::Progress { id: c, health, related }, start);
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
    fn the_board_is_never_higher_or_wider_than_the_terminal() {
        let start = Instant::now();
        let mut board = Board::new("shop/dev", start);
        for number in 0..50 {
            let id = ResourceId::new(format!("apps/v1:Deployment:日本語:name-{number:0>60}"));
            let related =
                vec![pod("x", Health::progressing("waiting for a very long time to come"))];
            let health = Health::progressing("1 of 3 new pods are available, and so on and on");
            board.take(&Event::Progress { id, health, related }, start);
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
