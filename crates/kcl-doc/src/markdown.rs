//! One page of Markdown.

use crate::escape::cell;
use crate::{Docs, SchemaDoc};
use std::fmt::Write as _;

/// Writes all schemas to one page: a section for each package, a table for each schema.
pub fn write(docs: &Docs) -> String {
    let mut out = String::from("# Schemas\n");
    for package in &docs.packages {
        let _ = write!(out, "\n## Package {}\n", package.path);
        for schema in &package.schemas {
            write_schema(&mut out, schema);
        }
    }
    out
}

fn write_schema(out: &mut String, schema: &SchemaDoc) {
    let _ = write!(out, "\n### {}\n\n", schema.name);
    if !schema.description.is_empty() {
        let _ = write!(out, "{}\n\n", schema.summary());
    }
    out.push_str("| Name | Type | Required | Default | Description |\n");
    out.push_str("| --- | --- | --- | --- | --- |\n");
    for attribute in schema.sorted() {
        let required = if attribute.is_optional { "no" } else { "yes" };
        let _ = writeln!(
            out,
            "| {} | {} | {required} | {} | {} |",
            attribute.name,
            cell(&attribute.ty.to_string()),
            cell(attribute.default.as_deref().unwrap_or("")),
            cell(&attribute.description),
        );
    }
}
