//! Downloads, as the command line shows them.

use crate::terminal;
use base_system::OsSystem;
use kcl_driver::SharedProvider;
use kcl_fetch::{FetchOptions, Fetcher, Progress, Silent};
use std::io::{self, IsTerminal as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Makes a fetcher that shows its downloads on standard error, unless it is to be quiet.
pub(crate) fn fetcher(options: FetchOptions, quiet: bool) -> Fetcher {
    let progress: Arc<dyn Progress> =
        if quiet { Arc::new(Silent) } else { Arc::new(Shown::default()) };
    Fetcher::new(&OsSystem, options, progress)
}

/// Lets a program's missing dependencies be downloaded.
pub(crate) fn provider() -> SharedProvider {
    SharedProvider(Arc::new(fetcher(FetchOptions::default(), false)))
}

/// On a terminal, a line that changes while the download runs and is erased at its end; elsewhere, one
/// line for each download, for logs.
#[derive(Debug, Default)]
struct Shown {
    state: Mutex<Option<State>>,
}

#[derive(Debug)]
struct State {
    what: String,
    start: Instant,
    shown: Option<Instant>,
}

/// When the line is shown first, and how often it changes.
const DELAY: Duration = Duration::from_millis(250);
const PAUSE: Duration = Duration::from_millis(50);

impl Progress for Shown {
    fn start(&self, what: &str) {
        if !io::stderr().is_terminal() {
            return terminal::write_err(&format!("downloading {what}\n"));
        }
        let state = State { what: what.to_owned(), start: Instant::now(), shown: None };
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = Some(state);
    }

    fn advance(&self, done: u64, total: Option<u64>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(state) = state.as_mut() else { return };
        let now = Instant::now();
        let is_soon = state.shown.is_some_and(|at| now - at < PAUSE);
        if now - state.start < DELAY || is_soon {
            return;
        }
        state.shown = Some(now);
        terminal::write_err(&format!("\r\x1b[K{}", line(&state.what, done, total)));
    }

    fn end(&self) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner).take();
        if state.is_some_and(|state| state.shown.is_some()) {
            terminal::write_err("\r\x1b[K");
        }
    }
}

fn line(what: &str, done: u64, total: Option<u64>) -> String {
    let mut what: String = what.chars().filter(|c| !c.is_control()).take(48).collect();
    what = format!("downloading {what}");
    match total {
        Some(total) if total > 0 => {
            format!("{what}  {} of {}  {} %", size(done), size(total), done * 100 / total)
        }
        _ => format!("{what}  {}", size(done)),
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_names_the_package_and_fits() {
        let shown = line("oci://ghcr.io/kcl-lang/k8s:1.31", 1_250_000, Some(2_500_000));
        assert_eq!(shown, "downloading oci://ghcr.io/kcl-lang/k8s:1.31  1.2 MB of 2.5 MB  50 %");
        assert_eq!(line("a\x1b[2J", 12, None), "downloading a[2J  12 B");
        assert!(line(&"x".repeat(500), u64::MAX / 100, None).len() < 100);
    }
}
