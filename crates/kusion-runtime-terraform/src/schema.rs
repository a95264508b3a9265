//! Schemas of providers, resources and data sources.

mod read;
mod show;

pub(crate) use read::{from_v5, from_v6};

use kusion_cty::{Marks, Path, Step, Type, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// All schemas of a provider.
#[derive(Clone, Debug, Default)]
pub struct Schemas {
    /// The configuration of the provider.
    pub provider: Schema,
    /// Resources by type name.
    pub resources: BTreeMap<String, Arc<Schema>>,
    /// Data sources by type name.
    pub data_sources: BTreeMap<String, Arc<Schema>>,
    /// Whether the provider wants to plan deletions.
    pub plans_destroy: bool,
    /// Whether the provider can take over states of other types.
    pub moves_state: bool,
}

/// The schema of a resource, a data source or a provider.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    /// The version of recorded states.
    pub version: i64,
    /// The attributes and blocks.
    pub block: Block,
    /// The type of a whole value.
    pub ty: Type,
}

impl Default for Schema {
    fn default() -> Self {
        Self::new(0, Block::default())
    }
}

/// Attributes and blocks by name. Both share one namespace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// The attributes.
    pub attributes: BTreeMap<Arc<str>, Attribute>,
    /// The blocks inside.
    pub blocks: BTreeMap<Arc<str>, NestedBlock>,
    /// The description.
    pub description: String,
    /// Whether it should no longer be used.
    pub is_deprecated: bool,
}

/// One attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// Its values.
    pub kind: AttributeKind,
    /// Whether users must set it.
    pub is_required: bool,
    /// Whether users may set it.
    pub is_optional: bool,
    /// Whether the provider sets it, if users do not.
    pub is_computed: bool,
    /// Whether its value is secret.
    pub is_sensitive: bool,
    /// Whether the provider only receives it: it is in no plan and no state.
    pub is_write_only: bool,
    /// Whether it should no longer be used.
    pub is_deprecated: bool,
    /// The description.
    pub description: String,
}

/// The values of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeKind {
    /// Values of a type.
    Value(Type),
    /// Objects whose attributes have properties of their own.
    Nested(NestedAttributes),
}

/// The attributes of a nested object.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedAttributes {
    /// The attributes.
    pub attributes: BTreeMap<Arc<str>, Attribute>,
    /// How many objects there are.
    pub nesting: Nesting,
}

/// A block inside another one.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedBlock {
    /// Its contents.
    pub block: Block,
    /// How many of them there are.
    pub nesting: Nesting,
    /// The smallest number; 0 for no limit.
    pub min_items: u64,
    /// The greatest number; 0 for no limit.
    pub max_items: u64,
}

/// How often nested blocks or objects occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nesting {
    /// Once or not at all.
    Single,
    /// In a list.
    List,
    /// In a set.
    Set,
    /// By key.
    Map,
    /// Once; all attributes are null if it is not set.
    Group,
}

impl Nesting {
    /// Returns the type for objects of a type.
    fn around(self, object: Type) -> Type {
        match self {
            Self::Single | Self::Group => object,
            Self::List => Type::list(object),
            Self::Set => Type::set(object),
            Self::Map => Type::map(object),
        }
    }
}

impl Schema {
    /// Creates a schema.
    pub fn new(version: i64, block: Block) -> Self {
        let ty = block.ty();
        Self { version, block, ty }
    }

    /// Returns the parts of a value that the schema says are secret. Parts of sets are named by
    /// their place in the canonical order.
    pub fn secrets(&self, value: &Value) -> Marks {
        let mut found = Vec::new();
        self.block.add_secrets(value, &Path::default(), &mut found);
        found.into_iter().collect()
    }
}

impl Block {
    /// Returns the type of its values.
    pub fn ty(&self) -> Type {
        let attributes = self.attributes.iter().map(|(name, it)| (name.clone(), it.ty()));
        let blocks = self.blocks.iter().map(|(name, it)| (name.clone(), it.ty()));
        Type::object(attributes.chain(blocks))
    }

    fn add_secrets(&self, value: &Value, path: &Path, found: &mut Vec<Path>) {
        add_secret_attributes(&self.attributes, value, path, found);
        for (name, nested) in &self.blocks {
            let path = path.attribute(name);
            for (step, object) in objects(nested.nesting, value.get(name)) {
                let path = step.map_or_else(|| path.clone(), |step| path.with(step));
                nested.block.add_secrets(object, &path, found);
            }
        }
    }
}

fn add_secret_attributes(
    attributes: &BTreeMap<Arc<str>, Attribute>,
    value: &Value,
    path: &Path,
    found: &mut Vec<Path>,
) {
    for (name, attribute) in attributes {
        let path = path.attribute(name);
        let value = value.get(name);
        if attribute.is_sensitive || attribute.is_write_only {
            if !value.is_null() {
                found.push(path);
            }
        } else if let AttributeKind::Nested(nested) = &attribute.kind {
            for (step, object) in objects(nested.nesting, value) {
                let path = step.map_or_else(|| path.clone(), |step| path.with(step));
                add_secret_attributes(&nested.attributes, object, &path, found);
            }
        }
    }
}

/// Returns the objects of a nested block or attribute, each with its step below the name.
pub(crate) fn objects(nesting: Nesting, value: &Value) -> Vec<(Option<Step>, &Value)> {
    match (nesting, value) {
        (Nesting::Single | Nesting::Group, Value::Map(_)) => vec![(None, value)],
        (Nesting::List | Nesting::Set, Value::List(items)) => {
            let items = items.iter().enumerate();
            items.map(|(index, item)| (Some(Step::Index(index)), item)).collect()
        }
        (Nesting::Map, Value::Map(fields)) => {
            fields.iter().map(|(key, it)| (Some(Step::Key(key.clone())), it)).collect()
        }
        _ => Vec::new(),
    }
}

impl Attribute {
    /// Returns the type of its values.
    pub fn ty(&self) -> Type {
        match &self.kind {
            AttributeKind::Value(ty) => ty.clone(),
            AttributeKind::Nested(nested) => nested.nesting.around(nested.object_type()),
        }
    }
}

impl NestedAttributes {
    /// Returns the type of one object.
    pub fn object_type(&self) -> Type {
        Type::object(self.attributes.iter().map(|(name, it)| (name.clone(), it.ty())))
    }
}

impl NestedBlock {
    /// Returns the type of its values.
    pub fn ty(&self) -> Type {
        self.nesting.around(self.block.ty())
    }

    /// Returns the value of a block that is not set.
    pub fn empty(&self) -> Value {
        match self.nesting {
            Nesting::Single => Value::Null,
            Nesting::List | Nesting::Set => Value::List(Vec::new()),
            Nesting::Map => Value::Map(BTreeMap::new()),
            Nesting::Group => self.block.empty(),
        }
    }
}

impl Block {
    /// Returns a value in which nothing is set.
    pub fn empty(&self) -> Value {
        let attributes = self.attributes.keys().map(|name| (name.clone(), Value::Null));
        let blocks = self.blocks.iter().map(|(name, it)| (name.clone(), it.empty()));
        Value::Map(attributes.chain(blocks).collect())
    }
}
