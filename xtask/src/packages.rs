//! The packages that the workspace is built from, as `cargo metadata` lists them.

mod licence;

use anyhow::{Context as _, ensure};
pub(crate) use licence::Licence;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// One package of the dependency graph.
#[derive(Clone, Debug)]
pub(crate) struct Package {
    /// Identifier that is unique in the graph.
    pub id: String,
    /// Name as in `Cargo.toml`.
    pub name: String,
    /// Version.
    pub version: String,
    /// Licence expression as the package states it, if it does.
    pub licence: Option<String>,
    /// Where the package comes from; none for members of the workspace.
    pub source: Option<String>,
    /// Packages that this one depends on, without those of its tests.
    pub dependencies: BTreeSet<String>,
}

/// The dependency graph for some target platforms, by identifier.
pub(crate) type Packages = BTreeMap<String, Package>;

/// Returns the root folder of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// Reads the dependency graph for these target platforms.
///
/// # Errors
///
/// When `cargo metadata` fails, such as for a lock file that is out of date.
pub(crate) fn read(targets: &[String]) -> anyhow::Result<Packages> {
    let mut packages = Packages::new();
    for target in targets {
        let value = metadata(&["--filter-platform", target])?;
        let active = active(target)?;
        for package in parse(&value) {
            if !active.contains(&(package.name.clone(), package.version.clone())) {
                continue;
            }
            let known = packages.entry(package.id.clone()).or_insert_with(|| package.clone());
            known.dependencies.extend(package.dependencies);
        }
    }
    Ok(packages)
}

/// Returns the target folder of the workspace.
pub(crate) fn target_folder() -> anyhow::Result<PathBuf> {
    let value = metadata(&["--no-deps"])?;
    let folder = value["target_directory"].as_str().context("no target folder")?;
    Ok(PathBuf::from(folder))
}

/// Keeps what the named members of the workspace are built from.
pub(crate) fn needed_by(packages: &Packages, roots: &[&str]) -> Packages {
    let is_root = |it: &&Package| it.source.is_none() && roots.contains(&it.name.as_str());
    let mut open: Vec<&Package> = packages.values().filter(is_root).collect();
    let mut found = Packages::new();
    while let Some(package) = open.pop() {
        if found.insert(package.id.clone(), package.clone()).is_none() {
            open.extend(package.dependencies.iter().filter_map(|id| packages.get(id)));
        }
    }
    found
}

/// Returns names and versions of what is built for a target. `cargo metadata` also lists what
/// features that nobody asks for would need.
fn active(target: &str) -> anyhow::Result<BTreeSet<(String, String)>> {
    let words = ["tree", "--workspace", "--locked", "--prefix=none", "--edges=normal,build,dev"];
    let text = cargo(&[&words[..], &["--target", target]].concat())?;
    let package = |line: &str| {
        let (name, rest) = line.split_once(" v")?;
        Some((name.to_owned(), rest.split(' ').next()?.to_owned()))
    };
    Ok(text.lines().filter_map(package).collect())
}

fn metadata(words: &[&str]) -> anyhow::Result<Value> {
    let text = cargo(&[&["metadata", "--format-version=1", "--locked"], words].concat())?;
    Ok(serde_json::from_str(&text)?)
}

fn cargo(words: &[&str]) -> anyhow::Result<String> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(words)
        .current_dir(root())
        .output()
        .context("cannot run cargo")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "cargo {} failed: {errors}", words.join(" "));
    Ok(String::from_utf8(output.stdout)?)
}

fn parse(value: &Value) -> Vec<Package> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for node in list(&value["resolve"]["nodes"]) {
        let is_shipped = |it: &&Value| list(&it["dep_kinds"]).iter().any(|it| it["kind"] != "dev");
        let uses = list(&node["deps"]);
        let uses = uses.iter().filter(is_shipped).filter_map(|it| text(&it["pkg"])).collect();
        edges.insert(text(&node["id"]).unwrap_or_default(), uses);
    }
    let package = |it: &Value| {
        let id = text(&it["id"])?;
        let dependencies = edges.get(&id)?.clone();
        Some(Package {
            name: text(&it["name"])?,
            version: text(&it["version"])?,
            licence: text(&it["license"]),
            source: text(&it["source"]),
            dependencies,
            id,
        })
    };
    list(&value["packages"]).iter().filter_map(package).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_only_tests_need_is_left_out() {
        let package = |name: &str| json!({"id": name, "name": name, "version": "1.0.0"});
        let value = json!({
            "packages": [package("tool"), package("used"), package("tests")],
            "resolve": {"nodes": [
                {"id": "tool", "deps": [
                    {"pkg": "used", "dep_kinds": [{"kind": null}]},
                    {"pkg": "tests", "dep_kinds": [{"kind": "dev"}]},
                ]},
                {"id": "used", "deps": []},
                {"id": "tests", "deps": []},
            ]},
        });
        let all: Packages = parse(&value).into_iter().map(|it| (it.id.clone(), it)).collect();
        let names: Vec<String> = needed_by(&all, &["tool"]).into_keys().collect();
        assert_eq!((all.len(), names), (3, vec!["tool".to_owned(), "used".to_owned()]));
    }
}
