//! From the bytes of a request to an object: JSON or YAML, strict, with the server's messages.

mod json;
mod tree;
mod typed;
mod yaml;

use crate::builtin::builtin;
use crate::discovery::group_version;
use crate::model::{TypeId, TypeTable};
use serde_json::Value;
use std::fmt;
use tree::Tree;

pub(crate) use tree::{push_index, push_key};

/// How a body is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON.
    Json,
    /// YAML (or JSON, which is YAML too).
    Yaml,
}

/// A problem in a body that strict requests do not accept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// A field that the type does not have, by its path.
    Unknown(String),
    /// A field that is there twice, by its path.
    Duplicate(String),
    /// Keys that are there twice in YAML, by their lines; the whole message.
    Yaml(String),
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(path) => write!(out, "unknown field {path:?}"),
            Self::Duplicate(path) => write!(out, "duplicate field {path:?}"),
            Self::Yaml(message) => out.write_str(message),
        }
    }
}

/// A value and what strict requests do not accept about it, in the order of the text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Decoded {
    /// The value.
    pub value: Value,
    /// The findings.
    pub findings: Vec<Finding>,
}

/// What a request expects as its body.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'a> {
    /// Group of the endpoint.
    pub group: &'a str,
    /// Version of the endpoint.
    pub version: &'a str,
    /// Kind of the endpoint.
    pub kind: &'a str,
}

/// The findings that are told of one body; a real server stops there, too.
const MAX_FINDINGS: usize = 100;

/// The longest path of a finding, in bytes: a key may be as long as the body.
pub(crate) const MAX_FINDING_PATH: usize = 4096;

/// Adds a finding, if it is new and there is room for it.
fn note(findings: &mut Vec<Finding>, make: fn(String) -> Finding, path: &str) {
    if findings.len() < MAX_FINDINGS && path.len() <= MAX_FINDING_PATH {
        let finding = make(path.to_owned());
        if !findings.contains(&finding) {
            findings.push(finding);
        }
    }
}

/// Reads a body without a type; the findings are duplicate fields.
pub fn parse(bytes: &[u8], format: Format) -> Result<Decoded, String> {
    let (tree, mut findings) = read(bytes, format)?;
    tree.duplicates(&mut String::new(), &mut |path| {
        note(&mut findings, Finding::Duplicate, path);
    });
    Ok(Decoded { value: tree.into_value(), findings })
}

/// Reads a body of a built-in kind into the form in which a server holds it.
///
/// The error is the whole message of a `BadRequest`. Missing `apiVersion` and `kind` are filled
/// in from what is expected.
pub fn decode(expected: &Expected, bytes: &[u8], format: Format) -> Result<Decoded, String> {
    let unrecognized = |message: String| {
        let summary = summarize(bytes);
        let kind = expected.kind;
        format!(
            "the object provided is unrecognized (must be of type {kind}): {message} ({summary})"
        )
    };
    let parse_error = |message: String| match format {
        Format::Json => {
            unrecognized(format!("couldn't get version/kind; json parse error: {message}"))
        }
        Format::Yaml => unrecognized(message),
    };
    let (tree, mut findings) = read(bytes, format).map_err(parse_error)?;
    let tree = if tree == Tree::Null { Tree::Object(Vec::new()) } else { tree };
    let (api_version, kind) = names(&tree).map_err(|message| {
        unrecognized(format!("couldn't get version/kind; json parse error: {message}"))
    })?;
    let ty = expected.type_for(api_version, kind)?;
    let kind = if kind.is_empty() { expected.kind } else { kind }.to_owned();
    let (mut value, own) = typed::convert(&builtin().types, ty, tree)
        .map_err(|message| cannot_handle(&kind, expected, &message))?;
    findings.extend(own);
    if let Value::Object(object) = &mut value {
        object.insert("kind".to_owned(), expected.kind.into());
        let api_version = group_version(expected.group, expected.version);
        object.insert("apiVersion".to_owned(), api_version.into());
    }
    Ok(Decoded { value, findings })
}

/// Converts a value to the form in which a server stores it; the error is the first mismatch.
pub fn normalize(table: &TypeTable, ty: TypeId, value: Value) -> Result<Decoded, String> {
    let (value, findings) = typed::convert(table, ty, value.into())?;
    Ok(Decoded { value, findings })
}

/// Converts a value that server-side apply made to the form in which a server stores it.
///
/// Like [`normalize`], but `2.0` is a whole number: apply reads bodies as YAML.
pub fn normalize_applied(table: &TypeTable, ty: TypeId, value: Value) -> Result<Decoded, String> {
    let (value, findings) = typed::convert_applied(table, ty, value.into())?;
    Ok(Decoded { value, findings })
}

