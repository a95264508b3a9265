//! Where the value of a path is written in a tree.

use base_text::LineIndex;
use kcl_syntax::ast::{ConfigEntry, Expr, ExprId, Module, Path, Stmt, StmtId, Target};

/// Finds the value that is written at a line and column, both from 1: of a variable, or of an entry
/// in the config of one. Returns its path.
pub fn path_at(text: &str, line: u32, column: u32) -> Option<Vec<String>> {
    let module = kcl_syntax::parse(text).module;
    let lines = LineIndex::new(text);
    let is_there = |value: ExprId| {
        let found = lines.line_col(text, module[value].span.start);
        (found.line, found.col) == (line, column)
    };
    let mut open: Vec<(Vec<String>, ExprId)> = Vec::new();
    for stmt in module.body.iter().rev() {
        let (name, value) = match &module[*stmt].kind {
            Stmt::Assign(assign) => match assign.targets.as_slice() {
                [target] if target.paths.is_empty() => (target.name.name, assign.value),
                _ => continue,
            },
            Stmt::Unification(it) => match it.target.names.first() {
                Some(first) => (first.name, it.value),
                None => continue,
            },
            _ => continue,
        };
        open.push((vec![name.as_str().to_owned()], value));
    }
    while let Some((path, value)) = open.pop() {
        let config = config_of(&module, value);
        if config.is_none() && is_there(value) {
            return Some(path);
        }
        for entry in config.map(|it| entries(&module, it)).unwrap_or_default().iter().rev() {
            if let Some(key) = entry.key.and_then(|key| key_name(&module, key)) {
                open.push(([path.as_slice(), &[key]].concat(), entry.value));
            }
        }
    }
    None
}

/// The value of a statement that sets the whole variable.
pub(crate) fn value_of(module: &Module, stmt: StmtId, variable: &str) -> Option<ExprId> {
    match &module[stmt].kind {
        Stmt::Assign(assign) => match assign.targets.as_slice() {
            [target] if is_whole(target, variable) => Some(assign.value),
            _ => None,
        },
        Stmt::AugAssign(assign) if is_whole(&assign.target, variable) => Some(assign.value),
        Stmt::Unification(unification) => {
            let first = unification.target.names.first()?;
            (first.name.as_str() == variable).then_some(unification.value)
        }
        _ => None,
    }
}

fn is_whole(target: &Target, variable: &str) -> bool {
    target.name.name.as_str() == variable && target.paths.is_empty()
}

/// Whether a statement assigns to several names, of which the variable is one.
pub(crate) fn sets_several(module: &Module, stmt: StmtId, variable: &str) -> bool {
    match &module[stmt].kind {
        Stmt::Assign(assign) => {
            assign.targets.len() > 1
                && assign.targets.iter().any(|it| it.name.name.as_str() == variable)
        }
        _ => false,
    }
}

/// The config of a config or schema expression.
pub(crate) fn config_of(module: &Module, value: ExprId) -> Option<ExprId> {
    match &module[value].kind {
        Expr::Config(_) => Some(value),
        Expr::Schema(schema) => {
            matches!(module[schema.config].kind, Expr::Config(_)).then_some(schema.config)
        }
        _ => None,
    }
}

/// The entries of a config.
pub(crate) fn entries(module: &Module, config: ExprId) -> &[ConfigEntry] {
    match &module[config].kind {
        Expr::Config(entries) => entries,
        _ => &[],
    }
}

/// Whether an entry has a key.
pub(crate) fn has_key(module: &Module, entry: &ConfigEntry, name: &str) -> bool {
    entry.key.and_then(|key| key_name(module, key)).is_some_and(|key| key == name)
}

/// The name that a key stands for.
pub(crate) fn key_name(module: &Module, key: ExprId) -> Option<String> {
    match &module[key].kind {
        Expr::Ident(path) => Some(dotted(path)),
        Expr::String(text) => Some(text.value.to_string()),
        _ => None,
    }
}

/// A dotted name as text.
pub(crate) fn dotted(path: &Path) -> String {
    let parts: Vec<&str> = path.names.iter().map(|part| part.name.as_str()).collect();
    parts.join(".")
}

/// Whether a config stands for a dotted key, `a.b = 1`, and has no braces.
pub(crate) fn is_dotted(module: &Module, text: &str, config: ExprId) -> bool {
    let node = &module[config];
    matches!(node.kind, Expr::Config(_)) && !node.span.slice(text).starts_with('{')
}
