//! Protocol Buffers (proto3).

use crate::names::Names;
use crate::{AttributeDoc, Docs, IndexDoc, SchemaDoc, TypeDoc};
use std::collections::HashSet;
use std::fmt::Write as _;
use thiserror::Error;

/// A type that has no form in Protocol Buffers.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProtoError {
    /// No field can have the type.
    #[error("unsupported KCL type \"{ty}\" for proto field \"{field}\"")]
    Unsupported {
        /// The type.
        ty: String,
        /// The attribute.
        field: String,
    },
    /// A list of lists or of dicts.
    #[error(
        "list field \"{field}\" has item type \"{item}\" that proto cannot express as a repeated element"
    )]
    Item {
        /// The attribute.
        field: String,
        /// The kind of item.
        item: &'static str,
    },
    /// A dict of lists or of dicts.
    #[error(
        "dict field \"{field}\" has value type \"{value}\" that proto cannot express as a map value"
    )]
    MapValue {
        /// The attribute.
        field: String,
        /// The kind of value.
        value: &'static str,
    },
    /// A dict with other keys.
    #[error(
        "dict field \"{field}\" has non-string key type \"{key}\"; proto map keys must be strings"
    )]
    MapKey {
        /// The attribute.
        field: String,
        /// The type of keys.
        key: String,
    },
}

/// The type of values whose type is not fixed.
const ANY: &str = "google.protobuf.Value";

/// Writes all schemas as messages of one file.
///
/// # Errors
///
/// If an attribute has a type that no field can have.
pub fn write(docs: &Docs, package: &str) -> Result<String, ProtoError> {
    let names = Names::new(docs);
    let mut messages = String::new();
    for schema in docs.schemas() {
        write_message(&mut messages, schema, &names)?;
        messages.push('\n');
    }
    let mut out = format!("syntax = \"proto3\";\n\npackage {package};\n\n");
    if messages.contains(ANY) {
        out.push_str("import \"google/protobuf/struct.proto\";\n\n");
    }
    out.push_str(&messages);
    Ok(out)
}

fn write_message(
    out: &mut String,
    schema: &SchemaDoc,
    names: &Names<'_>,
) -> Result<(), ProtoError> {
    if !schema.description.is_empty() {
        let _ = writeln!(out, "// {}", schema.summary());
    }
    let _ = writeln!(out, "message {} {{", names.name(&schema.package, &schema.name));
    let mut number = 0;
    let mut used = HashSet::new();
    for attribute in schema.sorted() {
        for line in attribute.description.lines() {
            let _ = writeln!(out, "    // {line}");
        }
        let Some(ty) = field_type(attribute, &attribute.ty, names)? else {
            let _ = writeln!(out, "    // skipped function field {}", attribute.name);
            continue;
        };
        number += 1;
        let name = unique(&snake_case(&attribute.name), &mut used);
        let _ = writeln!(out, "    {} {name} = {number};", ty.text());
    }
    if let Some(IndexDoc { value, .. }) = &schema.index_signature {
        let _ = writeln!(out, "    // index signature: map<string, {value}>");
    }
    out.push_str("}\n");
    Ok(())
}

/// The type of a field.
enum FieldType {
    Single(String),
    Repeated(String),
    Map(String),
}

impl FieldType {
    fn text(&self) -> String {
        match self {
            Self::Single(ty) => ty.clone(),
            Self::Repeated(item) => format!("repeated {item}"),
            Self::Map(value) => format!("map<string, {value}>"),
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Single(_) => "single",
            Self::Repeated(_) => "list",
            Self::Map(_) => "dict",
        }
    }
}

/// The type of a field; `None` for a function.
fn field_type(
    attribute: &AttributeDoc,
    ty: &TypeDoc,
    names: &Names<'_>,
) -> Result<Option<FieldType>, ProtoError> {
    let field = || attribute.name.clone();
    let unsupported = || ProtoError::Unsupported { ty: ty.to_string(), field: field() };
    let inner = |ty: &TypeDoc| field_type(attribute, ty, names)?.ok_or_else(unsupported);
    let single = |ty: &str| Ok(Some(FieldType::Single(ty.to_owned())));
    match ty {
        TypeDoc::Any | TypeDoc::Union(_) => single(ANY),
        TypeDoc::Bool => single("bool"),
        TypeDoc::Int | TypeDoc::Multiplier => single("int64"),
        TypeDoc::Float => single("double"),
        TypeDoc::Str => single("string"),
        TypeDoc::Schema { package, name } => single(&names.name(package, name)),
        TypeDoc::Function(..) => Ok(None),
        TypeDoc::BoolLit(_)
        | TypeDoc::IntLit(_)
        | TypeDoc::FloatLit(_)
        | TypeDoc::StrLit(_)
        | TypeDoc::MultiplierLit(_) => Err(unsupported()),
        TypeDoc::List(item) => match inner(item)? {
            FieldType::Single(item) => Ok(Some(FieldType::Repeated(item))),
            other => Err(ProtoError::Item { field: field(), item: other.kind() }),
        },
        TypeDoc::Dict(key, value) => {
            if !matches!(**key, TypeDoc::Str | TypeDoc::Any) {
                return Err(ProtoError::MapKey { field: field(), key: key.to_string() });
            }
            match inner(value)? {
                FieldType::Single(value) => Ok(Some(FieldType::Map(value))),
                other => Err(ProtoError::MapValue { field: field(), value: other.kind() }),
            }
        }
    }
}

/// `workloadType` as `workload_type`, `HTTPServer` as `http_server`.
fn snake_case(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let mut out = String::with_capacity(name.len() + 4);
    for (at, it) in chars.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| chars.get(at));
        let after = chars.get(at + 1);
        if it.is_uppercase() {
            let ends_word = before.is_some_and(|it| it.is_lowercase() || it.is_ascii_digit());
            let starts_word = before.is_some_and(|it| it.is_uppercase())
                && after.is_some_and(|it| it.is_lowercase());
            if ends_word || starts_word {
                out.push('_');
            }
            out.extend(it.to_lowercase());
        } else if it.is_ascii_alphanumeric() || *it == '_' {
            out.push(*it);
        } else {
            out.push('_');
        }
    }
    out
}

fn unique(name: &str, used: &mut HashSet<String>) -> String {
    let mut candidate = name.to_owned();
    let mut n = 2;
    while !used.insert(candidate.clone()) {
        candidate = format!("{name}_{n}");
        n += 1;
    }
    candidate
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_names() {
        let names = ["workloadType", "HTTPServer", "aB2c", "a1B", "myID", "k-v", "x_1", "ID"];
        let wanted = ["workload_type", "http_server", "a_b2c", "a1_b", "my_id", "k_v", "x_1", "id"];
        assert_eq!(names.map(snake_case), wanted);
        let mut used = HashSet::new();
        assert_eq!(["a", "a", "a"].map(|name| unique(name, &mut used)), ["a", "a_2", "a_3"]);
    }
}
