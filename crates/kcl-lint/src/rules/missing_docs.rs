//! `L1010`: attributes without documentation.

use super::Context;
use base_diag::Diagnostic;
use kcl_syntax::ast::{Schema, Stmt};

const CODE: (&str, &str) = ("L1010", "MissingDocs");

/// Finds schemas without a docstring, and attributes that it does not describe. Private names need
/// no documentation.
pub(crate) fn missing_docs(context: &Context<'_>, found: &mut Vec<Diagnostic>) {
    for schema in context.schemas() {
        let name = schema.name.name;
        if name.as_str().starts_with('_') {
            continue;
        }
        let Some(doc) = &schema.doc else {
            let message = format!("schema `{name}` has no docstring");
            found.push(context.warning(CODE, schema.name.span, message));
            continue;
        };
        attributes(context, schema, doc.span.slice(&context.source().text), found);
    }
}

fn attributes(context: &Context<'_>, schema: &Schema, doc: &str, found: &mut Vec<Diagnostic>) {
    let module = context.module();
    for stmt in &schema.body {
        let Stmt::SchemaAttr(attr) = &module[*stmt].kind else { continue };
        let name = attr.name.name.as_str();
        if name.starts_with('_') || describes(doc, name) {
            continue;
        }
        let message = format!("attribute `{name}` is not described in the docstring");
        found.push(context.warning(CODE, attr.name.span, message));
    }
}

/// Whether a line of the docstring starts with the name: `name: str, optional`.
fn describes(doc: &str, name: &str) -> bool {
    doc.lines().any(|line| {
        let word = line.trim_start().split([':', ' ', ',']).next().unwrap_or("");
        word.trim_matches(['"', '\'', '`']) == name
    })
}
