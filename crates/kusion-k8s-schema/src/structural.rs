//! Schemas of custom kinds: checked, then used to prune, default and validate objects.
//!
//! Rules in `x-kubernetes-validations` are checked with the CRD and run on objects; a rule that
//! uses a function that the evaluator does not support rejects the object, and says so.

mod check;
mod compile;
mod cost;
mod defaults;
mod formats;
mod lists;
mod prune;
mod rules;
#[cfg(test)]
mod tests;
mod types;
mod validate;

use crate::builtin::builtin;
use crate::cause::Cause;
use crate::decode::{Decoded, Finding, Format, normalize, parse};
use crate::model::{TypeId, TypeTable};
use fancy_regex::Regex;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The schema of one version of a custom kind, ready for use.
#[derive(Debug)]
pub struct Structural {
    /// The types for merging; they include object metadata.
    pub types: TypeTable,
    /// The type of the objects.
    pub root: TypeId,
    schema: Schema,
    has_rules: bool,
}

/// Reads and checks `openAPIV3Schema`; `path` is its position in the CRD.
pub fn structural(schema: &Value, path: &str) -> Result<Structural, Vec<Cause>> {
    let causes = check::check(schema, path);
    if !causes.is_empty() {
        return Err(causes);
    }
    let schema = Schema::read(schema);
    let mut causes = check::check_defaults(&schema, path);
    causes.extend(compile::check(&schema, path));
    if !causes.is_empty() {
        return Err(causes);
    }
    let (types, root) = types::build(&schema);
    let has_rules = rules::exist(&schema);
    Ok(Structural { types, root, schema, has_rules })
}

/// Returns whether a text has a format of strings.
pub(crate) fn is_format(format: &str, text: &str) -> bool {
    formats::fits(format, text)
}

impl Structural {
    /// Reads the body of a request for an object of this kind.
    ///
    /// Unknown fields are left out and named. The error is the whole message of a `BadRequest`.
    pub fn decode(
        &self,
        kind: &str,
        api_version: &str,
        bytes: &[u8],
        format: Format,
    ) -> Result<Decoded, String> {
        let mut decoded = parse_object(kind, bytes, format)?;
        let given = decoded.value["apiVersion"].as_str().unwrap_or_default();
        if given != api_version {
            return Err(format!(
                "the API version in the data ({given}) does not match the expected API version \
                 ({api_version})"
            ));
        }
        let version = api_version.rsplit('/').next().unwrap_or_default();
        let unknown = self.clean(&mut decoded.value).map_err(|message| {
            format!("{kind} in version {version:?} cannot be handled as a {kind}: {message}")
        })?;
        decoded.findings.extend(unknown.into_iter().map(Finding::Unknown));
        Ok(decoded)
    }

    /// Normalizes metadata and removes unknown fields; returns their paths.
    ///
    /// The error is the first value in metadata that does not fit.
    pub fn clean(&self, object: &mut Value) -> Result<Vec<String>, String> {
        let mut unknown = self.prune(object);
        if let Some(metadata) = object.get_mut("metadata") {
            let api = builtin();
            let clean = normalize(&api.types, api.object_meta(), metadata.take())?;
            *metadata = clean.value;
            for finding in clean.findings {
                if let Finding::Unknown(path) = finding {
                    unknown.push(format!("metadata.{path}"));
                }
            }
        }
        unknown.sort();
        Ok(unknown)
    }

    /// Removes fields that the schema does not contain; returns their paths, sorted.
    pub fn prune(&self, object: &mut Value) -> Vec<String> {
        prune::prune(&self.schema, object)
    }

    /// Fills in defaults; `null` in a field that cannot be `null` counts as missing.
    pub fn default(&self, object: &mut Value) {
        defaults::apply(&self.schema, object, true, false);
    }

    /// Fills in the defaults of an object that server-side apply made: `null` without a default
    /// stays, so that validation rejects it.
    pub fn default_applied(&self, object: &mut Value) {
        defaults::apply(&self.schema, object, true, true);
    }

