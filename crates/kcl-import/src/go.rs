//! Structs of Go, with the names of their `json` tags.

use crate::ImportError;
use crate::model::{Attribute, Model, Schema, Ty};
use crate::names::{file_name, schema_name};
use crate::scan::{Kind, Token, Tokens};
use std::collections::{HashMap, HashSet};

/// Types may be nested this deep.
const MAX_DEPTH: usize = 64;

/// The structs of files.
#[derive(Default)]
pub(crate) struct Structs {
    structs: Vec<Struct>,
    /// Other types with names.
    aliases: HashMap<String, GoType>,
}

impl Structs {
    /// Reads the structs of a file. Methods, functions, variables and constants are left out.
    pub(crate) fn read(&mut self, text: &str) -> Result<(), ImportError> {
        let n_before = self.structs.len();
        let mut reader = Reader { tokens: Tokens::new(text, true)?, found: self };
        reader.file()?;
        if self.structs.len() == n_before {
            return Err(ImportError::Whole("there is no struct".into()));
        }
        Ok(())
    }

    /// Turns all structs into schemas.
    pub(crate) fn write(self, model: &mut Model) {
        let mut names: HashMap<&str, String> = HashMap::new();
        for one in &self.structs {
            // Of a struct that is there twice, the first one counts.
            if !names.contains_key(one.name.as_str()) {
                names.insert(&one.name, model.unique(&[], &schema_name(&one.name)));
            }
        }
        let writer = Writer { found: &self, names };
        let mut done = HashSet::new();
        for one in self.structs.iter().filter(|one| done.insert(one.name.as_str())) {
            let mut schema = Schema {
                name: writer.names[one.name.as_str()].clone(),
                file: file_name(&one.name),
                doc: one.doc.clone(),
                ..Schema::default()
            };
            let mut seen = HashSet::new();
            writer.add_fields(one, &mut schema, &mut seen, 0, &mut model.warnings);
            model.add(&[], schema);
        }
    }
}

/// A type as it is written.
#[derive(Clone, Debug)]
enum GoType {
    Named(String),
    List(Box<GoType>),
    Map(Box<GoType>),
    Pointer(Box<GoType>),
    Any,
}

struct Struct {
    name: String,
    doc: String,
    fields: Vec<Field>,
}

struct Field {
    /// The name in data; `None` for a struct whose fields count as own ones.
    name: Option<String>,
    ty: GoType,
    is_optional: bool,
    doc: String,
}

struct Reader<'t, 'f> {
    tokens: Tokens<'t>,
    found: &'f mut Structs,
}

