//! From the schema of a custom kind to types for merging.

use super::{Additional, Schema};
use crate::builtin::builtin;
use crate::model::{Field, ListKind, Listing, Mapping, Scalar, Struct, Type, TypeId, TypeTable};
use rustc_hash::FxHashMap;

/// Builds the types; the root gets the fields that every object has.
pub(super) fn build(schema: &Schema) -> (TypeTable, TypeId) {
    let mut builder = Builder { table: TypeTable::default(), copied: FxHashMap::default() };
    let metadata = builder.copy(builtin().object_meta());
    let root = builder.resource(schema, metadata);
    let root = builder.table.push(root);
    (builder.table, root)
}

struct Builder {
    table: TypeTable,
    copied: FxHashMap<TypeId, TypeId>,
}

impl Builder {
    /// Copies a built-in type with all that it refers to.
    fn copy(&mut self, id: TypeId) -> TypeId {
        if let Some(own) = self.copied.get(&id) {
            return *own;
        }
        let own = self.table.push(Type::Any);
        self.copied.insert(id, own);
        let mut ty = builtin().types.get(id).clone();
        match &mut ty {
            Type::Struct(shape) => {
                for field in &mut shape.fields {
                    field.ty = self.copy(field.ty);
                }
            }
            Type::Map(mapping) => mapping.element = self.copy(mapping.element),
            Type::List(listing) => listing.element = self.copy(listing.element),
            Type::Any | Type::Scalar(_) => {}
        }
        self.table.set(own, ty);
        own
    }

    fn resource(&mut self, schema: &Schema, metadata: TypeId) -> Type {
        let mut shape = self.object(schema);
        let text = self.table.push(Type::Scalar(Scalar::String));
        for (name, ty) in [("apiVersion", text), ("kind", text), ("metadata", metadata)] {
            shape.fields.retain(|field| &*field.name != name);
            shape.fields.push(Field { name: name.into(), ty, ..Field::default() });
        }
        shape.fields.sort_by(|left, right| left.name.cmp(&right.name));
        Type::Struct(shape)
    }

    fn object(&mut self, schema: &Schema) -> Struct {
        let fields = schema
            .properties
            .iter()
            .map(|(name, property)| Field {
                name: name.clone(),
                ty: self.id(property),
                required: schema.required.contains(name),
                nullable: property.nullable,
                default: property.default.clone(),
                description: property.description.clone(),
                ..Field::default()
            })
            .collect();
        let additional = match &schema.additional {
            Additional::Schema(inner) => Some(self.id(inner)),
            Additional::Allowed => Some(self.table.push(Type::Any)),
            _ => None,
        };
        Struct {
            name: Box::default(),
            fields,
            atomic: schema.atomic_map,
            additional,
            preserve_unknown: schema.preserve_unknown,
            embedded_resource: schema.embedded_resource,
        }
    }

    fn id(&mut self, schema: &Schema) -> TypeId {
        let ty = self.of(schema);
        self.table.push(ty)
    }

    fn of(&mut self, schema: &Schema) -> Type {
        if schema.int_or_string {
            return Type::Scalar(Scalar::IntOrString);
        }
        match &*schema.ty {
            "string" => Type::Scalar(Scalar::String),
            "integer" => Type::Scalar(Scalar::Integer),
            "number" => Type::Scalar(Scalar::Number),
            "boolean" => Type::Scalar(Scalar::Boolean),
            "array" => {
                let element = match &schema.items {
                    Some(items) => self.id(items),
                    None => self.table.push(Type::Any),
                };
                let kind = match &*schema.list_type {
                    "set" => ListKind::Set,
                    "map" => ListKind::Map(schema.list_keys.clone()),
                    _ => ListKind::Atomic,
                };
                Type::List(Listing { element, kind })
            }
            _ if schema.embedded_resource => {
                let metadata = self.copy(builtin().object_meta());
                self.resource(schema, metadata)
            }
            "object" if schema.properties.is_empty() && !schema.preserve_unknown => {
                match &schema.additional {
                    Additional::Schema(inner) => {
                        let element = self.id(inner);
                        Type::Map(Mapping { element, atomic: schema.atomic_map })
                    }
                    Additional::Allowed => {
                        let element = self.table.push(Type::Any);
                        Type::Map(Mapping { element, atomic: schema.atomic_map })
                    }
                    _ => Type::Struct(self.object(schema)),
                }
            }
            "object" => Type::Struct(self.object(schema)),
            _ => Type::Any,
        }
    }
}