    /// Returns what is wrong with a new object.
    pub fn validate(&self, object: &Value) -> Vec<Cause> {
        self.validate_change(object, None)
    }

    /// Returns what is wrong with an object that was `old` before.
    pub fn validate_change(&self, object: &Value, old: Option<&Value>) -> Vec<Cause> {
        let mut causes = validate::validate(&self.schema, object);
        causes.extend(lists::validate(&self.schema, object));
        if !self.has_rules {
            return causes;
        }
        let blocking = [
            "FieldValueRequired",
            "FieldValueTooLong",
            "FieldValueTooMany",
            "FieldValueTypeInvalid",
        ];
        if causes.iter().any(|cause| blocking.contains(&cause.reason)) {
            let detail = "some validation rules were not checked because the object was invalid; \
                          correct the existing errors to complete validation";
            causes.push(Cause::invalid("<nil>", &Value::Null, detail));
        } else {
            causes.extend(rules::run(&self.schema, object, old));
        }
        causes
    }
}

fn parse_object(kind: &str, bytes: &[u8], format: Format) -> Result<Decoded, String> {
    let unrecognized = |message: String| {
        let summary = crate::decode::summarize(bytes);
        format!(
            "the object provided is unrecognized (must be of type {kind}): {message} ({summary})"
        )
    };
    let decoded = parse(bytes, format).map_err(|message| {
        unrecognized(match format {
            Format::Json => format!("couldn't get version/kind; json parse error: {message}"),
            Format::Yaml => message,
        })
    })?;
    let Value::Object(object) = &decoded.value else {
        return Err(unrecognized("couldn't get version/kind; json parse error: json: cannot unmarshal value into Go value".to_owned()));
    };
    if !object.get("kind").is_some_and(Value::is_string) {
        let text = String::from_utf8_lossy(bytes);
        return Err(unrecognized(format!("Object 'Kind' is missing in '{text}'")));
    }
    Ok(decoded)
}

/// A schema as this module uses it.
#[derive(Debug, Default)]
struct Schema {
    /// `object`, `array`, `string`, `integer`, `number`, `boolean` or empty.
    ty: Box<str>,
    format: Box<str>,
    properties: BTreeMap<Box<str>, Schema>,
    additional: Additional,
    items: Option<Box<Schema>>,
    required: Vec<Box<str>>,
    default: Option<Value>,
    nullable: bool,
    preserve_unknown: bool,
    embedded_resource: bool,
    int_or_string: bool,
    list_type: Box<str>,
    list_keys: Vec<Box<str>>,
    atomic_map: bool,
    description: Box<str>,
    rules: Option<Box<Rules>>,
    /// `x-kubernetes-validations`.
    cel: Vec<rules::Rule>,
}

/// The value of `additionalProperties`.
#[derive(Debug, Default)]
enum Additional {
    /// Nothing.
    #[default]
    Unsaid,
    /// Any value is allowed.
    Allowed,
    /// No further keys are allowed.
    Forbidden,
    /// Values must fit.
    Schema(Box<Schema>),
}

/// What values must obey beyond their type.
#[derive(Debug, Default)]
struct Rules {
    minimum: Option<f64>,
    maximum: Option<f64>,
    exclusive_minimum: bool,
    exclusive_maximum: bool,
    multiple_of: Option<f64>,
    min_length: Option<u64>,
    max_length: Option<u64>,
    pattern: Option<(Box<str>, Option<Regex>)>,
    min_items: Option<u64>,
    max_items: Option<u64>,
    unique_items: bool,
    min_properties: Option<u64>,
    max_properties: Option<u64>,
    choices: Vec<Value>,
    any_of: Vec<Schema>,
    one_of: Vec<Schema>,
    all_of: Vec<Schema>,
    not: Option<Schema>,
}

