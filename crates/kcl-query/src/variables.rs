//! Variables and their values as they are written.

use kcl_fmt::{Open, Style, print_expr};
use kcl_hir::{Program, SourceFile};
use kcl_syntax::ast::{AugOp, ConfigEntry, ConfigOp, Expr, ExprId, Module, Stmt, StmtId};

/// A value as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variable {
    /// Its source.
    pub value: String,
    /// The name of its schema; empty for other values.
    pub schema: String,
    /// The operator before it: `=`, `:`, `+=`; empty for items of lists.
    pub op: &'static str,
    /// The items of a list.
    pub items: Vec<Variable>,
    /// The entries of a config, with their keys.
    pub entries: Vec<(String, Variable)>,
}

/// Lists the variables of the main package with their values, in the order of their first
/// definition. With paths (`a.b`), only the values there are listed, under their paths. A variable
/// that is set several times has its last value; with `merges`, the blocks of `name: Schema {…}` are
/// taken together.
pub fn list_variables(
    program: &Program,
    paths: &[String],
    merges: bool,
) -> Vec<(String, Vec<Variable>)> {
    let Some(package) = program.main_package() else { return Vec::new() };
    let mut found: Vec<(String, Vec<Setting<'_>>)> = Vec::new();
    for &file in &package.files {
        let source = program.file(file);
        for &stmt in &source.module.body {
            for (name, mut setting) in settings(source, stmt) {
                match found.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, known)) if merges && known[0].op == ":" => {
                        if setting.op == ":" {
                            known.push(setting);
                        } else {
                            setting.op = ":";
                            *known = vec![setting];
                        }
                    }
                    Some((_, known)) => *known = vec![setting],
                    None => found.push((name, vec![setting])),
                }
            }
        }
    }
    let found: Vec<(String, Vec<Variable>)> =
        found.into_iter().map(|(name, settings)| (name, vec![value_of(&settings)])).collect();
    if paths.is_empty() {
        return found;
    }
    paths.iter().map(|path| (path.clone(), at_path(&found, path))).collect()
}

/// One statement that sets a variable.
#[derive(Clone, Copy)]
struct Setting<'p> {
    source: &'p SourceFile,
    value: ExprId,
    op: &'static str,
}

/// The value of statements that are taken together.
fn value_of(settings: &[Setting<'_>]) -> Variable {
    match settings {
        [] => Variable::default(),
        [only] => variable(only.source, only.value, only.op, true),
        [first, ..] => {
            let merged = merged_entries(settings);
            let first = variable(first.source, first.value, first.op, true);
            let last = settings[settings.len() - 1];
            let line = last.source.line_col(last.source.module[last.value].span.start).line;
            let entries = merged.iter().flat_map(|it| entries_of(it.0, std::slice::from_ref(it.1)));
            let value = print_merged(&first.schema, &merged, line);
            Variable { value, entries: entries.collect(), ..first }
        }
    }
}

/// The entries of several configs: those of the same key stand beside each other, and one with `=`
/// replaces those before.
fn merged_entries<'p>(settings: &[Setting<'p>]) -> Vec<(&'p SourceFile, &'p ConfigEntry)> {
    let mut merged: Vec<(&SourceFile, &ConfigEntry)> = Vec::new();
    for setting in settings {
        let module = &setting.source.module;
        let Expr::Schema(schema) = &module[setting.value].kind else { continue };
        let Expr::Config(entries) = &module[schema.config].kind else { continue };
        for entry in entries {
            let key = key_of(setting.source, entry);
            let position = merged.iter().rposition(|(source, it)| key_of(source, it) == key);
            let is_block = matches!(module[entry.value].kind, Expr::Config(_) | Expr::Schema(_));
            match position.filter(|_| !key.is_empty()) {
                Some(_) if entry.op == ConfigOp::Override && !is_block => {
                    let first = merged.iter().position(|(source, it)| key_of(source, it) == key);
                    merged.retain(|(source, it)| key_of(source, it) != key);
                    merged.insert(first.unwrap_or(merged.len()), (setting.source, entry));
                }
                Some(at) => merged.insert(at + 1, (setting.source, entry)),
                None => merged.push((setting.source, entry)),
            }
        }
    }
    merged
}

