//! `OpenAPI` 3.0 documents.

use crate::names::Names;
use crate::{AttributeDoc, Docs, IndexDoc, SchemaDoc, TypeDoc};
use serde_json::{Map, Value, json};

/// How far a document says what KCL means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Constants are enumerations, defaults are values, and an attribute with a default is not
    /// required.
    #[default]
    Exact,
    /// As the reference writes it: constants are anything, defaults that are not JSON are the text
    /// of their expressions, and only `?` makes an attribute optional.
    Reference,
}

/// Writes all schemas to one document.
pub fn write(docs: &Docs, version: Option<&str>, form: Form) -> Value {
    let writer = Writer { docs, names: Names::new(docs), form, prefix: "#/components/schemas/" };
    let schemas = writer.schemas();
    let title = match docs.packages.as_slice() {
        [package] => package.path.as_str(),
        _ => "KCL Schemas",
    };
    let version = version.filter(|it| !it.is_empty()).unwrap_or("1.0.0");
    let mut document = json!({
        "openapi": "3.0.0",
        "info": {"title": title, "version": version},
        "components": {"schemas": schemas},
    });
    if form == Form::Exact {
        // The format wants the field, even if there are no paths.
        document["paths"] = json!({});
    }
    document
}

/// Writes types as schemas of `OpenAPI` or JSON Schema.
pub(crate) struct Writer<'d> {
    pub(crate) docs: &'d Docs,
    pub(crate) names: Names<'d>,
    pub(crate) form: Form,
    /// What comes before the name of a schema in a reference.
    pub(crate) prefix: &'static str,
}

