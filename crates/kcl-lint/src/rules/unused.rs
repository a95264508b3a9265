//! `L1001`: a local name that nothing reads.

use super::Context;
use base_diag::{Diagnostic, Fix};
use base_text::{Name, Span};
use kcl_hir::GlobalKind;
use kcl_hir::names::{DefinitionKind, UseTarget, uses};
use rustc_hash::FxHashSet;

const CODE: (&str, &str) = ("L1001", "UnusedLocal");

/// Finds variables of lambdas, loop variables and private globals that nothing reads. A name that
/// starts with `_` in a lambda or loop is meant to be unused.
pub(crate) fn unused(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let (program, module) = (context.program, context.module());
    for &unit in &module.body {
        let names = uses(program, context.file, unit);
        let mut read: FxHashSet<(Name, Span)> = FxHashSet::default();
        for it in &names.uses {
            let is_set = it.expr.is_none();
            for target in &it.targets {
                if let UseTarget::Local(number) = target
                    && !is_set
                    && let Some(definition) = names.definitions.get(*number)
                {
                    read.insert((definition.name, definition.at));
                }
            }
        }
        for definition in &names.definitions {
            let what = match definition.kind {
                DefinitionKind::Variable => "variable",
                DefinitionKind::LoopVariable => "loop variable",
                DefinitionKind::Parameter | DefinitionKind::Key => continue,
            };
            let name = definition.name.as_str();
            let is_read = names.definitions.iter().any(|other| {
                // A variable that is set again has a definition for each place.
                other.name == definition.name && read.contains(&(other.name, other.at))
            });
            if is_read || name.starts_with('_') {
                continue;
            }
            let message = format!("{what} `{name}` is never read");
            let title = format!("rename `{name}` to `_{name}`");
            let fix = Fix::suggestion(title).edit(context.at(definition.at), format!("_{name}"));
            found.push(context.warning(CODE, definition.at, message).fix(fix));
        }
    }
    private_globals(context, found);
}

/// Private globals cannot be read from other packages, and are not part of the output.
fn private_globals(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let program = context.program;
    let package = program.package(context.source().package);
    let mut used: FxHashSet<Name> = FxHashSet::default();
    for &file in &package.files {
        let module = &program.file(file).module;
        for &unit in &module.body {
            for it in uses(program, file, unit).uses {
                if it.targets.iter().any(|target| matches!(target, UseTarget::Global(_))) {
                    used.insert(it.ident.name);
                }
            }
        }
        kcl_hir::names::visit_paths(module, |expr, path| {
            // Types and bases; expressions are resolved above.
            if let (None, Some(first)) = (expr, path.names.first()) {
                used.insert(first.name);
            }
        });
    }
    for (name, global) in &package.globals {
        let is_private = name.as_str().starts_with('_') && global.kind == GlobalKind::Variable;
        let Some(&(file, stmt)) = global.definitions.first() else { continue };
        if !is_private || used.contains(name) || file != context.file {
            continue;
        }
        let module = context.module();
        kcl_hir::names::visit_definitions(module, stmt, &mut |defined| {
            if defined.ident.name == *name {
                let message = format!("private variable `{name}` is never read");
                let note = "names that start with `_` are not part of the output";
                found.push(context.warning(CODE, defined.ident.span, message).note(note));
            }
        });
    }
}
