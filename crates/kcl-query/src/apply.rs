//! Applies overrides to trees.

use crate::graft::Graft;
use crate::spec::{Action, Override, SpecError};
use base_text::{Name, Span};
use kcl_hir::names::visit_definitions;
use kcl_hir::{Grafted, Program, SourceFile};
use kcl_syntax::ast::{
    Assign, AugAssign, AugOp, BinOp, ConfigEntry, ConfigOp, Expr, ExprId, Ident, Module, Path,
    Stmt, StmtId, StringLit, Target, Unification,
};
use std::cell::RefCell;
use std::sync::Arc;

/// Applies specs such as `app.image="nginx"` to the main package of a program.
///
/// Each spec changes every file that defines its variable; if none does, the last file
/// gets a new variable.
pub fn apply_overrides(program: &mut Program, specs: &[String]) -> Result<(), SpecError> {
    for text in specs {
        let spec: Override = text.parse()?;
        let files = match program.main_package() {
            Some(package) => package.files.clone(),
            None => return Ok(()),
        };
        let mut done = false;
        for file in &files {
            let module = &program.file(*file).module;
            if defines(module, Name::new(&spec.path[0])) {
                done |= apply_to_file(&mut program.files[file.0 as usize], &spec, text);
            }
        }
        if let (false, Action::Set(..), Some(last)) = (done, &spec.action, files.last()) {
            apply_to_file(&mut program.files[last.0 as usize], &spec, text);
        }
    }
    program.collect_globals();
    Ok(())
}

/// Applies one override to one file and notes what it brought in.
fn apply_to_file(file: &mut SourceFile, spec: &Override, text: &str) -> bool {
    let module = Arc::make_mut(&mut file.module);
    if let (Action::Set(..), Some(variable)) = (&spec.action, spec.path.first()) {
        // The copies that this makes are still the file's own.
        split_assigns(module, Name::new(variable));
    }
    let first = module.exprs.len() as u32;
    let replaced = RefCell::default();
    let changed = apply(module, spec, &replaced);
    let exprs = first..module.exprs.len() as u32;
    if !exprs.is_empty() {
        file.grafts.push(Grafted { spec: text.into(), exprs, replaced: replaced.into_inner() });
    }
    changed
}

/// Applies one override to one tree and says whether anything changed.
pub fn apply_override(module: &mut Module, spec: &Override) -> bool {
    apply(module, spec, &RefCell::default())
}

/// New expressions with those whose place they took.
type Replaced = RefCell<Vec<(ExprId, ExprId)>>;

fn apply(module: &mut Module, spec: &Override, replaced: &Replaced) -> bool {
    let Some((variable, rest)) = spec.path.split_first() else { return false };
    let variable = Name::new(variable);
    let rest: Vec<Name> = rest.iter().map(|part| Name::new(part)).collect();
    match &spec.action {
        Action::Delete => delete(module, variable, &rest),
        Action::Set(op, text) => {
            let Some(value) = parse_value(text) else { return false };
            split_assigns(module, variable);
            let edit = Edit { op: *op, from: &value.0, value: value.1, replaced };
            let changed = if rest.is_empty() {
                set_variable(module, variable, &edit)
            } else {
                set_inside(module, variable, &rest, &edit)
            };
            changed || create(module, variable, &rest, &edit)
        }
    }
}

/// A value on its way into a tree.
#[derive(Clone, Copy)]
struct Edit<'v> {
    op: ConfigOp,
    from: &'v Module,
    value: ExprId,
    replaced: &'v Replaced,
}

impl Edit<'_> {
    fn kind(&self) -> &Expr {
        &self.from[self.value].kind
    }

    fn graft(&self, module: &mut Module, span: Span) -> ExprId {
        Graft { from: self.from, to: module, span }.expr(self.value)
    }

    /// Copies the value to take the place of `old`.
    fn replace(&self, module: &mut Module, old: ExprId, span: Span) -> ExprId {
        let new = self.graft(module, span);
        self.replaced.borrow_mut().push((new, old));
        new
    }
}

