//! The state that a configuration asks for: its own values, and where it says nothing about an
//! attribute that the provider sets, the value so far.

use crate::schema::{Attribute, AttributeKind, Block, NestedAttributes, NestedBlock, Nesting};
use kusion_cty::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

type Fields = BTreeMap<Arc<str>, Value>;

/// Returns the state to propose to a provider. `prior` is null for a new resource; a null
/// configuration deletes the resource, and proposes null.
pub fn proposed_new(block: &Block, prior: &Value, config: &Value) -> Value {
    if config.is_null() { Value::Null } else { block_value(block, prior, config) }
}

/// Proposes the value of a block that is set. What is inside a prior that is null is null, too.
fn block_value(block: &Block, prior: &Value, config: &Value) -> Value {
    let Value::Map(_) = config else { return prior.clone() };
    let mut fields = attribute_values(&block.attributes, prior, config);
    for (name, nested) in &block.blocks {
        let value = nested_block(nested, prior.get(name), config.get(name));
        fields.insert(name.clone(), value);
    }
    Value::Map(fields)
}

/// Something whose objects are matched with those of a prior value.
#[derive(Clone, Copy)]
enum Shape<'a> {
    Block(&'a Block),
    Attributes(&'a BTreeMap<Arc<str>, Attribute>),
}

impl Shape<'_> {
    fn propose(self, prior: &Value, config: &Value) -> Value {
        match self {
            Self::Block(block) => block_value(block, prior, config),
            Self::Attributes(_) if config.is_null() => Value::Null,
            Self::Attributes(attributes) => Value::Map(attribute_values(attributes, prior, config)),
        }
    }

    /// Returns whether a prior object can come from a configured one: it differs only in attributes
    /// that the provider sets and that the configuration leaves open.
    fn can_come_from(self, prior: &Value, config: &Value) -> bool {
        if prior == config {
            return true;
        }
        let (Value::Map(_), Value::Map(_)) = (prior, config) else { return false };
        let (attributes, blocks) = match self {
            Self::Block(block) => (&block.attributes, Some(&block.blocks)),
            Self::Attributes(attributes) => (attributes, None),
        };
        let is_attribute_possible = |(name, attribute): (&Arc<str>, &Attribute)| {
            let (prior, config) = (prior.get(name), config.get(name));
            if prior == config {
                return true;
            }
            match &attribute.kind {
                AttributeKind::Nested(nested) if !config.is_null() => {
                    let shape = Shape::Attributes(&nested.attributes);
                    nested_can_come_from(shape, nested.nesting, prior, config)
                }
                _ => attribute.is_computed && config.is_null(),
            }
        };
        attributes.iter().all(is_attribute_possible)
            && blocks.into_iter().flatten().all(|(name, nested)| {
                let (prior, config) = (prior.get(name), config.get(name));
                let shape = Shape::Block(&nested.block);
                prior == config || nested_can_come_from(shape, nested.nesting, prior, config)
            })
    }
}

/// Does the same for nested objects. Inside a set, objects cannot be told apart: they must be equal.
fn nested_can_come_from(shape: Shape<'_>, nesting: Nesting, prior: &Value, config: &Value) -> bool {
    match (nesting, prior, config) {
        (Nesting::Single | Nesting::Group, prior, config) => shape.can_come_from(prior, config),
        (Nesting::List, Value::List(prior), Value::List(config)) => {
            prior.len() <= config.len()
                && prior
                    .iter()
                    .zip(config)
                    .all(|(prior, config)| shape.can_come_from(prior, config))
        }
        (Nesting::Map, Value::Map(prior), Value::Map(config)) => {
            prior.iter().all(|(key, prior)| {
                config.get(key).is_some_and(|config| shape.can_come_from(prior, config))
            })
        }
        _ => prior == config,
    }
}

fn nested_block(nested: &NestedBlock, prior: &Value, config: &Value) -> Value {
    if config.is_unknown() {
        return config.clone();
    }
    let shape = Shape::Block(&nested.block);
    match nested.nesting {
        Nesting::Single if config.is_null() => Value::Null,
        Nesting::Single | Nesting::Group => shape.propose(prior, config),
        nesting => objects(shape, nesting, prior, config),
    }
}

/// Proposes the objects of a list, set or map, each with the prior one that belongs to it.
fn objects(shape: Shape<'_>, nesting: Nesting, prior: &Value, config: &Value) -> Value {
    match (nesting, config) {
        (Nesting::List, Value::List(items)) => {
            let prior = prior.items().unwrap_or_default();
            let items = items.iter().enumerate().map(|(index, config)| match prior.get(index) {
                Some(prior) => shape.propose(prior, config),
                None => config.clone(),
            });
            Value::List(items.collect())
        }
        (Nesting::Map, Value::Map(fields)) => {
            let fields = fields.iter().map(|(key, config)| {
                let prior = prior.fields().and_then(|it| it.get(key));
                let value = prior.map_or_else(|| config.clone(), |it| shape.propose(it, config));
                (key.clone(), value)
            });
            Value::Map(fields.collect())
        }
        (Nesting::Set, Value::List(items)) => {
            let prior = prior.items().unwrap_or_default();
            let mut is_used = vec![false; prior.len()];
            let items = items.iter().map(|config| {
                let found = (0..prior.len())
                    .find(|it| !is_used[*it] && shape.can_come_from(&prior[*it], config));
                match found {
                    Some(index) => {
                        is_used[index] = true;
                        shape.propose(&prior[index], config)
                    }
                    None => config.clone(),
                }
            });
            Value::set(items.collect())
        }
        _ => config.clone(),
    }
}

fn attribute_values(
    attributes: &BTreeMap<Arc<str>, Attribute>,
    prior: &Value,
    config: &Value,
) -> Fields {
    let values = attributes.iter().map(|(name, attribute)| {
        let value = attribute_value(attribute, prior.get(name), config.get(name));
        (name.clone(), value)
    });
    values.collect()
}

fn attribute_value(attribute: &Attribute, prior: &Value, config: &Value) -> Value {
    if attribute.is_write_only {
        return Value::Null;
    }
    if attribute.is_computed && config.is_null() {
        // If the prior value has parts that only a configuration can set, it was configured before,
        // and is to be removed now.
        let is_removed = attribute.is_optional && has_configured_part(attribute, prior);
        return if is_removed { Value::Null } else { prior.clone() };
    }
    match &attribute.kind {
        AttributeKind::Nested(nested) if !config.is_unknown() => {
            nested_attribute(nested, prior, config)
        }
        _ => config.clone(),
    }
}

fn nested_attribute(nested: &NestedAttributes, prior: &Value, config: &Value) -> Value {
    let shape = Shape::Attributes(&nested.attributes);
    match nested.nesting {
        Nesting::Single | Nesting::Group => shape.propose(prior, config),
        nesting => objects(shape, nesting, prior, config),
    }
}

fn has_configured_part(attribute: &Attribute, value: &Value) -> bool {
    let AttributeKind::Nested(nested) = &attribute.kind else { return false };
    crate::schema::objects(nested.nesting, value).into_iter().any(|(_, object)| {
        nested.attributes.iter().any(|(name, inside)| {
            let value = object.get(name);
            !value.is_null() && (!inside.is_computed || has_configured_part(inside, value))
        })
    })
}
