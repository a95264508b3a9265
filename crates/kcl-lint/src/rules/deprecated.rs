//! `L1005`: uses of deprecated schemas and attributes.

use super::Context;
use base_diag::Diagnostic;
use base_text::{FileId, Name};
use kcl_hir::names::{Symbol, occurrences};
use kcl_hir::{GlobalKind, Program};
use kcl_syntax::ast::{Expr, ExprId, Module, Stmt, StmtId};

const CODE: (&str, &str) = ("L1005", "Deprecated");

/// Finds names of schemas and attributes with `@deprecated`.
pub(crate) fn deprecated(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    for &unit in &context.module().body {
        for it in occurrences(context.program, context.file, unit) {
            if it.is_definition {
                continue;
            }
            let advice = it.symbols.iter().find_map(|symbol| advice(context.program, *symbol));
            if let Some((what, name, reason)) = advice {
                let message = format!("{what} `{name}` is deprecated");
                let mut finding = context.warning(CODE, it.at, message);
                if !reason.is_empty() {
                    finding = finding.note(reason);
                }
                found.push(finding);
            }
        }
    }
}

/// What is deprecated, its name, and the reason; empty if none is given.
type Advice = (&'static str, Name, String);

fn advice(program: &Program, symbol: Symbol) -> Option<Advice> {
    match symbol {
        Symbol::Attribute { file, schema, name } => attribute(program, file, schema, name),
        Symbol::Global { package, number } => {
            let (name, global) = program.package(package).globals.get_index(number as usize)?;
            if global.kind != GlobalKind::Schema {
                return None;
            }
            let &(file, stmt) = global.definitions.first()?;
            let module = &program.file(file).module;
            let Stmt::Schema(schema) = &module[stmt].kind else { return None };
            Some(("schema", *name, reason(module, &schema.decorators)?))
        }
        _ => None,
    }
}

fn attribute(program: &Program, file: FileId, schema: StmtId, name: Name) -> Option<Advice> {
    let module = &program.file(file).module;
    let Stmt::Schema(schema) = &module[schema].kind else { return None };
    schema.body.iter().find_map(|stmt| match &module[*stmt].kind {
        Stmt::SchemaAttr(attr) if attr.name.name == name => {
            Some(("attribute", name, reason(module, &attr.decorators)?))
        }
        _ => None,
    })
}

/// What `@deprecated(reason=…)` says, which may be nothing; `None` without that decorator.
fn reason(module: &Module, decorators: &[ExprId]) -> Option<String> {
    decorators.iter().find_map(|decorator| {
        let Expr::Call(call) = &module[*decorator].kind else { return None };
        let Expr::Ident(path) = &module[call.func].kind else { return None };
        if path.names.first()?.name.as_str() != "deprecated" {
            return None;
        }
        let text = |expr: ExprId| match &module[expr].kind {
            Expr::String(text) => Some(text.value.to_string()),
            _ => None,
        };
        let named = call.kwargs.iter().find_map(|keyword| {
            let is_reason = keyword.arg.names.first()?.name.as_str() == "reason";
            is_reason.then(|| keyword.value.and_then(text)).flatten()
        });
        let reason = named.or_else(|| call.args.get(1).copied().and_then(text));
        Some(reason.unwrap_or_default())
    })
}
