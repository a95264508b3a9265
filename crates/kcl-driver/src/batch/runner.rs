//! Programs that run one after the other on a thread.

use super::facts::Recorder;
use super::run::load;
use crate::error::RunError;
use crate::evaluate::{Before, RunOutput, check_and_evaluate, output, run_alone};
use crate::options::RunOptions;
use crate::prepare::{Job, prepare};
use crate::session::Session;
use crate::shared::SharedPackages;
use base_system::{Settled, System};

/// What programs that run one after the other share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// What is known of packages without evaluating them: each program reads only the statements
    /// that it needs. Best for a single program.
    #[default]
    Checked,
    /// Also the values of the packages that programs import in common: they are read, checked and
    /// evaluated once. Best for many programs.
    Evaluated,
}

/// Runs programs one after the other on a thread, whose stack must be large (see
/// [`Pool`](crate::Pool)). Files are taken to be those of one point in time.
pub struct Runner<'a> {
    session: &'a Session,
    sharing: Sharing,
    pub(super) recorder: Recorder<'a>,
    pub(super) packages: SharedPackages,
}

impl<'a> Runner<'a> {
    /// Makes a runner that knows nothing yet.
    pub fn new(session: &'a Session, system: &'a dyn System, sharing: Sharing) -> Self {
        Self::with_recorder(session, Recorder::new(system, false), sharing)
    }

    /// Makes a runner whose questions to the system are recorded.
    pub(super) fn with_recorder(
        session: &'a Session,
        recorder: Recorder<'a>,
        sharing: Sharing,
    ) -> Self {
        Self { session, sharing, recorder, packages: SharedPackages::default() }
    }

    /// Runs a program like [`run`](crate::run), on the stack of the caller, and lets `take` have
    /// what is needed of the output.
    ///
    /// # Errors
    ///
    /// As [`run`](crate::run).
    pub fn run<T>(
        &mut self,
        options: &RunOptions,
        take: impl FnOnce(&mut RunOutput) -> T,
    ) -> Result<T, Box<RunError>> {
        if self.sharing == Sharing::Checked {
            let system = Settled::new(self.recorder.system());
            return run_alone(self.session, &system, options, |outcome| {
                outcome.map(|mut output| take(&mut output))
            });
        }
        let outcome = prepare(&self.recorder, options).and_then(|job| self.run_job(&job));
        self.recorder.take_asked();
        match outcome {
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

    /// Runs a program with what those before it found out. The caller hands the program back to
    /// [`SharedPackages::finish`].
    pub(super) fn run_job(&mut self, job: &Job) -> Result<RunOutput, Box<RunError>> {
        let loaded = load(self.session, &mut self.packages, &self.recorder, job)?;
        if !loaded.diagnostics.is_empty() {
            self.packages.begin_alone();
        }
        let before = Before::Shared(&mut self.packages.current);
        let (program, evaluated) = check_and_evaluate(&self.recorder, job, loaded, before)?;
        output(job, program, &evaluated)
    }
}
