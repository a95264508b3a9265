//! Places that stacks are deployed to.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A place that a stack is deployed to. A stack has a separate state for each place.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// The default place.
    #[default]
    Main,
    /// An additional, named place.
    Named(String),
    /// A sandbox, by its name. The state of a stack there ends with the sandbox.
    Sandbox(String),
}

/// The name of the default place.
const MAIN: &str = "main";
/// Prefix of places in a sandbox.
const SANDBOX: &str = "sandbox/";
/// Maximum length of a name, in bytes.
const MOST: usize = 60;

/// The error for an invalid name of a place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid place `{0}`: use up to {MOST} lower-case letters, digits, dots and dashes")]
pub struct PlaceError(String);

impl Place {
    /// Returns whether the state at this place ends when the infrastructure is replaced, as for a
    /// sandbox.
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::Sandbox(_))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Main => f.write_str(MAIN),
            Self::Named(name) => f.write_str(name),
            Self::Sandbox(name) => write!(f, "{SANDBOX}{name}"),
        }
    }
}

impl FromStr for Place {
    type Err = PlaceError;

    fn from_str(text: &str) -> Result<Self, PlaceError> {
        let (name, is_sandbox) = match text.strip_prefix(SANDBOX) {
            Some(name) => (name, true),
            None => (text, false),
        };
        let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-.".contains(&b);
        if name.is_empty() || name.len() > MOST || !name.bytes().all(is_plain) {
            return Err(PlaceError(text.to_owned()));
        }
        Ok(match name {
            _ if is_sandbox => Self::Sandbox(name.to_owned()),
            MAIN => Self::Main,
            _ => Self::Named(name.to_owned()),
        })
    }
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Place {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_is_written() {
        for text in ["main", "blue", "sandbox/default", "sandbox/main", "eu-1.a"] {
            let place: Place = text.parse().expect("a place");
            assert_eq!(place.to_string(), text);
            assert_eq!(place.is_temporary(), text.starts_with("sandbox/"));
        }
        for text in ["", "A", "a/b", "sandbox/", "sandbox/a/b", "a b", &"a".repeat(61)] {
            assert!(text.parse::<Place>().is_err(), "{text}");
        }
    }
}
