//! The types of the names of a program that stand for schemas, whole: types of attributes are written
//! out where they are used.

use crate::{AttributeDoc, DecoratorDoc, Docs, SchemaDoc, SchemaKind, TypeDoc};
use serde_json::{Map, Value, json};
use thiserror::Error;

/// How often a schema is written out inside itself.
const MAX_OCCURRENCES: usize = 3;

/// How many types may be written: schemas that use each other in many ways grow without bounds.
const MAX_TYPES: usize = 1_000_000;

/// Bases are followed this far.
const MAX_BASES: usize = 1_000;

/// More types than can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "the types of all schemas, written out, are more than {most}: name a schema, or use \
     `kcl export -m jsonschema`",
    most = MAX_TYPES
)]
pub struct TooLarge;

/// Writes the types of the schemas of the main package, and of its variables that hold instances, by
/// name; only those of `name` if it is given.
///
/// # Errors
///
/// If there are too many types.
pub fn write(docs: &Docs, name: Option<&str>) -> Result<Value, TooLarge> {
    let mut writer = Writer { docs, open: Vec::new(), n_types: 0 };
    let mut all = Map::new();
    for (known, (package, schema)) in &docs.typed_names {
        if name.is_none_or(|name| name == known) {
            all.insert(known.clone(), writer.schema(package, schema)?);
        }
    }
    Ok(Value::Object(all))
}

struct Writer<'d> {
    docs: &'d Docs,
    /// The schemas that are being written, the innermost last.
    open: Vec<&'d SchemaDoc>,
    n_types: usize,
}

impl<'d> Writer<'d> {
    fn schema(&mut self, package: &str, name: &str) -> Result<Value, TooLarge> {
        self.count()?;
        let mut out = json!({"type": "schema", "schema_name": name});
        let Some(schema) = self.docs.find(package, name) else { return Ok(out) };
        if !schema.description.is_empty() {
            out["schema_doc"] = schema.summary().into();
            out["description"] = schema.summary().into();
        }
        let n_open = self.open.iter().filter(|it| std::ptr::eq(**it, schema)).count();
        if n_open < MAX_OCCURRENCES {
            self.open.push(schema);
            self.write_body(schema, &mut out)?;
            self.open.pop();
        }
        Ok(out)
    }

    fn write_body(&mut self, schema: &'d SchemaDoc, out: &mut Value) -> Result<(), TooLarge> {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for (number, attribute) in self.numbered(schema) {
            let mut property = self.ty(&attribute.ty)?;
            property["line"] = number.into();
            match attribute.description.as_str() {
                "" => drop(property.as_object_mut().and_then(|it| it.remove("description"))),
                description => property["description"] = description.into(),
            }
            if let Some(default) = &attribute.default {
                property["default"] = default.as_str().into();
            }
            match decorators(&attribute.decorators) {
                Some(found) => property["decorators"] = found,
                None => drop(property.as_object_mut().and_then(|it| it.remove("decorators"))),
            }
            if !attribute.is_optional {
                required.push(Value::from(attribute.name.as_str()));
            }
            properties.insert(attribute.name.clone(), property);
        }
        if !properties.is_empty() {
            out["properties"] = Value::Object(properties);
        }
        if !required.is_empty() {
            out["required"] = Value::Array(required);
        }
        if let Some(found) = decorators(&schema.decorators) {
            out["decorators"] = found;
        }
        if !schema.examples.is_empty() {
            let example = json!({"summary": "", "description": "", "value": schema.examples});
            out["examples"] = json!({"Default example": example});
        }
        if let Some((_, base)) = &schema.base {
            out["base"] = base.as_str().into();
        }
        if let Some(index) = &schema.index_signature {
            out["index_signature"] = json!({
                "key_name": index.key_name.as_deref().unwrap_or_default(),
                "key": self.ty(&index.key)?,
                "val": self.ty(&index.value)?,
                "any_other": index.any_other,
            });
        }
        Ok(())
    }

    /// The attributes by name, with their places in the list of all: those of bases first, then its
    /// own, then those of mixins. The last of a name counts.
    fn numbered(&self, schema: &'d SchemaDoc) -> Vec<(usize, &'d AttributeDoc)> {
        let mut line = vec![schema];
        while let Some(last) = line.last()
            && let Some((package, name)) = &last.base
            && let Some(base) = self.docs.find(package, name)
            && line.len() < MAX_BASES
        {
            line.push(base);
        }
        let mut all: Vec<&AttributeDoc> = Vec::new();
        for schema in line.into_iter().rev().filter(|it| it.kind != SchemaKind::Rule) {
            all.extend(own(schema));
            let mixins = schema.mixins.iter();
            let mixins = mixins.filter_map(|(package, name)| self.docs.find(package, name));
            all.extend(mixins.flat_map(own));
        }
        let mut numbered: Vec<(usize, &AttributeDoc)> = Vec::new();
        for (at, attribute) in all.into_iter().enumerate() {
            numbered.retain(|(_, it)| it.name != attribute.name);
            numbered.push((at + 1, attribute));
        }
        numbered.sort_by(|(_, a), (_, b)| a.name.cmp(&b.name));
        numbered
    }

    fn ty(&mut self, ty: &TypeDoc) -> Result<Value, TooLarge> {
        if let TypeDoc::Schema { package, name } = ty {
            return self.schema(package, name);
        }
        self.count()?;
        Ok(match ty {
            TypeDoc::List(item) => json!({"type": "list", "item": self.ty(item)?}),
            TypeDoc::Dict(key, value) => {
                json!({"type": "dict", "key": self.ty(key)?, "item": self.ty(value)?})
            }
            TypeDoc::Union(types) => {
                let types: Result<Vec<Value>, TooLarge> =
                    types.iter().map(|it| self.ty(it)).collect();
                json!({"type": "union", "union": types?})
            }
            TypeDoc::Function(params, ret) => {
                let mut shown = Vec::new();
                for (name, ty) in params {
                    shown.push(json!({"name": name, "ty": self.ty(ty)?}));
                }
                let function = json!({"params": shown, "return": self.ty(ret)?});
                json!({"type": "function", "function": function})
            }
            ty => json!({"type": ty.to_string()}),
        })
    }

    fn count(&mut self) -> Result<(), TooLarge> {
        self.n_types += 1;
        if self.n_types > MAX_TYPES { Err(TooLarge) } else { Ok(()) }
    }
}

/// The attributes that a schema declares itself.
fn own(schema: &SchemaDoc) -> impl Iterator<Item = &AttributeDoc> {
    schema.attributes.iter().filter(|it| {
        let (package, name) = &it.declared_by;
        *package == schema.package && *name == schema.name
    })
}

fn decorators(found: &[DecoratorDoc]) -> Option<Value> {
    let found = found.iter().map(|it| {
        let kwargs: Map<String, Value> =
            it.kwargs.iter().map(|(name, text)| (name.clone(), text.as_str().into())).collect();
        json!({"name": it.name, "args": it.args, "kwargs": kwargs})
    });
    let found: Vec<Value> = found.collect();
    (!found.is_empty()).then_some(Value::Array(found))
}
