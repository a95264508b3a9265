//! The stacks that failed while a command goes on with the others.

use crate::failure::{Exit, Failure};
use crate::view::View;
use kusion_engine::EngineError;
use kusion_generate::BrokenStack;

/// The stacks of a command that failed.
#[derive(Debug)]
pub(crate) struct Failures {
    keep_going: bool,
    /// The number of all stacks.
    n_stacks: usize,
    /// The names of those that failed.
    names: Vec<String>,
}

impl Failures {
    /// Starts a command on stacks; with `keep_going`, it goes on after one has failed.
    pub(crate) fn new(keep_going: bool, n_stacks: usize) -> Self {
        Self { keep_going, n_stacks, names: Vec::new() }
    }

    /// Starts a command on one stack.
    pub(crate) fn of_one() -> Self {
        Self::new(false, 1)
    }

    /// Returns whether the command goes on after a stack has failed.
    pub(crate) fn keeps_going(&self) -> bool {
        self.keep_going
    }

    /// Reports stacks that do not compile.
    pub(crate) fn add_broken(&mut self, view: &View, broken: Vec<BrokenStack>) {
        for it in broken {
            self.note(&it.stack.display().to_string());
            let text = it.error.named();
            view.failure_of(&text, &Failure::Generate(it.error));
        }
    }

    /// Notes a stack whose failure is shown already.
    pub(crate) fn note(&mut self, name: &str) {
        self.names.push(name.to_owned());
    }

    /// Returns the result for a stack; `None` if it failed and the command goes on.
    pub(crate) fn take<T>(
        &mut self,
        view: &View,
        name: &str,
        done: Result<T, Failure>,
    ) -> Result<Option<T>, Failure> {
        match done {
            Ok(done) => Ok(Some(done)),
            Err(failure) if self.keep_going && !is_stop(&failure) => {
                self.note(name);
                view.failure_of(&format!("{name}: {failure}"), &failure);
                Ok(None)
            }
            Err(failure) => Err(failure),
        }
    }

    /// Notes how an operation on a stack ended. Returns the exit code if the command ends with it.
    pub(crate) fn settle(
        &mut self,
        view: &View,
        name: &str,
        done: Result<Exit, Failure>,
    ) -> Result<Option<Exit>, Failure> {
        match self.take(view, name, done)? {
            None | Some(Exit::Success) => Ok(None),
            Some(Exit::Failed) if self.keep_going => {
                self.note(name);
                Ok(None)
            }
            exit => Ok(exit),
        }
    }

    /// Returns the exit code of the command: an error if stacks failed.
    pub(crate) fn end(self, exit: Exit) -> Result<Exit, Failure> {
        if self.names.is_empty() || exit == Exit::Interrupted {
            return Ok(exit);
        }
        Err(Failure::SomeFailed { failed: self.names, n_stacks: self.n_stacks })
    }
}

/// Returns whether the user stopped the command.
fn is_stop(failure: &Failure) -> bool {
    matches!(failure, Failure::Interrupted | Failure::Engine(EngineError::Stopped))
}
