//! Keys of states.

use crate::Place;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The key of a state: project, stack, cell and place. Two stacks never
/// share a state, and neither do a sandbox and a real cluster. Which infrastructure the place is
/// on is not part of the key: it is recorded in the state, and checked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StackKey {
    /// The name of the project.
    pub project: String,
    /// The name of the stack.
    pub stack: String,
    /// The cell; empty for stacks without cells.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cell: String,
    /// The place.
    #[serde(default)]
    pub place: Place,
}

impl StackKey {
    /// Creates the key of a stack without cells.
    pub fn new(project: impl Into<String>, stack: impl Into<String>, place: Place) -> Self {
        Self { project: project.into(), stack: stack.into(), cell: String::new(), place }
    }

    /// Returns the key as a path in a store: four parts without `/`. Different keys have different
    /// paths.
    pub fn store_path(&self) -> String {
        let place = self.place.to_string();
        [&self.project, &self.stack, &self.cell, &place].map(|part| escaped(part)).join("/")
    }

    /// Parses a key from its path in a store; `None` if the path is not valid.
    pub fn from_store_path(path: &str) -> Option<Self> {
        let mut parts = path.split('/').map(unescaped);
        let mut next = || parts.next().flatten();
        let (project, stack, cell) = (next()?, next()?, next()?);
        let key = Self { project, stack, cell, place: next()?.parse().ok()? };
        parts.next().is_none().then_some(key)
    }
}

impl fmt::Display for StackKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.project, self.stack)?;
        if !self.cell.is_empty() {
            write!(f, " in {}", self.cell)?;
        }
        if let Place::Named(name) = &self.place {
            write!(f, " at {name}")?;
        }
        Ok(())
    }
}

/// Writes a part so that it is a safe file name: other bytes than letters, digits, `-`, `_` and
/// inner dots become `%xx`, the empty part `%`.
fn escaped(part: &str) -> String {
    use fmt::Write as _;
    if part.is_empty() {
        return "%".to_owned();
    }
    part.bytes().enumerate().fold(String::with_capacity(part.len()), |mut text, (position, b)| {
        if b.is_ascii_alphanumeric() || b"-_".contains(&b) || (b == b'.' && position > 0) {
            text.push(char::from(b));
        } else {
            let _ = write!(text, "%{b:02x}");
        }
        text
    })
}

fn unescaped(part: &str) -> Option<String> {
    if part == "%" {
        return Some(String::new());
    }
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first == b'%' {
            let code = std::str::from_utf8(after.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(code, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(project: &str, stack: &str, cell: &str, place: Place) -> StackKey {
        StackKey { project: project.into(), stack: stack.into(), cell: cell.into(), place }
    }

    #[test]
    fn different_keys_have_different_paths() {
        assert_eq!(key("a", "b", "", Place::Main).store_path(), "a/b/%/main");
        let sandbox = Place::Sandbox("s".into());
        assert_eq!(key("a/b", "..", "x", sandbox).store_path(), "a%2fb/%2e./x/sandbox%2fs");
        let main = |cell: &str| key("a", "b", cell, Place::Main).store_path();
        assert_ne!(main(""), main("%"));
    }

    #[test]
    fn a_path_leads_back_to_its_key() {
        for project in ["a", "", ".", "a/b", "%", "\u{fc}ber \u{1f600}", "a.b-c_d"] {
            for place in [Place::Main, Place::Named("b".into()), Place::Sandbox("c".into())] {
                let key = key(project, "dev", "", place);
                assert_eq!(StackKey::from_store_path(&key.store_path()), Some(key));
            }
        }
        for path in ["a/b/c", "a/b/c/d/e", "a/b/c/%f", "a/b/c/D"] {
            assert_eq!(StackKey::from_store_path(path), None, "{path}");
        }
    }
}
