//! `L1008`: keys that are set twice in one config.

use super::Context;
use base_diag::Diagnostic;
use base_text::Span;
use kcl_syntax::ast::{ConfigEntry, ConfigOp, Expr, ExprId, Module};
use rustc_hash::FxHashMap;

const CODE: (&str, &str) = ("L1008", "DuplicateKey");

/// Finds keys of a literal whose value a later entry replaces. Two configs under one key are
/// merged, which is often meant.
pub(crate) fn duplicate_key(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    let module = context.module();
    for expr in &module.exprs {
        if let Expr::Config(entries) | Expr::ConfigIf { items: entries, .. } = &expr.kind {
            literal(context, entries, found);
        }
    }
}

fn literal(context: &Context<'_>, entries: &[ConfigEntry], found: &mut Vec<Diagnostic>) {
    let module = context.module();
    let mut first: FxHashMap<String, &ConfigEntry> = FxHashMap::default();
    for entry in entries {
        let Some((name, span)) = entry.key.and_then(|key| key_name(module, key)) else { continue };
        let Some(before) = first.insert(name.clone(), entry) else { continue };
        let is_merged = is_block(module, before.value) && is_block(module, entry.value);
        if is_merged && entry.op == ConfigOp::Union || entry.op == ConfigOp::Insert {
            continue;
        }
        let message = format!("key `{name}` is set twice");
        let at = context.at(before.span);
        let other = "it is set here first";
        found.push(context.warning(CODE, span, message).label(at, other));
    }
}

fn is_block(module: &Module, value: ExprId) -> bool {
    matches!(module[value].kind, Expr::Config(_) | Expr::Schema(_) | Expr::DictComp { .. })
}

fn key_name(module: &Module, key: ExprId) -> Option<(String, Span)> {
    let name = match &module[key].kind {
        Expr::Ident(path) => path.names.first()?.name.to_string(),
        Expr::String(text) => text.value.to_string(),
        _ => return None,
    };
    Some((name, module[key].span))
}
