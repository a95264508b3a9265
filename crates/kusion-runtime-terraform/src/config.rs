//! From the attributes of a Spec to the configuration of a resource, by its schema.

use crate::schema::{Attribute, AttributeKind, Block, NestedAttributes, NestedBlock, Nesting};
use base_text::nearest;
use kusion_cty::{Step, Value, ValueError, convert};
use kusion_model::{FieldPath, PathStep, Problem};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Stands for a value that is known only after other steps. No input can contain it: it is put in
/// place by [`with_unknown`] alone.
const UNKNOWN: &str = "\u{0}unknown";

/// Converts attributes to a configuration. `unknown` are the paths of values that are known only
/// after other steps.
///
/// # Errors
///
/// All problems of the attributes: unknown names, missing and unexpected values.
pub(crate) fn configuration(
    block: &Block,
    attributes: &Json,
    unknown: &[FieldPath],
) -> Result<Value, Vec<Problem>> {
    let attributes = with_unknown(attributes, unknown);
    let mut reader = Reader::default();
    let value = reader.block(block, &attributes, &FieldPath::default());
    if reader.problems.is_empty() { Ok(value) } else { Err(reader.problems) }
}

fn with_unknown(attributes: &Json, unknown: &[FieldPath]) -> Json {
    let mut out = attributes.clone();
    for path in unknown {
        if let Some(value) = path.find_mut(&mut out) {
            *value = UNKNOWN.into();
        }
    }
    out
}

#[derive(Default)]
struct Reader {
    problems: Vec<Problem>,
}

impl Reader {
    fn add(&mut self, path: &FieldPath, message: impl fmt::Display) {
        self.problems.push(problem(path.clone(), message));
    }

    fn block(&mut self, block: &Block, json: &Json, path: &FieldPath) -> Value {
        let Some(fields) = self.fields(json, path) else { return block.empty() };
        let names = block.attributes.keys().chain(block.blocks.keys());
        self.check_names(fields, &names.map(|it| &**it), path);
        let mut out = self.attributes(&block.attributes, fields, path);
        for (name, nested) in &block.blocks {
            let json = fields.get(&**name).unwrap_or(&Json::Null);
            out.insert(name.clone(), self.nested_block(nested, json, &path.key(name)));
        }
        Value::Map(out)
    }

