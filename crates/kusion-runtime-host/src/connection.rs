//! Runs scripts on hosts.

mod master;

use crate::answer::{self, Answer};
use crate::error::HostError;
use crate::exec::{Bounds, End, Ended, run};
use crate::hosts::{Escalation, Host};
use crate::script::Script;
use master::Master;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// The exit code of `ssh` for errors of its own.
const SSH_ERROR: i32 = 255;

/// How long a host that cannot be reached is not tried again.
const REST: Duration = Duration::from_secs(10);

/// The user's `ssh` program.
#[derive(Clone, Debug)]
pub struct Ssh {
    /// The program.
    pub program: PathBuf,
    /// Another configuration file than the user's own.
    pub config: Option<PathBuf>,
    /// The whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// A folder for sockets, whose path is short: at most 60 bytes.
    pub folder: PathBuf,
}

impl Default for Ssh {
    fn default() -> Self {
        let environment = Vec::new();
        Self { program: "ssh".into(), config: None, environment, folder: "/tmp".into() }
    }
}

/// Limits of scripts.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Time until a connection exists.
    pub connect: Duration,
    /// Time of a script that only reads.
    pub read: Duration,
    /// Time of a script that makes a change. Installing packages takes long.
    pub change: Duration,
    /// Bytes of output of one script.
    pub output: usize,
    /// Hosts that are talked to at the same time.
    pub hosts: usize,
    /// Scripts that run on one host at the same time; servers allow ten by default.
    pub scripts: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(20),
            read: Duration::from_mins(2),
            change: Duration::from_mins(15),
            output: 64 << 20,
            hosts: 16,
            scripts: 4,
        }
    }
}

/// The way to one host.
pub(crate) struct Connection {
    pub(crate) host: Host,
    ssh: Arc<Ssh>,
    limits: Limits,
    /// The number of the socket.
    number: usize,
    /// The limit of scripts on this host.
    room: Semaphore,
    /// The limit of all hosts.
    all: Arc<Semaphore>,
    master: Arc<Mutex<MasterState>>,
}

#[derive(Default)]
struct MasterState {
    running: Option<Master>,
    /// When the host could not be reached, and why.
    failed: Option<(Instant, HostError)>,
}

impl Connection {
    pub(crate) fn new(
        host: Host,
        ssh: Arc<Ssh>,
        limits: Limits,
        number: usize,
        all: Arc<Semaphore>,
    ) -> Self {
        let room = Semaphore::new(limits.scripts.max(1));
        Self { host, ssh, limits, number, room, all, master: Arc::default() }
    }

    /// Runs a script that only reads.
    pub(crate) async fn read(&self, script: &Script) -> Result<Vec<Answer>, HostError> {
        self.run(script, self.limits.read).await
    }

    /// Runs a script that makes a change.
    pub(crate) async fn change(&self, script: &Script) -> Result<Vec<Answer>, HostError> {
        self.run(script, self.limits.change).await
    }

    async fn run(&self, script: &Script, time: Duration) -> Result<Vec<Answer>, HostError> {
        // Nothing closes the semaphores.
        let _own = self.room.acquire().await;
        let _one_of_all = self.all.acquire().await;
        let socket = if self.host.is_local { None } else { Some(self.connect().await?) };
        let mut command = match &socket {
            None => self.local_command(),
            Some(socket) => self.command(socket),
        };
        let text = script.text();
        let bounds = Bounds { time, output: self.limits.output };
        let ran = tokio::task::spawn_blocking(move || run(&mut command, text.as_bytes(), bounds));
        let ended = match ran.await {
            Ok(Ok(ended)) => ended,
            Ok(Err(error)) => return Err(self.unreachable(&error.to_string())),
            Err(error) => return Err(self.unreachable(&error.to_string())),
        };
        tracing::debug!(host = self.host.name, calls = script.n_calls, end = ?ended.end, "script");
        self.answers(&ended, script, time)
    }

    fn answers(
        &self,
        ended: &Ended,
        script: &Script,
        time: Duration,
    ) -> Result<Vec<Answer>, HostError> {
        let name = &self.host.name;
        match ended.end {
            End::TimedOut => {
                let seconds = time.as_secs_f64();
                return Err(HostError::Cut(format!(
                    "host `{name}` did not answer: timed out after {seconds} s"
                )));
            }
            End::Flooded => {
                let limit = self.limits.output;
                return Err(HostError::Invalid(format!(
                    "host `{name}` sent more than {limit} bytes and was stopped"
                )));
            }
            End::Code(_) | End::Signal => {}
        }
        let error = match answer::read(&ended.output, &script.mark, script.n_calls) {
            Ok(answers) => return Ok(answers),
            Err(error) => error,
        };
        let why = |text: String| ended.last_error().unwrap_or(text);
        Err(match error {
            HostError::Unreachable(_)
                if ended.end == End::Code(SSH_ERROR) && !self.host.is_local =>
            {
                // The answer may be what was lost.
                self.close();
                let why = why("no reason given".to_owned());
                HostError::Cut(format!("the connection to host `{name}` ended: {why}"))
            }
            HostError::Unreachable(text) => {
                let text = why(text);
                let hint = self.escalation_hint(&text);
                HostError::Unreachable(format!(
                    "cannot run a script on host `{name}`: {text}{hint}"
                ))
            }
            HostError::Cut(text) => {
                self.close();
                let text = why(text);
                HostError::Cut(format!("the connection to host `{name}` ended: {text}"))
            }
            HostError::Invalid(text) => HostError::Invalid(format!("host `{name}` {text}")),
        })
    }

