//! Helper programs of kubeconfigs (`exec`), with limits of time and output.

use jiff::Timestamp;
use kube::config::{ExecConfig, ExecInteractiveMode};
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;
use std::io::IsTerminal as _;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, Command};

/// How long a program may take.
const LIMIT: Duration = Duration::from_secs(30);
/// How long a program may take that can ask the user, who may have to log in somewhere.
const INTERACTIVE_LIMIT: Duration = Duration::from_mins(5);
/// Maximum size of its output, in bytes.
const MAX_OUTPUT: u64 = 1 << 20;

/// A program that prints the credentials of a user.
pub(super) struct Helper {
    exec: ExecConfig,
    user: String,
    limit: Option<Duration>,
}

/// The credentials that a program printed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Given {
    pub(super) token: Option<String>,
    pub(super) client_certificate_data: Option<String>,
    pub(super) client_key_data: Option<String>,
    expiration_timestamp: Option<String>,
    /// When the token expires.
    #[serde(skip)]
    pub(super) expires_at: Option<Timestamp>,
}

#[derive(Deserialize)]
struct Answer {
    status: Option<Given>,
}

impl Helper {
    /// Creates a helper without starting it; `user` names the user in messages.
    pub(super) fn new(exec: ExecConfig, user: &str) -> Self {
        Self { exec, user: user.to_owned(), limit: None }
    }

    /// Returns how messages name the user.
    pub(super) fn user(&self) -> &str {
        &self.user
    }

    /// Runs the program and returns what it printed. A program that takes too long or prints too
    /// much is killed, with all processes that it started.
    pub(super) async fn run(&self) -> Result<Given, String> {
        let Some(program) = &self.exec.command else {
            return Err(format!("`exec` of {} has no `command`", self.user));
        };
        let name = format!("the helper program `{program}` of {}", self.user);
        let is_interactive = self.is_interactive(&name)?;
        let default = if is_interactive { INTERACTIVE_LIMIT } else { LIMIT };
        let limit = self.limit.unwrap_or(default);
        let started = self.command(program, is_interactive)?.spawn();
        let mut child = started.map_err(|error| format!("cannot start {name}: {error}"))?;
        // One that can ask the user shares the terminal, and with it the process group.
        let group = Group::of(&child, is_interactive);
        let output = match tokio::time::timeout(limit, output(&mut child)).await {
            Err(_) => return Err(format!("{name} timed out after {} s", limit.as_secs_f64())),
            Ok(Err(error)) => return Err(format!("cannot read the output of {name}: {error}")),
            Ok(Ok(output)) => output,
        };
        group.forget();
        let Output { status, bytes } = output;
        if !status.success() {
            return Err(format!("{name} failed: {status}"));
        }
        // What it printed may be a secret, and is not quoted.
        let answer: Option<Answer> = yaml_serde::from_slice(&bytes).ok();
        let given = answer.and_then(|it| it.status);
        let mut given = given.ok_or_else(|| format!("{name} printed no valid `ExecCredential`"))?;
        if given.token.is_none()
            && (given.client_certificate_data.is_none() || given.client_key_data.is_none())
        {
            return Err(format!("{name} gave neither a token nor a certificate with its key"));
        }
        if let Some(text) = &given.expiration_timestamp {
            let time = text.parse();
            let time =
                time.map_err(|_| format!("{name} printed no valid `expirationTimestamp`"))?;
            given.expires_at = Some(time);
        }
        Ok(given)
    }

    /// Whether the program can ask the user.
    fn is_interactive(&self, name: &str) -> Result<bool, String> {
        let has_terminal = std::io::stdin().is_terminal();
        match self.exec.interactive_mode {
            Some(ExecInteractiveMode::Never) => Ok(false),
            Some(ExecInteractiveMode::Always) if !has_terminal => {
                Err(format!("{name} needs a terminal, but standard input is not one"))
            }
            _ => Ok(has_terminal),
        }
    }

    fn command(&self, program: &str, is_interactive: bool) -> Result<Command, String> {
        let mut command = Command::new(program);
        command.args(self.exec.args.iter().flatten());
        for name in self.exec.drop_env.iter().flatten() {
            command.env_remove(name);
        }
        for pair in self.exec.env.iter().flatten() {
            if let (Some(name), Some(value)) = (pair.get("name"), pair.get("value")) {
                command.env(name, value);
            }
        }
        command.env("KUBERNETES_EXEC_INFO", self.info(is_interactive)?);
        command.stdin(if is_interactive { Stdio::inherit() } else { Stdio::null() });
        command.stdout(Stdio::piped()).kill_on_drop(true);
        if !is_interactive {
            command.process_group(0);
        }
        Ok(command)
    }

