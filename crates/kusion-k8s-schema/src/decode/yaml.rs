//! A YAML reader that names keys that are there twice by their lines.

use super::tree::Tree;
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::cell::Cell;
use std::fmt::{self, Write as _};

/// Reads the first document; returns it with keys sorted, and a message about double keys.
pub(crate) fn read(bytes: &[u8]) -> Result<(Tree<'static>, Option<String>), String> {
    let counter = Counter::default();
    let tree = pass(bytes, &counter).map_err(|error| syntax(&error))?;
    let doubles = counter.met.get();
    if doubles == 0 {
        return Ok((tree, None));
    }
    let mut message = "yaml: unmarshal errors:".to_owned();
    for stop_at in 1..=doubles.min(100) {
        // Reading again and failing at the double key tells its line.
        let counter = Counter { met: Cell::new(0), stop_at };
        if let Err(error) = pass(bytes, &counter) {
            let line = error.location().map_or(0, |location| location.line());
            let text = error.to_string();
            let key = text.split('\u{1}').nth(1).unwrap_or_default();
            let _ = write!(message, "\n  line {line}: key {key:?} already set in map");
        }
    }
    Ok((tree, Some(message)))
}

fn pass(bytes: &[u8], counter: &Counter) -> Result<Tree<'static>, yaml_serde::Error> {
    match yaml_serde::Deserializer::from_slice(bytes).next() {
        Some(document) => Seed { counter, double: None }.deserialize(document),
        None => Ok(Tree::Null),
    }
}

fn syntax(error: &yaml_serde::Error) -> String {
    let text = error.to_string();
    let message = text.split(" at line ").next().unwrap_or(&text);
    match error.location() {
        Some(location) => format!("yaml: line {}: {message}", location.line()),
        None => format!("yaml: {message}"),
    }
}

/// Counts double keys; at the number `stop_at` reading ends.
#[derive(Default)]
struct Counter {
    met: Cell<usize>,
    stop_at: usize,
}

#[derive(Clone, Copy)]
struct Seed<'c> {
    counter: &'c Counter,
    /// The key of this value, when it was there before.
    double: Option<&'c str>,
}

impl Seed<'_> {
    fn arrive<E: serde::de::Error>(&self) -> Result<(), E> {
        if let Some(key) = self.double {
            let met = self.counter.met.get() + 1;
            self.counter.met.set(met);
            if met == self.counter.stop_at {
                return Err(E::custom(format!("\u{1}{key}\u{1}")));
            }
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Tree<'static>;

    fn deserialize<D: serde::Deserializer<'de>>(self, input: D) -> Result<Self::Value, D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Tree<'static>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
        self.arrive()?;
        Ok(Tree::Null)
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<Self::Value, E> {
        self.visit_unit()
    }

    fn visit_bool<E: serde::de::Error>(self, flag: bool) -> Result<Self::Value, E> {
        self.arrive()?;
        Ok(Tree::Bool(flag))
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Self::Value, E> {
        self.arrive()?;
        Ok(Tree::Number(Cow::Owned(number.to_string())))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Self::Value, E> {
        self.arrive()?;
        Ok(Tree::Number(Cow::Owned(number.to_string())))
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Self::Value, E> {
        self.arrive()?;
        if !number.is_finite() {
            return Err(E::custom(format!("json: unsupported value: {number}")));
        }
        // Whole numbers lose their point, as on the way through JSON.
        let text = if number.fract() == 0.0 && number.abs() < 1e21 {
            format!("{number:.0}")
        } else {
            number.to_string()
        };
        Ok(Tree::Number(Cow::Owned(text)))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        self.arrive()?;
        Ok(Tree::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        self.arrive()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Self { double: None, ..self })? {
            list.push(item);
        }
        Ok(Tree::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        self.arrive()?;
        let mut map = std::collections::BTreeMap::new();
        let plain = Counter::default();
        while let Some(key) = entries.next_key_seed(Seed { counter: &plain, double: None })? {
            let key = match key {
                Tree::String(text) => text,
                Tree::Number(text) => text.into_owned(),
                Tree::Bool(flag) => flag.to_string(),
                other => {
                    let message = format!("unsupported map key of type {}", other.kind());
                    return Err(A::Error::custom(message));
                }
            };
            let double = map.contains_key(&key).then_some(&*key);
            let item = entries.next_value_seed(Seed { counter: self.counter, double })?;
            map.insert(key, item);
        }
        Ok(Tree::Object(map.into_iter().map(|(key, item)| (Cow::Owned(key), item)).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn double_keys_are_named_by_line() {
        let text = "metadata:\n  name: a\n  name: b\n  labels: {a: b, a: c}\ndata: {x: y}\ndata:\n  a: '1'\n";
        let (tree, message) = read(text.as_bytes()).expect("YAML");
        assert_eq!(
            message.as_deref(),
            Some(
                "yaml: unmarshal errors:\n  line 3: key \"name\" already set in map\n  \
                 line 4: key \"a\" already set in map\n  line 7: key \"data\" already set in map"
            )
        );
        assert_eq!(tree.into_value()["data"]["a"], "1");
    }

    #[test]
    fn only_the_first_document_counts() {
        let (tree, _) = read(b"a: 1\n---\nb: 2\n").expect("YAML");
        assert_eq!(tree.into_value(), serde_json::json!({"a": 1}));
        assert_eq!(read(b"").expect("YAML").0, Tree::Null);
    }

    #[test]
    fn syntax_errors_name_the_line() {
        assert!(read(b"a: [").expect_err("no YAML").starts_with("yaml: line "));
        assert!(read(b"a:\n\tb: 1\n").is_err());
    }
}
