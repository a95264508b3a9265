//! The built-in API as records: what the generator writes and the loaders read.
//!
//! A table file is a line of text that says what generated it, then two compressed parts: the
//! resources and definitions, and the descriptions, which only published documents need.

mod read;
mod write;

use crate::model::Presence;

pub use read::{FormatError, read_descriptions, read_table};
pub use write::{write_descriptions, write_table};

/// The built-in API without descriptions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// The groups in the order in which the server names them; the core group comes first.
    pub groups: Vec<GroupRecord>,
    /// The definitions, sorted by name.
    pub definitions: Vec<Definition>,
}

/// One API group.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GroupRecord {
    /// Its name; empty for the core group.
    pub name: String,
    /// Its versions, the preferred one first.
    pub versions: Vec<VersionRecord>,
}

/// One version of a group.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VersionRecord {
    /// Its name (`v1`).
    pub name: String,
    /// What it serves, sorted by name, subresources (`pods/log`) included.
    pub resources: Vec<ResourceRecord>,
}

/// One resource or subresource as discovery lists it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResourceRecord {
    /// Plural name; `plural/subresource` for a subresource.
    pub name: String,
    /// Singular name; empty for a subresource.
    pub singular: String,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// Group of the kind when it is not the group of the resource.
    pub kind_group: String,
    /// Version of the kind when it is not the version of the resource.
    pub kind_version: String,
    /// The kind.
    pub kind: String,
    /// The verbs, sorted.
    pub verbs: Vec<String>,
    /// Short names.
    pub short_names: Vec<String>,
    /// Categories such as `all`.
    pub categories: Vec<String>,
    /// Mark of the stored version, as discovery shows it.
    pub storage_hash: String,
    /// Group in which it is stored.
    pub storage_group: String,
    /// Version in which it is stored.
    pub storage_version: String,
}

/// One named schema.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Definition {
    /// Its name (`io.k8s.api.core.v1.Container`).
    pub name: String,
    /// The kinds it describes, as group, version and kind.
    pub kinds: Vec<[String; 3]>,
    /// Its content.
    pub node: Node,
}

/// One schema inside a definition.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Node {
    /// What values look like.
    pub shape: Shape,
    /// `format`; may be empty.
    pub format: String,
    /// `default`, as JSON text; may be empty.
    pub default: String,
    /// `enum`.
    pub choices: Vec<String>,
    /// `x-kubernetes-list-type`; may be empty.
    pub list_type: String,
    /// `x-kubernetes-list-map-keys`.
    pub list_keys: Vec<String>,
    /// `x-kubernetes-map-type`; may be empty.
    pub map_type: String,
    /// `x-kubernetes-patch-strategy`; may be empty.
    pub patch_strategy: String,
    /// `x-kubernetes-patch-merge-key`; may be empty.
    pub patch_merge_key: String,
    /// All other marks as the JSON text of an object; may be empty.
    pub extra: String,
    /// Description; kept in the part for descriptions.
    pub description: String,
}

/// What values of a schema look like.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Shape {
    /// Not specified.
    #[default]
    Any,
    /// An object without further details.
    Object,
    /// A string.
    String,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// A list.
    List(Box<Node>),
    /// An object with free keys.
    Map(Box<Node>),
    /// An object with named fields, sorted by name.
    Struct(Vec<FieldRecord>),
    /// Another definition, by its place in [`Table::definitions`].
    Ref(u32),
}

/// One field of an object.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FieldRecord {
    /// Its key.
    pub name: String,
    /// Whether it must be there.
    pub required: bool,
    /// When a server writes it.
    pub presence: Presence,
    /// Its type in the server's own language, as messages name it; may be empty.
    pub go_type: String,
    /// Its schema.
    pub node: Node,
}

impl Node {
    /// Visits the node and all nodes inside it, in the order in which descriptions are kept.
    pub fn visit<'a>(&'a self, see: &mut impl FnMut(&'a Self)) {
        see(self);
        match &self.shape {
            Shape::List(item) | Shape::Map(item) => item.visit(see),
            Shape::Struct(fields) => fields.iter().for_each(|field| field.node.visit(see)),
            _ => {}
        }
    }

    /// Visits like [`Node::visit`], with the right to change.
    pub fn visit_mut(&mut self, see: &mut impl FnMut(&mut Self)) {
        see(self);
        match &mut self.shape {
            Shape::List(item) | Shape::Map(item) => item.visit_mut(see),
            Shape::Struct(fields) => fields.iter_mut().for_each(|field| field.node.visit_mut(see)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Table {
        let string = Node { shape: Shape::String, default: "\"\"".into(), ..Node::default() };
        let list = Node {
            shape: Shape::List(Box::new(Node { shape: Shape::Ref(0), ..Node::default() })),
            list_type: "map".into(),
            list_keys: vec!["name".into(), "port".into()],
            ..Node::default()
        };
        let fields = vec![
            FieldRecord { name: "items".into(), node: list, ..FieldRecord::default() },
            FieldRecord {
                name: "name".into(),
                required: true,
                presence: Presence::Always,
                go_type: "string".into(),
                node: string,
            },
        ];
        let node =
            Node { shape: Shape::Struct(fields), map_type: "atomic".into(), ..Node::default() };
        let kinds = vec![["apps".into(), "v1".into(), "Thing".into()]];
        let resource = ResourceRecord {
            name: "things".into(),
            namespaced: true,
            verbs: vec!["get".into()],
            ..ResourceRecord::default()
        };
        let version = VersionRecord { name: "v1".into(), resources: vec![resource] };
        Table {
            groups: vec![GroupRecord { name: "apps".into(), versions: vec![version] }],
            definitions: vec![Definition { name: "a.Thing".into(), kinds, node }],
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let table = sample();
        assert_eq!(read_table(&write_table(&table)).expect("own bytes"), table);
    }

    #[test]
    fn descriptions_find_their_nodes() {
        let mut table = sample();
        table.definitions[0].node.description = "A thing.".into();
        let bytes = write_descriptions(&table);
        let mut bare = sample();
        read_descriptions(&bytes, &mut bare).expect("own bytes");
        assert_eq!(bare, table);
    }

    #[test]
    fn cut_bytes_are_an_error() {
        let bytes = write_table(&sample());
        for end in 0..bytes.len() {
            assert!(read_table(&bytes[..end]).is_err(), "cut at {end}");
        }
    }
}
