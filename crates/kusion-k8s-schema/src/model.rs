//! Types as plain data in an arena.

use serde_json::Value;

/// Number of a type inside its [`TypeTable`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub u32);

/// The types of one or several group-versions.
#[derive(Debug, Clone, Default)]
pub struct TypeTable {
    types: Vec<Type>,
}

impl TypeTable {
    /// Adds a type and returns its number.
    pub fn push(&mut self, ty: Type) -> TypeId {
        let id = TypeId(u32::try_from(self.types.len()).unwrap_or(u32::MAX));
        self.types.push(ty);
        id
    }

    /// Replaces the type of a number, for types that refer to themselves.
    pub fn set(&mut self, id: TypeId, ty: Type) {
        if let Some(slot) = self.types.get_mut(id.0 as usize) {
            *slot = ty;
        }
    }

    /// Returns the type of a number; an unknown number is [`Type::Any`].
    pub fn get(&self, id: TypeId) -> &Type {
        self.types.get(id.0 as usize).unwrap_or(&Type::Any)
    }
}

/// One type.
#[derive(Debug, Clone, Default)]
pub enum Type {
    /// Any JSON without a declared shape; merged by the shape that is found.
    #[default]
    Any,
    /// A single value.
    Scalar(Scalar),
    /// An object with named fields.
    Struct(Struct),
    /// An object with arbitrary keys.
    Map(Mapping),
    /// A list.
    List(Listing),
}

/// The kinds of single values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalar {
    /// A string.
    String,
    /// A string that holds bytes in base64.
    Bytes,
    /// A string that holds a time (RFC 3339), in seconds.
    Time,
    /// A string that holds a time, in microseconds.
    MicroTime,
    /// A whole number of 64 bits.
    Integer,
    /// A whole number of 32 bits.
    Int32,
    /// Any number.
    Number,
    /// True or false.
    Boolean,
    /// A whole number or a string.
    IntOrString,
    /// A quantity such as `100m`; a string or a number.
    Quantity,
}

/// An object with named fields.
#[derive(Debug, Clone, Default)]
pub struct Struct {
    /// Name of the definition (`io.k8s.api.core.v1.Container`), empty when it has none.
    pub name: Box<str>,
    /// The fields, sorted by name.
    pub fields: Vec<Field>,
    /// Whether one manager owns the whole object (`x-kubernetes-map-type: atomic`).
    pub atomic: bool,
    /// The type of keys that no field names; none means that they are unknown.
    pub additional: Option<TypeId>,
    /// Whether unknown keys are kept (`x-kubernetes-preserve-unknown-fields`).
    pub preserve_unknown: bool,
    /// Whether the object is a whole Kubernetes object with its own metadata.
    pub embedded_resource: bool,
}

impl Struct {
    /// Returns the field of a name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        let at = self.fields.binary_search_by(|field| (*field.name).cmp(name)).ok()?;
        self.fields.get(at)
    }
}

/// One named field of an object.
#[derive(Debug, Clone, Default)]
pub struct Field {
    /// Its key.
    pub name: Box<str>,
    /// Its type.
    pub ty: TypeId,
    /// Whether it must be there.
    pub required: bool,
    /// Whether `null` is a value of it.
    pub nullable: bool,
    /// The value it gets when it is missing.
    ///
    /// Of built-in kinds it is what the server publishes: zero values (`""`, `0`, `{}`) only say
    /// what a missing field means and are never written into objects.
    pub default: Option<Value>,
    /// The strings it may hold; empty means any.
    pub choices: Vec<Box<str>>,
    /// How strategic merge treats it (`merge`, `replace`, `merge,retainKeys`); empty when unsaid.
    pub patch_strategy: Box<str>,
    /// The key by which strategic merge pairs the items of a list; empty when there is none.
    pub patch_merge_key: Box<str>,
    /// What it is, in a sentence; may be empty.
    pub description: Box<str>,
    /// When a server writes it.
    pub presence: Presence,
    /// Its type in the server's own language, as messages name it; may be empty.
    pub go_type: Box<str>,
}

/// When a field of a built-in kind is part of what a server stores and sends.
///
/// A server stores objects as structs: a zero value may be the same as a
/// missing one, or may be written even if it was never set (`status: {}`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Presence {
    /// If it was set.
    #[default]
    WhenSet,
    /// When it is not zero: no `false`, `0`, `""`, `[]`, `{}`.
    UnlessZero,
    /// Always, zero or not.
    Always,
    /// Always; `null` if it was never set.
    OrNull,
}

impl Default for TypeId {
    fn default() -> Self {
        Self(u32::MAX)
    }
}

/// An object with arbitrary keys.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mapping {
    /// Type of the values.
    pub element: TypeId,
    /// Whether one manager owns the whole map.
    pub atomic: bool,
}

/// A list.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// Type of the items.
    pub element: TypeId,
    /// How it merges.
    pub kind: ListKind,
}

/// How a list merges (`x-kubernetes-list-type`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ListKind {
    /// One manager owns the whole list.
    #[default]
    Atomic,
    /// Items are values, each at most once.
    Set,
    /// Items are objects, identified by the values of these keys.
    Map(Vec<Box<str>>),
}
