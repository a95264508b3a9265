//! Launches of this program in a role.

use base_plugin::{Guard, Launch, Limits, Process};
use rustix::process::{Pid, test_kill_process};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The protocol of the tests.
pub(crate) const PROTOCOL: &str = "test/1";

/// This program.
pub(crate) fn this_program() -> PathBuf {
    std::env::current_exe().expect("this program")
}

/// Starts this program in a role.
pub(crate) fn launch(role: &[&str]) -> Launch {
    let program = this_program().display().to_string();
    let words = [program.as_str(), "role"].into_iter().chain(role.iter().copied());
    of_words(words.map(str::to_owned).collect())
}

/// Starts any command.
pub(crate) fn of_words(words: Vec<String>) -> Launch {
    Launch {
        title: "the plugin `test`".to_owned(),
        words,
        folder: std::env::temp_dir(),
        environment: vec![
            ("PATH".to_owned(), std::env::var("PATH").unwrap_or_default()),
            ("ONLY".to_owned(), "this".to_owned()),
        ],
        protocol: PROTOCOL.to_owned(),
        limits: Limits { answer: Duration::from_secs(20), ..Limits::default() },
        guard: Guard { program: this_program() },
    }
}

/// Starts this program in a role, and expects that it speaks the protocol.
pub(crate) fn start(role: &[&str]) -> Process {
    Process::start(&launch(role), None).expect("started")
}

/// A file that a role writes ids of processes to; it is removed with the value.
pub(crate) struct Ids(PathBuf);

impl Ids {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("base-plugin-{name}-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Waits until so many ids were written.
    pub(crate) fn wait_for(&self, count: usize) -> Vec<Pid> {
        loop {
            let text = std::fs::read_to_string(&self.0).unwrap_or_default();
            let ids: Vec<Pid> =
                text.lines().filter_map(|line| Pid::from_raw(line.parse().ok()?)).collect();
            if ids.len() >= count && text.ends_with('\n') {
                return ids;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Ids {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Whether a process runs; one that ended and was not waited for does not.
pub(crate) fn runs(id: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", id.as_raw_nonzero()));
    let is_dead = |text: &String| text.rsplit(')').next().is_some_and(|it| it.starts_with(" Z"));
    test_kill_process(id).is_ok() && !stat.as_ref().is_ok_and(is_dead)
}

/// Waits until processes have ended.
pub(crate) fn wait_for_end(ids: &[Pid]) {
    let begun = Instant::now();
    while ids.iter().any(|id| runs(*id)) {
        assert!(begun.elapsed() < Duration::from_mins(1), "still running: {ids:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
