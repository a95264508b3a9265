//! Which provider and resource type a resource of a Spec is of.

use crate::install::Constraints;
use kusion_model::Resource;
use serde_json::{Map, Value};
use std::fmt;

/// The registry of addresses that name none.
pub const DEFAULT_REGISTRY: &str = "registry.opentofu.org";

/// The address of a provider: `registry.opentofu.org/hashicorp/local`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderAddress {
    /// The host of its registry.
    pub registry: String,
    /// The organisation.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl fmt::Display for ProviderAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.registry, self.namespace, self.name)
    }
}

/// The provider and type of a resource, from its `extensions`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reference {
    pub(crate) address: ProviderAddress,
    /// The constraints of its version, as they are written.
    pub(crate) version: String,
    pub(crate) type_name: String,
    /// The configuration of the provider.
    pub(crate) config: Map<String, Value>,
}

impl Reference {
    /// Reads `extensions.provider` (`[registry/]namespace/name/version`), `resourceType` and
    /// `providerMeta`.
    pub(crate) fn of(resource: &Resource) -> Result<Self, String> {
        let text = |key: &str| match resource.extensions.get(key) {
            Some(Value::String(text)) if !text.is_empty() => Ok(text.as_str()),
            Some(_) => Err(format!("`extensions.{key}` must be a text")),
            None => Err(format!("`extensions.{key}` is missing")),
        };
        let provider = text("provider")?;
        let (address, version) = parse(provider).ok_or_else(|| {
            format!(
                "invalid provider `{}`: expected `namespace/name/version`, perhaps with a registry \
                 before it, such as `hashicorp/local/2.5.1` or \
                 `registry.opentofu.org/hashicorp/local/~> 2.5`",
                provider.escape_debug()
            )
        })?;
        let config = match resource.extensions.get("providerMeta") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(config)) => config.clone(),
            Some(_) => return Err("`extensions.providerMeta` must be a map".to_owned()),
        };
        Ok(Self { address, version, type_name: text("resourceType")?.to_owned(), config })
    }

    /// Returns the name of the provider in messages.
    pub(crate) fn provider_name(&self) -> String {
        let ProviderAddress { namespace, name, .. } = &self.address;
        format!("{namespace}/{name} {}", self.version)
    }
}

/// Returns the provider of a resource and its configuration; `None` if it has none, or is invalid.
pub fn provider_config(resource: &Resource) -> Option<(ProviderAddress, Map<String, Value>)> {
    let reference = Reference::of(resource).ok()?;
    (!reference.config.is_empty()).then_some((reference.address, reference.config))
}

impl ProviderAddress {
    /// Reads `registry/namespace/name`. Parts become folders: nothing in them may lead elsewhere.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('/');
        let (registry, namespace, name) = (parts.next()?, parts.next()?, parts.next()?);
        let is_name = |it: &str| {
            let is_part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
            !it.is_empty() && it.bytes().all(is_part)
        };
        let (host, port) = registry.split_once(':').unwrap_or((registry, "0"));
        let is_host = host.split('.').all(is_name) && port.parse::<u16>().is_ok();
        if parts.next().is_some() || !is_host || !is_name(namespace) || !is_name(name) {
            return None;
        }
        Some(Self {
            registry: registry.to_lowercase(),
            namespace: namespace.to_lowercase(),
            name: name.to_lowercase(),
        })
    }
}

impl ProviderAddress {
    /// Reads `[registry/]namespace/name`, as users write it.
    ///
    /// # Errors
    ///
    /// The text is not an address.
    pub fn parse_short(text: &str) -> Result<Self, String> {
        let found = match text.matches('/').count() {
            1 => Self::parse(&format!("{DEFAULT_REGISTRY}/{text}")),
            _ => Self::parse(text),
        };
        found.ok_or_else(|| {
            format!(
                "invalid provider address `{}`: expected `namespace/name`, perhaps with a registry \
                 before it, such as `hashicorp/local`",
                text.escape_debug()
            )
        })
    }
}

/// Reads the text of an address and a version.
fn parse(text: &str) -> Option<(ProviderAddress, String)> {
    let (address, version) = text.rsplit_once('/')?;
    let address = ProviderAddress::parse_short(address).ok()?;
    Constraints::parse(version).ok()?;
    Some((address, version.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let (address, version) =
            parse("registry.terraform.io/hashicorp/local/2.5.1").expect("an address");
        assert_eq!(address.to_string(), "registry.terraform.io/hashicorp/local");
        assert_eq!(version, "2.5.1");
        let (short, _) = parse("Hashicorp/local/2.5.1-beta1").expect("an address");
        assert_eq!(short.to_string(), "registry.opentofu.org/hashicorp/local");
        let (_, near) = parse("hashicorp/local/>= 2.0, < 3.0").expect("an address");
        assert_eq!(near, ">= 2.0, < 3.0");
    }

    #[test]
    fn what_leads_elsewhere_is_refused() {
        for text in [
            "",
            "local",
            "a/b",
            "a/../1.0",
            "../b/1.0",
            "a/b/../1",
            "a/b/1.0/../x",
            "a//1.0",
            "/a/b/1.0",
            "h.x/a/b/latest",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
