//! Owners of live objects.

use crate::StackKey;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A stack in a store, as the mark of its objects names it.
///
/// As text: the path of the stack in a store, `@`, and the id of the store.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StackOwner {
    /// The stack.
    pub stack: StackKey,
    /// The id of the store that holds its state; empty if the store does not exist yet.
    pub store: String,
}

impl StackOwner {
    /// Creates the owner for a stack in a store.
    pub fn new(stack: StackKey, store: impl Into<String>) -> Self {
        Self { stack, store: store.into() }
    }
}

impl fmt::Display for StackOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.stack.store_path(), self.store)
    }
}

/// The error of a text that is not the mark of an owner.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid owner `{0}`: expected `PROJECT/STACK/CELL/PLACE@STORE`")]
pub struct OwnerError(String);

impl FromStr for StackOwner {
    type Err = OwnerError;

    fn from_str(text: &str) -> Result<Self, OwnerError> {
        let wrong = || OwnerError(text.to_owned());
        let (path, store) = text.rsplit_once('@').ok_or_else(wrong)?;
        let stack = StackKey::from_store_path(path).ok_or_else(wrong)?;
        Ok(Self::new(stack, store))
    }
}

impl Serialize for StackOwner {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for StackOwner {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// The owner of a live object, by the marks on it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "by")]
pub enum Owner {
    /// A stack.
    Stack {
        /// The stack and its store.
        owner: StackOwner,
    },
    /// Another tool that deploys objects.
    Tool {
        /// The name of the tool and what it calls its unit: `Helm release`.
        tool: String,
        /// The unit that contains the object.
        name: String,
    },
    /// The mark of an owner that cannot be read, as written.
    Unknown {
        /// The mark.
        mark: String,
    },
}

impl Owner {
    /// Reads the mark of a stack.
    pub fn of_mark(mark: &str) -> Self {
        match mark.parse() {
            Ok(owner) => Self::Stack { owner },
            Err(_) => Self::Unknown { mark: mark.to_owned() },
        }
    }

    /// Returns whether this is a stack.
    pub fn is(&self, owner: &StackOwner) -> bool {
        matches!(self, Self::Stack { owner: it } if it == owner)
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stack { owner } => write!(f, "stack {}", owner.stack),
            Self::Tool { tool, name } => write!(f, "{tool} `{name}`"),
            Self::Unknown { mark } => write!(f, "the unknown owner `{mark}`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Place;

    #[test]
    fn an_owner_is_read_as_it_is_written() {
        for (project, place) in [("shop", Place::Main), ("a@b/c", Place::Sandbox("x".into()))] {
            let owner = StackOwner::new(StackKey::new(project, "dev", place), "0a1b");
            assert_eq!(owner.to_string().parse(), Ok(owner));
        }
        let owner = StackOwner::new(StackKey::new("shop", "dev", Place::Main), "0a1b");
        assert_eq!(owner.to_string(), "shop/dev/%/main@0a1b");
        assert_eq!(Owner::of_mark("shop/dev/%/main@0a1b"), Owner::Stack { owner });
        for wrong in ["", "shop", "shop/dev@x", "shop/dev/%/main"] {
            assert_eq!(Owner::of_mark(wrong), Owner::Unknown { mark: wrong.to_owned() });
        }
    }
}
