//! From schema records to types.

use crate::model::{Field, ListKind, Listing, Mapping, Scalar, Struct, Type, TypeId, TypeTable};
use crate::table::{Definition, FieldRecord, Node, Shape};

/// Builds the types of all definitions; the number of a type is the place of its definition.
pub(super) fn build(definitions: &[Definition]) -> TypeTable {
    let mut table = TypeTable::default();
    for _ in definitions {
        table.push(Type::Any);
    }
    let mut builder = Builder { scalars: Vec::new(), variants: Vec::new(), table };
    for (at, definition) in (0..).zip(definitions) {
        let ty = match special(&definition.name) {
            Some(ty) => ty,
            None => builder.of(&definition.node, &definition.name),
        };
        builder.table.set(TypeId(at), ty);
    }
    for (base, atomic, id) in builder.variants {
        let mut ty = builder.table.get(base).clone();
        if let Type::Struct(shape) = &mut ty {
            shape.atomic = atomic;
        }
        builder.table.set(id, ty);
    }
    builder.table
}

struct Builder {
    /// The scalar types created so far: each is created once.
    scalars: Vec<(Scalar, TypeId)>,
    /// Definitions that some fields own in another way than the definition says: the definition,
    /// whether it is owned as a whole, and the number of the type.
    variants: Vec<(TypeId, bool, TypeId)>,
    table: TypeTable,
}

/// Returns the types whose JSON form the schema does not fully describe.
fn special(name: &str) -> Option<Type> {
    Some(match name {
        "io.k8s.apimachinery.pkg.api.resource.Quantity" => Type::Scalar(Scalar::Quantity),
        "io.k8s.apimachinery.pkg.util.intstr.IntOrString" => Type::Scalar(Scalar::IntOrString),
        "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime" => Type::Scalar(Scalar::MicroTime),
        "io.k8s.apimachinery.pkg.runtime.RawExtension"
        | "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1"
        | "io.k8s.apimachinery.pkg.apis.meta.v1.Patch" => Type::Any,
        _ => return None,
    })
}

impl Builder {
    fn of(&mut self, node: &Node, name: &str) -> Type {
        match &node.shape {
            Shape::Any | Shape::Object | Shape::Ref(_) => Type::Any,
            Shape::String => Type::Scalar(match node.format.as_str() {
                "byte" => Scalar::Bytes,
                "date-time" => Scalar::Time,
                _ => Scalar::String,
            }),
            Shape::Integer if node.format == "int32" => Type::Scalar(Scalar::Int32),
            Shape::Integer => Type::Scalar(Scalar::Integer),
            Shape::Number => Type::Scalar(Scalar::Number),
            Shape::Boolean => Type::Scalar(Scalar::Boolean),
            Shape::List(item) => {
                let kind = match node.list_type.as_str() {
                    "set" => ListKind::Set,
                    "map" => ListKind::Map(
                        node.list_keys.iter().map(|key| key.as_str().into()).collect(),
                    ),
                    _ => ListKind::Atomic,
                };
                Type::List(Listing { element: self.id(item), kind })
            }
            Shape::Map(item) => {
                Type::Map(Mapping { element: self.id(item), atomic: node.map_type == "atomic" })
            }
            Shape::Struct(fields) => Type::Struct(Struct {
                name: name.into(),
                fields: fields.iter().map(|field| self.field(field)).collect(),
                atomic: node.map_type == "atomic",
                ..Struct::default()
            }),
        }
    }

    fn id(&mut self, node: &Node) -> TypeId {
        if let Shape::Ref(at) = node.shape {
            return match node.map_type.as_str() {
                "granular" => self.variant(TypeId(at), false),
                "atomic" => self.variant(TypeId(at), true),
                _ => TypeId(at),
            };
        }
        let ty = self.of(node, "");
        let Type::Scalar(scalar) = ty else { return self.table.push(ty) };
        if let Some((_, id)) = self.scalars.iter().find(|(own, _)| *own == scalar) {
            return *id;
        }
        let id = self.table.push(ty);
        self.scalars.push((scalar, id));
        id
    }

    fn variant(&mut self, base: TypeId, atomic: bool) -> TypeId {
        let known = self.variants.iter().find(|(own, flag, _)| (*own, *flag) == (base, atomic));
        if let Some((_, _, id)) = known {
            return *id;
        }
        let id = self.table.push(Type::Any);
        self.variants.push((base, atomic, id));
        id
    }

    fn field(&mut self, record: &FieldRecord) -> Field {
        let node = &record.node;
        Field {
            name: record.name.as_str().into(),
            ty: self.id(node),
            required: record.required,
            nullable: false,
            default: serde_json::from_str(&node.default).ok(),
            choices: node.choices.iter().map(|choice| choice.as_str().into()).collect(),
            patch_strategy: node.patch_strategy.as_str().into(),
            patch_merge_key: node.patch_merge_key.as_str().into(),
            description: Box::default(),
            presence: record.presence,
            go_type: record.go_type.as_str().into(),
        }
    }
}
