//! The process of a provider.

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{oneshot, watch};

/// A running program. It is killed when this value is dropped.
pub(crate) struct Process {
    /// The process group; `None` after the program ended, when another one may get its number.
    group: Arc<Mutex<Option<Pid>>>,
    status: watch::Receiver<Option<String>>,
}

impl Process {
    /// Starts a program in a process group of its own, from a thread that stays until it ends: the
    /// signal of the guard is about the end of that thread.
    pub(crate) async fn start(
        mut command: Command,
    ) -> io::Result<(Self, ChildStdout, ChildStderr)> {
        use std::os::unix::process::CommandExt as _;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let (started, is_started) = oneshot::channel();
        let (ended, status) = watch::channel(None);
        let group = Arc::new(Mutex::new(None));
        let shared = group.clone();
        std::thread::Builder::new().name("provider".to_owned()).spawn(move || {
            let mut child = match command.spawn() {
                Ok(child) => child,
                Err(error) => {
                    let _ = started.send(Err(error));
                    return;
                }
            };
            let pid = Pid::from_child(&child);
            *lock(&shared) = Some(pid);
            let output = child.stdout.take().zip(child.stderr.take());
            if started.send(output.ok_or_else(|| io::Error::other("no output"))).is_err() {
                // The caller no longer waits.
                let _ = kill_process_group(pid, Signal::KILL);
            }
            let status = wait(&mut child, pid, &shared);
            ended.send_replace(Some(status));
        })?;
        let (stdout, stderr) =
            is_started.await.map_err(|_| io::Error::other("the thread ended"))??;
        Ok((Self { group, status }, stdout, stderr))
    }

    /// Returns the number of the process while it runs.
    pub(crate) fn id(&self) -> Option<i32> {
        (*lock(&self.group)).map(|it| it.as_raw_nonzero().get())
    }

    /// Returns how the program ended, if it has.
    pub(crate) fn status(&self) -> Option<String> {
        self.status.borrow().clone()
    }

    /// Waits until the program has ended; returns how.
    pub(crate) async fn ended(&self) -> String {
        let mut status = self.status.clone();
        match status.wait_for(Option::is_some).await {
            Ok(status) => status.clone().unwrap_or_default(),
            Err(_) => "unknown".to_owned(),
        }
    }

    /// Waits until the program has ended, then kills it.
    pub(crate) async fn end_within(&self, time: Duration) {
        if tokio::time::timeout(time, self.ended()).await.is_err() {
            self.kill();
            self.ended().await;
        }
    }

    /// Kills the program and what it started.
    pub(crate) fn kill(&self) {
        if let Some(group) = *lock(&self.group) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Waits for the end of a program, and forgets its group before the number becomes free.
fn wait(child: &mut Child, pid: Pid, group: &Mutex<Option<Pid>>) -> String {
    let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(pid), ended) {}
    let mut group = lock(group);
    // Whatever it started ends with it.
    let _ = kill_process_group(pid, Signal::KILL);
    *group = None;
    match child.wait() {
        Ok(status) => text_of(status),
        Err(error) => error.to_string(),
    }
}

fn text_of(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(127), _) => "the program cannot be run".to_owned(),
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "unknown".to_owned(),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
