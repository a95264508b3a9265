//! Where events and results go: lines, JSON, or a board that is drawn again and again.

use super::Output;
use super::board::{Board, Frame};
use super::plan;
use super::style::{Color, Role, Style, one_line};
use super::words::{self, count, of_action};
use crate::failure::Failure;
use jiff::Timestamp;
use kusion_engine::{EVENT_VERSION, Event, EventSink, Outcome, RelatedObject, Stop};
use kusion_generate::Compiled;
use kusion_model::{Health, Plan, ResourceId};
use kusion_plan::Refusal;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead as _, IsTerminal as _, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// How often a board is drawn: below 30 times a second.
const REDRAW: Duration = Duration::from_millis(80);
/// How long something must last before it is drawn.
const DELAY: Duration = Duration::from_millis(250);

/// What a user says to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Go on.
    Yes,
    /// Do not.
    No,
    /// Nobody can be asked.
    NoTerminal,
}

/// Shows what happens, in the form that the user wants.
pub(crate) struct View {
    output: Output,
    style: Style,
    is_live: bool,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    board: Option<Board>,
    /// How many lines of the board are on the terminal.
    n_drawn: usize,
    /// Text that goes to standard output with the next picture.
    waiting: String,
    /// How watched resources fared last.
    progress: BTreeMap<ResourceId, (Health, Vec<RelatedObject>)>,
    /// Whether nobody reads the output any more.
    is_gone: bool,
}

impl View {
    /// Makes a view; a live one if both outputs are terminals.
    pub(crate) fn new(output: Output, color: Color) -> Arc<Self> {
        let is_terminal = std::io::stdout().is_terminal() && std::io::stderr().is_terminal();
        let view = Arc::new(Self {
            output,
            style: Style::new(color),
            is_live: is_terminal && output == Output::Text,
            inner: Mutex::default(),
        });
        if view.is_live {
            let weak = Arc::downgrade(&view);
            // Without the thread nothing is drawn, and lines come at the end.
            let _ = std::thread::Builder::new()
                .name("view".to_owned())
                .spawn(move || draw_again_and_again(&weak));
        }
        view
    }

    /// Returns how texts are coloured.
    pub(crate) fn style(&self) -> Style {
        self.style
    }

    /// Prints a text for people; nothing in the form for programs.
    pub(crate) fn text(&self, text: &str) {
        if self.output == Output::Text {
            let mut inner = self.lock();
            inner.waiting.push_str(text);
            if !self.is_live || inner.board.is_none() {
                inner.flush();
            }
        }
    }

    /// Prints an object for programs; nothing in the form for people.
    pub(crate) fn json(&self, value: &Value) {
        if self.output == Output::Json {
            let mut line = json!({"version": EVENT_VERSION});
            if let (Some(line), Some(value)) = (line.as_object_mut(), value.as_object()) {
                line.extend(value.clone());
            }
            let mut inner = self.lock();
            inner.waiting.push_str(&format!("{line}\n"));
            inner.flush();
        }
    }

    /// Shows what a program printed and what its compiler has to say.
    pub(crate) fn compiled(&self, compiled: &Compiled) {
        for text in std::iter::once(&compiled.printed).chain(&compiled.notes) {
            if !text.trim().is_empty() {
                self.notice(text.trim_end());
            }
        }
    }

    /// Tells programs about a failure; people read of it on standard error.
    pub(crate) fn tell<T>(&self, done: Result<T, Failure>) -> Result<T, Failure> {
        self.end();
        if let Err(failure) = &done {
            let (message, hint) = (failure.to_string(), failure.hint());
            self.json(&json!({"event": "error", "message": message, "hint": hint}));
        }
        done
    }

    /// Tells the user something that is no result.
    pub(crate) fn notice(&self, text: &str) {
        let mut inner = self.lock();
        inner.erase();
        // Nobody is left to tell when this fails.
        let _ = writeln!(std::io::stderr(), "{text}");
    }

    /// Shows a plan below the name of its stack.
    pub(crate) fn plan(&self, title: &str, plan: &Plan, refusals: &[Refusal]) {
        self.json(&plan::json(plan, refusals));
        let title = self.style.paint(Role::Heading, title);
        self.text(&format!("{title}\n{}", plan::text(plan, self.style)));
        for refusal in refusals {
            self.text(&format!("{} {refusal}\n", self.style.paint(Role::Bad, "refused:")));
        }
    }

    /// Begins to show what happens to a stack.
    pub(crate) fn begin(&self, title: &str) {
        let mut inner = self.lock();
        inner.progress.clear();
        if self.is_live {
            inner.board = Some(Board::new(title, Instant::now()));
        }
    }

    /// Ends that, and leaves the terminal tidy.
    pub(crate) fn end(&self) {
        let mut inner = self.lock();
        inner.erase();
        inner.board = None;
        inner.flush();
    }

    /// Returns how a watched resource fared last, with what belongs to it.
    pub(crate) fn last_seen(&self, id: &ResourceId) -> Option<(Health, Vec<RelatedObject>)> {
        self.lock().progress.get(id).cloned()
    }

