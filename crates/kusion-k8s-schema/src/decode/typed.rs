//! From a document to an object of a built-in type, as a server would hold it.
//!
//! Unknown fields are left out and named, `null` is a missing value, zero values that a server
//! does not write are left out, those it always writes are filled in, and texts with one usual
//! form (times, quantities) get it.

use super::Finding;
use super::tree::{Tree, number, push_index, push_key};
use crate::model::{Field, Listing, Mapping, Presence, Scalar, Struct, Type, TypeId, TypeTable};
use crate::quantity::{QUANTITY_MESSAGE, canonical_quantity};
use crate::time::{canonical_micro_time, canonical_time};
use serde_json::{Map, Value};

/// Types a document; the error is the first value that does not fit.
pub(super) fn convert(
    table: &TypeTable,
    ty: TypeId,
    tree: Tree,
) -> Result<(Value, Vec<Finding>), String> {
    typed(table, ty, tree, false)
}

/// Types a document in which whole numbers may be written as `2.0`.
pub(super) fn convert_applied(
    table: &TypeTable,
    ty: TypeId,
    tree: Tree,
) -> Result<(Value, Vec<Finding>), String> {
    typed(table, ty, tree, true)
}

fn typed(
    table: &TypeTable,
    ty: TypeId,
    tree: Tree,
    whole_floats: bool,
) -> Result<(Value, Vec<Finding>), String> {
    let mut typing = Typing {
        table,
        whole_floats,
        path: String::new(),
        go_path: String::new(),
        go_struct: "",
        findings: Vec::new(),
        error: None,
    };
    let value = typing.value(tree, ty, "");
    match typing.error {
        Some(error) => Err(error),
        None => Ok((value, typing.findings)),
    }
}

/// Returns what a server writes for a value that was never set.
pub(super) fn zero(table: &TypeTable, ty: TypeId) -> Value {
    match table.get(ty) {
        Type::Any | Type::Map(_) | Type::List(_) => Value::Null,
        Type::Scalar(scalar) => match scalar {
            Scalar::String | Scalar::Bytes => "".into(),
            Scalar::Time | Scalar::MicroTime => Value::Null,
            Scalar::Integer | Scalar::Int32 | Scalar::Number | Scalar::IntOrString => 0.into(),
            Scalar::Boolean => false.into(),
            Scalar::Quantity => "0".into(),
        },
        Type::Struct(shape) => {
            let mut object = Map::new();
            fill(table, shape, &mut object);
            Value::Object(object)
        }
    }
}

/// Fills in the fields that a server always writes.
fn fill(table: &TypeTable, shape: &Struct, object: &mut Map<String, Value>) {
    for field in &shape.fields {
        let missing = match field.presence {
            Presence::Always => zero(table, field.ty),
            Presence::OrNull => Value::Null,
            Presence::WhenSet | Presence::UnlessZero => continue,
        };
        if !object.contains_key(&*field.name) {
            object.insert(field.name.to_string(), missing);
        }
    }
}

struct Typing<'t> {
    table: &'t TypeTable,
    /// Whether `2.0` is a whole number.
    whole_floats: bool,
    /// Where we are, with places in lists and keys of maps.
    path: String,
    /// Where we are, with names of fields only.
    go_path: String,
    /// The struct we are in.
    go_struct: &'t str,
    findings: Vec<Finding>,
    error: Option<String>,
}

impl<'t> Typing<'t> {
    fn value(&mut self, tree: Tree, ty: TypeId, go: &str) -> Value {
        let table = self.table;
        if matches!(tree, Tree::Null) {
            return zero(table, ty);
        }
        match table.get(ty) {
            Type::Any => tree.into_value(),
            Type::Scalar(scalar) => self.scalar(tree, *scalar, go),
            Type::Struct(shape) => self.object(tree, shape),
            Type::Map(mapping) => self.map(tree, *mapping, go),
            Type::List(listing) => self.list(tree, listing, go),
        }
    }

