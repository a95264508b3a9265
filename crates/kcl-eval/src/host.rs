//! The evaluator as built-in functions see it.

use crate::error::Failure;
use crate::evaluator::Evaluator;
use crate::layout::SchemaId;
use crate::rule::RuleRef;
use base_system::System;
use kcl_std::Host;
use kcl_value::{CallArgs, Fault, Result, Value};
use std::path::Path;

impl Evaluator<'_> {
    /// Hands a failure through a built-in that knows only messages.
    fn hand_through(&mut self, failure: Failure) -> Box<Fault> {
        let message = failure.details().message.clone();
        self.pending = Some(failure);
        Fault::new(message)
    }
}

impl Host for Evaluator<'_> {
    fn system(&self) -> &dyn System {
        self.system
    }

    fn module_root(&self) -> &Path {
        &self.program.root
    }

    fn work_dir(&self) -> &Path {
        &self.options.work_dir
    }

    fn current_file(&self) -> &str {
        &self.program.file(self.frame.file).path
    }

    fn option(&self, key: &str) -> Option<Value> {
        let found = self.options.arguments.iter().rev().find(|(name, _)| name == key);
        found.map(|(_, value)| value.clone())
    }

    fn print(&mut self, text: &str) {
        self.printed.push_str(text);
    }

    fn set_stream(&mut self, yaml: String) {
        self.stream = Some(yaml);
        if self.options.provenance {
            self.provenance.stream = Some((Value::Undefined, self.call_at));
        }
    }

    fn call(&mut self, func: &Value, args: CallArgs) -> Result<Value> {
        Evaluator::call(self, func, args).map_err(|failure| self.hand_through(failure))
    }

    fn param_type(&self, func: &Value, index: usize) -> Option<String> {
        self.lambda_param_type(func, index)
    }

    fn union(&mut self, left: &Value, right: &Value) -> Result<Value> {
        self.bit_or(left.clone(), right.clone()).map_err(|failure| self.hand_through(failure))
    }

    fn is_type(&self, value: &Value) -> bool {
        matches!(value, Value::Func(func) if func.body.is::<SchemaId>() || func.body.is::<RuleRef>())
    }

    fn strict_range(&self) -> bool {
        self.options.strict_range_check
    }

    fn debug(&self) -> bool {
        self.options.debug
    }
}
