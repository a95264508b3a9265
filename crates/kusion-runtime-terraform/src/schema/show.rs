//! Schemas as JSON, in the form of `terraform providers schema -json`.

use super::{Attribute, AttributeKind, Block, NestedBlock, Nesting, Schema, Schemas};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Schemas {
    /// Returns all schemas as JSON.
    pub fn to_json(&self) -> Json {
        let all = |schemas: &BTreeMap<String, Arc<Schema>>| -> Json {
            schemas
                .iter()
                .map(|(name, it)| (name.clone(), it.to_json()))
                .collect::<Map<_, _>>()
                .into()
        };
        json!({
            "provider": self.provider.to_json(),
            "resource_schemas": all(&self.resources),
            "data_source_schemas": all(&self.data_sources),
        })
    }
}

impl Schema {
    /// Returns the schema as JSON.
    pub fn to_json(&self) -> Json {
        json!({"version": self.version, "block": of_block(&self.block)})
    }
}

fn of_block(block: &Block) -> Json {
    let mut out = Map::new();
    if !block.attributes.is_empty() {
        out.insert("attributes".to_owned(), of_attributes(&block.attributes));
    }
    if !block.blocks.is_empty() {
        let blocks = block.blocks.iter().map(|(name, it)| (name.to_string(), of_nested(it)));
        out.insert("block_types".to_owned(), Json::Object(blocks.collect()));
    }
    describe(&mut out, &block.description, block.is_deprecated);
    Json::Object(out)
}

fn of_nested(nested: &NestedBlock) -> Json {
    let mut out = Map::new();
    out.insert("nesting_mode".to_owned(), mode(nested.nesting).into());
    out.insert("block".to_owned(), of_block(&nested.block));
    for (key, count) in [("min_items", nested.min_items), ("max_items", nested.max_items)] {
        if count > 0 {
            out.insert(key.to_owned(), count.into());
        }
    }
    Json::Object(out)
}

fn of_attributes(attributes: &BTreeMap<Arc<str>, Attribute>) -> Json {
    let all = attributes.iter().map(|(name, it)| (name.to_string(), of_attribute(it)));
    Json::Object(all.collect())
}

fn of_attribute(attribute: &Attribute) -> Json {
    let mut out = Map::new();
    match &attribute.kind {
        AttributeKind::Value(ty) => out.insert("type".to_owned(), ty.to_json()),
        AttributeKind::Nested(nested) => out.insert(
            "nested_type".to_owned(),
            json!({
                "attributes": of_attributes(&nested.attributes),
                "nesting_mode": mode(nested.nesting),
            }),
        ),
    };
    for (key, is_set) in [
        ("required", attribute.is_required),
        ("optional", attribute.is_optional),
        ("computed", attribute.is_computed),
        ("sensitive", attribute.is_sensitive),
        ("write_only", attribute.is_write_only),
    ] {
        if is_set {
            out.insert(key.to_owned(), true.into());
        }
    }
    describe(&mut out, &attribute.description, attribute.is_deprecated);
    Json::Object(out)
}

fn describe(out: &mut Map<String, Json>, description: &str, is_deprecated: bool) {
    if !description.is_empty() {
        out.insert("description".to_owned(), description.into());
    }
    if is_deprecated {
        out.insert("deprecated".to_owned(), true.into());
    }
}

fn mode(nesting: Nesting) -> &'static str {
    match nesting {
        Nesting::Single => "single",
        Nesting::List => "list",
        Nesting::Set => "set",
        Nesting::Map => "map",
        Nesting::Group => "group",
    }
}
