//! Writes values into source text.

use crate::place::{
    config_of, dotted, entries, has_key, is_dotted, key_name, sets_several, value_of,
};
use base_text::{LineIndex, Span};
use kcl_fmt::{Open, Style, print_expr, quoted};
use kcl_query::{Action, Override};
use kcl_syntax::ast::{ConfigEntry, ConfigOp, Expr, ExprId, Module, Stmt, StmtId};
use thiserror::Error;

/// Why a change cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EditError {
    /// The file has syntax errors.
    #[error("the file has syntax errors: {0}")]
    Syntax(String),
    /// The value of a change is no expression.
    #[error("invalid value `{0}`: expected an expression; write text in quotes")]
    Value(String),
    /// There is nothing to delete.
    #[error("`{0}` is not set in this file")]
    NotSet(String),
    /// The result would not be a valid program.
    #[error("`{0}` cannot be changed here: the result would not be valid")]
    Invalid(String),
}

/// How new configs and lists are written: an item on each line.
const STYLE: Style = Style { write_out_keys: true, open: Open::All };
const INDENTATION: &str = "    ";

/// Whether a file sets a variable at its top level.
pub fn sets(text: &str, variable: &str) -> bool {
    let module = kcl_syntax::parse(text).module;
    module.body.iter().any(|stmt| {
        value_of(&module, *stmt, variable).is_some() || sets_several(&module, *stmt, variable)
    })
}

/// Makes one change in the text of a file. What is not there is created: entries at the end of
/// their config, variables at the end of the file.
///
/// # Errors
/// See [`EditError`].
pub fn set(text: &str, change: &Override) -> Result<String, EditError> {
    let parsed = kcl_syntax::parse(text);
    if let Some(error) = parsed.diagnostics.first() {
        return Err(EditError::Syntax(error.message.clone()));
    }
    let path: Vec<&str> = change.path.iter().map(String::as_str).collect();
    let Some((variable, rest)) = path.split_first() else { return Ok(text.to_owned()) };
    let result = match &change.action {
        Action::Delete => Editor::new(text, &parsed.module)
            .delete(variable, rest)
            .ok_or_else(|| EditError::NotSet(change.path.join(".")))?,
        Action::Set(op, value) => {
            let value = Value::parse(value, *op)?;
            let text = split_assigns(text, variable);
            write(&text, variable, rest, &value)
        }
    };
    if kcl_syntax::parse(&result).diagnostics.is_empty() {
        Ok(result)
    } else {
        Err(EditError::Invalid(change.path.join(".")))
    }
}

/// A value on its way into a file.
struct Value {
    op: ConfigOp,
    /// Its source, with an item of a config or list on each line.
    text: String,
}

impl Value {
    /// Reads the value of a change. Sums and signs are taken as text, as in overrides of a run:
    /// `1+2` is `"1+2"`.
    fn parse(written: &str, op: ConfigOp) -> Result<Self, EditError> {
        let invalid = || EditError::Value(written.to_owned());
        // Overrides accept closing brackets that are left over.
        let parsed = kcl_syntax::parse_expr(written);
        let kind = parsed.module.exprs.get(parsed.root.index()).map(|node| &node.kind);
        let text = match kind {
            None | Some(Expr::Missing) => return Err(invalid()),
            Some(Expr::Unary { .. } | Expr::Binary { .. }) => quoted(written),
            Some(_) => print_expr(&parsed.module, written, parsed.root, STYLE),
        };
        let again = kcl_syntax::parse_expr(&text);
        if again.errors.is_empty() { Ok(Self { op, text }) } else { Err(invalid()) }
    }

    /// Calls `each` with the tree of the value.
    fn with_tree<T>(&self, each: impl FnOnce(&Module, ExprId) -> T) -> T {
        let parsed = kcl_syntax::parse_expr(&self.text);
        each(&parsed.module, parsed.root)
    }

    fn is_schema(&self) -> bool {
        self.with_tree(|module, root| matches!(module[root].kind, Expr::Schema(_)))
    }

