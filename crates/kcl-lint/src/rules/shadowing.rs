//! `L1002`: a local name that hides another.

use super::Context;
use base_diag::Diagnostic;
use kcl_hir::names::{DefinitionKind, Meaning, uses};

const CODE: (&str, &str) = ("L1002", "Shadowing");

/// Finds parameters and variables with the name of a global, an import or a built-in function.
pub(crate) fn shadowing(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let (program, module) = (context.program, context.module());
    for &unit in &module.body {
        for definition in uses(program, context.file, unit).definitions {
            let what = match definition.kind {
                DefinitionKind::Parameter => "parameter",
                DefinitionKind::Variable => "variable",
                DefinitionKind::LoopVariable => "loop variable",
                DefinitionKind::Key => continue,
            };
            let hidden = match program.global_meaning(context.file, definition.name) {
                Meaning::Global(_) => "a global of the package",
                Meaning::Package(_) | Meaning::System(_) | Meaning::Plugin(_) => "an import",
                Meaning::Builtin(_) => "a built-in function",
                _ => continue,
            };
            let name = definition.name;
            let message = format!("{what} `{name}` hides {hidden} with the same name");
            found.push(context.warning(CODE, definition.at, message));
        }
    }
}
