//! The view: shows events and results as lines, as JSON, or on a live board.

use super::PlanOutput;
use super::board::{Board, Frame};
use super::lines::{is_on_board, line};
use super::plan::{self, PlanFormat};
use super::style::{Color, Role, Style, one_line, printable};
use super::{markdown, words};
use crate::arguments::DiffForm;
use crate::failure::Failure;
use base_diag::Colour;
use jiff::Timestamp;
use kusion_app::wire::{DiagnosticsLine, ErrorLine, Line, PlanLine, SummaryLine};
use kusion_engine::{Event, EventSink, Outcome, RelatedObject, StampedEvent, Stop};
use kusion_generate::Compiled;
use kusion_model::{Health, HealthState, Origins, Plan, ResourceId, StackKey};
use kusion_plan::Refusal;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, IsTerminal as _, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Interval of redraws of the board.
const REDRAW: Duration = Duration::from_millis(80);
/// Delay before the board is drawn for the first time.
const DELAY: Duration = Duration::from_millis(250);

/// The answer to a confirmation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Yes.
    Yes,
    /// No.
    No,
    /// Cannot ask: there is no terminal.
    NoTerminal,
}

/// Shows events and results in the requested format.
pub(crate) struct View {
    output: PlanOutput,
    style: Style,
    /// The form of differences, unless it is the default.
    diff_form: OnceLock<DiffForm>,
    is_live: bool,
    /// Whether the confirmation prompt is shown.
    is_asking: AtomicBool,
    inner: Mutex<Inner>,
}

struct Inner {
    board: Option<Board>,
    /// Number of lines of the board on the terminal.
    n_drawn: usize,
    /// Text that goes to standard output with the next picture.
    waiting: String,
    /// The stacks that are shown now.
    stacks: Vec<StackKey>,
    /// The last health of watched resources.
    progress: BTreeMap<(StackKey, ResourceId), (Health, Vec<RelatedObject>)>,
    /// Whether the output was closed.
    is_gone: bool,
    /// Room that is left for Markdown, in bytes.
    markdown_room: usize,
}

impl Default for Inner {
    fn default() -> Self {
        Self {
            board: None,
            n_drawn: 0,
            waiting: String::new(),
            stacks: Vec::new(),
            progress: BTreeMap::new(),
            is_gone: false,
            markdown_room: markdown::MAX_SIZE,
        }
    }
}