    fn is_config(&self) -> bool {
        self.with_tree(|module, root| matches!(module[root].kind, Expr::Config(_)))
    }

    /// The source with the lines behind the first one moved to the right. Lines of strings stay.
    fn indented(&self, indentation: &str) -> String {
        let has_long_string = self.text.contains("\"\"\"") || self.text.contains("'''");
        if has_long_string {
            return self.text.clone();
        }
        self.text.replace('\n', &format!("\n{indentation}"))
    }
}

/// Writes a value; a config that is merged is written entry by entry.
fn write(text: &str, variable: &str, rest: &[&str], value: &Value) -> String {
    let module = kcl_syntax::parse(text).module;
    let editor = Editor::new(text, &module);
    if value.op == ConfigOp::Union
        && (value.is_config() || value.is_schema())
        && let Some(target) = editor.config_at(variable, rest)
        && let Some(merged) = merge(text, &editor, target, (variable, rest), value)
    {
        return merged;
    }
    if let Some(changed) = editor.replace(variable, rest, value) {
        return changed;
    }
    editor.insert(variable, rest, value).unwrap_or_else(|| editor.create(variable, rest, value))
}

/// Merges the entries of a config, or of a schema with the same name, into the one at a path.
fn merge(
    text: &str,
    editor: &Editor<'_>,
    target: ExprId,
    (variable, rest): (&str, &[&str]),
    value: &Value,
) -> Option<String> {
    let parsed = kcl_syntax::parse_expr(&value.text);
    let new = &parsed.module;
    let config = match (&new[parsed.root].kind, &editor.module[target].kind) {
        (Expr::Schema(new), Expr::Schema(old)) if dotted(&new.name) == dotted(&old.name) => {
            new.config
        }
        (Expr::Config(_), _) => parsed.root,
        _ => return None,
    };
    let mut result = text.to_owned();
    for entry in entries(new, config) {
        let text = print_expr(new, &value.text, entry.value, STYLE);
        let inner = Value { op: entry.op, text };
        match entry.key.and_then(|key| key_name(new, key)) {
            Some(name) => {
                let path: Vec<&str> = rest.iter().copied().chain([name.as_str()]).collect();
                result = write(&result, variable, &path, &inner);
            }
            None => {
                let module = kcl_syntax::parse(&result).module;
                let editor = Editor::new(&result, &module);
                let config = config_of(&module, editor.config_at(variable, rest)?)?;
                let line = entry.span.slice(&value.text).to_owned();
                let line = if line.starts_with("if") { line } else { format!("**{}", inner.text) };
                result = editor.append(config, &line);
            }
        }
    }
    Some(result)
}

/// Writes `a = b = value` as two statements, so that one can change without the other.
fn split_assigns(text: &str, variable: &str) -> String {
    let module = kcl_syntax::parse(text).module;
    let mut result = text.to_owned();
    for stmt in module.body.iter().rev() {
        if !sets_several(&module, *stmt, variable) {
            continue;
        }
        let Stmt::Assign(assign) = &module[*stmt].kind else { continue };
        let value = module[assign.value].span.slice(text);
        let lines: Vec<String> = assign
            .targets
            .iter()
            .map(|target| format!("{} = {value}", target.span.slice(text)))
            .collect();
        let span = module[*stmt].span;
        result.replace_range(span.start as usize..span.end as usize, &lines.join("\n"));
    }
    result
}

/// Finds places in one text, and makes new texts.
struct Editor<'t> {
    text: &'t str,
    module: &'t Module,
    lines: LineIndex,
}

impl<'t> Editor<'t> {
    fn new(text: &'t str, module: &'t Module) -> Self {
        Self { text, module, lines: LineIndex::new(text) }
    }

    /// The text with edits, which do not overlap.
    fn edited(&self, mut edits: Vec<(Span, String)>) -> String {
        edits.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
        let mut result = self.text.to_owned();
        for (span, text) in edits {
            result.replace_range(span.start as usize..span.end as usize, &text);
        }
        result
    }