/// Prints merged entries. A config or list that stands above what was printed before has each item
/// on a line of its own, as in the reference.
fn print_merged(
    schema: &str,
    entries: &[(&SourceFile, &ConfigEntry)],
    mut last_line: u32,
) -> String {
    let mut out = format!("{schema} {{\n");
    for (source, entry) in entries {
        let module = &source.module;
        let style = Style { open: Open::Before(last_line), write_out_keys: true };
        let value = print_expr(module, &source.text, entry.value, style);
        let op = operator(entry.op);
        let separator = if op == ":" { "" } else { " " };
        let key = entry.key.map_or("**", |key| module[key].span.slice(&source.text));
        let value = value.replace('\n', "\n    ");
        let line = match entry.key {
            Some(_) => format!("    {key}{separator}{op} {value}\n"),
            None => format!("    {key}{value}\n"),
        };
        out.push_str(&line);
        last_line = last_line.max(source.line_col(entry.span.end).line);
    }
    out.push('}');
    out
}

fn at_path(found: &[(String, Vec<Variable>)], path: &str) -> Vec<Variable> {
    let parts = crate::split_path(path).unwrap_or_default();
    let Some((first, rest)) = parts.split_first() else { return Vec::new() };
    let Some((_, variables)) = found.iter().find(|(name, _)| name == first) else {
        return Vec::new();
    };
    let mut values: Vec<&Variable> = variables.iter().collect();
    for part in rest {
        let entries = values.iter().flat_map(|value| &value.entries);
        values = entries.filter(|(key, _)| key == part).map(|(_, value)| value).collect();
    }
    values.into_iter().cloned().collect()
}

/// The variables that a top-level statement sets.
fn settings(source: &SourceFile, stmt: StmtId) -> Vec<(String, Setting<'_>)> {
    let module = &source.module;
    let setting = |value, op| Setting { source, value, op };
    match &module[stmt].kind {
        Stmt::Assign(assign) => assign
            .targets
            .iter()
            .filter(|target| target.paths.is_empty())
            .map(|target| (target.name.name.to_string(), setting(assign.value, "=")))
            .collect(),
        Stmt::AugAssign(aug) if aug.target.paths.is_empty() => {
            let op = if aug.op == AugOp::Assign { "=" } else { "+=" };
            vec![(aug.target.name.name.to_string(), setting(aug.value, op))]
        }
        Stmt::Unification(unification) => {
            let name = unification.target.names.first().map(|name| name.name.to_string());
            name.map(|name| (name, setting(unification.value, ":"))).into_iter().collect()
        }
        Stmt::If(stmt) => {
            let inner = stmt.body.iter().chain(&stmt.orelse);
            inner.flat_map(|inner| settings(source, *inner)).collect()
        }
        _ => Vec::new(),
    }
}

fn variable(source: &SourceFile, value: ExprId, op: &'static str, is_top: bool) -> Variable {
    let module: &Module = &source.module;
    let style = Style { open: Open::Outermost, write_out_keys: true };
    // The config of a schema is as it is written.
    let style = match &module[value].kind {
        Expr::Schema(_) => Style { open: Open::AsWritten, ..style },
        _ => style,
    };
    let text = print_expr(module, &source.text, value, style);
    let mut variable = Variable { value: text, op, ..Variable::default() };
    match &module[value].kind {
        Expr::List(items) => {
            variable.items =
                items.iter().map(|item| self::variable(source, *item, "", false)).collect();
        }
        Expr::Config(entries) => variable.entries = entries_of(source, entries),
        Expr::Schema(schema) => {
            if is_top {
                let parts: Vec<&str> =
                    schema.name.names.iter().map(|it| it.name.as_str()).collect();
                variable.schema = parts.join(".");
            }
            if let Expr::Config(entries) = &module[schema.config].kind {
                variable.entries = entries_of(source, entries);
            }
        }
        _ => {}
    }
    variable
}

fn entries_of(source: &SourceFile, entries: &[ConfigEntry]) -> Vec<(String, Variable)> {
    let entry = |entry: &ConfigEntry| {
        let value = variable(source, entry.value, operator(entry.op), false);
        (key_of(source, entry), value)
    };
    entries.iter().map(entry).collect()
}

/// The key of an entry; empty without one.
fn key_of(source: &SourceFile, entry: &ConfigEntry) -> String {
    let module = &source.module;
    match entry.key.map(|key| (&module[key].kind, key)) {
        Some((Expr::String(text), _)) => text.value.to_string(),
        Some((_, key)) => module[key].span.slice(&source.text).to_owned(),
        None => String::new(),
    }
}

fn operator(op: ConfigOp) -> &'static str {
    match op {
        ConfigOp::Union => ":",
        ConfigOp::Override => "=",
        ConfigOp::Insert => "+=",
    }
}