impl<'t> Reader<'t, '_> {
    /// Reads a whole file.
    fn file(&mut self) -> Result<(), ImportError> {
        while let Some(token) = self.tokens.next() {
            match token.text {
                "type" if token.kind == Kind::Word => {
                    if self.tokens.take("(") {
                        self.group()?;
                    } else {
                        self.declaration(&token.doc)?;
                    }
                }
                "func" => {
                    while let Some(next) = self.tokens.next() {
                        if next.kind == Kind::Line {
                            break;
                        }
                        if next.text == "{" && next.kind == Kind::Sign {
                            self.tokens.skip_to("{", "}");
                        }
                    }
                }
                "{" if token.kind == Kind::Sign => self.tokens.skip_to("{", "}"),
                "(" if token.kind == Kind::Sign => self.tokens.skip_to("(", ")"),
                _ => {}
            }
        }
        Ok(())
    }

    /// Reads `type ( … )`.
    fn group(&mut self) -> Result<(), ImportError> {
        loop {
            match self.tokens.peek().cloned() {
                None => return Err(self.tokens.fail("`)`")),
                Some(token) if token.kind == Kind::Line => drop(self.tokens.next()),
                Some(_) if self.tokens.take(")") => return Ok(()),
                Some(token) => self.declaration(&token.doc)?,
            }
        }
    }

    fn declaration(&mut self, doc: &str) -> Result<(), ImportError> {
        let name = self.tokens.word("the name of a type")?.text.to_owned();
        if self.tokens.take("[") {
            // Parameters of a generic type.
            self.tokens.skip_to("[", "]");
        }
        self.tokens.take("=");
        if self.tokens.take("struct") {
            self.tokens.expect("{")?;
            self.structure(&name, doc, 0)
        } else {
            let ty = self.ty(&name, 0)?;
            self.found.aliases.insert(name, ty);
            Ok(())
        }
    }

    /// Reads the fields of a struct, whose brace was taken.
    fn structure(&mut self, name: &str, doc: &str, depth: usize) -> Result<(), ImportError> {
        let at = self.found.structs.len();
        self.found.structs.push(Struct {
            name: name.to_owned(),
            doc: doc.to_owned(),
            fields: Vec::new(),
        });
        let mut fields = Vec::new();
        loop {
            let Some(token) = self.tokens.peek().cloned() else {
                return Err(self.tokens.fail("`}`"));
            };
            if token.kind == Kind::Line {
                self.tokens.next();
            } else if self.tokens.take("}") {
                break;
            } else {
                self.fields(name, &token, &mut fields, depth)?;
            }
        }
        self.found.structs[at].fields = fields;
        Ok(())
    }

    /// Reads one line of a struct.
    fn fields(
        &mut self,
        around: &str,
        first: &Token<'t>,
        out: &mut Vec<Field>,
        depth: usize,
    ) -> Result<(), ImportError> {
        let mut names: Vec<String> = Vec::new();
        let ty = if self.tokens.take("*") {
            self.ty(around, depth)?
        } else {
            let name = self.tokens.word("a field")?;
            let is_embedded = self.is_end_of_field() || self.tokens.is(".");
            if is_embedded {
                GoType::Named(self.qualified(name.text)?)
            } else {
                names.push(name.text.to_owned());
                while self.tokens.take(",") {
                    names.push(self.tokens.word("the name of a field")?.text.to_owned());
                }
                let inner = format!("{around}{}", names[0]);
                self.ty(&inner, depth)?
            }
        };
        let mut tag = None;
        if self.tokens.peek().is_some_and(|token| token.kind == Kind::Text) {
            tag = self.tokens.next().and_then(|token| json_tag(token.text));
        }
        if !self.is_end_of_field() {
            return Err(self.tokens.fail("the end of the field"));
        }
        let (tag_name, options) = tag.unwrap_or_default();
        if tag_name == "-" && options.is_empty() {
            return Ok(());
        }
        let is_pointer = matches!(ty, GoType::Pointer(_));
        let is_optional = is_pointer
            || options.iter().any(|it| it == "omitempty" || it == "omitzero")
            || first.doc.lines().any(|line| line.trim() == "+optional");
        let doc: Vec<&str> =
            first.doc.lines().filter(|line| !line.trim_start().starts_with('+')).collect();
        let doc = doc.join("\n");
        if names.is_empty() {
            let is_inline = tag_name.is_empty();
            let name = (!is_inline).then(|| tag_name.clone());
            out.push(Field { name, ty, is_optional, doc });
            return Ok(());
        }
        for name in names {
            // Fields that start with a small letter are not part of data.
            if name.starts_with(|it: char| it.is_uppercase()) {
                let name = if tag_name.is_empty() { name } else { tag_name.clone() };
                let (ty, doc) = (ty.clone(), doc.clone());
                out.push(Field { name: Some(name), ty, is_optional, doc });
            }
        }
        Ok(())
    }

    fn is_end_of_field(&self) -> bool {
        match self.tokens.peek() {
            None => true,
            Some(token) => match token.kind {
                Kind::Line | Kind::Text => true,
                _ => token.text == "}" || token.text == ";",
            },
        }
    }

    fn qualified(&mut self, start: &str) -> Result<String, ImportError> {
        let mut name = start.to_owned();
        while self.tokens.take(".") {
            name.push('.');
            name.push_str(self.tokens.word("a name")?.text);
        }
        if self.tokens.is("[") {
            self.tokens.take("[");
            self.tokens.skip_to("[", "]");
        }
        Ok(name)
    }

    fn ty(&mut self, around: &str, depth: usize) -> Result<GoType, ImportError> {
        if depth > MAX_DEPTH {
            return Err(self.tokens.fail("types that are nested less deeply"));
        }
        if self.tokens.take("*") {
            return Ok(GoType::Pointer(Box::new(self.ty(around, depth + 1)?)));
        }
        if self.tokens.take("[") {
            if !self.tokens.take("]") {
                self.tokens.skip_to("[", "]");
            }
            return Ok(GoType::List(Box::new(self.ty(around, depth + 1)?)));
        }
        let word = self.tokens.word("a type")?;
        match word.text {
            "map" => {
                self.tokens.expect("[")?;
                self.tokens.skip_to("[", "]");
                Ok(GoType::Map(Box::new(self.ty(around, depth + 1)?)))
            }
            "struct" => {
                self.tokens.expect("{")?;
                self.structure(around, "", depth + 1)?;
                Ok(GoType::Named(around.to_owned()))
            }
            "interface" => {
                self.tokens.expect("{")?;
                self.tokens.skip_to("{", "}");
                Ok(GoType::Any)
            }
            "func" | "chan" => {
                while !self.is_end_of_field() {
                    self.tokens.next();
                }
                Ok(GoType::Any)
            }
            name => Ok(GoType::Named(self.qualified(name)?)),
        }
    }
}

