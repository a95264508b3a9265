//! Functions of a program that are called from outside, many times.

use crate::error::Eval;
use crate::evaluator::Evaluator;
use crate::host::Nesting;
use crate::{EvalError, Provenance, Request};
use base_diag::Diagnostic;
use base_system::System;
use base_text::FileId;
use kcl_hir::Program;
use kcl_value::output::Filter;
use kcl_value::{CallArgs, Value, text_size};

/// How much text an operation may look at in one step.
pub(crate) const BYTES_PER_STEP: usize = 32;

/// Bounds of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallLimits {
    /// How many expressions may be evaluated.
    pub steps: u64,
    /// How many bytes values may take, counted as they are made.
    pub memory: u64,
}

/// An evaluated program whose functions can be called.
///
/// A call sees the values of the program and its arguments, and leaves nothing behind: the same
/// arguments always give the same result, whatever was called before, and also after a call that
/// failed.
pub struct Calls<'p> {
    evaluator: Evaluator<'p>,
}

/// Evaluates a program once and hands its value to `work`, with the means to call the functions in
/// it.
///
/// # Errors
///
/// With the first failure of the program itself.
pub fn evaluate_for_calls<T>(
    program: &Program,
    system: &dyn System,
    request: &Request,
    work: impl FnOnce(&mut Calls<'_>, &Value) -> T,
) -> Result<T, Box<EvalError>> {
    let mut evaluator = Evaluator::new(program, system, request, Provenance::default());
    match evaluator.run() {
        Ok(_) if !evaluator.failed_checks.is_empty() => Err(evaluator.into_error(None)),
        Ok(value) => Ok(work(&mut Calls { evaluator }, &value)),
        Err(failure) => Err(evaluator.into_error(Some(&failure))),
    }
}

/// What a call that fails leaves behind.
struct Checkpoint<'p> {
    nesting: Nesting,
    frame: crate::evaluator::Frame<'p>,
    n_values: usize,
}

impl Evaluator<'_> {
    /// Counts the work of an operation on values, which can take long although it is one step.
    pub(crate) fn weigh<'v>(&mut self, values: impl Iterator<Item = &'v Value>) -> Eval<()> {
        let mut bytes = 0usize;
        for value in values {
            bytes = bytes.saturating_add(match value {
                Value::Str(text) => text.len(),
                Value::List(_) | Value::Dict(_) | Value::Schema(_) => {
                    let room = self.work_left();
                    text_size(value, Filter::default(), 0, room).unwrap_or(usize::MAX)
                }
                _ => 0,
            });
        }
        if bytes < BYTES_PER_STEP {
            return Ok(());
        }
        self.spend((bytes / BYTES_PER_STEP) as u64)
    }
}

impl Calls<'_> {
    /// Calls a function; `Undefined` if the value is not a function.
    ///
    /// # Errors
    ///
    /// With the failure of the function, or if it reaches a limit.
    pub fn call(
        &mut self,
        function: &Value,
        arguments: Vec<Value>,
        limits: CallLimits,
    ) -> Result<Value, Box<Diagnostic>> {
        let evaluator = &mut self.evaluator;
        evaluator.begin_call(limits);
        if !evaluator.program.files.is_empty() {
            // Nothing runs between calls, so there is no frame of a file.
            evaluator.frame = evaluator.file_frame(FileId(0));
        }
        let checkpoint = Checkpoint {
            nesting: evaluator.nesting(),
            frame: evaluator.frame.clone(),
            n_values: evaluator.stack.len(),
        };
        let arguments = CallArgs { positional: arguments, ..CallArgs::default() };
        let called = evaluator.call(function, arguments);
        evaluator.printed.clear();
        evaluator.warnings.clear();
        evaluator.instances.clear();
        called.map_err(|failure| {
            let found = Box::new(evaluator.diagnostic(&failure));
            evaluator.restore_nesting(checkpoint.nesting);
            evaluator.frame = checkpoint.frame;
            evaluator.stack.truncate(checkpoint.n_values);
            evaluator.given_arguments.clear();
            evaluator.pending = None;
            found
        })
    }

    /// Whether the program, or a call, asked for anything outside: files, time, random numbers.
    pub fn used_system(&self) -> bool {
        self.evaluator.used_system.get()
    }

    /// What the last call took of its limits, or the program if nothing was called.
    pub fn usage(&self) -> crate::Usage {
        self.evaluator.usage()
    }
}
