//! Pages from the user's own templates, in Handlebars.

use crate::{AttributeDoc, CheckDoc, Docs, SchemaDoc};
use serde_json::{Value, json};

/// How many bytes a page may take.
const MAX_PAGE: usize = 64 << 20;

/// Fills a template with all schemas: `packages`, each with `path` and `schemas`.
///
/// # Errors
///
/// With what is wrong with the template.
pub fn fill(template: &str, docs: &Docs) -> Result<String, String> {
    render(template, &data(docs))
}

/// Fills a template with one schema.
///
/// # Errors
///
/// With what is wrong with the template.
pub fn fill_schema(template: &str, schema: &SchemaDoc) -> Result<String, String> {
    render(template, &schema_data(schema))
}

fn render(template: &str, data: &Value) -> Result<String, String> {
    kcl_std::fill_template(template, data, MAX_PAGE)
}

/// What templates are given, as JSON.
pub fn data(docs: &Docs) -> Value {
    let packages = docs.packages.iter().map(|package| {
        let schemas: Vec<Value> = package.schemas.iter().map(schema_data).collect();
        json!({"path": package.path, "schemas": schemas})
    });
    json!({"packages": packages.collect::<Vec<_>>()})
}

fn schema_data(schema: &SchemaDoc) -> Value {
    let named = |(package, name): &(String, String)| json!({"package": package, "name": name});
    let mixins: Vec<Value> = schema.mixins.iter().map(named).collect();
    let attributes: Vec<Value> = schema.sorted().into_iter().map(attribute_data).collect();
    let rules: Vec<Value> = schema.checks.iter().map(rule_data).collect();
    let further = schema.index_signature.as_ref();
    json!({
        "kind": schema.kind.as_str(),
        "name": schema.name,
        "package": schema.package,
        "description": schema.description,
        "examples": schema.examples,
        "base": schema.base.as_ref().map(named),
        "mixins": mixins,
        "attributes": attributes,
        "rules": rules,
        "furtherKeys": further.map(|it| json!({
            "keyType": it.key.to_string(),
            "valueType": it.value.to_string(),
        })),
        "deprecated": schema.deprecated,
    })
}

fn attribute_data(attribute: &AttributeDoc) -> Value {
    let (package, name) = &attribute.declared_by;
    json!({
        "name": attribute.name,
        "type": attribute.ty.to_string(),
        "required": !attribute.is_optional,
        "default": attribute.default,
        "description": attribute.description,
        "deprecated": attribute.deprecated,
        "declaredBy": {"package": package, "name": name},
    })
}

fn rule_data(check: &CheckDoc) -> Value {
    json!({"condition": check.condition, "when": check.when, "message": check.message})
}