/// Returns the fields of a value that its type does not have; the error is the first mismatch.
pub fn check(table: &TypeTable, ty: TypeId, value: &Value) -> Result<Vec<Finding>, String> {
    typed::convert(table, ty, value.clone().into()).map(|(_, findings)| findings)
}

/// Returns what a server writes for an object without set fields.
pub fn zero_value(table: &TypeTable, ty: TypeId) -> Value {
    typed::zero(table, ty)
}

/// Returns the message about findings, or none when there are none.
pub fn strict_error(findings: &[Finding]) -> Option<String> {
    if findings.is_empty() {
        return None;
    }
    let texts: Vec<String> = findings.iter().map(ToString::to_string).collect();
    Some(format!("strict decoding error: {}", texts.join(", ")))
}

/// Returns the message of a `BadRequest` for a body that is not what is expected.
pub fn cannot_handle(kind: &str, expected: &Expected, message: &str) -> String {
    format!(
        "{kind} in version {:?} cannot be handled as a {}: {message}",
        expected.version, expected.kind
    )
}

impl Expected<'_> {
    /// Returns the type of a body that calls itself `api_version` and `kind`.
    fn type_for(&self, api_version: &str, kind: &str) -> Result<TypeId, String> {
        let (group, version) = match api_version.rsplit_once('/') {
            _ if api_version.is_empty() => (self.group, self.version),
            Some(names) => names,
            None => ("", api_version),
        };
        let kind = if kind.is_empty() { self.kind } else { kind };
        let api = builtin();
        let shown = group_version(group, version);
        let Some(ty) = api.type_of(group, version, kind) else {
            return Err(format!(
                "{kind} in version {version:?} cannot be handled as a {}: no kind {kind:?} is \
                 registered for version {shown:?} in scheme \"pkg/runtime/scheme.go:111\"",
                self.kind
            ));
        };
        if kind != self.kind {
            let package = if self.group.is_empty() {
                "core"
            } else {
                self.group.split('.').next().unwrap_or(self.group)
            };
            return Err(format!(
                "{kind} in version {version:?} cannot be handled as a {0}: converting \
                 ({version}.{kind}) to ({package}.{0}): unknown conversion",
                self.kind
            ));
        }
        let own = group_version(self.group, self.version);
        if shown != own {
            return Err(format!(
                "the API version in the data ({shown}) does not match the expected API version ({own})"
            ));
        }
        Ok(ty)
    }
}

fn read(bytes: &[u8], format: Format) -> Result<(Tree<'_>, Vec<Finding>), String> {
    match format {
        Format::Json => json::read(bytes).map(|tree| (tree, Vec::new())),
        Format::Yaml => {
            // Most bodies that call themselves YAML are JSON, which is quicker to read.
            if bytes.trim_ascii_start().first() == Some(&b'{')
                && let Ok(tree) = json::read(bytes)
                && !tree.has_duplicates()
            {
                return Ok((tree, Vec::new()));
            }
            let (tree, message) = yaml::read(bytes)?;
            Ok((tree, message.map(Finding::Yaml).into_iter().collect()))
        }
    }
}

/// Returns `apiVersion` and `kind` of a document, empty when they are missing.
fn names<'t>(tree: &'t Tree) -> Result<(&'t str, &'t str), String> {
    let Tree::Object(entries) = tree else {
        return Err(format!(
            "json: cannot unmarshal {} into Go value of type struct {{ APIVersion string \
             \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}",
            tree.kind()
        ));
    };
    let mut names = ("", "");
    for (key, item) in entries {
        let name = match &**key {
            "apiVersion" => &mut names.0,
            "kind" => &mut names.1,
            _ => continue,
        };
        match item {
            Tree::String(text) => *name = text,
            Tree::Null => {}
            other => {
                return Err(format!(
                    "json: cannot unmarshal {} into Go struct field .{key} of type string",
                    other.kind()
                ));
            }
        }
    }
    Ok(names)
}

/// Shows the start of a body as the server does.
pub(crate) fn summarize(bytes: &[u8]) -> String {
    const LENGTH: usize = 30;
    let start = &bytes[..bytes.len().min(LENGTH)];
    let rest = if bytes.len() > LENGTH { " ..." } else { "" };
    match bytes.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => format!("{}{rest}", String::from_utf8_lossy(start)),
        Some(_) => {
            use std::fmt::Write as _;
            let mut shown = String::with_capacity(2 * LENGTH + rest.len());
            for byte in start {
                let _ = write!(shown, "{byte:02x}");
            }
            shown + rest
        }
    }
}

#[cfg(test)]
mod tests;
