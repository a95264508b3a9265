//! Reads schemas from the messages of a provider.

use super::{
    Attribute, AttributeKind, Block, NestedAttributes, NestedBlock, Nesting, Schema, Schemas,
};
use crate::wire::schemas::{v5, v6};
use kusion_cty::Type;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Converts the response of version 5.
pub(crate) fn from_v5(response: v5::Response) -> Result<Schemas, String> {
    from_v6(v6::Response {
        provider: response.provider.map(schema5),
        resource_schemas: all5(response.resource_schemas),
        data_source_schemas: all5(response.data_source_schemas),
        diagnostics: response.diagnostics,
        server_capabilities: response.server_capabilities,
    })
}

#[expect(clippy::iter_over_hash_type, reason = "goes into a map again")]
fn all5(
    schemas: std::collections::HashMap<String, v5::Schema>,
) -> std::collections::HashMap<String, v6::Schema> {
    let mut out = std::collections::HashMap::new();
    for (name, it) in schemas {
        out.insert(name, schema5(it));
    }
    out
}

fn schema5(schema: v5::Schema) -> v6::Schema {
    v6::Schema { version: schema.version, block: schema.block.map(block5) }
}

fn block5(block: v5::Block) -> v6::Block {
    let attribute = |it: v5::Attribute| v6::Attribute {
        name: it.name,
        r#type: it.r#type,
        description: it.description,
        required: it.required,
        optional: it.optional,
        computed: it.computed,
        sensitive: it.sensitive,
        deprecated: it.deprecated,
        nested_type: None,
        write_only: it.write_only,
    };
    let nested = |it: v5::NestedBlock| v6::NestedBlock {
        type_name: it.type_name,
        block: it.block.map(block5),
        nesting: it.nesting,
        min_items: it.min_items,
        max_items: it.max_items,
    };
    v6::Block {
        attributes: block.attributes.into_iter().map(attribute).collect(),
        nested: block.nested.into_iter().map(nested).collect(),
        description: block.description,
        deprecated: block.deprecated,
    }
}

/// Converts the response of version 6.
pub(crate) fn from_v6(response: v6::Response) -> Result<Schemas, String> {
    let capabilities = response.server_capabilities.unwrap_or_default();
    let provider = response.provider.unwrap_or_default();
    Ok(Schemas {
        provider: schema(provider).map_err(|it| format!("in the provider's schema: {it}"))?,
        resources: all(response.resource_schemas)?,
        data_sources: all(response.data_source_schemas)?,
        plans_destroy: capabilities.plan_destroy,
        moves_state: capabilities.move_resource_state,
    })
}

fn all(
    schemas: std::collections::HashMap<String, v6::Schema>,
) -> Result<BTreeMap<String, Arc<Schema>>, String> {
    let sorted: BTreeMap<String, v6::Schema> = schemas.into_iter().collect();
    let schemas = sorted.into_iter().map(|(name, it)| {
        let schema = schema(it).map_err(|it| format!("in the schema of `{name}`: {it}"))?;
        Ok((name, Arc::new(schema)))
    });
    schemas.collect()
}

fn schema(message: v6::Schema) -> Result<Schema, String> {
    Ok(Schema::new(message.version, block(message.block.unwrap_or_default())?))
}

fn block(message: v6::Block) -> Result<Block, String> {
    let attributes = attributes(message.attributes)?;
    let mut blocks = BTreeMap::new();
    for nested in message.nested {
        let name: Arc<str> = nested.type_name.into();
        let inside = block(nested.block.unwrap_or_default())?;
        let nesting = nesting(nested.nesting, &name)?;
        let is_collection = !matches!(nesting, Nesting::Single | Nesting::Group);
        if is_collection && inside.ty().has_dynamic() {
            return Err(format!(
                "block `{name}` has attributes of any type, which is not supported"
            ));
        }
        let min_items = u64::try_from(nested.min_items).unwrap_or_default();
        let max_items = u64::try_from(nested.max_items).unwrap_or_default();
        let nested = NestedBlock { block: inside, nesting, min_items, max_items };
        if attributes.contains_key(&name) || blocks.insert(name.clone(), nested).is_some() {
            return Err(format!("`{name}` occurs twice"));
        }
    }
    let (description, is_deprecated) = (message.description, message.deprecated);
    Ok(Block { attributes, blocks, description, is_deprecated })
}

fn attributes(messages: Vec<v6::Attribute>) -> Result<BTreeMap<Arc<str>, Attribute>, String> {
    let mut out = BTreeMap::new();
    for it in messages {
        let name: Arc<str> = it.name.into();
        let kind = match it.nested_type {
            Some(object) => AttributeKind::Nested(NestedAttributes {
                attributes: attributes(object.attributes)?,
                nesting: nesting(object.nesting, &name)?,
            }),
            None => AttributeKind::Value(
                Type::from_json(&it.r#type).map_err(|error| format!("`{name}`: {error}"))?,
            ),
        };
        let attribute = Attribute {
            kind,
            is_required: it.required,
            is_optional: it.optional,
            is_computed: it.computed,
            is_sensitive: it.sensitive,
            is_write_only: it.write_only,
            is_deprecated: it.deprecated,
            description: it.description,
        };
        if out.insert(name.clone(), attribute).is_some() {
            return Err(format!("`{name}` occurs twice"));
        }
    }
    Ok(out)
}

fn nesting(number: i32, name: &str) -> Result<Nesting, String> {
    Ok(match number {
        1 => Nesting::Single,
        2 => Nesting::List,
        3 => Nesting::Set,
        4 => Nesting::Map,
        5 => Nesting::Group,
        _ => return Err(format!("`{name}` has the unknown nesting {number}")),
    })
}