    /// Asks a question; an interruption means no.
    pub(crate) fn ask(&self, question: &str, stop: &Stop) -> Answer {
        if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
            return Answer::NoTerminal;
        }
        let _ = write!(std::io::stderr(), "{question} [y/N] ");
        let _ = std::io::stderr().flush();
        let (sender, answer) = channel();
        // Reading cannot be interrupted; the thread ends with the process.
        let read = move || {
            let mut line = String::new();
            let _ = std::io::stdin().lock().read_line(&mut line);
            let _ = sender.send(line);
        };
        if std::thread::Builder::new().name("question".to_owned()).spawn(read).is_err() {
            return Answer::NoTerminal;
        }
        loop {
            match answer.recv_timeout(Duration::from_millis(50)) {
                Ok(line) => {
                    let word = line.trim().to_lowercase();
                    return if word == "y" || word == "yes" { Answer::Yes } else { Answer::No };
                }
                Err(RecvTimeoutError::Timeout) if stop.is_asked() => return Answer::No,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Answer::No,
            }
        }
    }

    /// Returns the frame for texts that stay: as wide as wanted, now.
    pub(crate) fn wide_frame() -> Frame {
        Frame { columns: 1000, lines: 1000, now: Instant::now(), clock: Timestamp::now() }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn draw(&self) {
        let mut inner = self.lock();
        let now = Instant::now();
        let Some(board) = &inner.board else { return };
        let is_due = now.duration_since(board.since()) >= DELAY;
        if !is_due {
            return;
        }
        let (columns, lines) = match terminal_size::terminal_size_of(std::io::stderr()) {
            Some((width, height)) => (usize::from(width.0), usize::from(height.0)),
            None => (80, 24),
        };
        let frame = Frame { columns, lines, now, clock: Timestamp::now() };
        let picture = board.lines(frame, self.style);
        inner.erase();
        inner.flush();
        let mut text = picture.join("\n");
        text.push('\n');
        let _ = std::io::stderr().write_all(text.as_bytes());
        inner.n_drawn = picture.len();
    }

    /// Returns the line for an event; none if it says nothing to people.
    fn line(&self, event: &Event, inner: &Inner) -> Option<String> {
        let paint = |role, text: &str| self.style.paint(role, text);
        Some(match event {
            Event::Taken { .. } => return None,
            Event::Recovered { id, action, exists } => {
                let found = if *exists { "it exists" } else { "it does not exist" };
                let words = of_action(*action);
                format!("looked into an interrupted `{}` of {id}: {found}", words.verb)
            }
            Event::Opened { revision, operation, steps } => {
                let operation = words::of_operation(*operation);
                format!("release {revision}: {operation}, {}", count(*steps, "step"))
            }
            Event::Started { .. } if self.is_live => return None,
            Event::Started { id, action } => format!("{} {id}", of_action(*action).doing),
            Event::Retried { .. } if self.is_live => return None,
            Event::Retried { id, message, pause_ms } => {
                format!("trying {id} again in {pause_ms} ms: {}", one_line(message))
            }
            Event::Ended { id, action, outcome, message, warnings } => {
                let words = of_action(*action);
                let message = one_line(message);
                let mut line = match outcome {
                    Outcome::Done => format!("{} {id}", paint(words.role, words.done)),
                    Outcome::Failed => {
                        format!("{} to {} {id}: {message}", paint(Role::Bad, "failed"), words.verb)
                    }
                    Outcome::Skipped => {
                        format!("{} {id}: {message}", paint(Role::Muted, "skipped"))
                    }
                    Outcome::Unknown => format!(
                        "{} whether to {} {id} had an effect: {message}",
                        paint(Role::Bad, "unknown"),
                        words.verb
                    ),
                };
                for warning in warnings {
                    line.push_str(&format!("\n  warning: {}", one_line(warning)));
                }
                line
            }
            Event::Progress { .. } if self.is_live => return None,
            Event::Progress { id, health, .. } => {
                let is_new = inner.progress.get(id).is_none_or(|(last, _)| last != health);
                if !is_new {
                    return None;
                }
                format!("{id}: {}", words::of_health(health))
            }
            // The report says it.
            Event::Closed { .. } => return None,
        })
    }
}

impl EventSink for View {
    fn emit(&self, event: &Event) {
        if self.output == Output::Json {
            self.json(&json!(event));
        }
        let mut inner = self.lock();
        if let Some(board) = &mut inner.board {
            board.take(event, Instant::now());
        }
        if self.output == Output::Text
            && let Some(line) = self.line(event, &inner)
        {
            inner.waiting.push_str(&line);
            inner.waiting.push('\n');
            if inner.board.is_none() {
                inner.flush();
            }
        }
        if let Event::Progress { id, health, related } = event {
            inner.progress.insert(id.clone(), (health.clone(), related.clone()));
        }
    }
}

impl Inner {
    /// Takes the board off the terminal.
    fn erase(&mut self) {
        if self.n_drawn > 0 {
            let _ = write!(std::io::stderr(), "\u{1b}[{}A\r\u{1b}[J", self.n_drawn);
            let _ = std::io::stderr().flush();
            self.n_drawn = 0;
        }
    }

    /// Writes what waits; a reader that has gone does not stop the work.
    fn flush(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let text = std::mem::take(&mut self.waiting);
        if self.is_gone {
            return;
        }
        let mut out = std::io::stdout().lock();
        self.is_gone = out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err();
    }
}

/// Draws the board until the view is gone.
fn draw_again_and_again(view: &Weak<View>) {
    loop {
        std::thread::sleep(REDRAW);
        let Some(view) = view.upgrade() else { return };
        view.draw();
    }
}
