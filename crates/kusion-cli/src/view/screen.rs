//! Where events and results go: lines, JSON, or a board that is drawn again and again.

use super::Output;
use super::board::{Board, Frame};
use super::lines::{is_on_board, line};
use super::plan::{self, PlanEvent};
use super::style::{Color, Role, Style};
use crate::failure::Failure;
use base_diag::Colour;
use jiff::Timestamp;
use kusion_engine::{EVENT_VERSION, Event, EventSink, RelatedObject, Stop};
use kusion_generate::Compiled;
use kusion_model::{Health, Plan, ResourceId};
use kusion_plan::Refusal;
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, IsTerminal as _, Write};
use std::sync::atomic::{AtomicBool, Ordering};
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
    /// Whether an answer is awaited.
    is_asking: AtomicBool,
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
            is_asking: AtomicBool::new(false),
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
    pub(crate) fn json(&self, event: &impl Serialize) {
        if self.output == Output::Json {
            let line = serde_json::to_string(&Line { version: EVENT_VERSION, event });
            let mut inner = self.lock();
            let _ = writeln!(inner.waiting, "{}", line.unwrap_or_default());
            inner.flush();
        }
    }

    /// Shows what a program printed and what its compiler has to say.
    pub(crate) fn compiled(&self, compiled: &Compiled) {
        let warnings = compiled.warnings.to_text(Colour::Never);
        for text in [&compiled.printed, &warnings].into_iter().chain(&compiled.notes) {
            if !text.trim().is_empty() {
                self.notice(text.trim_end());
            }
        }
        if !compiled.warnings.is_empty() {
            let found = compiled.warnings_json();
            self.json(&json!({"event": "diagnostics", "diagnostics": found}));
        }
    }

    /// Tells programs about a failure; people read of it on standard error.
    pub(crate) fn tell<T>(&self, done: Result<T, Failure>) -> Result<T, Failure> {
        self.end();
        if let Err(failure) = &done {
            let (message, hint) = (failure.to_string(), failure.hint());
            let mut event = json!({"event": "error", "message": message, "hint": hint});
            if let Failure::Generate(error) = failure {
                event["diagnostics"] = error.to_json().into();
            }
            self.json(&event);
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
        self.json(&PlanEvent::new(plan, refusals));
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

    /// Ends that, and leaves the last picture of the resources on the terminal.
    pub(crate) fn end_with_picture(&self) {
        let mut inner = self.lock();
        if let Some(board) = &inner.board {
            let lines = board.lines(terminal_frame(Instant::now()), self.style);
            for line in lines.iter().skip(1) {
                let _ = writeln!(inner.waiting, "{line}");
            }
        }
        drop(inner);
        self.end();
    }

    /// Returns how a watched resource fared last, with what belongs to it.
    pub(crate) fn last_seen(&self, id: &ResourceId) -> Option<(Health, Vec<RelatedObject>)> {
        self.lock().progress.get(id).cloned()
    }

    /// Whether an answer is awaited.
    pub(crate) fn is_asking(&self) -> bool {
        self.is_asking.load(Ordering::Relaxed)
    }

    /// Asks a question; an interruption means no.
    pub(crate) fn ask(&self, question: &str, stop: &Stop) -> Answer {
        self.is_asking.store(true, Ordering::Relaxed);
        let answer = Self::answer(question, stop);
        self.is_asking.store(false, Ordering::Relaxed);
        answer
    }

    fn answer(question: &str, stop: &Stop) -> Answer {
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
                Err(RecvTimeoutError::Timeout) if stop.is_asked() => {
                    let _ = writeln!(std::io::stderr());
                    return Answer::No;
                }
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
        let picture = board.lines(terminal_frame(now), self.style);
        inner.erase();
        inner.flush();
        let mut text = picture.join("\n");
        text.push('\n');
        let _ = std::io::stderr().write_all(text.as_bytes());
        inner.n_drawn = picture.len();
    }
}

/// An event as a line.
#[derive(Serialize)]
struct Line<'a, T> {
    version: u32,
    #[serde(flatten)]
    event: &'a T,
}

impl EventSink for View {
    fn emit(&self, event: &Event) {
        if self.output == Output::Json {
            self.json(event);
        }
        let mut inner = self.lock();
        if let Some(board) = &mut inner.board {
            board.take(event, Instant::now());
        }
        let is_news = match event {
            Event::Progress { id, health, .. } => {
                inner.progress.get(id).is_none_or(|(last, _)| last != health)
            }
            _ => true,
        };
        if self.output == Output::Text
            && is_news
            && !(self.is_live && is_on_board(event))
            && let Some(line) = line(event, self.style)
        {
            let _ = writeln!(inner.waiting, "{line}");
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

/// Returns the frame of the terminal.
fn terminal_frame(now: Instant) -> Frame {
    let (columns, lines) = match terminal_size::terminal_size_of(std::io::stderr()) {
        Some((width, height)) => (usize::from(width.0), usize::from(height.0)),
        None => (80, 24),
    };
    Frame { columns, lines, now, clock: Timestamp::now() }
}

/// Draws the board until the view is gone.
fn draw_again_and_again(view: &Weak<View>) {
    loop {
        std::thread::sleep(REDRAW);
        let Some(view) = view.upgrade() else { return };
        view.draw();
    }
}
