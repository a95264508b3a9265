//! A YAML reader that names keys that are there twice by their lines.

use super::tree::Tree;
use granit_parser::{Event, Parser};
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::cell::Cell;
use std::fmt::{self, Write as _};

/// How many words with an old meaning are looked at in one document.
const MAX_WORDS: usize = 200;

/// How many bytes are read again, at most, to find the places of words and double keys.
const MAX_AGAIN: usize = 32 << 20;

/// How deep values may be nested. The reader has this limit; it is checked before, since the time
/// that the reader takes for brackets is quadratic in their depth.
const MAX_DEPTH: usize = 128;

/// Reads the first document; returns it with keys sorted, and a message about double keys.
pub(crate) fn read(bytes: &[u8]) -> Result<(Tree<'static>, Option<String>), String> {
    check_depth(bytes)?;
    let counter = Counter::default();
    let mut tree = pass(bytes, &counter).map_err(|error| syntax(&error))?;
    let again = MAX_AGAIN / bytes.len().max(1);
    if counter.words.get() > 0 {
        if counter.words.get().min(MAX_WORDS) > again {
            return Err("yaml: too many words such as `yes` in a document of this size".to_owned());
        }
        let plain = plain_words(bytes, counter.words.get());
        tree = pass(bytes, &Counter { plain, ..Counter::default() }).map_err(|it| syntax(&it))?;
    }
    let doubles = counter.met.get();
    if doubles == 0 {
        return Ok((tree, None));
    }
    let mut message = "yaml: unmarshal errors:".to_owned();
    for stop_at in 1..=doubles.min(100).min(again.max(1)) {
        // A second parse that fails at the duplicate key gives its line.
        let counter = Counter { stop_at, ..Counter::default() };
        if let Err(error) = pass(bytes, &counter) {
            let line = error.location().map_or(0, |location| location.line());
            let text = error.to_string();
            let key = text.split('\u{1}').nth(1).unwrap_or_default();
            let _ = write!(message, "\n  line {line}: key {key:?} already set in map");
        }
    }
    Ok((tree, Some(message)))
}

/// Refuses documents that are nested too deeply.
fn check_depth(bytes: &[u8]) -> Result<(), String> {
    if bracket_depth(bytes) <= MAX_DEPTH {
        return Ok(());
    }
    // The brackets may be part of texts: this reader takes linear time.
    let text = String::from_utf8_lossy(bytes);
    let mut depth = 0usize;
    for event in Parser::new_from_str(&text) {
        let (event, span) = event.map_err(|error| {
            let (line, text) = (error.marker().line(), error.info());
            // This reader has a limit of its own.
            let is_deep = text.contains("recursion limit");
            if is_deep { too_deep(line) } else { format!("yaml: line {line}: {text}") }
        })?;
        match event {
            Event::SequenceStart(..) | Event::MappingStart(..) => depth += 1,
            Event::SequenceEnd | Event::MappingEnd => depth = depth.saturating_sub(1),
            Event::DocumentEnd => break,
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Err(too_deep(span.start.line()));
        }
    }
    Ok(())
}

fn too_deep(line: usize) -> String {
    format!("yaml: line {line}: exceeded max depth of {MAX_DEPTH}")
}

/// Returns how deep brackets are nested, those in texts included.
fn bracket_depth(bytes: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0usize, 0);
    for byte in bytes {
        match byte {
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
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

/// Returns the indexes of unquoted words with a YAML 1.1 meaning.
fn plain_words(bytes: &[u8], words: usize) -> Vec<usize> {
    let text = String::from_utf8_lossy(bytes);
    let is_plain = |stop_at_word: &usize| {
        // A second parse that fails at the word gives its position.
        let counter = Counter { stop_at_word: *stop_at_word, ..Counter::default() };
        let place = pass(bytes, &counter).err().and_then(|error| error.location());
        let start = place.and_then(|place| {
            let line = text.lines().nth(place.line().checked_sub(1)?)?;
            line.chars().nth(place.column().checked_sub(1)?)
        });
        start.is_some_and(|it| it.is_ascii_alphanumeric() || "+-".contains(it))
    };
    (1..=words.min(MAX_WORDS)).filter(is_plain).collect()
}

/// Returns what a plain text means in YAML 1.1 and no longer in 1.2, which servers still follow.
fn old_meaning(text: &str) -> Option<Tree<'static>> {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return Some(Tree::Bool(true)),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => return Some(Tree::Bool(false)),
        _ => {}
    }
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !digits.starts_with(|it: char| it.is_ascii_digit()) || text.len() > 25 {
        return None;
    }
    let digits = digits.replace('_', "");
    let number = match digits.strip_prefix('0') {
        Some(octal) if octal.bytes().all(|it| it.is_ascii_digit()) && !octal.is_empty() => {
            i64::from_str_radix(octal, 8).ok()?
        }
        _ => digits.parse().ok()?,
    };
    let sign = if text.starts_with('-') { "-" } else { "" };
    Some(Tree::Number(Cow::Owned(format!("{sign}{number}"))))
}

