//! Messages of Protocol Buffers (proto2 and proto3).

use crate::ImportError;
use crate::model::{Attribute, Model, Schema, Ty};
use crate::names::{file_name, schema_name};
use crate::scan::{Kind, Token, Tokens};
use kcl_data::string_text;
use std::collections::{HashMap, HashSet};

/// Messages may be nested this deep.
const MAX_DEPTH: usize = 64;

/// The messages and enumerations of files.
#[derive(Default)]
pub(crate) struct Messages {
    messages: Vec<Message>,
    /// The names of enumerations.
    enums: HashMap<String, Vec<String>>,
}

impl Messages {
    /// Reads a file. An enumeration is the union of its names, as in the JSON form of messages.
    pub(crate) fn read(&mut self, text: &str) -> Result<(), ImportError> {
        let n_before = self.messages.len() + self.enums.len();
        let mut reader = Reader { tokens: Tokens::new(text, false)?, found: self };
        while let Some(token) = reader.tokens.next() {
            match token.text {
                "message" => reader.message("", &token.doc, 0)?,
                "enum" => reader.enumeration("")?,
                "service" | "extend" => reader.tokens.skip_past("{"),
                "}" | ";" => {}
                _ => reader.tokens.skip_past(";"),
            }
        }
        if self.messages.len() + self.enums.len() == n_before {
            return Err(ImportError::Whole("there is no message".into()));
        }
        Ok(())
    }

    /// Turns all messages into schemas.
    pub(crate) fn write(self, model: &mut Model) {
        let mut names: HashMap<&str, String> = HashMap::new();
        for message in &self.messages {
            // Of a message that is there twice, the first one counts.
            if !names.contains_key(message.path.as_str()) {
                let name = schema_name(&message.path.replace('.', "_"));
                names.insert(&message.path, model.unique(&[], &name));
            }
        }
        let mut done = HashSet::new();
        for message in self.messages.iter().filter(|it| done.insert(it.path.as_str())) {
            let top = message.path.split('.').next().unwrap_or_default();
            let mut schema = Schema {
                name: names[message.path.as_str()].clone(),
                file: file_name(top),
                doc: message.doc.clone(),
                ..Schema::default()
            };
            let mut seen = HashSet::new();
            for field in message.fields.iter().filter(|field| seen.insert(field.name.as_str())) {
                let ty = self.ty(&field.ty, &message.path, &names, &mut model.warnings);
                schema.attributes.push(Attribute {
                    name: field.name.clone(),
                    ty: match field.shape {
                        Shape::Single => ty,
                        Shape::List => Ty::List(Box::new(ty)),
                        Shape::Dict => Ty::Dict(Box::new(ty)),
                    },
                    is_optional: !field.is_required,
                    default: None,
                    doc: field.doc.clone(),
                });
            }
            model.add(&[], schema);
        }
    }

    fn ty(
        &self,
        name: &str,
        around: &str,
        names: &HashMap<&str, String>,
        warnings: &mut Vec<String>,
    ) -> Ty {
        match name {
            "double" | "float" => return Ty::Float,
            "int32" | "int64" | "uint32" | "uint64" | "sint32" | "sint64" | "fixed32"
            | "fixed64" | "sfixed32" | "sfixed64" => return Ty::Int,
            "bool" => return Ty::Bool,
            "string" | "bytes" => return Ty::Str,
            _ => {}
        }
        if let Some(name) = name.strip_prefix("google.protobuf.") {
            return match name {
                "Timestamp" | "Duration" | "FieldMask" | "StringValue" | "BytesValue" => Ty::Str,
                "BoolValue" => Ty::Bool,
                "Int32Value" | "Int64Value" | "UInt32Value" | "UInt64Value" => Ty::Int,
                "FloatValue" | "DoubleValue" => Ty::Float,
                "Struct" => Ty::Dict(Box::new(Ty::Any)),
                "ListValue" => Ty::List(Box::new(Ty::Any)),
                _ => Ty::Any,
            };
        }
        // The innermost message around a field is searched first; a package may come before.
        let mut scope = Some(around);
        while let Some(path) = scope {
            if let Some(ty) = self.named(&format!("{path}.{name}"), names) {
                return ty;
            }
            scope = path.rsplit_once('.').map(|(outer, _)| outer);
        }
        let mut rest = Some(name);
        while let Some(path) = rest {
            if let Some(ty) = self.named(path, names) {
                return ty;
            }
            rest = path.split_once('.').map(|(_, inner)| inner);
        }
        warnings.push(format!("the type `{name}` is not in the file: any value"));
        Ty::Any
    }

    fn named(&self, path: &str, names: &HashMap<&str, String>) -> Option<Ty> {
        if let Some(name) = names.get(path) {
            return Some(Ty::Ref(Vec::new(), name.clone()));
        }
        let names = self.enums.get(path)?;
        Some(Ty::union(names.iter().map(|name| Ty::Lit(string_text(name))).collect()))
    }
}

/// A message as it is written.
struct Message {
    /// Its name with those of the messages around it, `Outer.Inner`.
    path: String,
    doc: String,
    fields: Vec<Field>,
}

