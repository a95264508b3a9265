//! Asks a program.

use crate::protocol::code;
use base_plugin::{Failure, Launch, Problem, SharedProcess};
use kusion_runtime::RuntimeError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;

/// How long calls that change nothing may take.
const READ_TIME: Duration = Duration::from_mins(1);

/// A program, which is started when it is asked first.
#[derive(Clone, Debug)]
pub struct Program {
    title: String,
    process: Arc<SharedProcess>,
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskError {
    /// The program answered with an error.
    Refused {
        /// The code.
        code: i64,
        /// The message, with the name of the program.
        message: String,
    },
    /// The program did not answer, or not as it should. A change may or may not have been made.
    Failed(String),
    /// The program cannot be started: nothing was done.
    NotStarted(String),
}

impl Program {
    /// Notes what is to be started.
    pub fn new(launch: Launch) -> Self {
        let title = launch.title.clone();
        Self { title, process: Arc::new(SharedProcess::new(launch)) }
    }

    /// Calls a method that changes nothing.
    pub async fn read<R: DeserializeOwned + Send + 'static>(
        &self,
        method: &'static str,
        params: &impl Serialize,
    ) -> Result<R, AskError> {
        self.ask(method, params, Some(READ_TIME)).await
    }

    /// Calls a method that makes a change.
    pub async fn change<R: DeserializeOwned + Send + 'static>(
        &self,
        method: &'static str,
        params: &impl Serialize,
    ) -> Result<R, AskError> {
        self.ask(method, params, None).await
    }

    async fn ask<R: DeserializeOwned + Send + 'static>(
        &self,
        method: &'static str,
        params: &impl Serialize,
        time: Option<Duration>,
    ) -> Result<R, AskError> {
        let params = serde_json::to_string(params)
            .map_err(|error| AskError::NotStarted(format!("cannot write a message: {error}")))?;
        let process = Arc::clone(&self.process);
        let asked = tokio::task::spawn_blocking(move || process.ask(method, &params, time));
        let result = match asked.await {
            Ok(Ok(result)) => result,
            Ok(Err(failure)) => return Err(ask_error(&failure)),
            Err(error) => return Err(AskError::Failed(error.to_string())),
        };
        serde_json::from_str(&result).map_err(|error| {
            let title = &self.title;
            AskError::Failed(format!("{title} gave an invalid result of `{method}`: {error}"))
        })
    }

    /// Ends the program.
    pub fn stop(&self) {
        self.process.stop();
    }
}

fn ask_error(failure: &Failure) -> AskError {
    match &failure.problem {
        Problem::Refused { code, message } => {
            AskError::Refused { code: *code, message: message.clone() }
        }
        Problem::NotStarted(_) | Problem::GivenUp(_) | Problem::WrongProtocol { .. } => {
            AskError::NotStarted(failure.to_string())
        }
        _ => AskError::Failed(failure.to_string()),
    }
}

impl AskError {
    /// Returns the text.
    pub fn message(&self) -> &str {
        match self {
            Self::Refused { message, .. } | Self::Failed(message) | Self::NotStarted(message) => {
                message
            }
        }
    }

    /// Returns the error of a call for the engine.
    pub(crate) fn fault(self) -> RuntimeError {
        match self {
            Self::Refused { code: code::TRANSIENT, message } | Self::Failed(message) => {
                RuntimeError::Transient { message, retry_after_ms: None }
            }
            Self::Refused { code: code::IMMUTABLE, message } => {
                RuntimeError::Immutable { fields: Vec::new(), message }
            }
            Self::Refused { code: code::UNREACHABLE, message } => {
                RuntimeError::Unreachable(message)
            }
            Self::Refused { message, .. } => RuntimeError::Invalid(message),
            Self::NotStarted(message) => RuntimeError::Unavailable(message),
        }
    }
}
