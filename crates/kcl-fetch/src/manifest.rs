//! Manifests of OCI registries: which blob is the archive of a package.

use crate::error::FetchError;
use serde_json::{Value, json};

/// Media types of manifests.
pub(crate) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
pub(crate) const ACCEPTED: &[&str] = &[
    MANIFEST,
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
];
/// Media types of the layer and of the configuration, which is empty.
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
/// The configuration: an empty object.
pub(crate) const EMPTY: &[u8] = b"{}";

/// A blob that a manifest names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Blob {
    pub(crate) digest: String,
    pub(crate) size: u64,
}

/// What a manifest says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Manifest {
    /// The archive of a package.
    Package(Blob),
    /// A list of manifests: the digest of the first one.
    Index(String),
}

impl Manifest {
    /// Reads a manifest. `what` names the package in errors.
    pub(crate) fn parse(text: &[u8], what: &str) -> Result<Self, FetchError> {
        let invalid = |why: &str| FetchError::refused(what, format!("its manifest {why}"));
        let value: Value = serde_json::from_slice(text).map_err(|_| invalid("is not JSON"))?;
        if let Some(manifests) = value.get("manifests").and_then(Value::as_array) {
            let first = manifests.first().ok_or_else(|| invalid("is an empty list"))?;
            return digest(first).map(Self::Index).ok_or_else(|| invalid("has an invalid digest"));
        }
        let layers = value.get("layers").and_then(Value::as_array);
        let layers = layers.ok_or_else(|| invalid("has no layers"))?;
        let layer = layers.iter().find(|it| is_archive(it));
        let layer = layer.ok_or_else(|| invalid("has no layer with a package"))?;
        let size = layer.get("size").and_then(Value::as_u64);
        match (digest(layer), size) {
            (Some(digest), Some(size)) => Ok(Self::Package(Blob { digest, size })),
            _ => Err(invalid("has a layer without a valid digest and size")),
        }
    }
}

fn is_archive(layer: &Value) -> bool {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let title = layer.get("annotations").and_then(|it| it.get("org.opencontainers.image.title"));
    let (kind, title) = (text(layer.get("mediaType")), text(title));
    kind.contains(".tar") || [".tar", ".tgz", ".tar.gz"].iter().any(|end| title.ends_with(end))
}

/// Reads the digest of a descriptor; only SHA-256 is known.
fn digest(descriptor: &Value) -> Option<String> {
    let digest = descriptor.get("digest")?.as_str()?;
    let digits = digest.strip_prefix("sha256:")?;
    let is_hex = digits.len() == 64 && digits.bytes().all(|it| it.is_ascii_hexdigit());
    is_hex.then(|| digest.to_owned())
}

/// Makes the manifest of a package.
pub(crate) fn package_manifest(
    layer: &Blob,
    config: &Blob,
    title: &str,
    annotations: &[(String, String)],
) -> String {
    let annotations: serde_json::Map<String, Value> =
        annotations.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": { "mediaType": CONFIG, "digest": config.digest, "size": config.size },
        "layers": [{
            "mediaType": LAYER,
            "digest": layer.digest,
            "size": layer.size,
            "annotations": { "org.opencontainers.image.title": title },
        }],
        "annotations": annotations,
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_manifests_are_read_and_others_refused() {
        let blob = Blob { digest: format!("sha256:{}", "a".repeat(64)), size: 3 };
        let text = package_manifest(&blob, &blob, "a_1.tar", &[("k".into(), "v".into())]);
        assert_eq!(Manifest::parse(text.as_bytes(), "x").unwrap(), Manifest::Package(blob));
        for (text, why) in [
            ("x", "is not JSON"),
            ("{}", "has no layers"),
            (r#"{"manifests":[]}"#, "is an empty list"),
            (r#"{"layers":[{"mediaType":"text/plain"}]}"#, "has no layer with a package"),
            (
                r#"{"layers":[{"mediaType":"a.tar","digest":"sha256:../x","size":1}]}"#,
                "valid digest",
            ),
        ] {
            let message = Manifest::parse(text.as_bytes(), "x").unwrap_err().to_string();
            assert!(message.contains(why), "{message}");
        }
    }
}