struct Writer<'r> {
    found: &'r Structs,
    names: HashMap<&'r str, String>,
}

impl Writer<'_> {
    fn add_fields(
        &self,
        one: &Struct,
        schema: &mut Schema,
        seen: &mut HashSet<String>,
        depth: usize,
        warnings: &mut Vec<String>,
    ) {
        for field in &one.fields {
            let Some(name) = &field.name else {
                self.embed(one, field, schema, seen, depth, warnings);
                continue;
            };
            if seen.insert(name.clone()) {
                schema.attributes.push(Attribute {
                    name: name.clone(),
                    ty: self.ty(&field.ty, 0, warnings),
                    is_optional: field.is_optional,
                    default: None,
                    doc: field.doc.clone(),
                });
            }
        }
    }

    /// Adds the fields of an embedded struct.
    fn embed(
        &self,
        one: &Struct,
        field: &Field,
        schema: &mut Schema,
        seen: &mut HashSet<String>,
        depth: usize,
        warnings: &mut Vec<String>,
    ) {
        let GoType::Named(name) = &field.ty else { return };
        match self.found.structs.iter().find(|it| it.name == *name) {
            Some(inner) if depth < MAX_DEPTH => {
                self.add_fields(inner, schema, seen, depth + 1, warnings);
            }
            _ => {
                schema.other = Some(Ty::Any);
                let outer = &one.name;
                warnings
                    .push(format!("`{name}` in `{outer}` is not in the file: any further keys"));
            }
        }
    }

    fn ty(&self, ty: &GoType, depth: usize, warnings: &mut Vec<String>) -> Ty {
        if depth > MAX_DEPTH {
            return Ty::Any;
        }
        match ty {
            GoType::Any => Ty::Any,
            GoType::Pointer(inner) => self.ty(inner, depth + 1, warnings),
            GoType::List(item) => match &**item {
                // Bytes are a string in data.
                GoType::Named(name) if name == "byte" || name == "uint8" => Ty::Str,
                item => Ty::List(Box::new(self.ty(item, depth + 1, warnings))),
            },
            GoType::Map(value) => Ty::Dict(Box::new(self.ty(value, depth + 1, warnings))),
            GoType::Named(name) => match name.as_str() {
                "string" | "time.Time" | "metav1.Time" | "metav1.Duration" => Ty::Str,
                "bool" => Ty::Bool,
                "float32" | "float64" => Ty::Float,
                "int" | "int8" | "int16" | "int32" | "int64" | "uint" | "uint8" | "uint16"
                | "uint32" | "uint64" | "byte" | "rune" | "uintptr" | "time.Duration" => Ty::Int,
                "any" | "error" => Ty::Any,
                "intstr.IntOrString" => Ty::Union(vec![Ty::Int, Ty::Str]),
                name => {
                    if let Some(name) = self.names.get(name) {
                        return Ty::Ref(Vec::new(), name.clone());
                    }
                    if let Some(alias) = self.found.aliases.get(name) {
                        return self.ty(alias, depth + 1, warnings);
                    }
                    warnings.push(format!("the type `{name}` is not in the file: any value"));
                    Ty::Any
                }
            },
        }
    }
}

/// The name and options of the `json` tag of a field; those of `yaml` if there is none.
fn json_tag(tag: &str) -> Option<(String, Vec<String>)> {
    let value = ["json:\"", "yaml:\""].iter().find_map(|key| {
        let start = tag.find(key)? + key.len();
        tag[start..].split('"').next()
    })?;
    let mut parts = value.split(',').map(str::to_owned);
    let name = parts.next().unwrap_or_default();
    Some((name, parts.collect()))
}
