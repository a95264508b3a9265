//! Paths of values in a configuration, and patterns over them.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// The largest number of keys of a path or pattern.
const MAX_KEYS: usize = 64;
/// The longest text of a path or pattern, in bytes.
const MAX_TEXT: usize = 4096;

/// The path of a value: keys from the top of the configuration, written `app.labels."a/b"`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LeafPath(pub Vec<String>);

impl LeafPath {
    /// Returns the path of the value with this key.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        let mut keys = self.0.clone();
        keys.push(key.to_owned());
        Self(keys)
    }

    /// Whether the other path is this one or below it.
    pub fn is_prefix_of(&self, other: &Self) -> bool {
        other.0.starts_with(&self.0)
    }
}

impl fmt::Display for LeafPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, key) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(".")?;
            }
            write_key(f, key)?;
        }
        Ok(())
    }
}

impl FromStr for LeafPath {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        Ok(Self(split(text)?.into_iter().map(|(key, _)| key).collect()))
    }
}

fn write_key(f: &mut fmt::Formatter<'_>, key: &str) -> fmt::Result {
    let is_plain = |it: char| it.is_alphanumeric() || "_-$".contains(it);
    if !key.is_empty() && key.chars().all(is_plain) {
        f.write_str(key)
    } else {
        f.write_str(&serde_json::Value::from(key).to_string())
    }
}

/// A pattern over paths. It covers the paths that match and everything below them.
///
/// `*` matches one key, `**` at the start any number of keys; `**` at the end has no effect:
/// `app.dns.**` is `app.dns`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathPattern {
    /// Whether any keys may come first.
    is_floating: bool,
    /// The keys; `None` matches any.
    keys: Vec<Option<String>>,
}

/// A path or pattern that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct PatternError(String);

impl PathPattern {
    /// Creates the pattern that covers one path and everything below it.
    pub fn of(path: &LeafPath) -> Self {
        Self { is_floating: false, keys: path.0.iter().cloned().map(Some).collect() }
    }

    /// Whether a path matches or is below one that does.
    pub fn covers(&self, path: &LeafPath) -> bool {
        let starts = if self.is_floating { 0..=path.0.len() } else { 0..=0 };
        starts.into_iter().any(|start| self.matches_start(&path.0[start..]))
    }

    fn matches_start(&self, keys: &[String]) -> bool {
        let fits = |(own, key): (&Option<String>, &String)| own.as_ref().is_none_or(|it| it == key);
        self.keys.len() <= keys.len() && self.keys.iter().zip(keys).all(fits)
    }

    /// Orders patterns that cover one path: the most specific has the highest rank.
    pub(crate) fn rank(&self) -> (bool, usize, usize) {
        let literal = self.keys.iter().flatten().count();
        (!self.is_floating, self.keys.len(), literal)
    }

    /// Whether there may be a path for which neither pattern is more specific.
    pub(crate) fn ties_with(&self, other: &Self) -> bool {
        let fits = |(own, other): (&Option<String>, &Option<String>)| match (own, other) {
            (Some(own), Some(other)) => own == other,
            _ => true,
        };
        let same = self.rank() == other.rank();
        // Floating patterns may match at different places of one path.
        same && (self.is_floating || self.keys.iter().zip(&other.keys).all(fits))
    }
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_floating {
            f.write_str("**")?;
        }
        for (at, key) in self.keys.iter().enumerate() {
            if at > 0 || self.is_floating {
                f.write_str(".")?;
            }
            match key {
                Some(key) => write_key(f, key)?,
                None => f.write_str("*")?,
            }
        }
        Ok(())
    }
}

impl FromStr for PathPattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let mut parts = split(text)?;
        let is_any = |part: &(String, bool)| part.0 == "**" && !part.1;
        if parts.len() > 1 && parts.last().is_some_and(is_any) {
            parts.pop();
        }
        let is_floating = parts.first().is_some_and(is_any);
        if is_floating {
            parts.remove(0);
        }
        if parts.is_empty() {
            return Err(PatternError(format!("invalid pattern `{text}`: it has no key")));
        }
        if parts.iter().any(is_any) {
            let message = format!("invalid pattern `{text}`: `**` is allowed at the ends only");
            return Err(PatternError(message));
        }
        let key = |(key, quoted): (String, bool)| (quoted || key != "*").then_some(key);
        Ok(Self { is_floating, keys: parts.into_iter().map(key).collect() })
    }
}

/// Splits a path at its dots; says of each key whether it was in quotes.
fn split(text: &str) -> Result<Vec<(String, bool)>, PatternError> {
    if text.len() > MAX_TEXT {
        return Err(PatternError(format!("the path has more than {MAX_TEXT} bytes")));
    }
    let wrong = |what: &str| PatternError(format!("invalid path `{text}`: {what}"));
    let mut parts = Vec::new();
    let mut rest = text;
    loop {
        let part;
        if rest.starts_with('"') {
            let mut values = serde_json::Deserializer::from_str(rest).into_iter::<String>();
            let key = values.next().and_then(Result::ok).ok_or_else(|| wrong("a quote is open"))?;
            rest = &rest[values.byte_offset()..];
            part = (key, true);
        } else {
            let end = rest.find('.').unwrap_or(rest.len());
            part = (rest[..end].to_owned(), false);
            rest = &rest[end..];
            if part.0.is_empty() || part.0.contains(['"', ' ']) || has_control(&part.0) {
                return Err(wrong("a key is empty or needs quotes"));
            }
        }
        parts.push(part);
        if parts.len() > MAX_KEYS {
            return Err(wrong("it has too many keys"));
        }
        match rest.strip_prefix('.') {
            Some(after) => rest = after,
            None if rest.is_empty() => return Ok(parts),
            None => return Err(wrong("expected `.` after a quoted key")),
        }
    }
}

fn has_control(text: &str) -> bool {
    text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> LeafPath {
        text.parse().expect("the path is valid")
    }

    fn pattern(text: &str) -> PathPattern {
        text.parse().expect("the pattern is valid")
    }

    #[test]
    fn paths_and_patterns_are_printed_as_they_are_read() {
        for text in ["app", "app.labels", r#"app."a.b/c".x"#, r#"app."".y"#] {
            assert_eq!(path(text).to_string(), text);
            assert_eq!(pattern(text).to_string(), text);
        }
        assert_eq!(pattern("**.dns.*.x.**").to_string(), "**.dns.*.x");
        assert_eq!(pattern(r#"a."*""#), PathPattern::of(&LeafPath(vec!["a".into(), "*".into()])));
        for text in ["", ".", "a..b", "a.", "a b", "\"a", "\"a\"b", "a.**.b", "**"] {
            assert!(text.parse::<PathPattern>().is_err(), "{text}");
        }
    }

    #[test]
    fn patterns_cover_what_is_below() {
        assert!(pattern("app.dns.**").covers(&path("app.dns")));
        assert!(pattern("app.dns").covers(&path("app.dns.servers")));
        assert!(!pattern("app.dns").covers(&path("app")));
        assert!(pattern("*.dns").covers(&path("web.dns.x")));
        assert!(pattern("**.dns").covers(&path("a.b.dns.x")));
        assert!(!pattern("**.dns").covers(&path("a.b")));
    }

    #[test]
    fn patterns_of_one_rank_tie_where_they_meet() {
        assert!(pattern("a.*").ties_with(&pattern("*.b")));
        assert!(!pattern("a.*").ties_with(&pattern("a.b")));
        assert!(!pattern("a.x").ties_with(&pattern("a.y")));
        assert!(pattern("**.x").ties_with(&pattern("**.y")));
    }
}
