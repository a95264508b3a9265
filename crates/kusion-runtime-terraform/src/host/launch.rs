//! Starts a provider.

use super::connection::Connection;
use super::guard::Guard;
use super::handshake::Handshake;
use super::output::{self, Tail};
use super::process::Process;
use super::tls::ClientIdentity;
use crate::error::ProviderError;
use crate::limits::Limits;
use crate::provider::Provider;
use kusion_secret::Redactor;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// Tells a program that it is started as a plugin. It is public: it prevents mistakes, not attacks.
const COOKIE: (&str, &str) =
    ("TF_PLUGIN_MAGIC_COOKIE", "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2");

/// The start of a provider.
#[derive(Clone)]
pub struct Launch {
    /// The name in messages: `hashicorp/local 2.5.1`.
    pub name: String,
    /// The program.
    pub program: PathBuf,
    /// Its environment. Variables of the plugin protocol are added.
    pub environment: Vec<(OsString, OsString)>,
    /// What ends the provider if this process is killed; `None` to do without.
    pub guard: Option<Guard>,
    /// The limits.
    pub limits: Limits,
    /// Hides secrets in what the provider prints.
    pub redactor: Redactor,
}

impl Launch {
    /// Starts the program and connects to it.
    ///
    /// # Errors
    ///
    /// The program cannot be started, does not behave as a provider, or takes too long.
    pub async fn start(self) -> Result<Provider, ProviderError> {
        let name = self.name.clone();
        let fail = |message: String| ProviderError::Start { provider: name.clone(), message };
        let identity = ClientIdentity::new().map_err(|error| fail(error.to_string()))?;
        let command = self.command(&identity);
        let (process, stdout, stderr) =
            Process::start(command).await.map_err(|error| fail(error.to_string()))?;
        let tail = output::log_lines(self.name.clone(), stderr, self.redactor.clone())
            .map_err(|error| fail(error.to_string()))?;
        let line = output::read_handshake(stdout).map_err(|error| fail(error.to_string()))?;
        let connect = async {
            let line = line.await.map_err(|_| "its output ended".to_owned()).flatten();
            let handshake = Handshake::parse(&line?)?;
            let config = identity.config(handshake.certificate);
            let config = config.map_err(|error| error.to_string())?;
            let connection = Connection::open(&handshake.address, config).await;
            let connection = connection.map_err(|error| format!("cannot connect: {error}"))?;
            Ok::<_, String>((handshake.protocol, connection))
        };
        match tokio::time::timeout(self.limits.start, Box::pin(connect)).await {
            Ok(Ok((protocol, connection))) => {
                Ok(Provider::new(self, protocol, connection, process, tail))
            }
            Ok(Err(message)) => Err(fail(with_end(message, &process, &tail).await)),
            Err(_) => {
                let message = format!("timed out after {} s", self.limits.start.as_secs());
                Err(fail(message))
            }
        }
    }

    fn command(&self, identity: &ClientIdentity) -> Command {
        let mut command = match &self.guard {
            Some(guard) => guard.command(&self.program),
            None => Command::new(&self.program),
        };
        command.env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.env(COOKIE.0, COOKIE.1);
        command.env("PLUGIN_PROTOCOL_VERSIONS", "5,6");
        command.env("PLUGIN_MIN_PORT", "10000").env("PLUGIN_MAX_PORT", "25000");
        command.env("PLUGIN_CLIENT_CERT", &identity.pem);
        if self.guard.is_some() {
            let (name, value) = Guard::variable();
            command.env(name, value);
        }
        command
    }
}

/// Adds how the program ended, if it does so soon, and what it printed.
async fn with_end(message: String, process: &Process, tail: &Tail) -> String {
    let grace = std::time::Duration::from_millis(300);
    let status = tokio::time::timeout(grace, process.ended()).await.ok();
    let mut out = message;
    let printed = match status {
        Some(status) => {
            out = format!("{out} ({status})");
            tail.last().await
        }
        None => tail.text(),
    };
    if !printed.is_empty() {
        out = format!("{out}; it printed: {printed}");
    }
    out
}