/// Parses the value of a spec. Sums and signs are taken as text: `1+2` is `"1+2"`.
fn parse_value(text: &str) -> Option<(Module, ExprId)> {
    let parsed = kcl_syntax::parse_expr(text);
    let (mut module, root) = (parsed.module, parsed.root);
    match &module.exprs.get(root.index())?.kind {
        Expr::Unary { .. } | Expr::Binary { .. } => {
            let text = StringLit { value: text.into(), is_long: false };
            let root = module.add_expr(Expr::String(text), Span::default());
            Some((module, root))
        }
        Expr::Missing => None,
        _ => Some((module, root)),
    }
}

/// Whether a top-level statement sets a variable; what is inside an `if` does not count.
fn defines(module: &Module, variable: Name) -> bool {
    let mut is_defined = false;
    for &stmt in &module.body {
        visit_definitions(module, stmt, &mut |it| {
            is_defined |= it.stmt == stmt && it.is_value() && it.ident.name == variable;
        });
    }
    is_defined
}

/// Writes `a = b = value` as two statements, so that one can change without the other.
fn split_assigns(module: &mut Module, variable: Name) {
    let needs_split = |module: &Module, stmt: StmtId| match &module[stmt].kind {
        Stmt::Assign(assign) => {
            assign.targets.len() > 1 && assign.targets.iter().any(|t| t.name.name == variable)
        }
        _ => false,
    };
    if !module.body.iter().any(|stmt| needs_split(module, *stmt)) {
        return;
    }
    let before = module.clone();
    let mut body = Vec::with_capacity(before.body.len() + 1);
    for &stmt in &before.body {
        let Stmt::Assign(assign) = &before[stmt].kind else {
            body.push(stmt);
            continue;
        };
        if !needs_split(&before, stmt) {
            body.push(stmt);
            continue;
        }
        for target in &assign.targets {
            let span = before[assign.value].span;
            let value = Graft { from: &before, to: module, span }.expr(assign.value);
            let single = Assign { targets: vec![target.clone()], ty: assign.ty, value };
            body.push(module.add_stmt(Stmt::Assign(single), before[stmt].span));
        }
    }
    module.body = body;
}

/// The value of a statement that sets the whole variable.
pub(crate) fn value_of(module: &Module, stmt: StmtId, variable: Name) -> Option<ExprId> {
    match &module[stmt].kind {
        Stmt::Assign(assign) => match assign.targets.as_slice() {
            [target] if is_whole(target, variable) => Some(assign.value),
            _ => None,
        },
        Stmt::Unification(unification) => {
            let first = unification.target.names.first()?;
            (first.name == variable).then_some(unification.value)
        }
        _ => None,
    }
}

fn is_whole(target: &Target, variable: Name) -> bool {
    target.name.name == variable && target.paths.is_empty()
}

fn delete(module: &mut Module, variable: Name, rest: &[Name]) -> bool {
    if rest.is_empty() {
        let n_before = module.body.len();
        let body = std::mem::take(&mut module.body);
        module.body =
            body.into_iter().filter(|stmt| value_of(module, *stmt, variable).is_none()).collect();
        return module.body.len() != n_before;
    }
    for stmt in module.body.clone() {
        if let Some(value) = value_of(module, stmt, variable)
            && let Some(config) = config_of(module, value)
            && delete_inside(module, config, rest)
        {
            return true;
        }
    }
    false
}

fn delete_inside(module: &mut Module, config: ExprId, path: &[Name]) -> bool {
    let Some((first, rest)) = path.split_first() else { return false };
    let mut changed = false;
    for (i, value) in matching(module, config, *first).into_iter().rev() {
        if rest.is_empty() {
            entries_mut(module, config).remove(i);
            changed = true;
        } else if let Some(inner) = config_of(module, value) {
            changed |= delete_inside(module, inner, rest);
        }
    }
    changed
}