struct Field {
    name: String,
    doc: String,
    /// The name of the type, as written.
    ty: String,
    shape: Shape,
    is_required: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Single,
    List,
    Dict,
}

struct Reader<'t, 'f> {
    tokens: Tokens<'t>,
    found: &'f mut Messages,
}

impl<'t> Reader<'t, '_> {
    fn message(&mut self, around: &str, doc: &str, depth: usize) -> Result<(), ImportError> {
        let name = self.tokens.word("the name of a message")?;
        if depth > MAX_DEPTH {
            return Err(self.tokens.fail("messages that are nested less deeply"));
        }
        let path =
            if around.is_empty() { name.text.into() } else { format!("{around}.{}", name.text) };
        self.tokens.expect("{")?;
        let at = self.found.messages.len();
        self.found.messages.push(Message {
            path: path.clone(),
            doc: doc.to_owned(),
            fields: Vec::new(),
        });
        let fields = self.fields(&path, depth)?;
        self.found.messages[at].fields = fields;
        Ok(())
    }

    /// Reads what is inside of the braces of a message or `oneof`.
    fn fields(&mut self, path: &str, depth: usize) -> Result<Vec<Field>, ImportError> {
        let mut fields = Vec::new();
        loop {
            let Some(token) = self.tokens.next() else { return Err(self.tokens.fail("`}`")) };
            match token.text {
                "}" if token.kind == Kind::Sign => return Ok(fields),
                ";" => {}
                "message" => self.message(path, &token.doc, depth + 1)?,
                "enum" => self.enumeration(path)?,
                "oneof" => {
                    self.tokens.word("the name of a oneof")?;
                    self.tokens.expect("{")?;
                    if depth > MAX_DEPTH {
                        return Err(self.tokens.fail("blocks that are nested less deeply"));
                    }
                    fields.extend(self.fields(path, depth + 1)?);
                }
                "option" | "reserved" | "extensions" => self.tokens.skip_past(";"),
                "extend" | "group" => self.tokens.skip_past("{"),
                _ if token.kind == Kind::Word || token.text == "." => {
                    fields.push(self.field(&token)?);
                }
                _ => return Err(self.tokens.fail("a field")),
            }
        }
    }

    fn field(&mut self, first: &Token<'t>) -> Result<Field, ImportError> {
        let mut field = Field {
            name: String::new(),
            doc: first.doc.clone(),
            ty: String::new(),
            shape: Shape::Single,
            is_required: false,
        };
        match first.text {
            "repeated" => {
                field.shape = Shape::List;
                field.ty = self.type_name("")?;
            }
            "optional" => field.ty = self.type_name("")?,
            "required" => {
                field.is_required = true;
                field.ty = self.type_name("")?;
            }
            "map" if self.tokens.take("<") => {
                self.tokens.word("the type of keys")?;
                self.tokens.expect(",")?;
                field.shape = Shape::Dict;
                field.ty = self.type_name("")?;
                self.tokens.expect(">")?;
            }
            start => field.ty = self.type_name(start)?,
        }
        let name = self.tokens.word("the name of a field")?;
        let mut json_name = None;
        self.tokens.expect("=")?;
        self.tokens.word("the number of a field")?;
        if self.tokens.take("[") {
            // The option `json_name` is the name in data.
            while let Some(token) = self.tokens.next() {
                match token.text {
                    "]" if token.kind == Kind::Sign => break,
                    "json_name" if self.tokens.take("=") => {
                        json_name = self.tokens.next().map(|it| it.text.to_owned());
                    }
                    _ => {}
                }
            }
        }
        self.tokens.expect(";")?;
        field.name = json_name.unwrap_or_else(|| name.text.to_owned());
        Ok(field)
    }

    /// Reads a dotted name.
    fn type_name(&mut self, start: &str) -> Result<String, ImportError> {
        let mut name = match start {
            "" => {
                self.tokens.take(".");
                self.tokens.word("a type")?.text.to_owned()
            }
            "." => self.tokens.word("a type")?.text.to_owned(),
            start => start.to_owned(),
        };
        while self.tokens.take(".") {
            name.push('.');
            name.push_str(self.tokens.word("a part of a name")?.text);
        }
        Ok(name)
    }

    fn enumeration(&mut self, around: &str) -> Result<(), ImportError> {
        let name = self.tokens.word("the name of an enum")?;
        let path =
            if around.is_empty() { name.text.into() } else { format!("{around}.{}", name.text) };
        self.tokens.expect("{")?;
        let mut names = Vec::new();
        loop {
            let Some(token) = self.tokens.next() else { return Err(self.tokens.fail("`}`")) };
            match token.text {
                "}" if token.kind == Kind::Sign => break,
                "option" | "reserved" => self.tokens.skip_past(";"),
                _ if token.kind == Kind::Word => {
                    names.push(token.text.to_owned());
                    self.tokens.skip_past(";");
                }
                _ => {}
            }
        }
        self.found.enums.insert(path, names);
        Ok(())
    }
}
