//! What a provider prints: its logs on standard error, and anything on standard output after the
//! handshake.

use super::handshake::MAX_LINE;
use crate::error::printable;
use kusion_secret::Redactor;
use serde_json::Value;
use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{oneshot, watch};
use tracing::{debug, error, info, trace, warn};

/// How many of the last lines an error shows.
const KEPT_LINES: usize = 10;

/// The longest line of a log; the rest of a longer one is left out.
const MAX_LOG_LINE: usize = 16 << 10;

/// The last lines that a provider printed.
#[derive(Clone)]
pub(crate) struct Tail {
    lines: Arc<Mutex<VecDeque<String>>>,
    is_complete: watch::Receiver<bool>,
}

impl Tail {
    fn add(&self, line: String) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == KEPT_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    /// Returns the lines of a program that has ended, as one text.
    pub(crate) async fn last(&self) -> String {
        let mut is_complete = self.is_complete.clone();
        // Something that the program started may still hold its output open.
        let read = is_complete.wait_for(|it| *it);
        let _ = tokio::time::timeout(Duration::from_millis(300), read).await;
        self.text()
    }

    /// Returns the lines as one text.
    pub(crate) fn text(&self) -> String {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        printable(&lines.iter().map(String::as_str).collect::<Vec<_>>().join(" | "))
    }
}

/// Reads the first line of standard output, then reads and drops the rest, so that the provider
/// never waits for a reader.
pub(crate) fn read_handshake(
    stdout: impl Read + Send + 'static,
) -> std::io::Result<oneshot::Receiver<Result<String, String>>> {
    let (first, received) = oneshot::channel();
    std::thread::Builder::new().name("provider-stdout".to_owned()).spawn(move || {
        let mut reader = BufReader::new(stdout);
        let mut line = Vec::new();
        let read = reader.by_ref().take(MAX_LINE as u64).read_until(b'\n', &mut line);
        let answer = match read {
            Err(error) => Err(error.to_string()),
            Ok(0) => Err("it ended without a handshake".to_owned()),
            Ok(_) if line.len() == MAX_LINE => Err("its first line is too long".to_owned()),
            Ok(_) => String::from_utf8(line).map_err(|_| "its handshake is not a text".to_owned()),
        };
        let _ = first.send(answer);
        let _ = std::io::copy(&mut reader, &mut std::io::sink());
    })?;
    Ok(received)
}

/// Reads standard error until it ends, and passes its lines on to the log.
pub(crate) fn log_lines(
    provider: String,
    stderr: impl Read + Send + 'static,
    redactor: Redactor,
) -> std::io::Result<Tail> {
    let (completed, is_complete) = watch::channel(false);
    let tail = Tail { lines: Arc::default(), is_complete };
    let kept = tail.clone();
    std::thread::Builder::new().name("provider-stderr".to_owned()).spawn(move || {
        let mut reader = BufReader::new(stderr);
        let mut line = Vec::new();
        loop {
            line.clear();
            match reader.by_ref().take(MAX_LOG_LINE as u64).read_until(b'\n', &mut line) {
                Err(_) | Ok(0) => break,
                Ok(_) => {}
            }
            let is_cut = line.len() == MAX_LOG_LINE && line.last() != Some(&b'\n');
            let text = String::from_utf8_lossy(&line);
            log_line(&provider, &redactor.redact(text.trim_end()), &kept);
            if is_cut && reader.skip_until(b'\n').is_err() {
                break;
            }
        }
        completed.send_replace(true);
    })?;
    Ok(tail)
}

/// Passes one line on to the log: an entry as JSON, or any text.
fn log_line(provider: &str, line: &str, tail: &Tail) {
    if line.is_empty() {
        return;
    }
    let entry: Option<Value> =
        line.starts_with('{').then(|| serde_json::from_str(line).ok()).flatten();
    let Some(entry) = entry.filter(|it| it.get("@message").is_some()) else {
        tail.add(line.to_owned());
        info!(target: "terraform_provider", provider, "{}", printable(line));
        return;
    };
    let field = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default();
    let (level, message) = (field("@level"), printable(field("@message")));
    let module = printable(field("@module"));
    match level {
        "error" => error!(target: "terraform_provider", provider, module, "{message}"),
        "warn" => warn!(target: "terraform_provider", provider, module, "{message}"),
        "info" => info!(target: "terraform_provider", provider, module, "{message}"),
        "debug" => debug!(target: "terraform_provider", provider, module, "{message}"),
        _ => trace!(target: "terraform_provider", provider, module, "{message}"),
    }
    if matches!(level, "error" | "warn") {
        tail.add(message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_and_the_last_ones_are_kept() {
        let lines: Vec<String> = (0..30).map(|n| format!("line {n}\n")).collect();
        let mut text = "x".repeat(100_000) + "\n" + &lines.concat();
        text += "{\"@level\":\"error\",\"@message\":\"bad\\u001b[0m\"}\n";
        let reader = std::io::Cursor::new(text.into_bytes());
        let tail = log_lines("p".to_owned(), reader, Redactor::default()).expect("a thread");
        while !tail.text().contains("bad") {
            std::thread::yield_now();
        }
        assert!(tail.text().starts_with("line 21 | "), "{}", tail.text());
        assert!(tail.text().ends_with("bad\\u{1b}[0m"));
    }
}