/// Counts double keys and words with an old meaning; reading ends at the ones with these numbers.
#[derive(Default)]
struct Counter {
    met: Cell<usize>,
    stop_at: usize,
    words: Cell<usize>,
    stop_at_word: usize,
    /// Words with their YAML 1.1 meaning.
    plain: Vec<usize>,
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
        // Whole numbers lose their point, as in a conversion through JSON.
        let text = if number.fract() == 0.0 && number.abs() < 1e21 {
            format!("{number:.0}")
        } else {
            number.to_string()
        };
        Ok(Tree::Number(Cow::Owned(text)))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        self.arrive()?;
        if let Some(meaning) = old_meaning(text) {
            let number = self.counter.words.get() + 1;
            self.counter.words.set(number);
            if number == self.counter.stop_at_word {
                return Err(E::custom("a word"));
            }
            if self.counter.plain.binary_search(&number).is_ok() {
                return Ok(meaning);
            }
        }
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
    fn plain_words_have_their_old_meaning() {
        let text = "a: yes\nb: 'yes'\nc: [on, \"off\", No]\nd: |\n  yes\ne: !!str no\nf: 017\n\
                    g: 1_000\nh: '017'\ni: y\nj: yesterday\nk: 08\n";
        let (tree, message) = read(text.as_bytes()).expect("YAML");
        assert_eq!(message, None);
        assert_eq!(
            tree.into_value(),
            serde_json::json!({
                "a": true, "b": "yes", "c": [true, "off", false], "d": "yes\n", "e": "no", "f": 15,
                "g": 1000, "h": "017", "i": true, "j": "yesterday", "k": "08",
            })
        );
    }

    #[test]
    fn only_the_first_document_counts() {
        let (tree, _) = read(b"a: 1\n---\nb: 2\n").expect("YAML");
        assert_eq!(tree.into_value(), serde_json::json!({"a": 1}));
        assert_eq!(read(b"").expect("YAML").0, Tree::Null);
    }

    #[test]
    fn deep_documents_are_refused_before_they_are_read() {
        let nested = |depth: usize| format!("a: 1\nb: {}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(nested(MAX_DEPTH - 1).as_bytes()).is_ok());
        let error = read(nested(MAX_DEPTH + 1).as_bytes()).expect_err("too deep");
        assert_eq!(error, "yaml: line 2: exceeded max depth of 128");
        // Read as it is, this takes hours.
        for depth in [400, 1_000_000] {
            let error = read(nested(depth).as_bytes()).expect_err("too deep");
            assert_eq!(error, "yaml: line 2: exceeded max depth of 128");
        }
        let text = format!("a: \"{}\"\nb: |\n  {}\n", "[".repeat(1000), "{[".repeat(1000));
        let (tree, _) = read(text.as_bytes()).expect("brackets in texts are no depth");
        assert_eq!(tree.into_value()["a"].as_str().map(str::len), Some(1000));
    }

    #[test]
    fn reading_again_has_a_limit() {
        let filler = "x".repeat(3 << 20);
        let many = format!("a: {filler}\nb: [{}]\n", "yes, ".repeat(100));
        assert!(read(many.as_bytes()).is_err_and(|error| error.contains("too many words")));
        let doubles = format!("a: {filler}\n{}", "b: 1\n".repeat(100));
        let (_, message) = read(doubles.as_bytes()).expect("YAML");
        assert_eq!(message.map(|it| it.lines().count()), Some(11));
    }

    #[test]
    fn syntax_errors_name_the_line() {
        assert!(read(b"a: [").expect_err("no YAML").starts_with("yaml: line "));
        assert!(read(b"a:\n\tb: 1\n").is_err());
    }
}