    /// Returns what the program is told about the cluster.
    fn info(&self, is_interactive: bool) -> Result<String, String> {
        let mut spec = serde_json::json!({"interactive": is_interactive});
        if self.exec.provide_cluster_info {
            let cluster = serde_json::to_value(&self.exec.cluster);
            spec["cluster"] = cluster.map_err(|error| error.to_string())?;
        }
        let api_version = &self.exec.api_version;
        let info = serde_json::json!({
            "apiVersion": api_version, "kind": "ExecCredential", "spec": spec,
        });
        Ok(info.to_string())
    }
}

/// What a program printed, and how it ended.
struct Output {
    status: std::process::ExitStatus,
    bytes: Vec<u8>,
}

async fn output(child: &mut Child) -> std::io::Result<Output> {
    let mut bytes = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        stdout.take(MAX_OUTPUT + 1).read_to_end(&mut bytes).await?;
    }
    if bytes.len() as u64 > MAX_OUTPUT {
        let why = format!("more than {} MiB", MAX_OUTPUT >> 20);
        return Err(std::io::Error::new(std::io::ErrorKind::FileTooLarge, why));
    }
    Ok(Output { status: child.wait().await?, bytes })
}

/// The processes that a program started; killed with the value unless it is forgotten.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child, shares_group: bool) -> Self {
        let id = child.id().and_then(|it| i32::try_from(it).ok()).and_then(Pid::from_raw);
        Self(id.filter(|_| !shares_group))
    }

    fn forget(mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(id) = self.0 {
            // It may have ended meanwhile.
            let _ = kill_process_group(id, Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::test_kill_process;
    use serde_json::json;

    fn shell(script: &str) -> Helper {
        let exec = json!({
            "apiVersion": "client.authentication.k8s.io/v1", "command": "sh",
            "args": ["-c", script], "interactiveMode": "Never",
        });
        Helper::new(serde_json::from_value(exec).expect("a helper"), "user `u` of `config`")
    }

    async fn refused(helper: &Helper) -> String {
        helper.run().await.err().expect("refused")
    }

    #[tokio::test]
    async fn a_program_that_hangs_is_killed_with_its_children() {
        let file = std::env::temp_dir().join(format!("kusion-helper-{}", std::process::id()));
        let mut helper = shell(&format!("sleep 600 & echo $! > {}; wait", file.display()));
        helper.limit = Some(Duration::from_millis(500));
        let name = "the helper program `sh` of user `u` of `config`";
        assert_eq!(refused(&helper).await, format!("{name} timed out after 0.5 s"));
        let child = std::fs::read_to_string(&file).expect("it was started");
        std::fs::remove_file(&file).expect("removed");
        let child = Pid::from_raw(child.trim().parse().expect("a number")).expect("an id");
        while test_kill_process(child).is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    #[tokio::test]
    async fn endless_output_is_refused() {
        let why = refused(&shell("yes")).await;
        assert!(why.ends_with("of user `u` of `config`: more than 1 MiB"), "{why}");
    }

    #[tokio::test]
    async fn what_it_prints_is_read_and_never_quoted() {
        let status = json!({"status": {
            "token": "abc", "expirationTimestamp": "2030-01-01T00:00:00Z",
        }});
        let given = shell(&format!("echo '{status}'")).run().await.expect("credentials");
        assert_eq!(given.token.as_deref(), Some("abc"));
        assert_eq!(
            given.expires_at.map(|it| it.to_string()).as_deref(),
            Some("2030-01-01T00:00:00Z")
        );
        for (script, text) in [
            ("echo CANARY", "printed no valid `ExecCredential`"),
            ("echo '{\"status\": {}}'", "gave neither a token nor a certificate with its key"),
            ("echo CANARY; exit 3", "failed: exit status: 3"),
        ] {
            let why = refused(&shell(script)).await;
            assert!(why.ends_with(text) && !why.contains("CANARY"), "{why}");
        }
        let given = shell("echo \"{status: {token: '$KUBERNETES_EXEC_INFO'}}\"").run().await;
        let info = given.expect("credentials").token.expect("a token");
        let info: serde_json::Value = serde_json::from_str(&info).expect("JSON");
        assert_eq!(info["spec"], json!({"interactive": false}));
    }
}
