//! Values from outside: data that takes the place of what a program sets.

use crate::apply::{config_of, entries_mut, key_parts, value_of};
use base_text::{Name, Span};
use kcl_hir::{Grafted, Program};
use kcl_syntax::ast::{
    ConfigEntry, ConfigOp, Constant, Expr, ExprId, Ident, Module, Number, Path, Stmt, StmtId,
    StringLit,
};
use serde_json::Value;
use std::sync::Arc;
use thiserror::Error;

/// A value that takes the place of what a program sets at a path, or is removed.
///
/// Unlike an override, it is data, not text in the language, and it never creates a variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The variable and the way into it; at least one part.
    pub path: Vec<String>,
    /// The value; `None` removes what the program sets, so that defaults count.
    pub value: Option<Value>,
    /// Names the change where origins are shown.
    pub label: Arc<str>,
}

/// A change that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ChangeError {
    /// The program has no such variable.
    #[error("the program has no variable `{0}`")]
    NoVariable(String),
    /// The variable is computed.
    #[error("`{0}` is not a literal, such as `{0}: Schema {{…}}`: its parts cannot be changed")]
    NotLiteral(String),
}

/// Makes changes in the main package of a program: entries are added at the end of the last literal
/// of the variable, where they win over all others.
///
/// # Errors
/// See [`ChangeError`].
pub fn apply_changes(program: &mut Program, changes: &[Change]) -> Result<(), ChangeError> {
    for change in changes {
        apply_change(program, change)?;
    }
    if !changes.is_empty() {
        program.collect_globals();
    }
    Ok(())
}

fn apply_change(program: &mut Program, change: &Change) -> Result<(), ChangeError> {
    let Some((variable, rest)) = change.path.split_first() else { return Ok(()) };
    let name = Name::new(variable);
    let literals = definitions(program, name);
    let Some(&(last_file, last)) = literals.last() else {
        return Err(ChangeError::NoVariable(variable.clone()));
    };
    let replaced = match &change.value {
        // Everything that the program sets there is removed first.
        None | Some(Value::Object(_)) => true,
        Some(_) => false,
    };
    if replaced && !rest.is_empty() {
        for (file, stmt) in &literals {
            let module = Arc::make_mut(&mut program.files[*file].module);
            if let Some(config) = config_at(module, *stmt, name) {
                remove(module, config, rest);
            }
        }
    }
    let Some(value) = &change.value else { return Ok(()) };
    let source = &mut program.files[last_file];
    let module = Arc::make_mut(&mut source.module);
    let first = module.exprs.len() as u32;
    let span = module[last].span;
    if rest.is_empty() {
        let new = literal(module, value, span);
        if let Stmt::Assign(assign) = &mut module.stmts[last.index()].kind {
            assign.value = new;
        } else {
            return Err(ChangeError::NotLiteral(variable.clone()));
        }
    } else {
        let config = config_at(module, last, name)
            .ok_or_else(|| ChangeError::NotLiteral(variable.clone()))?;
        let span = module[config].span;
        let entry = nested(module, rest, value, span);
        entries_mut(module, config).push(entry);
    }
    let exprs = first..module.exprs.len() as u32;
    source.grafts.push(Grafted { spec: Arc::clone(&change.label), exprs, replaced: Vec::new() });
    Ok(())
}

/// Returns the statements that set a whole variable, in order, with the places of their files.
fn definitions(program: &Program, variable: Name) -> Vec<(usize, StmtId)> {
    let files = program.main_package().map_or(&[][..], |package| &package.files);
    let mut found = Vec::new();
    for file in files {
        let module = &program.file(*file).module;
        let stmts = module.body.iter().filter(|stmt| value_of(module, **stmt, variable).is_some());
        found.extend(stmts.map(|stmt| (file.0 as usize, *stmt)));
    }
    found
}

fn config_at(module: &Module, stmt: StmtId, variable: Name) -> Option<ExprId> {
    config_of(module, value_of(module, stmt, variable)?)
}

/// Removes the entries at a path, also those with dotted keys.
fn remove(module: &mut Module, config: ExprId, path: &[String]) {
    let Expr::Config(entries) = &module[config].kind else { return };
    let entries = entries.clone();
    let mut kept = Vec::with_capacity(entries.len());
    for entry in entries {
        let parts = entry.key.and_then(|key| key_parts(module, key)).unwrap_or_default();
        let n_same = parts.iter().zip(path).take_while(|(own, other)| own == other).count();
        if !parts.is_empty() && n_same == path.len() {
            continue;
        }
        if !parts.is_empty()
            && n_same == parts.len()
            && let Some(inner) = config_of(module, entry.value)
        {
            remove(module, inner, &path[n_same..]);
        }
        kept.push(entry);
    }
    *entries_mut(module, config) = kept;
}

/// Makes the entry `a: {b: {c = value}}` for the path `a.b.c`.
fn nested(module: &mut Module, path: &[String], value: &Value, span: Span) -> ConfigEntry {
    let mut value = literal(module, value, span);
    let mut op = ConfigOp::Override;
    let mut made = None;
    for part in path.iter().rev() {
        if let Some(inner) = made.take() {
            value = module.add_expr(Expr::Config(vec![inner]), span);
            op = ConfigOp::Union;
        }
        made = Some(entry(module, part, value, op, span));
    }
    made.unwrap_or(ConfigEntry { key: None, value, op, span })
}

fn entry(module: &mut Module, key: &str, value: ExprId, op: ConfigOp, span: Span) -> ConfigEntry {
    let name = Path { names: Ident { name: Name::new(key), span }.into(), span };
    let key = Some(module.add_expr(Expr::Ident(name), span));
    ConfigEntry { key, value, op, span }
}

/// Makes the expression of data. Its depth is limited by the reader of the data.
fn literal(module: &mut Module, value: &Value, span: Span) -> ExprId {
    let expr = match value {
        Value::Null => Expr::Constant(Constant::None),
        Value::Bool(true) => Expr::Constant(Constant::True),
        Value::Bool(false) => Expr::Constant(Constant::False),
        Value::Number(number) => Expr::Number(match number.as_i64() {
            Some(whole) => Number::Int(whole),
            None => Number::Float(number.as_f64().unwrap_or(f64::NAN)),
        }),
        Value::String(text) => {
            Expr::String(StringLit { value: text.as_str().into(), is_long: false })
        }
        Value::Array(items) => {
            let items = items.iter().map(|item| literal(module, item, span)).collect();
            Expr::List(items)
        }
        Value::Object(entries) => {
            let mut made = Vec::with_capacity(entries.len());
            for (key, value) in entries {
                let value = literal(module, value, span);
                made.push(entry(module, key, value, ConfigOp::Union, span));
            }
            Expr::Config(made)
        }
    };
    module.add_expr(expr, span)
}