impl View {
    /// Creates a view; a live one if both outputs are terminals.
    pub(crate) fn new(output: impl Into<PlanOutput>, color: Color) -> Arc<Self> {
        let output = output.into();
        let is_terminal = std::io::stdout().is_terminal() && std::io::stderr().is_terminal();
        let view = Arc::new(Self {
            output,
            style: Style::new(color),
            diff_form: OnceLock::new(),
            is_live: is_terminal && output == PlanOutput::Text,
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

    /// Prints a text; nothing in the JSON format.
    pub(crate) fn text(&self, text: &str) {
        if self.output == PlanOutput::Text {
            let mut inner = self.lock();
            inner.waiting.push_str(text);
            if !self.is_live || inner.board.is_none() {
                inner.flush();
            }
        }
    }

    /// Prints a JSON object; nothing in the text format.
    pub(crate) fn json(&self, event: &impl Serialize) {
        if self.output == PlanOutput::Json {
            let mut inner = self.lock();
            let _ = writeln!(inner.waiting, "{}", Line::new(event).text());
            inner.flush();
        }
    }

    /// Shows the output of a program and the warnings of its compiler.
    pub(crate) fn compiled(&self, compiled: &Compiled) {
        let warnings = compiled.warnings.to_text(Colour::Never);
        for text in [&compiled.printed, &warnings] {
            if !text.trim().is_empty() {
                self.notice(text.trim_end());
            }
        }
        let (project, stack) = (&compiled.stack.project.name, &compiled.stack.name);
        for note in &compiled.notes {
            self.notice(&printable(&format!("note: {project}/{stack}: {note}")));
        }
        if !compiled.warnings.is_empty() || !compiled.notes.is_empty() {
            self.json(&DiagnosticsLine { diagnostics: compiled.warnings_json() });
        }
    }

    /// Prints a failure as a JSON object; users see it on standard error.
    pub(crate) fn tell<T>(&self, done: Result<T, Failure>) -> Result<T, Failure> {
        self.end();
        if let Err(failure) = &done {
            self.failure(failure);
        }
        done
    }

    /// Prints the failure of one of several stacks, after which the command goes on. The text
    /// names the stack.
    pub(crate) fn failure_of(&self, text: &str, failure: &Failure) {
        let hint = failure.hint().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
        self.notice(&printable(&format!("{}{hint}", super::labelled(text))));
        self.failure(failure);
    }

    fn failure(&self, failure: &Failure) {
        if self.output == PlanOutput::Markdown {
            let mut inner = self.lock();
            inner.waiting.push_str(&markdown::error(&failure.to_string()));
            inner.flush();
        }
        self.json(&ErrorLine {
            code: failure.code(),
            message: failure.to_string(),
            subjects: failure.subjects(),
            findings: failure.findings(),
            hint: failure.hint(),
            diagnostics: failure.diagnostics(),
        });
    }

    /// Prints a notice to standard error.
    pub(crate) fn notice(&self, text: &str) {
        let mut inner = self.lock();
        inner.erase();
        // A failure to write here cannot be reported.
        let _ = writeln!(std::io::stderr(), "{text}");
    }

    /// Sets the form of the differences of plans; the first call counts.
    pub(crate) fn set_diff_form(&self, form: DiffForm) {
        let _ = self.diff_form.set(form);
    }

    /// Shows a plan below the name of its stack. `origins` are the source locations of its values,
    /// where they are known.
    pub(crate) fn plan(&self, title: &str, plan: &Plan, refusals: &[Refusal], origins: &Origins) {
        let format = PlanFormat {
            form: self.diff_form.get().copied().unwrap_or_default(),
            style: self.style,
            columns: Self::columns(),
            origins,
        };
        match self.output {
            PlanOutput::Json => self.json(&PlanLine::new(plan, refusals)),
            PlanOutput::Markdown => {
                let mut inner = self.lock();
                let mut room = inner.markdown_room;
                let format = PlanFormat { style: Style::default(), ..format };
                let text = markdown::text(title, plan, refusals, format, &mut room);
                inner.waiting.push_str(&text);
                inner.markdown_room = room;
                inner.flush();
            }
            PlanOutput::Text => {
                let title = self.style.paint(Role::Heading, title);
                self.text(&format!("{title}\n{}", plan::text(plan, format)));
                let (approvals, others): (Vec<Refusal>, Vec<Refusal>) =
                    refusals.iter().cloned().partition(words::is_approval);
                for refusal in &approvals {
                    let text = one_line(&words::of_refusal(refusal));
                    let head = self.style.paint(Role::Changed, "needs approval:");
                    self.text(&format!("{head} {text}\n"));
                }
                for text in words::of_refusals(&others) {
                    let text = one_line(&text);
                    self.text(&format!("{} {text}\n", self.style.paint(Role::Bad, "rejected:")));
                }
                for finding in words::notes_of_policies(plan) {
                    let text = one_line(&words::of_finding(finding));
                    let head = self.style.paint(Role::Changed, words::of_level(finding));
                    self.text(&format!("{head} {text}\n"));
                }
            }
        }
    }

    /// Shows the summary of the plans of several stacks; nothing for one stack.
    pub(crate) fn summary(&self, plans: &[&Plan]) {
        if plans.len() < 2 {
            return;
        }
        let text = plan::summary_of_all(plans);
        self.json(&SummaryLine::new(plans));
        self.text(&text);
        if self.output == PlanOutput::Markdown {
            let mut inner = self.lock();
            inner.waiting.push_str(&markdown::summary_of_all(&text));
            inner.flush();
        }
    }

    /// Starts to show the events of a stack.
    pub(crate) fn begin(&self, stack: &StackKey, title: &str) {
        self.begin_several(std::slice::from_ref(stack), title);
    }

    /// Starts to show the events of several stacks.
    pub(crate) fn begin_several(&self, stacks: &[StackKey], title: &str) {
        let mut inner = self.lock();
        inner.progress.clear();
        inner.stacks = stacks.to_vec();
        if self.is_live {
            inner.board = Some(Board::new(title, stacks.len() > 1, Instant::now()));
        }
    }

    /// Stops showing events, and clears the board.
    pub(crate) fn end(&self) {
        let mut inner = self.lock();
        inner.erase();
        inner.board = None;
        inner.flush();
    }

    /// Stops showing events, and leaves the last state of the board on the terminal.
    pub(crate) fn end_with_picture(&self) {
        let mut inner = self.lock();
        if let Some(board) = &mut inner.board {
            board.forget_related_of_ready();
            let lines = board.lines(terminal_frame(Instant::now()), self.style);
            for line in lines.iter().skip(1) {
                let _ = writeln!(inner.waiting, "{line}");
            }
        }
        drop(inner);
        self.end();
    }

    /// Returns the last health of a watched resource, with what belongs to it.
    pub(crate) fn last_seen(
        &self,
        stack: &StackKey,
        id: &ResourceId,
    ) -> Option<(Health, Vec<RelatedObject>)> {
        self.lock().progress.get(&(stack.clone(), id.clone())).cloned()
    }

    /// Returns whether a watched resource had failed when it was seen last.
    pub(crate) fn has_failures(&self) -> bool {
        self.lock().progress.values().any(|(it, _)| it.state == HealthState::Failed)
    }

    /// Whether the confirmation prompt is shown.
    pub(crate) fn is_asking(&self) -> bool {
        self.is_asking.load(Ordering::Relaxed)
    }

    /// Asks for confirmation; an interruption means no.
    pub(crate) fn ask(&self, question: &str, stop: &Stop) -> Answer {
        self.ask_for(&format!("{question} [y/N] "), stop, |line| {
            matches!(line.to_lowercase().as_str(), "y" | "yes")
        })
    }

    /// Asks the user to type a name; everything else means no.
    pub(crate) fn ask_for_name(&self, name: &str, stop: &Stop) -> Answer {
        self.ask_for(&format!("Type `{name}` to confirm its changes: "), stop, |line| line == name)
    }

    fn ask_for(&self, prompt: &str, stop: &Stop, is_yes: impl Fn(&str) -> bool) -> Answer {
        self.is_asking.store(true, Ordering::Relaxed);
        let answer = Self::answer(prompt, stop, is_yes);
        self.is_asking.store(false, Ordering::Relaxed);
        answer
    }

    fn answer(prompt: &str, stop: &Stop, is_yes: impl Fn(&str) -> bool) -> Answer {
        if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
            return Answer::NoTerminal;
        }
        let _ = write!(std::io::stderr(), "{prompt}");
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
                Ok(line) if is_yes(line.trim()) => return Answer::Yes,
                Err(RecvTimeoutError::Timeout) if stop.is_asked() => {
                    let _ = writeln!(std::io::stderr());
                    return Answer::No;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Ok(_) | Err(RecvTimeoutError::Disconnected) => return Answer::No,
            }
        }
    }

    /// Returns the columns of the terminal, if standard output is one.
    pub(crate) fn columns() -> Option<usize> {
        terminal_size::terminal_size_of(std::io::stdout()).map(|it| usize::from(it.0.0))
    }

    /// Returns the frame for permanent texts, without a limit of the width.
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

impl EventSink for View {
    fn emit(&self, stamped: &StampedEvent) {
        if self.output == PlanOutput::Json {
            self.json(stamped);
        }
        let event = &stamped.event;
        let mut inner = self.lock();
        if let Some(board) = &mut inner.board {
            board.update(stamped, Instant::now());
        }
        let seen = match event {
            Event::Health { id, health, related } => {
                let name = (stamped.stack.clone(), id.clone());
                Some((name, (health.clone(), related.clone())))
            }
            _ => None,
        };
        let is_news = seen.as_ref().is_none_or(|(name, (health, _))| {
            inner.progress.get(name).is_none_or(|(last, _)| last != health)
        });
        // Reports count steps that were skipped.
        let is_skipped = matches!(event, Event::StepEnded { outcome: Outcome::Skipped, .. });
        if self.output == PlanOutput::Text
            && is_news
            && !is_skipped
            && !(self.is_live && is_on_board(event))
            && let Some(line) = line(event, self.style)
        {
            let has_several = inner.stacks.len() > 1;
            let label = if has_several { format!("{}  ", stamped.stack) } else { String::new() };
            let _ = writeln!(inner.waiting, "{label}{line}");
            if inner.board.is_none() {
                inner.flush();
            }
        }
        inner.progress.extend(seen);
    }
}

impl Inner {
    /// Clears the board.
    fn erase(&mut self) {
        if self.n_drawn > 0 {
            let _ = write!(std::io::stderr(), "\u{1b}[{}A\r\u{1b}[J", self.n_drawn);
            let _ = std::io::stderr().flush();
            self.n_drawn = 0;
        }
    }

    /// Writes pending output; a closed pipe does not stop the operation.
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

/// Draws the board until the view is dropped.
fn draw_again_and_again(view: &Weak<View>) {
    loop {
        std::thread::sleep(REDRAW);
        let Some(view) = view.upgrade() else { return };
        view.draw();
    }
}
