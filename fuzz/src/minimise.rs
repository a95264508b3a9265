//! Makes a failing input smaller while it keeps failing in the same way.

use crate::input::Kind;
use crate::worker::COMPUTE_LIMIT;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long the search may take.
const SEARCH_LIMIT: Duration = Duration::from_secs(30);

/// Names the kind of a failure: its place if it is a panic, else its message without numbers.
pub(crate) fn failure_class(message: &str) -> String {
    match message.strip_prefix("panic at ") {
        Some(rest) => rest.split(": ").next().unwrap_or(rest).to_owned(),
        None => message.chars().filter(|it| !it.is_ascii_digit()).take(60).collect(),
    }
}

/// Returns the smallest input found that fails as `text` does.
pub(crate) fn minimise(kind: Kind, text: &str, folder: &Path) -> anyhow::Result<String> {
    let scratch = folder.join("candidate.tmp");
    let fails = |candidate: &str| -> anyhow::Result<Option<String>> {
        std::fs::write(&scratch, candidate)?;
        replay_apart(kind, &scratch)
    };
    let start = Instant::now();
    let mut best = text.to_owned();
    let Some(class) = fails(&best)? else {
        std::fs::remove_file(&scratch)?;
        return Ok(best);
    };
    let mut size = best.chars().count().div_ceil(2);
    while size > 0 && start.elapsed() < SEARCH_LIMIT {
        let mut removed = false;
        let mut at = 0;
        while at < best.chars().count() && start.elapsed() < SEARCH_LIMIT {
            let candidate: String = best
                .chars()
                .enumerate()
                .filter(|(idx, _)| !(at..at + size).contains(idx))
                .map(|it| it.1)
                .collect();
            if fails(&candidate)?.as_ref() == Some(&class) {
                best = candidate;
                removed = true;
            } else {
                at += size;
            }
        }
        if !removed || size > 1 {
            size /= 2;
        }
    }
    std::fs::remove_file(&scratch)?;
    Ok(best)
}

/// Replays a file in a process of its own; returns the kind of failure, if it fails.
fn replay_apart(kind: Kind, path: &Path) -> anyhow::Result<Option<String>> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["replay", "--kind", kind.name()])
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let start = Instant::now();
    while child.try_wait()?.is_none() {
        if start.elapsed() > COMPUTE_LIMIT {
            child.kill()?;
            child.wait()?;
            return Ok(Some("slow".into()));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let output = child.wait_with_output()?;
    if output.status.success() {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(Some(match text.lines().find_map(|line| line.strip_prefix("FAILED ")) {
        Some(message) => failure_class(message),
        None => output.status.to_string(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_are_told_apart_by_place() {
        let class = failure_class("panic at a/b.rs:1:2: index 7 out of range");
        assert_eq!(class, "a/b.rs:1:2");
        assert_eq!(failure_class("differs at 12"), failure_class("differs at 345"));
    }
}
