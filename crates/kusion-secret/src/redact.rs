//! Hides secrets in texts.

use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL_NOPAD};
use serde_json::Value;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};

/// The replacement of a secret.
const STARS: &str = "***";
/// Shorter texts are not redacted: hiding them would make messages unreadable.
const SHORTEST: usize = 4;

/// The text instead of a message that may contain a secret too short to search for.
const WITHHELD: &str = "(message withheld: it may contain a short secret of this resource)";

/// Replaces secrets in texts. Clones share what they have learned.
#[derive(Clone, Default)]
pub struct Redactor(Arc<RwLock<Known>>);

#[derive(Default)]
struct Known {
    /// By first byte, longest first, so that a secret in another one does not uncover its rest.
    by_first: Vec<Vec<String>>,
    /// Subjects with secrets that are too short to search for.
    short: BTreeSet<String>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Redactor")
    }
}

impl Redactor {
    /// Learns plain secrets of a subject: all texts and numbers in them, their lines, what they are
    /// the base64 of, and their base64.
    pub fn learn<'a>(&self, subject: &str, secrets: impl IntoIterator<Item = &'a Value>) {
        let mut texts = BTreeSet::new();
        for secret in secrets {
            collect(secret, &mut texts);
        }
        let mut needles = BTreeSet::new();
        for text in &texts {
            add_forms(text, &mut needles);
        }
        let is_short = texts.iter().any(|it| (1..SHORTEST).contains(&it.len()));
        if needles.is_empty() && !is_short {
            return;
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if is_short {
            known.short.insert(subject.to_owned());
        }
        if known.by_first.is_empty() {
            known.by_first.resize_with(256, Vec::new);
        }
        for needle in needles {
            let of_byte = &mut known.by_first[usize::from(needle.as_bytes()[0])];
            let order = |it: &String| (Reverse(it.len()), it.clone());
            if let Err(place) = of_byte.binary_search_by_key(&order(&needle), order) {
                of_byte.insert(place, needle);
            }
        }
    }

    /// Returns a message about a subject with `***` for every secret. A message about a subject
    /// with a secret that is too short to search for is withheld.
    pub fn redact_about(&self, subject: &str, text: &str) -> String {
        let is_short = |known: &Known| known.short.contains(subject);
        if is_short(&self.0.read().unwrap_or_else(PoisonError::into_inner)) {
            return WITHHELD.to_owned();
        }
        self.redact(text).into_owned()
    }

    /// Returns the text with `***` for every secret.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if known.by_first.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut hidden = String::new();
        let (mut kept, mut position) = (0, 0);
        while let Some(first) = text.as_bytes().get(position) {
            let rest = &text.as_bytes()[position..];
            let needles = &known.by_first[usize::from(*first)];
            match needles.iter().find(|it| rest.starts_with(it.as_bytes())) {
                // Needles are whole texts: they begin and end between characters.
                Some(needle) => {
                    hidden.push_str(&text[kept..position]);
                    hidden.push_str(STARS);
                    position += needle.len();
                    kept = position;
                }
                None => position += 1,
            }
        }
        if kept == 0 {
            return Cow::Borrowed(text);
        }
        hidden.push_str(&text[kept..]);
        Cow::Owned(hidden)
    }
}

fn collect(value: &Value, texts: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            texts.insert(text.clone());
        }
        Value::Number(number) => {
            texts.insert(number.to_string());
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(map) => map.values().for_each(|item| collect(item, texts)),
        Value::Null | Value::Bool(_) => {}
    }
}

fn add_forms(text: &str, needles: &mut BTreeSet<String>) {
    let decoded = BASE64.decode(text.trim().as_bytes()).ok();
    let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
    for plain in [Some(text), decoded.as_deref()].into_iter().flatten() {
        add(plain, needles);
        add(plain.trim(), needles);
        plain.lines().for_each(|line| add(line.trim(), needles));
        // As it stands in JSON and in messages that quote it.
        let quoted = Value::from(plain).to_string();
        add(&quoted[1..quoted.len() - 1], needles);
        if plain.len() >= SHORTEST {
            add(&BASE64.encode(plain.as_bytes()), needles);
            add(&BASE64_NOPAD.encode(plain.as_bytes()), needles);
            add(&BASE64URL_NOPAD.encode(plain.as_bytes()), needles);
        }
    }
}

fn add(text: &str, needles: &mut BTreeSet<String>) {
    if text.len() >= SHORTEST {
        needles.insert(text.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn redactor(secrets: &Value) -> Redactor {
        let redactor = Redactor::default();
        redactor.learn("s", [secrets]);
        redactor
    }

    #[test]
    fn secrets_vanish_in_every_form() {
        let secret = json!({"password": "hunter2", "cert": "line one\nline two", "pin": 123_456});
        let redactor = redactor(&secret);
        let encoded = BASE64.encode(b"hunter2");
        for text in ["hunter2", encoded.as_str(), "line two", "123456", r"line one\nline two"] {
            let shown = redactor.redact(text).into_owned();
            assert_eq!(shown, STARS, "{text}");
        }
        assert_eq!(redactor.redact("bad: \u{fc}hunter2\u{fc}!"), "bad: \u{fc}***\u{fc}!");
    }

    #[test]
    fn what_is_base64_in_a_manifest_is_hidden_as_plain_text_too() {
        let redactor = redactor(&json!(BASE64.encode(b"hunter2")));
        assert_eq!(redactor.redact("the password hunter2 is short"), "the password *** is short");
    }

    #[test]
    fn the_longest_secret_wins() {
        let redactor = redactor(&json!(["abcd", "abcdef"]));
        assert_eq!(redactor.redact("abcdef abcd"), "*** ***");
    }

    #[test]
    fn other_texts_stay_as_they_are() {
        let redactor = redactor(&json!(["", "ab", null, true]));
        assert!(matches!(redactor.redact("a b ab true"), Cow::Borrowed(_)));
        assert_eq!(Redactor::default().redact("x"), "x");
    }

    #[test]
    fn messages_about_short_secrets_are_withheld() {
        let redactor = redactor(&json!(["ab", "long enough"]));
        redactor.learn("other", [&json!(["", "hunter2"])]);
        assert_eq!(redactor.redact_about("s", "bad value: ab"), WITHHELD);
        assert_eq!(redactor.redact_about("other", "bad value: hunter2"), "bad value: ***");
    }
}