    /// The blanks at the start of the line of a byte.
    fn indentation(&self, offset: u32) -> &'t str {
        let start = self.lines.line_start(self.lines.line(offset)) as usize;
        let line = &self.text[start..];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// The config or schema expression at a path.
    fn config_at(&self, variable: &str, rest: &[&str]) -> Option<ExprId> {
        let module = self.module;
        let values = module.body.iter().filter_map(|stmt| value_of(module, *stmt, variable));
        let mut value = values.into_iter().find(|value| config_of(module, *value).is_some())?;
        for name in rest {
            let config = config_of(module, value)?;
            let entry = entries(module, config).iter().find(|it| has_key(module, it, name))?;
            value = entry.value;
        }
        config_of(module, value).map(|_| value)
    }

    /// Puts a value in the place of the old ones; `None` if there is none.
    fn replace(&self, variable: &str, rest: &[&str], value: &Value) -> Option<String> {
        let mut edits = Vec::new();
        for &stmt in &self.module.body {
            let Some(old) = value_of(self.module, stmt, variable) else { continue };
            if rest.is_empty() {
                self.replace_variable(stmt, old, value, &mut edits);
            } else if let Some(config) = config_of(self.module, old) {
                self.replace_entries(config, rest, value, &mut edits);
                break;
            }
        }
        (!edits.is_empty()).then(|| self.edited(edits))
    }

    fn replace_variable(
        &self,
        stmt: StmtId,
        old: ExprId,
        value: &Value,
        edits: &mut Vec<(Span, String)>,
    ) {
        let is_unification = matches!(self.module[stmt].kind, Stmt::Unification(_));
        // `name: Schema {…}` takes nothing but schemas, and its value starts behind the colon.
        if is_unification && !value.is_schema() {
            return;
        }
        let mut span = self.module[old].span;
        if is_unification && let Expr::Schema(schema) = &self.module[old].kind {
            span.start = schema.name.span.start;
        }
        self.replace_value(old, span, value, edits);
    }

    fn replace_value(
        &self,
        old: ExprId,
        span: Span,
        value: &Value,
        edits: &mut Vec<(Span, String)>,
    ) {
        if value.op == ConfigOp::Insert {
            if let Expr::List(_) = &self.module[old].kind {
                edits.extend(self.longer_list(old, value).map(|text| (span, text)));
            }
            return;
        }
        edits.push((span, value.indented(self.indentation(span.start))));
    }

    /// A list with the items of another one behind its own.
    fn longer_list(&self, old: ExprId, value: &Value) -> Option<String> {
        let items = value.with_tree(|module, root| match &module[root].kind {
            Expr::List(items) => Some(
                items.iter().map(|it| module[*it].span.slice(&value.text).to_owned()).collect(),
            ),
            _ => None,
        });
        let items: Vec<String> = items?;
        let Expr::List(own) = &self.module[old].kind else { return None };
        let own = own.iter().map(|it| self.module[*it].span.slice(self.text).to_owned());
        let indentation = self.indentation(self.module[old].span.start);
        let inner = format!("{indentation}{INDENTATION}");
        let lines: Vec<String> = own.chain(items).map(|it| format!("{inner}{it}\n")).collect();
        Some(format!("[\n{}{indentation}]", lines.concat()))
    }

    fn replace_entries(
        &self,
        config: ExprId,
        path: &[&str],
        value: &Value,
        edits: &mut Vec<(Span, String)>,
    ) {
        let Some((first, rest)) = path.split_first() else { return };
        for entry in entries(self.module, config) {
            if !has_key(self.module, entry, first) {
                continue;
            }
            if !rest.is_empty() {
                if let Some(inner) = config_of(self.module, entry.value) {
                    self.replace_entries(inner, rest, value, edits);
                }
            } else if is_dotted(self.module, self.text, entry.value) {
                // The value is all that stands behind the dot.
                if let (ConfigOp::Union | ConfigOp::Override, Some(key)) = (value.op, entry.key) {
                    let span = Span::new(self.module[key].span.end, entry.span.end);
                    let text = value.indented(self.indentation(span.start));
                    edits.push((span, format!(": {text}")));
                }
            } else {
                self.replace_value(entry.value, self.module[entry.value].span, value, edits);
            }
        }
    }