    fn fields<'j>(&mut self, json: &'j Json, path: &FieldPath) -> Option<&'j Map<String, Json>> {
        if json.as_object().is_none() {
            self.add(path, "expected a map");
        }
        json.as_object()
    }

    fn check_names<'n>(
        &mut self,
        fields: &Map<String, Json>,
        names: &(impl Iterator<Item = &'n str> + Clone),
        path: &FieldPath,
    ) {
        for key in fields.keys() {
            if names.clone().any(|it| it == key) {
                continue;
            }
            let suggestion = nearest(key, names.clone()).map(str::to_owned);
            let problem = problem(path.key(key), "unknown attribute");
            self.problems.push(Problem { suggestion, ..problem });
        }
    }

    fn attributes(
        &mut self,
        attributes: &BTreeMap<Arc<str>, Attribute>,
        fields: &Map<String, Json>,
        path: &FieldPath,
    ) -> BTreeMap<Arc<str>, Value> {
        let mut out = BTreeMap::new();
        for (name, attribute) in attributes {
            let json = fields.get(&**name).unwrap_or(&Json::Null);
            let path = path.key(name);
            if json.is_null() && attribute.is_required {
                self.add(&path, "is required");
            } else if !json.is_null() && !attribute.is_required && !attribute.is_optional {
                self.add(&path, "is set by the provider; remove it");
            }
            out.insert(name.clone(), self.attribute(attribute, json, &path));
        }
        out
    }

    fn attribute(&mut self, attribute: &Attribute, json: &Json, path: &FieldPath) -> Value {
        let is_whole = json.is_null() || json.as_str() == Some(UNKNOWN);
        let ty = match &attribute.kind {
            AttributeKind::Nested(nested) if !is_whole => {
                return self.nested_attribute(nested, json, path);
            }
            _ => attribute.ty(),
        };
        match convert::from_plain(json, &ty, &|text| text == UNKNOWN) {
            Ok(value) => value,
            Err(error) => {
                self.add(&below(path, &error), error.message());
                Value::Null
            }
        }
    }

    fn nested_attribute(
        &mut self,
        nested: &NestedAttributes,
        json: &Json,
        path: &FieldPath,
    ) -> Value {
        self.objects(nested.nesting, json, path, false, &mut |reader, json, path| {
            let Some(fields) = reader.fields(json, path) else { return Value::Null };
            reader.check_names(fields, &nested.attributes.keys().map(|it| &**it), path);
            Value::Map(reader.attributes(&nested.attributes, fields, path))
        })
    }

    fn nested_block(&mut self, nested: &NestedBlock, json: &Json, path: &FieldPath) -> Value {
        if json.as_str() == Some(UNKNOWN) {
            return Value::UNKNOWN;
        }
        let value = if json.is_null() {
            nested.empty()
        } else {
            self.objects(nested.nesting, json, path, true, &mut |reader, json, path| {
                reader.block(&nested.block, json, path)
            })
        };
        let count = match nested.nesting {
            Nesting::Single => u64::from(!value.is_null()),
            Nesting::Group => return value,
            _ => match &value {
                Value::List(items) => items.len() as u64,
                Value::Map(fields) => fields.len() as u64,
                _ => return value,
            },
        };
        if count < nested.min_items {
            self.add(path, format!("expected at least {}, found {count}", nested.min_items));
        } else if nested.max_items > 0 && count > nested.max_items {
            self.add(path, format!("expected at most {}, found {count}", nested.max_items));
        }
        value
    }

    /// Reads nested objects. In the place of a list or set of blocks, one map stands for one block.
    fn objects(
        &mut self,
        nesting: Nesting,
        json: &Json,
        path: &FieldPath,
        is_block: bool,
        inside: &mut dyn FnMut(&mut Self, &Json, &FieldPath) -> Value,
    ) -> Value {
        match (nesting, json) {
            (Nesting::Single | Nesting::Group, json) => inside(self, json, path),
            (Nesting::Map, Json::Object(fields)) => Value::Map(
                fields
                    .iter()
                    .map(|(key, json)| (key.as_str().into(), inside(self, json, &path.key(key))))
                    .collect(),
            ),
            (Nesting::List | Nesting::Set, Json::Array(items)) => {
                let items: Vec<Value> = items
                    .iter()
                    .enumerate()
                    .map(|(index, json)| inside(self, json, &path.index(index)))
                    .collect();
                if nesting == Nesting::Set { Value::set(items) } else { Value::List(items) }
            }
            (Nesting::List | Nesting::Set, Json::Object(_)) if is_block => {
                Value::List(vec![inside(self, json, path)])
            }
            (Nesting::Map, _) => {
                self.add(path, "expected a map");
                Value::Null
            }
            _ => {
                self.add(path, "expected a list");
                Value::Null
            }
        }
    }
}

/// Creates a problem of an attribute, which its message names.
pub(crate) fn problem(path: FieldPath, message: impl fmt::Display) -> Problem {
    let text = if path.0.is_empty() { message.to_string() } else { format!("`{path}`: {message}") };
    Problem::new(path, text)
}

fn below(path: &FieldPath, error: &ValueError) -> FieldPath {
    let mut path = path.clone();
    path.0.extend(error.path().0.into_iter().map(field_step));
    path
}

fn field_step(step: Step) -> PathStep {
    match step {
        Step::Attribute(key) | Step::Key(key) => PathStep::Key(key.to_string()),
        Step::Index(index) => PathStep::Index(index),
    }
}

/// Returns the path of an attribute as a path of a Spec.
pub(crate) fn field_path(path: &kusion_cty::Path) -> FieldPath {
    FieldPath(path.0.iter().cloned().map(field_step).collect())
}

