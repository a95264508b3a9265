//! From bytes to records.

use super::{
    Definition, FieldRecord, GroupRecord, Node, ResourceRecord, Shape, Table, VersionRecord,
};
use crate::model::Presence;
use thiserror::Error;

/// Maximum nesting depth of schemas within one definition.
const MAX_DEPTH: usize = 64;

/// The bytes are not a table.
#[derive(Debug, Error, Clone, Copy, PartialEq, Eq)]
#[error("the table of the Kubernetes API is damaged")]
pub struct FormatError;

/// Reads a table that [`super::write_table`] wrote.
pub fn read_table(bytes: &[u8]) -> Result<Table, FormatError> {
    let mut reader = Reader::new(bytes)?;
    let groups = reader.many(Reader::group)?;
    let definitions = reader.many(Reader::definition)?;
    Ok(Table { groups, definitions })
}

/// Reads descriptions into the nodes of a table.
pub fn read_descriptions(bytes: &[u8], table: &mut Table) -> Result<(), FormatError> {
    let mut reader = Reader::new(bytes)?;
    let mut outcome = Ok(());
    for definition in &mut table.definitions {
        definition.node.visit_mut(&mut |node| match reader.text() {
            Ok(text) => text.clone_into(&mut node.description),
            Err(error) => outcome = Err(error),
        });
    }
    outcome
}

struct Reader<'a> {
    strings: Vec<&'a str>,
    rest: &'a [u8],
    depth: usize,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8]) -> Result<Self, FormatError> {
        let mut reader = Self { strings: Vec::new(), rest: bytes, depth: 0 };
        let n_strings = reader.count()?;
        let mut strings = Vec::with_capacity(n_strings);
        for _ in 0..n_strings {
            let length = reader.number()?;
            let (text, rest) = reader.rest.split_at_checked(length).ok_or(FormatError)?;
            strings.push(std::str::from_utf8(text).map_err(|_| FormatError)?);
            reader.rest = rest;
        }
        reader.strings = strings;
        Ok(reader)
    }

    fn number(&mut self) -> Result<usize, FormatError> {
        let mut number = 0;
        for shift in (0..=28).step_by(7) {
            let (&byte, rest) = self.rest.split_first().ok_or(FormatError)?;
            self.rest = rest;
            number |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(FormatError)
    }

    /// Reads the number of entries that follow; each needs at least one byte.
    fn count(&mut self) -> Result<usize, FormatError> {
        let count = self.number()?;
        if count > self.rest.len() { Err(FormatError) } else { Ok(count) }
    }

    fn many<T>(
        &mut self,
        one: impl Fn(&mut Self) -> Result<T, FormatError>,
    ) -> Result<Vec<T>, FormatError> {
        let count = self.count()?;
        (0..count).map(|_| one(self)).collect()
    }

    fn flag(&mut self) -> Result<bool, FormatError> {
        Ok(self.number()? != 0)
    }

    fn text(&mut self) -> Result<&'a str, FormatError> {
        let at = self.number()?;
        self.strings.get(at).copied().ok_or(FormatError)
    }

    fn owned(&mut self) -> Result<String, FormatError> {
        self.text().map(str::to_owned)
    }

    fn texts(&mut self) -> Result<Vec<String>, FormatError> {
        self.many(Self::owned)
    }

    fn presence(&mut self) -> Result<Presence, FormatError> {
        Ok(match self.number()? {
            0 => Presence::WhenSet,
            1 => Presence::UnlessZero,
            2 => Presence::Always,
            3 => Presence::OrNull,
            _ => return Err(FormatError),
        })
    }

    fn group(&mut self) -> Result<GroupRecord, FormatError> {
        Ok(GroupRecord {
            name: self.owned()?,
            versions: self.many(|reader| {
                Ok(VersionRecord { name: reader.owned()?, resources: reader.many(Self::resource)? })
            })?,
        })
    }

    fn resource(&mut self) -> Result<ResourceRecord, FormatError> {
        Ok(ResourceRecord {
            name: self.owned()?,
            singular: self.owned()?,
            kind_group: self.owned()?,
            kind_version: self.owned()?,
            kind: self.owned()?,
            storage_hash: self.owned()?,
            storage_group: self.owned()?,
            storage_version: self.owned()?,
            namespaced: self.flag()?,
            verbs: self.texts()?,
            short_names: self.texts()?,
            categories: self.texts()?,
        })
    }

    fn definition(&mut self) -> Result<Definition, FormatError> {
        let name = self.owned()?;
        let kinds =
            self.many(|reader| reader.texts()?.try_into().map_err(|_: Vec<String>| FormatError))?;
        Ok(Definition { name, kinds, node: self.node()? })
    }

    fn node(&mut self) -> Result<Node, FormatError> {
        let present = self.number()?;
        let mut text = |bit: usize| {
            if present & (1 << bit) == 0 { Ok(String::new()) } else { self.owned() }
        };
        let mut node = Node {
            format: text(0)?,
            default: text(1)?,
            list_type: text(2)?,
            map_type: text(3)?,
            patch_strategy: text(4)?,
            patch_merge_key: text(5)?,
            extra: text(6)?,
            ..Node::default()
        };
        if present & (1 << 7) != 0 {
            node.choices = self.texts()?;
        }
        if present & (1 << 8) != 0 {
            node.list_keys = self.texts()?;
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(FormatError);
        }
        node.shape = self.shape()?;
        self.depth -= 1;
        Ok(node)
    }

    fn shape(&mut self) -> Result<Shape, FormatError> {
        Ok(match self.number()? {
            0 => Shape::Any,
            1 => Shape::Object,
            2 => Shape::String,
            3 => Shape::Integer,
            4 => Shape::Number,
            5 => Shape::Boolean,
            6 => Shape::List(Box::new(self.node()?)),
            7 => Shape::Map(Box::new(self.node()?)),
            8 => Shape::Struct(self.many(|reader| {
                Ok(FieldRecord {
                    name: reader.owned()?,
                    required: reader.flag()?,
                    presence: reader.presence()?,
                    go_type: reader.owned()?,
                    node: reader.node()?,
                })
            })?),
            9 => Shape::Ref(self.number()? as u32),
            _ => return Err(FormatError),
        })
    }
}
