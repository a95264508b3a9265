//! Checks and decorators of schemas.

use crate::error::{Eval, FailedCheck, Failure, fail};
use crate::evaluator::Evaluator;
use crate::instance::Instance;
use crate::layout::SchemaId;
use base_diag::Diagnostic;
use base_text::Name;
use kcl_syntax::ast::{Check, Expr, ExprId};
use kcl_value::{Origin, Value};
use std::rc::Rc;

/// After so many failed checks, the next one ends the evaluation.
const MAX_FAILED_CHECKS: usize = 1_000;

impl<'p> Evaluator<'p> {
    /// Runs the `check` blocks of a schema, its bases first, its mixins last.
    pub(crate) fn run_checks(&mut self, id: SchemaId, this: &Rc<Instance>) -> Eval<()> {
        self.enter()?;
        let links = self.links(id)?;
        if let Some(parent) = links.parent {
            self.run_checks(parent, this)?;
        }
        let checks = &self.schema(id).decl.checks;
        if !checks.is_empty() {
            self.in_schema(id, this, |evaluator| {
                checks.iter().try_for_each(|check| evaluator.run_check(check, this.site))
            })?;
        }
        for &mixin in &links.mixins {
            self.run_checks(mixin, this)?;
        }
        self.leave();
        Ok(())
    }

    /// Runs one line of a `check` block.
    pub(crate) fn run_check(&mut self, check: &'p Check, instance: Origin) -> Eval<()> {
        if let Some(cond) = check.if_cond
            && !self.condition(cond)?
        {
            return Ok(());
        }
        if self.condition(check.test)? {
            return Ok(());
        }
        let message = match check.msg {
            Some(message) => kcl_value::show(&self.eval(message)?),
            None => String::new(),
        };
        let headline = match message.as_str() {
            "" => "Check failed on the condition".to_owned(),
            message => format!("Check failed on the condition: {message}"),
        };
        let instance = (instance.0 != 0).then_some(instance);
        let failure = Failure::check(message, FailedCheck { instance, headline });
        if self.options.all_checks && self.failed_checks.len() < MAX_FAILED_CHECKS {
            let found = self.diagnostic(&failure);
            if !self.failed_checks.contains(&found) {
                self.failed_checks.push(found);
            }
            return Ok(());
        }
        Err(failure)
    }

    /// Runs `@deprecated(…)` and the like on an attribute or a whole schema.
    pub(crate) fn run_decorator(
        &mut self,
        decorator: ExprId,
        target: Name,
        is_schema: bool,
        this: &Rc<Instance>,
    ) -> Eval<()> {
        let module = self.frame.module;
        let Expr::Call(call) = &module[decorator].kind else {
            return fail("invalid decorator name, expect single identifier");
        };
        let args = self.eval_args(&call.args, &call.kwargs)?;
        let name = match &module[call.func].kind {
            Expr::Ident(path) if path.names.len() == 1 => path.names[0].name,
            _ => return fail("invalid decorator name, expect single identifier"),
        };
        match name.as_str() {
            "deprecated" => {}
            "info" => return Ok(()),
            other => return fail(format!("Unknown decorator {other}")),
        }
        let option = |key: &str| {
            args.named.iter().find(|(name, _)| name.as_str() == key).map(|(_, value)| value)
        };
        let text = |key| option(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (version, reason) = (text("version"), text("reason"));
        let is_strict = option("strict").is_none_or(Value::is_truthy);
        let is_used = is_schema || this.config.contains_key(target.as_str());
        let mut message = format!("{target} was deprecated ");
        if is_used {
            if !version.is_empty() {
                message.push_str("since version ");
                message.push_str(&version);
            }
            if !reason.is_empty() {
                message.push_str(", ");
                message.push_str(&reason);
            }
        }
        if is_strict && is_used {
            return Err(match this.site {
                Origin(0) => Failure::new(message),
                origin => Failure::at(message, origin),
            });
        }
        if is_used && let Some(at) = self.place(self.at) {
            let warning = Diagnostic::warning("E2L28", "Deprecated", at, message);
            self.warnings.push(warning);
        }
        Ok(())
    }
}