/// Returns the paths of secret values in attributes, configured or live.
pub(crate) fn secret_paths(block: &Block, attributes: &Json) -> Vec<FieldPath> {
    let mut found = Vec::new();
    add_secret_blocks(block, attributes, &FieldPath::default(), &mut found);
    found
}

fn add_secret_blocks(block: &Block, json: &Json, path: &FieldPath, found: &mut Vec<FieldPath>) {
    add_secrets(&block.attributes, json, path, found);
    for (name, nested) in &block.blocks {
        let Some(json) = json.get(&**name) else { continue };
        for_objects(nested.nesting, json, &path.key(name), &mut |json, path| {
            add_secret_blocks(&nested.block, json, path, found);
        });
    }
}

fn add_secrets(
    attributes: &BTreeMap<Arc<str>, Attribute>,
    json: &Json,
    path: &FieldPath,
    found: &mut Vec<FieldPath>,
) {
    for (name, attribute) in attributes {
        let Some(json) = json.get(&**name).filter(|it| !it.is_null()) else { continue };
        let path = path.key(name);
        if attribute.is_sensitive || attribute.is_write_only {
            found.push(path);
        } else if let AttributeKind::Nested(nested) = &attribute.kind {
            for_objects(nested.nesting, json, &path, &mut |json, path| {
                add_secrets(&nested.attributes, json, path, found);
            });
        }
    }
}

fn for_objects(
    nesting: Nesting,
    json: &Json,
    path: &FieldPath,
    call: &mut dyn FnMut(&Json, &FieldPath),
) {
    match (nesting, json) {
        (Nesting::Map, Json::Object(fields)) => {
            for (key, json) in fields {
                call(json, &path.key(key));
            }
        }
        (_, Json::Array(items)) => {
            for (index, json) in items.iter().enumerate() {
                call(json, &path.index(index));
            }
        }
        (_, json) => call(json, path),
    }
}

/// Returns whether the value at a path is secret or contains a secret, whatever the values are.
pub(crate) fn is_secret_path(block: &Block, path: &FieldPath) -> bool {
    let keys: Vec<&str> = path.0.iter().filter_map(name_of).collect();
    is_secret_below(Some(block), &block.attributes, &keys)
}

fn name_of(step: &PathStep) -> Option<&str> {
    match step {
        PathStep::Key(key) => Some(key),
        PathStep::Index(_) => None,
    }
}

/// Follows names; indexes are left out before, and keys of maps are skipped.
fn is_secret_below(
    block: Option<&Block>,
    attributes: &BTreeMap<Arc<str>, Attribute>,
    keys: &[&str],
) -> bool {
    let Some((first, rest)) = keys.split_first() else {
        let nested = |it: &Attribute| match &it.kind {
            AttributeKind::Nested(nested) => is_secret_below(None, &nested.attributes, &[]),
            AttributeKind::Value(_) => false,
        };
        return attributes.values().any(|it| it.is_sensitive || it.is_write_only || nested(it))
            || block.is_some_and(|block| {
                let blocks = block.blocks.values();
                blocks
                    .into_iter()
                    .any(|it| is_secret_below(Some(&it.block), &it.block.attributes, &[]))
            });
    };
    if let Some(attribute) = attributes.get(*first) {
        if attribute.is_sensitive || attribute.is_write_only {
            return true;
        }
        let AttributeKind::Nested(nested) = &attribute.kind else { return false };
        let skipped = usize::from(nested.nesting == Nesting::Map).min(rest.len());
        return is_secret_below(None, &nested.attributes, &rest[skipped..]);
    }
    let Some(nested) = block.and_then(|it| it.blocks.get(*first)) else { return false };
    let skipped = usize::from(nested.nesting == Nesting::Map).min(rest.len());
    is_secret_below(Some(&nested.block), &nested.block.attributes, &rest[skipped..])
}