    /// Adds an entry to the deepest config on the way of a path that exists; `None` if the variable
    /// is no config.
    fn insert(&self, variable: &str, rest: &[&str], value: &Value) -> Option<String> {
        if rest.is_empty() {
            return None;
        }
        let module = self.module;
        let values = module.body.iter().filter_map(|stmt| value_of(module, *stmt, variable));
        let value_id = values.into_iter().find(|value| config_of(module, *value).is_some())?;
        let mut config = config_of(module, value_id)?;
        let mut rest = rest;
        while let Some((first, behind)) = rest.split_first()
            && !behind.is_empty()
        {
            let entry = entries(module, config).iter().find(|it| has_key(module, it, first));
            let Some(entry) = entry else { break };
            let Some(inner) = config_of(module, entry.value) else { break };
            if is_dotted(module, self.text, inner) {
                break;
            }
            (config, rest) = (inner, behind);
        }
        Some(self.append(config, &nested(rest, value)))
    }

    /// Adds a line at the end of a config.
    fn append(&self, config: ExprId, line: &str) -> String {
        let span = self.module[config].span;
        let brace = span.end - 1;
        let outer = self.indentation(span.start);
        let Some(last) = entries(self.module, config).last() else {
            let inner = format!("{outer}{INDENTATION}");
            let line = line.replace('\n', &format!("\n{inner}"));
            let text = format!("{{\n{inner}{line}\n{outer}}}");
            return self.edited(vec![(span, text)]);
        };
        if self.lines.line(span.start) == self.lines.line(last.span.end) {
            let separator = if line.contains('\n') { "\n" } else { ", " };
            let line = line.replace('\n', &format!("\n{outer}"));
            let at = Span::empty(last.span.end);
            return if separator == ", " {
                self.edited(vec![(at, format!(", {line}"))])
            } else {
                self.opened(config, &line)
            };
        }
        let inner = self.indentation(last.span.start);
        let line = line.replace('\n', &format!("\n{inner}"));
        let start = self.lines.line_start(self.lines.line(brace));
        let is_brace_alone = Span::new(start, brace).slice(self.text).trim().is_empty();
        if is_brace_alone {
            self.edited(vec![(Span::empty(start), format!("{inner}{line}\n"))])
        } else {
            self.edited(vec![(Span::empty(last.span.end), format!("\n{inner}{line}"))])
        }
    }

    /// A config of one line with an entry on each line, and a further one at its end.
    fn opened(&self, config: ExprId, line: &str) -> String {
        let span = self.module[config].span;
        let outer = self.indentation(span.start);
        let inner = format!("{outer}{INDENTATION}");
        let mut text = String::from("{\n");
        for entry in entries(self.module, config) {
            let part = format!("{inner}{}\n", entry.span.slice(self.text));
            text.push_str(&part);
        }
        let line = line.replace('\n', &format!("\n{INDENTATION}"));
        let part = format!("{inner}{line}\n{outer}}}");
        text.push_str(&part);
        self.edited(vec![(span, text)])
    }

    /// Adds a variable at the end of the file.
    fn create(&self, variable: &str, rest: &[&str], value: &Value) -> String {
        let op = match value.op {
            ConfigOp::Insert => " += ",
            ConfigOp::Union if rest.is_empty() && value.is_schema() => ": ",
            ConfigOp::Union | ConfigOp::Override => " = ",
        };
        let written = if rest.is_empty() {
            value.text.clone()
        } else {
            let entry = nested(rest, value).replace('\n', &format!("\n{INDENTATION}"));
            format!("{{\n{INDENTATION}{entry}\n}}")
        };
        let body = self.text.trim_end();
        let newline = if body.is_empty() { "" } else { "\n" };
        format!("{body}{newline}{variable}{op}{written}\n")
    }

