//! The final output of a program.

use crate::{Fault, Result, Value, json, toml, yaml};

pub use crate::filter::{Filter, TYPE_KEY};

/// How the output is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutputOptions {
    /// Keys in alphabetical order.
    pub sort_keys: bool,
    /// Leave out `None`.
    pub disable_none: bool,
    /// Write names that start with `_`, too.
    pub show_hidden: bool,
    /// Add `_type` with the schema's name to schema instances.
    pub include_schema_type_path: bool,
}

impl OutputOptions {
    /// What these options keep.
    pub fn filter(self) -> Filter {
        Filter {
            sort_keys: self.sort_keys,
            hide_private: !self.show_hidden,
            hide_none: self.disable_none,
            type_path: self.include_schema_type_path,
        }
    }
}

/// Writes the output as YAML, without the line break at its end.
///
/// A block of text at the very end keeps its line break, as in the reference.
pub fn to_yaml(value: &Value, options: OutputOptions) -> String {
    to_yaml_within(value, options, usize::MAX)
}

/// Writes the output as YAML like [`to_yaml`], and ends soon after `limit` bytes.
pub fn to_yaml_within(value: &Value, options: OutputOptions, limit: usize) -> String {
    let filter = options.filter();
    let mut out = String::new();
    for (at, document) in documents(value).iter().enumerate() {
        if at > 0 {
            out.push_str("\n---\n");
        }
        let start = out.len();
        let has_blocks = yaml::write_filtered(&mut out, document, filter, limit);
        if !(has_blocks && ends_in_block(&out[start..])) {
            out.pop();
        }
    }
    out
}

/// Writes the output as JSON on one line, a line per document.
pub fn to_json(value: &Value, options: OutputOptions) -> String {
    to_json_within(value, options, usize::MAX)
}

/// Writes the output as JSON like [`to_json`], and ends soon after `limit` bytes.
pub fn to_json_within(value: &Value, options: OutputOptions, limit: usize) -> String {
    let filter = options.filter();
    let mut out = String::new();
    for (at, document) in documents(value).iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        json::write_filtered(&mut out, document, filter, 0, limit);
    }
    out
}

/// Writes the output as TOML; the output must be a dict.
pub fn to_toml(value: &Value, options: OutputOptions) -> Result<String> {
    toml::write_filtered(value, options.filter())
}

/// Finds what a path like `a.b.0` points at.
pub fn select(value: &Value, path: &str) -> Result<Value> {
    let mut found = value;
    for key in path.split('.') {
        let next = match found {
            Value::List(list) => key.parse::<usize>().ok().and_then(|at| list.items.get(at)),
            _ => found.as_config().and_then(|dict| dict.get(key)),
        };
        found = next.ok_or_else(|| not_found(path))?;
    }
    Ok(found.clone())
}

/// Finds what the paths point at in the globals: the globals themselves without paths, one
/// value for one path, a list for several.
///
/// Globals whose name starts with `_` are not found unless they are shown.
pub fn select_all(globals: &Value, paths: &[String], options: OutputOptions) -> Result<Value> {
    let select = |path: &String| {
        if path.starts_with('_') && !options.show_hidden {
            return Err(not_found(path));
        }
        select(globals, path)
    };
    match paths {
        [] => Ok(globals.clone()),
        _ if !globals.is_config() => Ok(globals.clone()),
        [path] => select(path),
        _ => Ok(Value::list(paths.iter().map(select).collect::<Result<_>>()?)),
    }
}

#[expect(clippy::unnecessary_box_returns, reason = "results hold boxed faults")]
fn not_found(path: &str) -> Box<Fault> {
    Fault::new(format!("invalid path select operand {path}, value not found"))
}

/// The documents that `manifests.yaml_stream` makes the output of a program.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The documents, in order.
    pub documents: Value,
    /// How they are written.
    pub options: yaml::WriteOptions,
    /// The line between documents.
    pub separator: String,
}

impl Stream {
    /// Writes the documents as the program asks for it, and ends soon after `limit` bytes.
    pub fn to_yaml(&self, limit: usize) -> String {
        yaml::write_manifests(self.values(), &self.options, &self.separator, limit)
    }

    /// Returns the documents.
    pub fn values(&self) -> &[Value] {
        self.documents.as_list().unwrap_or_default()
    }

    /// What of the documents is written.
    pub fn own_filter(&self) -> Filter {
        self.options.filter()
    }

    /// What of the documents is kept if they are read again and written with other options.
    pub fn filter(&self, options: OutputOptions) -> Filter {
        // The names of schemas are gone when the documents are written.
        let second = Filter { type_path: false, ..options.filter() };
        self.own_filter().then(second)
    }
}

/// Whether a value is written as several documents: a list of dicts.
pub fn is_documents(value: &Value) -> bool {
    value.as_list().is_some_and(|items| items.iter().all(Value::is_config))
}

/// The values that become documents of their own.
fn documents(value: &Value) -> &[Value] {
    match value {
        Value::List(list) if is_documents(value) => &list.items,
        _ => std::slice::from_ref(value),
    }
}

/// Whether the last line is part of a block of text below `key: |`, so far as its
/// indentation tells.
fn ends_in_block(text: &str) -> bool {
    let trimmed = text.trim_end_matches('\n');
    if trimmed.is_empty() {
        return true;
    }
    let mut lines = trimmed.rsplit('\n');
    let last = lines.next().map_or(0, indent_of);
    if last == 0 {
        return false;
    }
    match lines.find(|line| !line.trim().is_empty() && indent_of(line) < last) {
        Some(header) => header.split_once(':').is_some_and(|(_, value)| {
            matches!(value.trim_start(), "|" | "|-" | "|+" | ">" | ">-" | ">+")
        }),
        None => true,
    }
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}