impl Writer<'_> {
    /// All schemas by name.
    pub(crate) fn schemas(&self) -> Map<String, Value> {
        let mut schemas = Map::new();
        let mut all: Vec<&SchemaDoc> = self.docs.schemas().collect();
        all.sort_by_key(|schema| self.names.name(&schema.package, &schema.name));
        for schema in all {
            let name = self.names.name(&schema.package, &schema.name);
            schemas.insert(name, self.schema(schema));
        }
        schemas
    }

    fn schema(&self, schema: &SchemaDoc) -> Value {
        let mut out = Map::new();
        if !schema.description.is_empty() {
            out.insert("description".into(), schema.summary().into());
        }
        let mut properties = Map::new();
        for attribute in schema.sorted() {
            if !matches!(attribute.ty, TypeDoc::Function(..)) {
                properties.insert(attribute.name.clone(), self.property(attribute));
            }
        }
        if !properties.is_empty() {
            out.insert("properties".into(), Value::Object(properties));
        }
        let required = schema.attributes.iter().filter(|it| self.is_required(it));
        let required: Vec<Value> = required.map(|it| Value::from(it.name.as_str())).collect();
        if !required.is_empty() {
            out.insert("required".into(), Value::Array(required));
        }
        out.insert("type".into(), "object".into());
        match (self.form, &schema.base) {
            (Form::Reference, Some((package, name))) => {
                json!({"allOf": [self.reference(package, name), out]})
            }
            (Form::Reference, None) => Value::Object(out),
            (Form::Exact, _) => {
                self.add_rules(schema, &mut out);
                Value::Object(out)
            }
        }
    }

    fn is_required(&self, attribute: &AttributeDoc) -> bool {
        match self.form {
            Form::Reference => !attribute.is_optional,
            Form::Exact => {
                !attribute.is_optional
                    && attribute.default.is_none()
                    && !matches!(attribute.ty, TypeDoc::Function(..))
            }
        }
    }

    /// Adds what the reference leaves out: other keys, rules, deprecation.
    fn add_rules(&self, schema: &SchemaDoc, out: &mut Map<String, Value>) {
        let other = match &schema.index_signature {
            Some(IndexDoc { value, .. }) => self.ty(value),
            None => Value::Bool(false),
        };
        out.insert("additionalProperties".into(), other);
        if schema.deprecated.is_some() {
            out.insert("deprecated".into(), true.into());
        }
        let checks: Vec<Value> = schema
            .checks
            .iter()
            .map(|check| {
                let mut rule = json!({"rule": check.condition});
                if let Some(when) = &check.when {
                    rule["when"] = when.as_str().into();
                }
                if let Some(message) = &check.message {
                    rule["message"] = message.as_str().into();
                }
                rule
            })
            .collect();
        if !checks.is_empty() {
            out.insert("x-kcl-checks".into(), Value::Array(checks));
        }
    }

    fn reference(&self, package: &str, name: &str) -> Value {
        json!({"$ref": format!("{}{}", self.prefix, self.names.name(package, name))})
    }

    fn property(&self, attribute: &AttributeDoc) -> Value {
        let mut out = match &attribute.ty {
            TypeDoc::Schema { package, name } => self.reference(package, name),
            ty => self.ty(ty),
        };
        if !attribute.description.is_empty() {
            out["description"] = attribute.description.as_str().into();
        }
        match self.form {
            Form::Reference => {
                if let Some(text) = &attribute.default {
                    out["default"] =
                        serde_json::from_str(text).unwrap_or_else(|_| text.as_str().into());
                }
            }
            Form::Exact => {
                match (&attribute.default_value, &attribute.default) {
                    (Some(Value::Null), _) | (None, None) => {}
                    (Some(value), _) => out["default"] = value.clone(),
                    (None, Some(text)) if text == "Undefined" => {}
                    (None, Some(text)) => out["x-kcl-default"] = text.as_str().into(),
                }
                if attribute.deprecated.is_some() {
                    out["deprecated"] = true.into();
                }
            }
        }
        out
    }

    /// A type as a schema.
    pub(crate) fn ty(&self, ty: &TypeDoc) -> Value {
        let is_exact = self.form == Form::Exact;
        match ty {
            TypeDoc::Any | TypeDoc::Function(..) => json!({}),
            TypeDoc::Bool => json!({"type": "boolean"}),
            TypeDoc::Int => json!({"type": "integer", "format": "int64"}),
            TypeDoc::Float | TypeDoc::Multiplier => json!({"type": "number", "format": "double"}),
            TypeDoc::Str => json!({"type": "string"}),
            TypeDoc::BoolLit(_)
            | TypeDoc::IntLit(_)
            | TypeDoc::FloatLit(_)
            | TypeDoc::StrLit(_)
            | TypeDoc::MultiplierLit(_) => match constant(ty) {
                Some((kind, value)) if is_exact => json!({"type": kind, "enum": [value]}),
                _ => json!({}),
            },
            TypeDoc::List(item) => json!({"type": "array", "items": self.ty(item)}),
            TypeDoc::Dict(_, value) => {
                json!({"type": "object", "additionalProperties": self.ty(value)})
            }
            TypeDoc::Union(types) => match constants(types) {
                Some(value) if is_exact => value,
                _ => {
                    let types: Vec<Value> = types.iter().map(|ty| self.ty(ty)).collect();
                    // An integer is also a float: more than one may fit.
                    json!({if is_exact { "anyOf" } else { "oneOf" }: types})
                }
            },
            TypeDoc::Schema { package, name } => {
                let mut out = self.reference(package, name);
                let summary = self.docs.find(package, name).map(SchemaDoc::summary);
                if let Some(summary) = summary.filter(|it| !it.is_empty()) {
                    out["description"] = summary.into();
                }
                out
            }
        }
    }
}

/// The type and value of a constant.
fn constant(ty: &TypeDoc) -> Option<(&'static str, Value)> {
    match ty {
        TypeDoc::BoolLit(flag) => Some(("boolean", Value::Bool(*flag))),
        TypeDoc::IntLit(number) => Some(("integer", Value::from(*number))),
        TypeDoc::FloatLit(number) => Some(("number", Value::from(*number))),
        TypeDoc::StrLit(text) => Some(("string", Value::from(text.as_str()))),
        _ => None,
    }
}

/// Constants of one type as an enumeration.
fn constants(types: &[TypeDoc]) -> Option<Value> {
    let all: Vec<(&str, Value)> = types.iter().map(constant).collect::<Option<_>>()?;
    let kind = all.first()?.0;
    let values: Vec<&Value> = all.iter().map(|(_, value)| value).collect();
    all.iter().all(|(it, _)| *it == kind).then(|| json!({"type": kind, "enum": values}))
}