fn set_variable(module: &mut Module, variable: Name, edit: &Edit<'_>) -> bool {
    let mut changed = false;
    for stmt in module.body.clone() {
        let span = module[stmt].span;
        match &module[stmt].kind {
            Stmt::AugAssign(assign) if is_whole(&assign.target, variable) => {
                let old = assign.value;
                changed |= set_value(module, old, edit, |module, new| {
                    if let Stmt::AugAssign(assign) = &mut module.stmts[stmt.index()].kind {
                        assign.value = new;
                    }
                });
            }
            Stmt::Unification(_) => {
                let Some(old) = value_of(module, stmt, variable) else { continue };
                let is_schema = matches!(edit.kind(), Expr::Schema(_));
                if edit.op == ConfigOp::Union && (is_schema || is_config(edit)) {
                    changed |= merge_value(module, old, edit);
                } else if is_schema {
                    // `name: Schema {…}` takes nothing but schemas.
                    let value = edit.replace(module, old, span);
                    if let Stmt::Unification(unification) = &mut module.stmts[stmt.index()].kind {
                        unification.value = value;
                    }
                    changed = true;
                }
            }
            _ => {
                let Some(old) = value_of(module, stmt, variable) else { continue };
                changed |= set_value(module, old, edit, |module, new| {
                    if let Stmt::Assign(assign) = &mut module.stmts[stmt.index()].kind {
                        assign.value = new;
                    }
                });
            }
        }
    }
    changed
}

fn set_inside(module: &mut Module, variable: Name, rest: &[Name], edit: &Edit<'_>) -> bool {
    for stmt in module.body.clone() {
        if let Some(value) = value_of(module, stmt, variable)
            && let Some(config) = config_of(module, value)
        {
            return set_path(module, config, rest, edit);
        }
    }
    false
}

/// Sets a path inside a config; what is not there is added at its end.
fn set_path(module: &mut Module, config: ExprId, path: &[Name], edit: &Edit<'_>) -> bool {
    let Some((first, rest)) = path.split_first() else { return false };
    let mut changed = false;
    for (i, value) in matching(module, config, *first) {
        if !rest.is_empty() {
            if let Some(inner) = config_of(module, value) {
                changed |= set_path(module, inner, rest, edit);
            }
            continue;
        }
        changed |= set_value(module, value, edit, |module, new| {
            entries_mut(module, config)[i].value = new;
        });
    }
    if !changed {
        let span = module[config].span;
        let entry = nested_entry(module, path, edit, span);
        entries_mut(module, config).push(entry);
    }
    true
}

/// Puts a value in the place of `old`, or merges it in, as the operator says.
fn set_value(
    module: &mut Module,
    old: ExprId,
    edit: &Edit<'_>,
    put: impl FnOnce(&mut Module, ExprId),
) -> bool {
    match edit.op {
        ConfigOp::Union if is_config(edit) || matches!(edit.kind(), Expr::Schema(_)) => {
            merge_value(module, old, edit)
        }
        ConfigOp::Insert => {
            let (Expr::List(new), Expr::List(_)) = (edit.kind(), &module[old].kind) else {
                return false;
            };
            let span = module[old].span;
            let mut graft = Graft { from: edit.from, to: module, span };
            let new: Vec<ExprId> = new.iter().map(|item| graft.expr(*item)).collect();
            if let Expr::List(items) = &mut module.exprs[old.index()].kind {
                items.extend(new);
            }
            true
        }
        ConfigOp::Union | ConfigOp::Override => {
            let new = edit.replace(module, old, module[old].span);
            put(module, new);
            true
        }
    }
}

fn is_config(edit: &Edit<'_>) -> bool {
    matches!(edit.kind(), Expr::Config(_))
}

/// Merges the entries of a config, or of a schema with the same name, into `old`.
fn merge_value(module: &mut Module, old: ExprId, edit: &Edit<'_>) -> bool {
    let new = match (edit.kind(), &module[old].kind) {
        (Expr::Config(_), _) => edit.value,
        (Expr::Schema(new), Expr::Schema(old)) if same_name(&new.name, &old.name) => new.config,
        _ => return false,
    };
    let (Some(config), Expr::Config(entries)) = (config_of(module, old), &edit.from[new].kind)
    else {
        return false;
    };
    let mut changed = false;
    for entry in entries {
        changed |= if let Some(name) = entry.key.and_then(|key| key_name(edit.from, key)) {
            let edit = Edit { op: entry.op, value: entry.value, ..*edit };
            set_path(module, config, &[name], &edit)
        } else {
            let span = module[config].span;
            let copy = Graft { from: edit.from, to: module, span }.entry(entry);
            entries_mut(module, config).push(copy);
            true
        };
    }
    changed
}

