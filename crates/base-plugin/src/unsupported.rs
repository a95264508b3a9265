//! Systems on which programs are not started.

use crate::command::Launch;
use crate::failure::{Failure, Problem};
use std::process::ExitCode;
use std::time::Duration;

/// A program that was started. There is none on this system.
#[derive(Debug)]
pub struct Process(std::convert::Infallible);

impl Process {
    /// Fails.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn start(launch: &Launch, _time: Option<Duration>) -> Result<Self, Failure> {
        let problem = Problem::NotStarted("this needs a Unix system".to_owned());
        Err(Failure { title: launch.title.clone(), problem, last_line: None })
    }

    /// Never called.
    ///
    /// # Errors
    ///
    /// None.
    pub fn ask(&mut self, _: &str, _: &str, _: Option<Duration>) -> Result<String, Failure> {
        match self.0 {}
    }
}

/// Does nothing on this system.
pub fn guard(_words: &[String]) -> ExitCode {
    ExitCode::FAILURE
}
