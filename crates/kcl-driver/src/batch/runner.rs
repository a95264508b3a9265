//! Programs that run one after the other on a thread.

use super::facts::Recorder;
use super::run::{evaluate, load};
use crate::error::RunError;
use crate::evaluate::{RunOutput, output};
use crate::options::RunOptions;
use crate::prepare::prepare;
use crate::session::Session;
use crate::shared::SharedPackages;
use base_system::System;

/// Runs programs one after the other on a thread. What they import in common is read, checked
/// and evaluated once; the files are taken to be those of one point in time.
pub struct Runner<'a> {
    session: &'a Session,
    recorder: Recorder<'a>,
    packages: SharedPackages,
}

impl<'a> Runner<'a> {
    /// Makes a runner that knows nothing yet.
    pub fn new(session: &'a Session, system: &'a dyn System) -> Self {
        let recorder = Recorder::new(system, false);
        Self { session, recorder, packages: SharedPackages::default() }
    }

    /// Runs a program like [`Session::run_here`], on the stack of the caller, and lets `take`
    /// have what is needed of the output.
    ///
    /// # Errors
    ///
    /// As [`run`](crate::run).
    pub fn run<T>(
        &mut self,
        options: &RunOptions,
        take: impl FnOnce(&mut RunOutput) -> T,
    ) -> Result<T, Box<RunError>> {
        let done = self.output(options);
        self.recorder.take_asked();
        match done {
            Ok(mut output) => {
                let taken = take(&mut output);
                self.packages.finish(output.program);
                Ok(taken)
            }
            Err(error) => {
                self.packages.begin_alone();
                Err(error)
            }
        }
    }

    fn output(&mut self, options: &RunOptions) -> Result<RunOutput, Box<RunError>> {
        let job = prepare(&self.recorder, options)?;
        let loaded = load(self.session, &mut self.packages, &self.recorder, &job)?;
        let (program, evaluated) = evaluate(&mut self.packages, &self.recorder, &job, loaded)?;
        output(&job, program, &evaluated)
    }
}
