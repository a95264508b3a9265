//! The process that holds the connection to a host, which all scripts share.

use rustix::process::{Pid, Signal, kill_process_group};
use std::fmt::Write as _;
use std::io::Read;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What runs on the host while the connection exists: it ends with its input, and so with this
/// process, however that ends.
pub(super) const COMMAND: &str = "echo kusion-connected; exec cat >/dev/null";

/// What the host prints once it is connected.
const READY: &[u8] = b"kusion-connected";

/// How much output is searched.
const MAX_GREETING: usize = 1 << 20;

/// How much of the errors is kept: the end.
const MAX_ERRORS: usize = 8 << 10;

/// A running connection, which ends with the value.
pub(super) struct Master {
    child: Child,
    /// Open as long as the connection is to exist.
    _input: Option<ChildStdin>,
}

impl Master {
    /// Connects.
    ///
    /// # Errors
    ///
    /// What the program wrote to standard error, or why it did not start.
    pub(super) fn start(command: &mut Command, time: Duration) -> Result<Self, String> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| format!("cannot start `ssh`: {error}"))?;
        let (output, errors) = (child.stdout.take(), child.stderr.take());
        let master = Self { _input: child.stdin.take(), child };
        let (sender, ready) = channel();
        let kept: Arc<Mutex<Vec<u8>>> = Arc::default();
        let tail = Arc::clone(&kept);
        std::thread::spawn(move || output.map(|it| wait_for_ready(it, &sender)));
        let reader = std::thread::spawn(move || errors.map(|it| keep_tail(it, &tail)));
        let told = ready.recv_timeout(time);
        if told.is_ok() {
            return Ok(master);
        }
        drop(master);
        let _ = reader.join();
        let kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::from_utf8_lossy(&kept).into_owned();
        if told == Err(RecvTimeoutError::Timeout) {
            let _ = write!(text, "\ntimed out after {} s", time.as_secs_f64());
        }
        Err(text)
    }

    /// Returns whether the connection still exists.
    pub(super) fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Master {
    fn drop(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::TERM);
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.wait();
    }
}

/// Tells when the host is connected, and then reads on, so that nobody waits for a reader.
fn wait_for_ready(mut output: impl Read, sender: &Sender<()>) {
    let (mut seen, mut chunk) = (Vec::new(), [0; 4096]);
    let mut is_ready = false;
    while let Ok(n_read @ 1..) = output.read(&mut chunk) {
        if is_ready {
            continue;
        }
        seen.extend_from_slice(&chunk[..n_read]);
        is_ready = seen.windows(READY.len()).any(|it| it == READY);
        if is_ready {
            let _ = sender.send(());
            seen.clear();
        } else if seen.len() > MAX_GREETING {
            return;
        }
    }
}

fn keep_tail(mut errors: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut chunk = [0; 4096];
    while let Ok(n_read @ 1..) = errors.read(&mut chunk) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&chunk[..n_read]);
        let n_bytes = kept.len();
        kept.drain(..n_bytes.saturating_sub(MAX_ERRORS));
    }
}
