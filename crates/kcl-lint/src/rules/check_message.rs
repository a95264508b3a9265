//! `L1009`: checks without a message.

use super::Context;
use base_diag::Diagnostic;
use kcl_syntax::ast::{Check, Stmt};

const CODE: (&str, &str) = ("L1009", "CheckMessage");

/// Finds checks of schemas and rules that say nothing when they fail.
pub(crate) fn check_message(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    for stmt in &context.module().stmts {
        let checks: &[Check] = match &stmt.kind {
            Stmt::Schema(schema) => &schema.checks,
            Stmt::Rule(rule) => &rule.checks,
            _ => continue,
        };
        for check in checks.iter().filter(|check| check.msg.is_none()) {
            let message = "this check has no message for the user";
            let note = "write one behind a comma: `port > 0, \"port must be positive\"`";
            found.push(context.warning(CODE, check.span, message).note(note));
        }
    }
}
