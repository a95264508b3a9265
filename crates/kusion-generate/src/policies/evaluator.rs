//! Rules in KCL.

use crate::origins::shown;
use kcl_driver::{Argument, CallError, CallLimits, Function, Functions, Limits};
use kusion_policy::{Evaluator, PolicySet, RuleError};
use serde_json::Value;
use std::path::Path;

/// The limits of the program itself, before rules are called.
pub(super) const PROGRAM_LIMITS: Limits =
    Limits { steps: 1_000_000, depth: 10_000, memory: 64 << 20, output: 1 << 20, time: None };

/// The limits of one call of a rule. Real rules need some hundred steps; a rule that loops ends
/// after some ten milliseconds.
const CALL_LIMITS: CallLimits = CallLimits { steps: 500_000, memory: 8 << 20 };

/// How many steps all calls together may take.
const ALL_STEPS: u64 = 400_000_000;

/// Calls the rules of one program.
pub(super) struct KclEvaluator<'w, 'c, 'p> {
    functions: &'w mut Functions<'c, 'p>,
    rules: Vec<Option<Function>>,
    work_dir: &'w Path,
    steps_left: u64,
}

impl<'w, 'c, 'p> KclEvaluator<'w, 'c, 'p> {
    pub(super) fn new(
        functions: &'w mut Functions<'c, 'p>,
        set: &PolicySet,
        work_dir: &'w Path,
    ) -> Self {
        let rule = |policy: &kusion_policy::Policy| {
            let path: Vec<&str> = policy.path().into_iter().chain(["find"]).collect();
            functions.function(&path)
        };
        let rules = set.policies.iter().map(rule).collect();
        Self { functions, rules, work_dir, steps_left: ALL_STEPS }
    }

    fn failed(&self, error: CallError) -> RuleError {
        let place = error.place.map_or(String::new(), |it| {
            let file = shown(self.work_dir, Path::new(&*it.file)).display().to_string();
            format!(" ({file}:{})", it.line)
        });
        RuleError { message: format!("{}{place}", error.message) }
    }
}

impl Evaluator for KclEvaluator<'_, '_, '_> {
    type Input = Argument;

    fn input(&mut self, data: &Value) -> Argument {
        self.functions.argument(data)
    }

    fn map(&mut self, entries: &[(&str, Argument)]) -> Argument {
        Argument::map(entries.iter().map(|(key, value)| (*key, value.clone())))
    }

    fn list(&mut self, items: Vec<Argument>) -> Argument {
        Argument::list(items)
    }

    fn call(&mut self, policy: usize, input: &Argument) -> Result<Value, RuleError> {
        let Some(Some(rule)) = self.rules.get(policy) else {
            return Err(RuleError { message: "it has no rule".to_owned() });
        };
        if self.steps_left == 0 {
            let message = "all policies together take too many steps".to_owned();
            return Err(RuleError { message });
        }
        let limits = CallLimits { steps: CALL_LIMITS.steps.min(self.steps_left), ..CALL_LIMITS };
        let called = self.functions.call(rule, std::slice::from_ref(input), limits);
        self.steps_left = self.steps_left.saturating_sub(self.functions.steps());
        called.map_err(|error| self.failed(error))
    }
}
