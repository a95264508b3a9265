//! Shared strings.

use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::rc::Rc;

/// An immutable shared string, one word wide.
#[derive(Clone)]
pub struct Str(Rc<Box<str>>);

impl Str {
    /// Makes a string.
    pub fn new(text: impl Into<Box<str>>) -> Self {
        Self(Rc::new(text.into()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether both are the same allocation (then they are equal, too).
    pub fn ptr_eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// The position of the first occurrence of a string in another.
///
/// Quicker than the general search where the text is short, as most are.
pub fn find(text: &str, part: &str) -> Option<usize> {
    const SHORT: usize = 256;
    let (bytes, wanted) = (text.as_bytes(), part.as_bytes());
    let Some(first) = wanted.first() else { return Some(0) };
    if bytes.len() > SHORT {
        return text.find(part);
    }
    let n_starts = (bytes.len() + 1).checked_sub(wanted.len())?;
    let mut from = 0;
    while let Some(at) = bytes[from..n_starts].iter().position(|byte| byte == first) {
        from += at;
        if bytes[from..].starts_with(wanted) {
            return Some(from);
        }
        from += 1;
    }
    None
}

impl Deref for Str {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Str {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl PartialEq for Str {
    fn eq(&self, other: &Self) -> bool {
        self.ptr_eq(other) || self.as_str() == other.as_str()
    }
}

impl Eq for Str {}

impl PartialOrd for Str {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Str {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Hash for Str {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Debug for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Str {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<&str> for Str {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Str {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn finding_is_what_the_library_finds() {
        let long = format!("{}b", "a".repeat(300));
        for text in ["", "a", "ab", "aab", "abab", "é-ü", "ü", long.as_str()] {
            for part in ["", "a", "b", "ab", "aab", "ba", "é", "ü", "-ü", "abc", "aaaaab"] {
                assert_eq!(find(text, part), text.find(part), "{part:?} in {text:?}");
            }
        }
    }
}
