//! The list of components (SBOM) in the format of `CycloneDX` 1.5.

use crate::packages::{Package, Packages};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Returns the document about the components of a product.
///
/// Components are what the programs are built from, build scripts included; checksums come from
/// the lock file. It holds no time and no random number, so that the same sources give the same
/// document.
pub(super) fn document(name: &str, components: &Packages, lock: &str) -> String {
    let checksums = checksums(lock);
    let listed: Vec<Value> = components.values().map(|it| component(it, &checksums)).collect();
    let edges: Vec<Value> = components
        .values()
        .map(|it| {
            let uses = it.dependencies.iter().filter_map(|id| components.get(id));
            json!({"ref": reference(it), "dependsOn": uses.map(reference).collect::<Vec<_>>()})
        })
        .collect();
    let product = json!({
        "type": "application",
        "bom-ref": name,
        "name": "kusion",
        "version": env!("CARGO_PKG_VERSION"),
        "licenses": [{"expression": "Apache-2.0"}],
    });
    let document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": product},
        "components": listed,
        "dependencies": edges,
    });
    format!("{document:#}\n")
}

fn component(package: &Package, checksums: &BTreeMap<String, String>) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": reference(package),
        "name": package.name,
        "version": package.version,
        "purl": reference(package),
    });
    if let Some(licence) = &package.licence {
        let expression = licence.replace(" / ", " OR ").replace('/', " OR ");
        component["licenses"] = json!([{"expression": expression}]);
    }
    if let Some(checksum) = checksums.get(&format!("{} {}", package.name, package.version)) {
        component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    component
}

/// Returns the package URL, which also identifies the component within the document.
fn reference(package: &Package) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version.replace('+', "%2B"))
}

/// Returns the checksums of a lock file by `name version`.
fn checksums(lock: &str) -> BTreeMap<String, String> {
    let root: toml::Table = lock.parse().unwrap_or_default();
    let packages = root.get("package").and_then(toml::Value::as_array).cloned().unwrap_or_default();
    let text = |it: &toml::Value, key: &str| Some(it.get(key)?.as_str()?.to_owned());
    let entry = |it: &toml::Value| {
        let name = format!("{} {}", text(it, "name")?, text(it, "version")?);
        Some((name, text(it, "checksum")?))
    };
    packages.iter().filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn components_have_address_licence_checksum_and_dependencies() {
        let package = |name: &str, version: &str, uses: &[&str]| Package {
            id: name.into(),
            name: name.into(),
            version: version.into(),
            licence: Some("MIT/Apache-2.0".into()),
            source: None,
            dependencies: uses.iter().map(|it| (*it).to_owned()).collect::<BTreeSet<_>>(),
        };
        let all = [package("a", "1.0.0", &["b"]), package("b", "2.0.0+x", &[])];
        let all: Packages = all.into_iter().map(|it| (it.id.clone(), it)).collect();
        let lock = "[[package]]\nname = \"b\"\nversion = \"2.0.0+x\"\nchecksum = \"c0ffee\"\n";
        let document: Value = serde_json::from_str(&document("p", &all, lock)).unwrap();
        let b = &document["components"][1];
        assert_eq!(b["purl"], "pkg:cargo/b@2.0.0%2Bx");
        assert_eq!(b["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(b["hashes"][0]["content"], "c0ffee");
        assert_eq!(document["dependencies"][0]["dependsOn"][0], b["bom-ref"]);
    }
}
