//! The evaluator as built-in functions see it.

use crate::EarlierStream;
use crate::error::Failure;
use crate::evaluator::Evaluator;
use crate::lazy::Backtrack;
use base_system::System;
use kcl_std::Host;
use kcl_value::output::Stream;
use kcl_value::{CallArgs, Fault, Result, Value, ops};
use std::path::Path;

impl Evaluator<'_> {
    /// Hands a failure through a built-in that knows only messages.
    fn hand_through(&mut self, failure: Failure) -> Box<Fault> {
        let message = failure.details().message.clone();
        self.pending = Some(failure);
        Fault::new(message)
    }
}

/// What code under way has changed and a caught failure leaves behind.
#[derive(Clone, Copy)]
pub(crate) struct Nesting {
    depth_left: u32,
    schema_depth: u32,
    schema_expr_depth: u32,
    loop_depth: u32,
    n_targets: usize,
    backtrack: Option<Backtrack>,
}

impl Evaluator<'_> {
    pub(crate) fn nesting(&self) -> Nesting {
        Nesting {
            depth_left: self.depth_left,
            schema_depth: self.schema_depth,
            schema_expr_depth: self.schema_expr_depth,
            loop_depth: self.loop_depth,
            n_targets: self.targets.len(),
            backtrack: self.backtrack,
        }
    }

    pub(crate) fn restore_nesting(&mut self, state: Nesting) {
        self.depth_left = state.depth_left;
        self.schema_depth = state.schema_depth;
        self.schema_expr_depth = state.schema_expr_depth;
        self.loop_depth = state.loop_depth;
        self.targets.truncate(state.n_targets);
        self.backtrack = state.backtrack;
    }
}

impl Host for Evaluator<'_> {
    fn system(&self) -> &dyn System {
        self.used_system.set(true);
        self.system
    }

    fn check_io(&self, function: &str) -> Result<()> {
        if self.options.no_io {
            return Err(Fault::new(format!("{function}() is not allowed: `--no-io` is set")));
        }
        let file = Path::new(self.current_file());
        let real = |folder: &Path| self.system.canonicalize(folder).unwrap_or_default();
        let rules = self.request.io_rules.iter().map(|(folder, may)| (real(folder), *may));
        let innermost = rules
            .filter(|(folder, _)| !folder.as_os_str().is_empty())
            .chain([(self.program.root.clone(), true)])
            .filter(|(folder, _)| file.starts_with(folder))
            .max_by_key(|(folder, may)| (folder.as_os_str().len(), *may));
        match innermost {
            Some((folder, false)) => Err(Fault::new(format!(
                "{function}() is not allowed in dependencies unless the main package grants it \
                 (`io = true` in kcl.mod): '{}'",
                folder.display()
            ))),
            _ => Ok(()),
        }
    }

    fn module_root(&self) -> &Path {
        &self.program.root
    }

    fn work_dir(&self) -> &Path {
        self.used_system.set(true);
        &self.request.work_dir
    }

    fn current_file(&self) -> &str {
        &self.program.file(self.frame.file).path
    }

    fn option(&self, key: &str) -> Option<Value> {
        let found = self.request.arguments.iter().rev().find(|(name, _)| name == key);
        found.map(|(_, value)| value.clone())
    }

    fn print(&mut self, text: &str) -> Result<()> {
        if (self.printed.len() + text.len()) as u64 > self.options.limits.output {
            let limit = self.options.limits.output;
            return Err(Fault::new(format!(
                "the program was stopped: it prints more than {limit} bytes"
            )));
        }
        self.printed.push_str(text);
        Ok(())
    }

    fn room(&self) -> usize {
        Evaluator::room(self)
    }

    fn set_stream(&mut self, stream: Stream) {
        let origin = std::mem::replace(&mut self.provenance.stream_at, self.call_at);
        let Some(earlier) = self.stream.replace(stream) else { return };
        // A schema instance that is evaluated again makes the same call again.
        let is_again = origin == self.call_at
            && self
                .stream
                .as_ref()
                .is_some_and(|it| ops::equals(&it.documents, &earlier.documents));
        if !is_again {
            let place = self.place(origin);
            self.earlier_streams.push(EarlierStream { stream: earlier, origin, place });
        }
    }

    fn call(&mut self, func: &Value, args: CallArgs) -> Result<Value> {
        let state = self.nesting();
        Evaluator::call(self, func, args).map_err(|failure| {
            self.restore_nesting(state);
            self.hand_through(failure)
        })
    }

    fn param_type(&self, func: &Value, index: usize) -> Option<String> {
        self.lambda_param_type(func, index)
    }

    fn union(&mut self, left: &Value, right: &Value) -> Result<Value> {
        self.bit_or(left.clone(), right.clone()).map_err(|failure| self.hand_through(failure))
    }

    fn strict_range(&self) -> bool {
        self.options.strict_range_check
    }

    fn debug(&self) -> bool {
        self.options.debug
    }
}