    fn escalation_hint(&self, text: &str) -> String {
        match &self.host.escalation {
            Escalation::Sudo(user) if text.contains("sudo") => format!(
                "; `become` needs `sudo` without a password: check with `ssh {} sudo -n -u {user} true`",
                self.host.address
            ),
            _ => String::new(),
        }
    }

    fn unreachable(&self, why: &str) -> HostError {
        HostError::Unreachable(format!("cannot reach host `{}`: {why}", self.host.name))
    }

    /// Makes sure that there is a connection; returns its socket.
    async fn connect(&self) -> Result<PathBuf, HostError> {
        let socket = self.ssh.folder.join(self.number.to_string());
        let mut command = self.ssh_command(&socket);
        command.args(["-o", "ControlMaster=yes", "--", &self.host.address, master::COMMAND]);
        let (state, limits) = (Arc::clone(&self.master), self.limits);
        let (name, address) = (self.host.name.clone(), self.host.address.clone());
        let path = socket.clone();
        let connected = tokio::task::spawn_blocking(move || {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            if state.running.as_mut().is_some_and(Master::is_running) {
                return Ok(());
            }
            if let Some((at, error)) = &state.failed
                && at.elapsed() < REST
            {
                return Err(error.clone());
            }
            state.running = None;
            let _ = std::fs::remove_file(&path);
            match Master::start(&mut command, limits.connect) {
                Ok(master) => {
                    state.running = Some(master);
                    Ok(())
                }
                Err(errors) => {
                    let error = connect_error(&name, &address, &errors);
                    state.failed = Some((Instant::now(), error.clone()));
                    Err(error)
                }
            }
        });
        match connected.await {
            Ok(connected) => connected.map(|()| socket),
            Err(error) => Err(self.unreachable(&error.to_string())),
        }
    }

    /// Ends the connection; the next script makes a new one.
    pub(crate) fn close(&self) {
        self.master.lock().unwrap_or_else(PoisonError::into_inner).running = None;
    }

    fn command(&self, socket: &Path) -> Command {
        let mut command = self.ssh_command(socket);
        command.args(["-o", "ControlMaster=no", "--", &self.host.address]);
        command.arg(match &self.host.escalation {
            Escalation::None => "exec /bin/sh".to_owned(),
            Escalation::Sudo(user) => format!("exec sudo -n -u {user} -- /bin/sh"),
        });
        command
    }

    /// Returns `ssh` with options that the user's configuration cannot weaken.
    fn ssh_command(&self, socket: &Path) -> Command {
        let mut command = Command::new(&self.ssh.program);
        command.env_clear().envs(self.ssh.environment.iter().map(|(name, value)| (name, value)));
        if let Some(config) = &self.ssh.config {
            command.arg("-F").arg(config);
        }
        command.arg("-T").arg("-S").arg(socket);
        let connect = self.limits.connect.as_secs().max(1);
        for option in [
            "BatchMode=yes",
            "StrictHostKeyChecking=yes",
            "UpdateHostKeys=no",
            &format!("ConnectTimeout={connect}"),
            "ConnectionAttempts=1",
            "ServerAliveInterval=15",
            "ServerAliveCountMax=3",
            "ControlPersist=no",
            "ClearAllForwardings=yes",
            "ForwardAgent=no",
            "ForwardX11=no",
            "PermitLocalCommand=no",
            "RemoteCommand=none",
            "RequestTTY=no",
            "LogLevel=ERROR",
        ] {
            command.args(["-o", option]);
        }
        if let Some(port) = self.host.port {
            command.args(["-p", &port.to_string()]);
        }
        if let Some(user) = &self.host.user {
            command.args(["-l", user]);
        }
        command
    }

    fn local_command(&self) -> Command {
        let mut command = match &self.host.escalation {
            Escalation::None => Command::new("/bin/sh"),
            Escalation::Sudo(user) => {
                let mut command = Command::new("sudo");
                command.args(["-n", "-u", user, "--", "/bin/sh"]);
                command
            }
        };
        command.env_clear().envs(self.ssh.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// Returns the error of a connection that could not be made.
fn connect_error(name: &str, address: &str, errors: &str) -> HostError {
    let last = errors.lines().rev().map(str::trim).find(|it| !it.is_empty());
    let last = crate::error::printable(last.unwrap_or("no reason given"));
    HostError::Unreachable(if errors.contains("HOST IDENTIFICATION HAS CHANGED") {
        format!(
            "cannot reach host `{name}`: its host key has changed, which may be an attack; \
             if the change is expected, run `ssh-keygen -R {address}`, then `ssh {address}`"
        )
    } else if errors.contains("Host key verification failed") {
        format!(
            "cannot reach host `{name}`: its host key is not known; run `ssh {address}` once to \
             check and store it"
        )
    } else {
        format!("cannot reach host `{name}`: {last}")
    })
}