impl Schema {
    fn read(schema: &Value) -> Self {
        let Value::Object(schema) = schema else { return Self::default() };
        let text = |key: &str| schema.get(key).and_then(Value::as_str).unwrap_or_default().into();
        let flag = |key: &str| schema.get(key) == Some(&Value::Bool(true));
        let texts = |key: &str| -> Vec<Box<str>> {
            let list = schema.get(key).and_then(Value::as_array);
            list.into_iter().flatten().filter_map(Value::as_str).map(Into::into).collect()
        };
        let properties = match schema.get("properties") {
            Some(Value::Object(properties)) => properties
                .iter()
                .map(|(name, schema)| (name.as_str().into(), Self::read(schema)))
                .collect(),
            _ => BTreeMap::new(),
        };
        let additional = match schema.get("additionalProperties") {
            None | Some(Value::Null) => Additional::Unsaid,
            Some(Value::Bool(true)) => Additional::Allowed,
            Some(Value::Bool(false)) => Additional::Forbidden,
            Some(inner) => Additional::Schema(Box::new(Self::read(inner))),
        };
        Self {
            ty: text("type"),
            format: text("format"),
            properties,
            additional,
            items: schema.get("items").map(|items| Box::new(Self::read(items))),
            required: texts("required"),
            default: schema.get("default").filter(|value| !value.is_null()).cloned(),
            nullable: flag("nullable"),
            preserve_unknown: flag("x-kubernetes-preserve-unknown-fields"),
            embedded_resource: flag("x-kubernetes-embedded-resource"),
            int_or_string: flag("x-kubernetes-int-or-string"),
            list_type: text("x-kubernetes-list-type"),
            list_keys: texts("x-kubernetes-list-map-keys"),
            atomic_map: schema.get("x-kubernetes-map-type").is_some_and(|ty| ty == "atomic"),
            description: text("description"),
            rules: Rules::read(schema).map(Box::new),
            cel: rules::Rule::read_all(schema),
        }
    }
}

impl Rules {
    fn read(schema: &Map<String, Value>) -> Option<Self> {
        let keys = [
            "minimum",
            "maximum",
            "multipleOf",
            "minLength",
            "maxLength",
            "pattern",
            "minItems",
            "maxItems",
            "uniqueItems",
            "minProperties",
            "maxProperties",
            "enum",
            "anyOf",
            "oneOf",
            "allOf",
            "not",
        ];
        if !keys.iter().any(|key| schema.contains_key(*key)) {
            return None;
        }
        let number = |key: &str| schema.get(key).and_then(Value::as_f64);
        let count = |key: &str| schema.get(key).and_then(Value::as_u64);
        let flag = |key: &str| schema.get(key) == Some(&Value::Bool(true));
        let schemas = |key: &str| -> Vec<Schema> {
            let list = schema.get(key).and_then(Value::as_array);
            list.into_iter().flatten().map(Schema::read).collect()
        };
        let pattern = schema.get("pattern").and_then(Value::as_str).filter(|it| !it.is_empty());
        Some(Self {
            minimum: number("minimum"),
            maximum: number("maximum"),
            exclusive_minimum: flag("exclusiveMinimum"),
            exclusive_maximum: flag("exclusiveMaximum"),
            multiple_of: number("multipleOf"),
            min_length: count("minLength"),
            max_length: count("maxLength"),
            pattern: pattern.map(|pattern| (pattern.into(), Regex::new(pattern).ok())),
            min_items: count("minItems"),
            max_items: count("maxItems"),
            unique_items: flag("uniqueItems"),
            min_properties: count("minProperties"),
            max_properties: count("maxProperties"),
            choices: schema.get("enum").and_then(Value::as_array).cloned().unwrap_or_default(),
            any_of: schemas("anyOf"),
            one_of: schemas("oneOf"),
            all_of: schemas("allOf"),
            not: schema.get("not").map(Schema::read),
        })
    }
}
