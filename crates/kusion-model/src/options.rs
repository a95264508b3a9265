//! Options of a plan. They are part of the plan, so that a saved plan runs with the same options.

use crate::{FieldPattern, Owner, PatternError, ResourceId};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Options of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanOptions {
    /// Ids of the resources to include, with their dependencies; all if empty. `*` matches any
    /// text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,
    /// Fields to ignore: they keep their live values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<IgnoreRule>,
    /// Whether to take over fields that other managers own.
    #[serde(default)]
    pub force: bool,
    /// Ids of resources to take over from other owners. `*` matches any text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub take_over: Vec<String>,
    /// Objects of other owners that the rules of the stack take over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adopt: Vec<AdoptRule>,
    /// Recorded resources that have another id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<MoveRule>,
    /// Whether the stack may move from the recorded infrastructure to another one.
    #[serde(default)]
    pub relocate: bool,
    /// Limits on deletions.
    #[serde(default)]
    pub guards: Guards,
}

/// An object that a stack takes over from the owner that the rule names, and from no other one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "a map with the keys `id` (of a resource) and `from` (its owner)")]
pub struct AdoptRule {
    /// The resource.
    pub id: ResourceId,
    /// The owner: `PROJECT/STACK`, or as refusals write it: `Helm release web`.
    pub from: String,
}

impl AdoptRule {
    /// Returns whether the rule names an owner.
    pub fn is_from(&self, owner: &Owner) -> bool {
        let plain = |text: &str| {
            let text = text.replace('`', "");
            text.strip_prefix("stack ").map(str::to_owned).unwrap_or(text)
        };
        !matches!(owner, Owner::Unknown { .. }) && plain(&self.from) == plain(&owner.to_string())
    }
}

/// A resource that has another id: its recorded state moves, and no object is deleted or created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "a map with the keys `from` and `to`, which are ids of resources")]
pub struct MoveRule {
    /// The recorded id.
    pub from: ResourceId,
    /// The new id.
    pub to: ResourceId,
}

/// Limits on deletions in a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Guards {
    /// Whether mass deletions are allowed.
    pub allow_mass_delete: bool,
    /// The percentage of recorded resources above which deletions are a mass deletion.
    pub mass_delete_percent: usize,
    /// Protected kinds, or patterns of ids, that may be deleted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<String>,
    /// The same by the rules of the stack itself, which can allow the deletion of its own
    /// resources only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_by_stack: Vec<String>,
}

impl Default for Guards {
    fn default() -> Self {
        Self {
            allow_mass_delete: false,
            mass_delete_percent: 50,
            allowed: Vec::new(),
            allowed_by_stack: Vec::new(),
        }
    }
}

/// A rule that selects fields to ignore: they keep their live values, regardless of the Spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IgnoreRule {
    /// The kind; `None` matches every kind.
    pub kind: Option<String>,
    /// The fields.
    pub path: FieldPattern,
}

/// An ignore rule that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid rule for ignored fields `{text}`: {}; expected `[Kind:]spec.a[*].b`", what.0)]
pub struct IgnoreError {
    text: String,
    what: PatternError,
}

impl FromStr for IgnoreRule {
    type Err = IgnoreError;

    /// Parses `[Kind:]path`.
    fn from_str(text: &str) -> Result<Self, IgnoreError> {
        let (kind, rest) = match text.split_once(':') {
            Some((kind, rest)) if kind.bytes().all(|b| b.is_ascii_alphanumeric()) => {
                (Some(kind.to_owned()).filter(|it| !it.is_empty()), rest)
            }
            _ => (None, text),
        };
        let path = rest.parse().map_err(|what| IgnoreError { text: text.to_owned(), what })?;
        Ok(Self { kind, path })
    }
}

impl fmt::Display for IgnoreRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(kind) = &self.kind {
            write!(f, "{kind}:")?;
        }
        write!(f, "{}", self.path)
    }
}

impl Serialize for IgnoreRule {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for IgnoreRule {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Place, StackKey, StackOwner};

    #[test]
    fn a_rule_is_read() {
        let text = r#"Job:spec.containers[*].env[0]["a.b"]"#;
        let rule: IgnoreRule = text.parse().expect("the rule is right");
        assert_eq!(rule.kind.as_deref(), Some("Job"));
        assert_eq!(rule.to_string(), text);
        for wrong in ["", "Kind:", "a..b", "a[", "a[x]"] {
            assert!(wrong.parse::<IgnoreRule>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn options_are_read_as_they_are_written() {
        let options = PlanOptions {
            targets: vec!["a*".into()],
            ignore: vec!["spec.replicas".parse().expect("a rule")],
            force: true,
            take_over: vec!["b".into()],
            adopt: vec![AdoptRule { id: "x".into(), from: "shop/dev".into() }],
            moved: vec![MoveRule { from: "x".into(), to: "y".into() }],
            relocate: true,
            guards: Guards { allowed: vec!["Job".into()], ..Guards::default() },
        };
        let text = serde_json::to_string(&options).expect("JSON");
        assert_eq!(serde_json::from_str::<PlanOptions>(&text).expect("options"), options);
    }

    #[test]
    fn an_owner_is_named_as_refusals_write_it() {
        let rule = |from: &str| AdoptRule { id: "x".into(), from: from.into() };
        let key = StackKey::new("shop", "dev", Place::Main);
        let stack = Owner::Stack { owner: StackOwner::new(key, "0a1b") };
        assert!(rule("shop/dev").is_from(&stack) && rule("stack shop/dev").is_from(&stack));
        assert!(!rule("shop/prod").is_from(&stack) && !rule("").is_from(&stack));
        let tool = Owner::Tool { tool: "Helm release".into(), name: "web".into() };
        assert!(rule("Helm release web").is_from(&tool));
        assert!(rule("Helm release `web`").is_from(&tool) && !rule("web").is_from(&tool));
        let unknown = Owner::Unknown { mark: "x".into() };
        assert!(!rule(&unknown.to_string()).is_from(&unknown));
    }
}
