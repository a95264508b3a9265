//! To whom a state belongs.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The owner of a state: one stack of one project, in one cell, on one cluster. Two stacks never
/// share a state, and neither do a sandbox and a real cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StackKey {
    /// The name of the project.
    pub project: String,
    /// The name of the stack.
    pub stack: String,
    /// The cell; empty where a stack has one place only.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cell: String,
    /// The identity of the cluster: the uid of its namespace `kube-system`; of another
    /// infrastructure whatever stays the same.
    pub cluster: String,
}

impl StackKey {
    /// Returns the key as one path of a store: four parts, each free of `/`, in which no two
    /// keys meet.
    pub fn store_path(&self) -> String {
        [&self.project, &self.stack, &self.cell, &self.cluster].map(|part| escaped(part)).join("/")
    }

    /// Reads a key from its path in a store; none if it is no such path.
    pub fn from_store_path(path: &str) -> Option<Self> {
        let mut parts = path.split('/').map(unescaped);
        let mut next = || parts.next().flatten();
        let key = Self { project: next()?, stack: next()?, cell: next()?, cluster: next()? };
        parts.next().is_none().then_some(key)
    }
}

impl fmt::Display for StackKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.project, self.stack)?;
        if !self.cell.is_empty() {
            write!(f, " in {}", self.cell)?;
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

    #[test]
    fn different_keys_have_different_paths() {
        let key = |project: &str, stack: &str, cell: &str| StackKey {
            project: project.into(),
            stack: stack.into(),
            cell: cell.into(),
            cluster: "c".into(),
        };
        assert_eq!(key("a", "b", "").store_path(), "a/b/%/c");
        assert_eq!(key("a/b", "..", "x").store_path(), "a%2fb/%2e./x/c");
        assert_ne!(key("a", "b", "").store_path(), key("a", "b", "%").store_path());
    }

    #[test]
    fn a_path_leads_back_to_its_key() {
        for project in ["a", "", ".", "a/b", "%", "\u{fc}ber \u{1f600}", "a.b-c_d"] {
            let key = StackKey {
                project: project.into(),
                stack: "dev".into(),
                cell: String::new(),
                cluster: "0-1".into(),
            };
            assert_eq!(StackKey::from_store_path(&key.store_path()), Some(key));
        }
        assert_eq!(StackKey::from_store_path("a/b/c"), None);
        assert_eq!(StackKey::from_store_path("a/b/c/d/e"), None);
        assert_eq!(StackKey::from_store_path("a/b/c/%f"), None);
    }
}