    fn object(&mut self, tree: Tree, shape: &'t Struct) -> Value {
        let Tree::Object(entries) = tree else {
            let mut words = shape.name.rsplit('.');
            let (name, package) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
            return self.mismatch(tree.kind(), &format!("{package}.{name}"));
        };
        let outer = std::mem::replace(&mut self.go_struct, short_name(&shape.name));
        let mut object = Map::new();
        let mut seen = vec![false; shape.fields.len()];
        let (path, go_path) = (self.path.len(), self.go_path.len());
        for (key, item) in entries {
            push_key(&mut self.path, &key);
            match shape.fields.binary_search_by(|field| (*field.name).cmp(&*key)) {
                Err(_) => self.find(Finding::Unknown),
                Ok(at) => {
                    if std::mem::replace(&mut seen[at], true) {
                        self.find(Finding::Duplicate);
                    }
                    push_key(&mut self.go_path, &key);
                    self.field(&mut object, &shape.fields[at], item);
                    self.go_path.truncate(go_path);
                }
            }
            self.path.truncate(path);
        }
        fill(self.table, shape, &mut object);
        self.go_struct = outer;
        Value::Object(object)
    }

    fn field(&mut self, object: &mut Map<String, Value>, field: &'t Field, item: Tree) {
        if matches!(item, Tree::Null) {
            object.remove(&*field.name);
            return;
        }
        let value = self.value(item, field.ty, &field.go_type);
        if field.presence == Presence::UnlessZero && is_zero(&value) {
            object.remove(&*field.name);
        } else {
            object.insert(field.name.to_string(), value);
        }
    }

    fn map(&mut self, tree: Tree, mapping: Mapping, go: &str) -> Value {
        let Tree::Object(entries) = tree else {
            return self.mismatch(tree.kind(), go);
        };
        let inner = go.split_once(']').map_or("", |(_, inner)| inner);
        let path = self.path.len();
        let mut object = Map::new();
        for (key, item) in entries {
            push_key(&mut self.path, &key);
            if object.contains_key(&*key) {
                self.find(Finding::Duplicate);
            }
            let value = self.value(item, mapping.element, inner);
            object.insert(key.into_owned(), value);
            self.path.truncate(path);
        }
        Value::Object(object)
    }

    fn list(&mut self, tree: Tree, listing: &Listing, go: &str) -> Value {
        let Tree::Array(items) = tree else {
            return self.mismatch(tree.kind(), go);
        };
        let inner = go.strip_prefix("[]").unwrap_or("");
        let path = self.path.len();
        let mut list = Vec::with_capacity(items.len());
        for (at, item) in items.into_iter().enumerate() {
            push_index(&mut self.path, at);
            list.push(self.value(item, listing.element, inner));
            self.path.truncate(path);
        }
        Value::Array(list)
    }

    fn scalar(&mut self, tree: Tree, scalar: Scalar, go: &str) -> Value {
        let name = |default| if go.is_empty() { default } else { go };
        match (scalar, tree) {
            (Scalar::String | Scalar::IntOrString, Tree::String(text)) => Value::String(text),
            (Scalar::String, other) => self.mismatch(other.kind(), name("string")),
            (Scalar::Bytes, Tree::String(text)) => match base64_error(text.as_bytes()) {
                None => Value::String(canonical_base64(text)),
                Some(at) => self.fail(format!("illegal base64 data at input byte {at}")),
            },
            (Scalar::Bytes, other) => self.mismatch(other.kind(), "[]uint8"),
            (Scalar::Time, Tree::String(text)) => self.text(canonical_time(&text)),
            (Scalar::MicroTime, Tree::String(text)) => self.text(canonical_micro_time(&text)),
            (Scalar::Time | Scalar::MicroTime, other) => self.mismatch(other.kind(), "string"),
            (Scalar::Boolean, Tree::Bool(flag)) => flag.into(),
            (Scalar::Boolean, other) => self.mismatch(other.kind(), name("bool")),
            (Scalar::Int32 | Scalar::IntOrString, Tree::Number(text)) => {
                match self.whole(&text).and_then(|whole| i32::try_from(whole).ok()) {
                    Some(whole) => whole.into(),
                    None => self.mismatch(&format!("number {text}"), name("int32")),
                }
            }
            (Scalar::Integer, Tree::Number(text)) => match self.whole(&text) {
                Some(whole) => whole.into(),
                None => self.mismatch(&format!("number {text}"), name("int64")),
            },
            (Scalar::Number, Tree::Number(text)) => number(&text),
            (Scalar::IntOrString, other) => self.mismatch(other.kind(), "int32"),
            (Scalar::Int32, other) => self.mismatch(other.kind(), name("int32")),
            (Scalar::Integer, other) => self.mismatch(other.kind(), name("int64")),
            (Scalar::Number, other) => self.mismatch(other.kind(), name("float64")),
            (Scalar::Quantity, Tree::String(text)) => {
                self.text(canonical_quantity(text.trim()).ok_or(QUANTITY_MESSAGE.to_owned()))
            }
            (Scalar::Quantity, Tree::Number(text)) => {
                self.text(canonical_quantity(&text).ok_or(QUANTITY_MESSAGE.to_owned()))
            }
            (Scalar::Quantity, _) => self.fail(QUANTITY_MESSAGE.to_owned()),
        }
    }

