//! What the checks need to know of the `Cargo.toml` files.
//!
//! Manifests here are plain: one dependency per line, as `cargo add` writes them.

use crate::tree::{File, Tree};

/// One crate of the workspace.
#[derive(Debug)]
pub(super) struct Manifest {
    /// Path of its `Cargo.toml`.
    pub path: String,
    /// Name of the package.
    pub name: String,
    /// Whether it takes the lints of the workspace.
    pub inherits_lints: bool,
    /// What it depends on, workspace crates and others.
    pub dependencies: Vec<Dependency>,
}

/// One line of a `dependencies` section.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dependency {
    /// Name of the package.
    pub name: String,
    /// Whether only tests and examples use it.
    pub dev: bool,
    /// Line in the manifest, counted from 1.
    pub line: usize,
}

/// Reads the manifests of all packages in the tree.
pub(super) fn read_all(tree: &Tree) -> Vec<Manifest> {
    tree.files
        .iter()
        .filter(|file| file.path == "Cargo.toml" || file.path.ends_with("/Cargo.toml"))
        .filter_map(read)
        .collect()
}

/// Reads one manifest; `None` when it declares no package.
fn read(file: &File) -> Option<Manifest> {
    let mut section = "";
    let mut name = None;
    let mut inherits_lints = false;
    let mut dependencies = Vec::new();
    for (idx, line) in file.text.lines().enumerate() {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_end_matches(']');
            if let Some((kind, dependency)) = dependency_table(section) {
                dependencies.push(Dependency {
                    name: dependency.into(),
                    dev: kind == "dev-dependencies",
                    line: idx + 1,
                });
            }
            continue;
        }
        let Some((key, value)) = line.split_once('=').filter(|_| !line.starts_with('#')) else {
            continue;
        };
        let (key, value) = (key.trim(), value.trim());
        match section.rsplit('.').next() {
            Some("package") if key == "name" => name = Some(value.trim_matches('"').to_owned()),
            Some("lints") if key == "workspace" => inherits_lints = value == "true",
            Some(kind @ ("dependencies" | "dev-dependencies" | "build-dependencies")) => {
                dependencies.push(Dependency {
                    name: key.split('.').next().unwrap_or(key).trim_matches('"').to_owned(),
                    dev: kind == "dev-dependencies",
                    line: idx + 1,
                });
            }
            _ => {}
        }
    }
    Some(Manifest { path: file.path.clone(), name: name?, inherits_lints, dependencies })
}

/// Splits `dependencies.foo`, the long form of a dependency.
fn dependency_table(section: &str) -> Option<(&str, &str)> {
    let (kind, name) = section.rsplit_once('.')?;
    let kind = kind.rsplit('.').next().unwrap_or(kind);
    kind.ends_with("dependencies").then_some((kind, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_read_in_all_forms() {
        let text = "[package]\nname = \"a\"\n[lints]\nworkspace = true\n[dependencies]\n\
                    b.workspace = true\nc = { path = \"../c\" }\n[dev-dependencies]\nd = \"1\"\n\
                    [target.'cfg(unix)'.dependencies]\ne = \"1\"\n[dependencies.f]\nversion = \"1\"\n";
        let manifest = read(&File { path: "x/Cargo.toml".into(), text: text.into() }).unwrap();
        let names: Vec<_> =
            manifest.dependencies.iter().map(|it| (it.name.as_str(), it.dev, it.line)).collect();
        let expected =
            [("b", false, 6), ("c", false, 7), ("d", true, 9), ("e", false, 11), ("f", false, 12)];
        assert_eq!(names, expected);
        assert!(manifest.inherits_lints);
        assert_eq!(manifest.name, "a");
    }
}
