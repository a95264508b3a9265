//! Ids of resources on hosts.

use crate::items::Kind;
use kusion_model::ResourceId;

/// The type of resources on hosts.
pub const RESOURCE_TYPE: &str = "Host";

/// The parts of the id `host:KIND:HOST:NAME`. The name may contain colons.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Address {
    pub(crate) kind: Kind,
    pub(crate) host: String,
    /// The path of a file, or the name of anything else.
    pub(crate) name: String,
}

impl Address {
    /// Splits an id.
    ///
    /// # Errors
    ///
    /// What is wrong with the id, without the id itself.
    pub(crate) fn of_id(id: &ResourceId) -> Result<Self, String> {
        let mut parts = id.as_str().splitn(4, ':');
        let (Some("host"), Some(kind), Some(host), Some(name)) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err("invalid id: expected `host:KIND:HOST:NAME`, such as \
                        `host:file:web1:/etc/motd`"
                .to_owned());
        };
        let Some(kind) = Kind::of_name(kind) else {
            let hint = base_text::nearest(kind, Kind::names());
            let hint = hint.map(|it| format!(" (did you mean `{it}`?)")).unwrap_or_default();
            return Err(format!("unknown kind `{kind}` of a resource on a host{hint}"));
        };
        if host.is_empty() || name.is_empty() {
            return Err("invalid id: the host and the name must not be empty".to_owned());
        }
        if name.contains(['\0', '\n', '\r']) {
            return Err("invalid name: it contains a line break or a null byte".to_owned());
        }
        Ok(Self { kind, host: host.to_owned(), name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_four_parts() {
        let address = |text: &str| Address::of_id(&ResourceId::new(text));
        let found = address("host:file:web1:/a:b").expect("an address");
        assert_eq!((found.kind, &*found.host, &*found.name), (Kind::File, "web1", "/a:b"));
        for wrong in ["", "host:file:web1", "v1:ConfigMap:a:b", "host:file::/a", "host:file:a:"] {
            assert!(address(wrong).is_err_and(|it| it.starts_with("invalid id")), "{wrong}");
        }
        let error = address("host:pakage:web1:vim").expect_err("an unknown kind");
        assert_eq!(
            error,
            "unknown kind `pakage` of a resource on a host (did you mean `package`?)"
        );
        assert!(address("host:file:web1:/a\nb").is_err());
    }
}