    /// Reads a whole number as it is written.
    fn whole(&self, text: &str) -> Option<i64> {
        let digits = match text.split_once('.') {
            Some((digits, "0")) if self.whole_floats => digits,
            _ => text,
        };
        digits.parse().ok()
    }

    fn text(&mut self, text: Result<String, String>) -> Value {
        match text {
            Ok(text) => Value::String(text),
            Err(message) => self.fail(message),
        }
    }

    fn mismatch(&mut self, found: &str, expected: &str) -> Value {
        let (owner, path) = (self.go_struct, &self.go_path);
        self.fail(if path.is_empty() {
            format!("json: cannot unmarshal {found} into Go value of type {expected}")
        } else {
            format!("json: cannot unmarshal {found} into Go struct field {owner}.{path} of type {expected}")
        })
    }

    fn fail(&mut self, message: String) -> Value {
        self.error.get_or_insert(message);
        Value::Null
    }

    fn find(&mut self, make: fn(String) -> Finding) {
        super::note(&mut self.findings, make, &self.path);
    }
}

fn short_name(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
    }
}

/// Returns valid base64 in its usual form: without line breaks and stray bits at the end.
fn canonical_base64(text: String) -> String {
    use data_encoding::BASE64;
    if BASE64.decode_len(text.len()).is_ok() && BASE64.decode(text.as_bytes()).is_ok() {
        return text;
    }
    let mut spec = BASE64.specification();
    spec.check_trailing_bits = false;
    spec.ignore.push_str("\r\n");
    let bytes = spec.encoding().ok().and_then(|lenient| lenient.decode(text.as_bytes()).ok());
    bytes.map_or(text, |bytes| BASE64.encode(&bytes))
}

/// Returns where a text stops being base64.
fn base64_error(text: &[u8]) -> Option<usize> {
    let mut in_quad = 0;
    let mut padding = 0;
    let mut start = 0;
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            b'\n' | b'\r' => continue,
            b'=' if in_quad >= 2 => padding += 1,
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' if padding == 0 => {}
            _ => return Some(at),
        }
        if in_quad == 0 {
            start = at;
        }
        in_quad = (in_quad + 1) % 4;
        if in_quad == 0 && padding > 0 {
            let rest = text[at + 1..].iter().position(|byte| !matches!(byte, b'\n' | b'\r'));
            return rest.map(|rest| at + 1 + rest);
        }
    }
    (in_quad != 0).then_some(start)
}

#[cfg(test)]
mod tests {
    use super::{base64_error, canonical_base64};

    #[test]
    fn base64_has_one_form() {
        for (given, stored) in
            [("YWJj", "YWJj"), ("YWJj\n", "YWJj"), ("YW\r\nJj", "YWJj"), ("YWJjZF==", "YWJjZA==")]
        {
            assert_eq!(canonical_base64(given.to_owned()), stored);
        }
    }

    #[test]
    fn base64_is_checked() {
        for good in ["", "aGk=", "aGkh", "aA==", "aGkh\naGk="] {
            assert_eq!(base64_error(good.as_bytes()), None, "{good}");
        }
        assert_eq!(base64_error(b"%%%"), Some(0));
        assert_eq!(base64_error(b"aGk"), Some(0));
        assert_eq!(base64_error(b"aGkhaG"), Some(4));
        assert_eq!(base64_error(b"a==="), Some(1));
    }
}