fn same_name(a: &Path, b: &Path) -> bool {
    a.names.iter().map(|part| part.name).eq(b.names.iter().map(|part| part.name))
}

/// Adds a variable at the end of the file.
fn create(module: &mut Module, variable: Name, rest: &[Name], edit: &Edit<'_>) -> bool {
    let span = module.body.last().map_or(Span::default(), |stmt| module[*stmt].span);
    let value = if rest.is_empty() {
        edit.graft(module, span)
    } else {
        let entry = nested_entry(module, rest, edit, span);
        module.add_expr(Expr::Config(vec![entry]), span)
    };
    let name = Ident { name: variable, span };
    let target = Target { name, paths: Vec::new(), span };
    let is_schema = matches!(module[value].kind, Expr::Schema(_));
    let stmt = match edit.op {
        ConfigOp::Insert => {
            Stmt::AugAssign(AugAssign { target, op: AugOp::With(BinOp::Add), value })
        }
        ConfigOp::Union if is_schema => {
            Stmt::Unification(Unification { target: Path { names: name.into(), span }, value })
        }
        ConfigOp::Union | ConfigOp::Override => {
            Stmt::Assign(Assign { targets: vec![target], ty: None, value })
        }
    };
    let stmt = module.add_stmt(stmt, span);
    module.body.push(stmt);
    true
}

/// Makes the entry `a: {b: {c = value}}` for the path `a.b.c`.
fn nested_entry(module: &mut Module, path: &[Name], edit: &Edit<'_>, span: Span) -> ConfigEntry {
    let mut value = edit.graft(module, span);
    let mut op = edit.op;
    let mut entry = None;
    for part in path.iter().rev() {
        if let Some(inner) = entry.take() {
            value = module.add_expr(Expr::Config(vec![inner]), span);
            op = ConfigOp::Union;
        }
        let name = Path { names: Ident { name: *part, span }.into(), span };
        let key = Some(module.add_expr(Expr::Ident(name), span));
        entry = Some(ConfigEntry { key, value, op, span });
    }
    entry.unwrap_or(ConfigEntry { key: None, value, op, span })
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

/// The entries of a config with a key: their places and values.
fn matching(module: &Module, config: ExprId, name: Name) -> Vec<(usize, ExprId)> {
    let Expr::Config(entries) = &module[config].kind else { return Vec::new() };
    let has_name = |entry: &ConfigEntry| {
        entry.key.is_some_and(|key| key_name(module, key).is_some_and(|key| key == name))
    };
    let found = entries.iter().enumerate().filter(|(_, entry)| has_name(entry));
    found.map(|(i, entry)| (i, entry.value)).collect()
}

fn key_name(module: &Module, key: ExprId) -> Option<Name> {
    match &module[key].kind {
        Expr::Ident(path) => match path.names.as_slice() {
            [one] => Some(one.name),
            parts => {
                let parts: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
                Some(Name::new(&parts.join(".")))
            }
        },
        Expr::String(text) => Some(Name::new(&text.value)),
        _ => None,
    }
}

/// The parts of a key: those of a dotted name, or one.
pub(crate) fn key_parts(module: &Module, key: ExprId) -> Option<Vec<String>> {
    match &module[key].kind {
        Expr::Ident(path) => Some(path.names.iter().map(|part| part.name.to_string()).collect()),
        Expr::String(text) => Some(vec![text.value.to_string()]),
        _ => None,
    }
}

pub(crate) fn entries_mut(module: &mut Module, config: ExprId) -> &mut Vec<ConfigEntry> {
    match &mut module.exprs[config.index()].kind {
        Expr::Config(entries) => entries,
        _ => unreachable!("callers pass configs only"),
    }
}

#[cfg(test)]
mod tests;
