//! Reads the attributes of resources.

use base_text::nearest;
use kusion_model::{FieldPath, Problem};
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// Reads attributes, and collects what is wrong with them.
pub(crate) struct Reader<'a> {
    fields: &'a Map<String, Value>,
    pub(crate) problems: Vec<Problem>,
}

static EMPTY: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

impl<'a> Reader<'a> {
    /// Starts to read attributes, of which only those in `names` are known.
    pub(crate) fn new(attributes: &'a Value, names: &[&str]) -> Self {
        let mut reader = Self { fields: &EMPTY, problems: Vec::new() };
        let Some(fields) = attributes.as_object() else {
            reader.problems.push(Problem::new(FieldPath::default(), "attributes must be a map"));
            return reader;
        };
        reader.fields = fields;
        for name in fields.keys().filter(|it| !names.contains(&it.as_str())) {
            let suggestion = nearest(name, names.iter().copied()).map(str::to_owned);
            let path = FieldPath::default().key(name);
            let problem = Problem::new(path, format!("unknown attribute `{name}`"));
            reader.problems.push(Problem { suggestion, ..problem });
        }
        reader
    }

    /// Adds a problem of an attribute.
    pub(crate) fn add(&mut self, name: &str, message: impl Into<String>) {
        self.problems.push(Problem::new(FieldPath::default().key(name), message));
    }

    fn get(&self, name: &str) -> Option<&'a Value> {
        self.fields.get(name).filter(|it| !it.is_null())
    }

    /// Reads a string.
    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        let value = self.get(name)?;
        match value.as_str() {
            Some(text) if text.contains('\0') => {
                self.add(name, format!("`{name}` contains a null byte"));
                None
            }
            Some(text) => Some(text.to_owned()),
            None => {
                self.add(name, format!("`{name}` must be a string"));
                None
            }
        }
    }

    /// Reads a string that a rule accepts.
    pub(crate) fn text_if(
        &mut self,
        name: &str,
        expected: &str,
        is_valid: impl Fn(&str) -> bool,
    ) -> Option<String> {
        let text = self.text(name)?;
        if is_valid(&text) {
            return Some(text);
        }
        self.add(name, format!("invalid `{name}`: expected {expected}"));
        None
    }

    /// Reads a truth value.
    pub(crate) fn flag(&mut self, name: &str) -> Option<bool> {
        let value = self.get(name)?;
        if value.as_bool().is_none() {
            self.add(name, format!("`{name}` must be true or false"));
        }
        value.as_bool()
    }

    /// Reads a number from 0.
    pub(crate) fn number(&mut self, name: &str) -> Option<u64> {
        let value = self.get(name)?;
        if value.as_u64().is_none() {
            self.add(name, format!("`{name}` must be a whole number"));
        }
        value.as_u64()
    }

    /// Reads a list of strings.
    pub(crate) fn texts(&mut self, name: &str) -> Option<Vec<String>> {
        let value = self.get(name)?;
        let items = value.as_array().map(Vec::as_slice);
        let texts: Option<Vec<String>> =
            items.and_then(|it| it.iter().map(|it| it.as_str().map(str::to_owned)).collect());
        if texts.is_none() {
            self.add(name, format!("`{name}` must be a list of strings"));
        }
        texts
    }

    /// Reads the mode of a file, as four octal digits.
    pub(crate) fn mode(&mut self) -> Option<String> {
        let expected = "octal digits in quotes, such as \"0644\"";
        if self.get("mode").is_some_and(|it| !it.is_string()) {
            self.add("mode", format!("invalid `mode`: expected {expected}"));
            return None;
        }
        let text = self.text_if("mode", expected, |it| {
            (3..=4).contains(&it.len()) && it.bytes().all(|byte| (b'0'..=b'7').contains(&byte))
        })?;
        Some(format!("{text:0>4}"))
    }
}

/// Returns the mode that `ls -l` shows as four octal digits.
pub(crate) fn octal(shown: &str) -> Option<String> {
    let bytes = shown.as_bytes();
    if bytes.len() < 10 {
        return None;
    }
    let mut mode = 0_u32;
    for (place, byte) in bytes[1..10].iter().enumerate() {
        let bit = 0o400 >> place;
        let special = 0o4000 >> (place / 3);
        match byte {
            b'-' => {}
            b'r' | b'w' | b'x' => mode |= bit,
            b's' | b't' => mode |= bit | special,
            b'S' | b'T' => mode |= special,
            _ => return None,
        }
    }
    Some(format!("{mode:04o}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn modes_are_octal() {
        for (shown, mode) in [
            ("-rw-r--r--", "0644"),
            ("drwxr-xr-x.", "0755"),
            ("drwxrwxrwt", "1777"),
            ("-rwsr-xr-x", "4755"),
            ("-rwxr-Sr--+", "2744"),
            ("----------", "0000"),
        ] {
            assert_eq!(octal(shown).as_deref(), Some(mode));
        }
        assert_eq!((octal("-rw"), octal("-rw-r--r-?")), (None, None));
        let read = |value: Value| {
            let attributes = json!({"mode": value});
            let mut reader = Reader::new(&attributes, &["mode"]);
            (reader.mode(), reader.problems.len())
        };
        assert_eq!(read(json!("644")), (Some("0644".into()), 0));
        assert_eq!(read(json!("4755")), (Some("4755".into()), 0));
        for wrong in [json!(420), json!("u+x"), json!("0888"), json!("64"), json!("00644")] {
            assert_eq!(read(wrong.clone()), (None, 1), "{wrong}");
        }
    }

    #[test]
    fn problems_name_the_attribute() {
        let attributes = json!({"contnt": "a", "mode": "644", "owner": 1});
        let mut reader = Reader::new(&attributes, &["content", "mode", "owner"]);
        reader.text("owner");
        let texts: Vec<String> = reader.problems.iter().map(ToString::to_string).collect();
        let unknown = "unknown attribute `contnt` (did you mean `content`?)";
        assert_eq!(texts, [unknown, "`owner` must be a string"]);
    }
}
