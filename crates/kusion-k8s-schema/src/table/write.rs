//! From records to bytes: strings first, each once, then numbers that point at them.

use super::{Definition, GroupRecord, Node, ResourceRecord, Shape, Table, VersionRecord};
use crate::model::Presence;
use rustc_hash::FxHashMap;

/// Returns the bytes of a table, without descriptions.
pub fn write_table(table: &Table) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.number(table.groups.len());
    for group in &table.groups {
        writer.group(group);
    }
    writer.number(table.definitions.len());
    for definition in &table.definitions {
        writer.definition(definition);
    }
    writer.finish()
}

/// Returns the bytes of all descriptions in the order of [`Node::visit`].
pub fn write_descriptions(table: &Table) -> Vec<u8> {
    let mut writer = Writer::default();
    for definition in &table.definitions {
        definition.node.visit(&mut |node| writer.text(&node.description));
    }
    writer.finish()
}

#[derive(Default)]
struct Writer {
    strings: Vec<u8>,
    known: FxHashMap<String, usize>,
    body: Vec<u8>,
}

impl Writer {
    fn finish(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.strings.len() + self.body.len() + 8);
        put_number(&mut bytes, self.known.len());
        bytes.extend(self.strings);
        bytes.extend(self.body);
        bytes
    }

    fn number(&mut self, number: usize) {
        put_number(&mut self.body, number);
    }

    fn text(&mut self, text: &str) {
        let next = self.known.len();
        let at = match self.known.get(text) {
            Some(&at) => at,
            None => {
                put_number(&mut self.strings, text.len());
                self.strings.extend_from_slice(text.as_bytes());
                self.known.insert(text.to_owned(), next);
                next
            }
        };
        self.number(at);
    }

    fn texts(&mut self, texts: &[String]) {
        self.number(texts.len());
        for text in texts {
            self.text(text);
        }
    }

    fn group(&mut self, group: &GroupRecord) {
        self.text(&group.name);
        self.number(group.versions.len());
        for VersionRecord { name, resources } in &group.versions {
            self.text(name);
            self.number(resources.len());
            for resource in resources {
                self.resource(resource);
            }
        }
    }

    fn resource(&mut self, resource: &ResourceRecord) {
        for text in [
            &resource.name,
            &resource.singular,
            &resource.kind_group,
            &resource.kind_version,
            &resource.kind,
            &resource.storage_hash,
            &resource.storage_group,
            &resource.storage_version,
        ] {
            self.text(text);
        }
        self.number(usize::from(resource.namespaced));
        self.texts(&resource.verbs);
        self.texts(&resource.short_names);
        self.texts(&resource.categories);
    }

    fn definition(&mut self, definition: &Definition) {
        self.text(&definition.name);
        self.number(definition.kinds.len());
        for kind in &definition.kinds {
            self.texts(kind);
        }
        self.node(&definition.node);
    }

    fn node(&mut self, node: &Node) {
        let texts = [
            &node.format,
            &node.default,
            &node.list_type,
            &node.map_type,
            &node.patch_strategy,
            &node.patch_merge_key,
            &node.extra,
        ];
        let mut present = 0;
        for (bit, text) in texts.iter().enumerate() {
            present |= usize::from(!text.is_empty()) << bit;
        }
        present |= usize::from(!node.choices.is_empty()) << 7;
        present |= usize::from(!node.list_keys.is_empty()) << 8;
        self.number(present);
        for text in texts.iter().filter(|text| !text.is_empty()) {
            self.text(text);
        }
        if !node.choices.is_empty() {
            self.texts(&node.choices);
        }
        if !node.list_keys.is_empty() {
            self.texts(&node.list_keys);
        }
        self.shape(&node.shape);
    }

    fn shape(&mut self, shape: &Shape) {
        match shape {
            Shape::Any => self.number(0),
            Shape::Object => self.number(1),
            Shape::String => self.number(2),
            Shape::Integer => self.number(3),
            Shape::Number => self.number(4),
            Shape::Boolean => self.number(5),
            Shape::List(item) => {
                self.number(6);
                self.node(item);
            }
            Shape::Map(item) => {
                self.number(7);
                self.node(item);
            }
            Shape::Struct(fields) => {
                self.number(8);
                self.number(fields.len());
                for field in fields {
                    self.text(&field.name);
                    self.number(usize::from(field.required));
                    self.number(match field.presence {
                        Presence::WhenSet => 0,
                        Presence::UnlessZero => 1,
                        Presence::Always => 2,
                        Presence::OrNull => 3,
                    });
                    self.text(&field.go_type);
                    self.node(&field.node);
                }
            }
            Shape::Ref(at) => {
                self.number(9);
                self.number(*at as usize);
            }
        }
    }
}

/// Appends a number, seven bits a byte, low bits first.
fn put_number(bytes: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}