    fn delete(&self, variable: &str, rest: &[&str]) -> Option<String> {
        let module = self.module;
        let mut edits = Vec::new();
        for &stmt in &module.body {
            let Some(value) = value_of(module, stmt, variable) else { continue };
            if rest.is_empty() {
                if !matches!(module[stmt].kind, Stmt::AugAssign(_)) {
                    edits.push((self.whole_lines(module[stmt].span), String::new()));
                }
            } else if let Some(config) = config_of(module, value) {
                self.delete_entries(config, rest, &mut edits);
                if !edits.is_empty() {
                    break;
                }
            }
        }
        (!edits.is_empty()).then(|| self.edited(edits))
    }

    fn delete_entries(&self, config: ExprId, path: &[&str], edits: &mut Vec<(Span, String)>) {
        let Some((first, rest)) = path.split_first() else { return };
        let all = entries(self.module, config);
        for (at, entry) in all.iter().enumerate() {
            if !has_key(self.module, entry, first) {
                continue;
            }
            let inner = config_of(self.module, entry.value);
            match inner {
                _ if rest.is_empty() => edits.push((self.entry_lines(all, at), String::new())),
                // Nothing is left of a dotted key without its last part.
                Some(inner) if is_dotted(self.module, self.text, inner) => {
                    edits.push((self.entry_lines(all, at), String::new()));
                }
                Some(inner) => self.delete_entries(inner, rest, edits),
                None => {}
            }
        }
    }

    /// An entry with its lines, or with the comma beside it.
    fn entry_lines(&self, all: &[ConfigEntry], at: usize) -> Span {
        let span = all[at].span;
        let lines = self.whole_lines(span);
        if lines != span {
            return lines;
        }
        match (all.get(at + 1), at.checked_sub(1)) {
            (Some(next), _) => Span::new(span.start, next.span.start),
            (None, Some(before)) => Span::new(all[before].span.end, span.end),
            (None, None) => span,
        }
    }

    /// The lines of a part of the text, if nothing but it and a comment stands there.
    fn whole_lines(&self, span: Span) -> Span {
        let start = self.lines.line_start(self.lines.line(span.start));
        let behind = &self.text[span.end as usize..];
        let len = behind.find('\n').map_or(behind.len(), |at| at + 1);
        let rest = behind[..len].trim().trim_start_matches(',').trim_start();
        let is_alone = Span::new(start, span.start).slice(self.text).trim().is_empty();
        if is_alone && (rest.is_empty() || rest.starts_with('#')) {
            Span::new(start, span.end + len as u32)
        } else {
            span
        }
    }
}

/// The entry `a: {b: {c = value}}` for the path `a.b.c`, an entry on each line.
fn nested(path: &[&str], value: &Value) -> String {
    let Some((first, rest)) = path.split_first() else { return value.text.clone() };
    let key = key(first);
    if rest.is_empty() {
        let op = match value.op {
            ConfigOp::Union => ": ",
            ConfigOp::Override => " = ",
            ConfigOp::Insert => " += ",
        };
        return format!("{key}{op}{}", value.text);
    }
    let inner = nested(rest, value).replace('\n', &format!("\n{INDENTATION}"));
    format!("{key}: {{\n{INDENTATION}{inner}\n}}")
}

/// A key as it is written: in quotes if it is no name.
fn key(name: &str) -> String {
    let parsed = kcl_syntax::parse_expr(name);
    let is_name = parsed.errors.is_empty()
        && matches!(parsed.module.exprs.get(parsed.root.index()).map(|it| &it.kind), Some(Expr::Ident(path)) if path.names.len() == 1);
    if is_name { name.to_owned() } else { quoted(name) }
}
