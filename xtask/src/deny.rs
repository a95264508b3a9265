//! Checks the dependencies against `deny.toml`, the file of `cargo-deny`: licences, banned crates,
//! sources and duplicate versions.
//!
//! It reads the part of that format that this repository uses and rejects any other key, so that
//! no rule is silently skipped. Security advisories are left to `cargo deny check advisories`,
//! which needs their database from the network.

use crate::packages::{self, Licence, Package, Packages};
use anyhow::{Context as _, bail};
use std::collections::{BTreeMap, BTreeSet};
use toml::{Table, Value};

const FILE: &str = "deny.toml";

/// Keys that are understood; `[advisories]` is for `cargo-deny` alone.
const KEYS: &[(&str, &[&str])] = &[
    ("graph", &["targets"]),
    ("licenses", &["allow", "exceptions"]),
    ("bans", &["multiple-versions", "deny", "skip"]),
    ("sources", &["unknown-registry", "unknown-git", "allow-registry"]),
    ("advisories", &["ignore", "yanked"]),
];

/// The rules of `deny.toml`.
#[derive(Debug, Default)]
struct Rules {
    targets: Vec<String>,
    allow: BTreeSet<String>,
    /// Licences that single crates may have beyond `allow`.
    exceptions: BTreeMap<String, BTreeSet<String>>,
    /// Crates that may not be used, and why.
    deny: BTreeMap<String, String>,
    /// Old versions that may stay, as `name@version`.
    skip: BTreeSet<String>,
    registries: BTreeSet<String>,
}

/// What the check found.
pub(crate) struct Report {
    /// One line about what was looked at.
    pub summary: String,
    /// Broken rules, one line each.
    pub findings: Vec<String>,
}

/// Checks the workspace.
pub(crate) fn check() -> anyhow::Result<Report> {
    let text = std::fs::read_to_string(packages::root().join(FILE))
        .with_context(|| format!("cannot read {FILE}"))?;
    let rules = Rules::parse(&text)?;
    let packages = packages::read(&rules.targets)?;
    let summary = format!(
        "{FILE}: {} packages for {}; advisories are not checked here",
        packages.len(),
        rules.targets.join(", ")
    );
    Ok(Report { summary, findings: rules.check(&packages) })
}

impl Rules {
    fn parse(text: &str) -> anyhow::Result<Self> {
        let root: Table = text.parse().with_context(|| format!("cannot read {FILE}"))?;
        for (section, value) in &root {
            let known = KEYS.iter().find(|(name, _)| name == section);
            let keys = known.with_context(|| format!("{FILE}: unknown section `{section}`"))?.1;
            let table = value.as_table().with_context(|| format!("{FILE}: [{section}]"))?;
            if let Some(key) = table.keys().find(|key| !keys.contains(&key.as_str())) {
                bail!("{FILE}: `{section}.{key}` is not checked by `cargo xtask deny`");
            }
        }
        let find = |section: &str, key: &str| root.get(section)?.get(key);
        for (section, key) in [
            ("bans", "multiple-versions"),
            ("sources", "unknown-registry"),
            ("sources", "unknown-git"),
        ] {
            if find(section, key).and_then(Value::as_str) != Some("deny") {
                bail!("{FILE}: `{section}.{key}` must be \"deny\"");
            }
        }
        let list = |section: &str, key: &str| -> Vec<Value> {
            find(section, key).and_then(Value::as_array).cloned().unwrap_or_default()
        };
        let texts = |section: &str, key: &str| -> Vec<String> {
            list(section, key).iter().map(|it| field(it, "crate")).collect()
        };
        let exception = |it: &Value| {
            let allow = it.get("allow").and_then(Value::as_array).cloned().unwrap_or_default();
            (field(it, "crate"), allow.iter().map(|it| field(it, "")).collect())
        };
        Ok(Self {
            targets: texts("graph", "targets"),
            allow: texts("licenses", "allow").into_iter().collect(),
            exceptions: list("licenses", "exceptions").iter().map(exception).collect(),
            deny: list("bans", "deny")
                .iter()
                .map(|it| (field(it, "crate"), field(it, "reason")))
                .collect(),
            skip: texts("bans", "skip").into_iter().collect(),
            registries: texts("sources", "allow-registry").into_iter().collect(),
        })
    }

    fn check(&self, packages: &Packages) -> Vec<String> {
        let mut findings = Vec::new();
        let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for package in packages.values() {
            versions.entry(&package.name).or_default().insert(&package.version);
            let name = format!("{} {}", package.name, package.version);
            if let Some(reason) = self.deny.get(&package.name) {
                findings.push(format!("{name}: banned: {reason}; {}", users(package, packages)));
            }
            let Some(source) = &package.source else { continue };
            let registry = source.strip_prefix("registry+").unwrap_or_default();
            if !self.registries.contains(registry) {
                findings.push(format!("{name}: comes from `{source}`, which is not allowed"));
            }
            findings.extend(self.licence(package).map(|it| format!("{name}: {it}")));
        }
        self.duplicates(&versions, &mut findings);
        findings
    }

    /// Returns what is wrong with the licence of a package, if anything.
    fn licence(&self, package: &Package) -> Option<String> {
        let Some(text) = &package.licence else { return Some("states no licence".into()) };
        let Some(licence) = Licence::parse(text) else {
            return Some(format!("invalid licence expression `{text}`"));
        };
        let more = self.exceptions.get(&package.name);
        let allowed =
            |it: &str| self.allow.contains(it) || more.is_some_and(|more| more.contains(it));
        (!licence.is_met(&allowed)).then(|| format!("licence `{text}` is not allowed"))
    }

    /// Reports crates with several versions, and entries of the skip list that are not needed.
    fn duplicates(&self, versions: &BTreeMap<&str, BTreeSet<&str>>, findings: &mut Vec<String>) {
        let mut unused = self.skip.clone();
        for (name, versions) in versions {
            let is_skipped = |version: &&&str| self.skip.contains(&format!("{name}@{version}"));
            if versions.len() > 1 {
                for version in versions.iter().filter(is_skipped) {
                    unused.remove(&format!("{name}@{version}"));
                }
            }
            let left: Vec<&str> = versions.iter().filter(|it| !is_skipped(it)).copied().collect();
            if left.len() > 1 {
                let list = left.join(", ");
                findings.push(format!("{name}: {} versions ({list}): unify them", left.len()));
            }
        }
        for entry in unused {
            findings.push(format!("{FILE}: `{entry}` in `bans.skip` is no duplicate: remove it"));
        }
    }
}

/// Returns a field of a table, or the value itself where it is a plain text.
fn field(value: &Value, name: &str) -> String {
    let found = value.as_str().or_else(|| value.get(name).and_then(Value::as_str));
    found.unwrap_or_default().to_owned()
}

fn users(package: &Package, packages: &Packages) -> String {
    let uses = |it: &&Package| it.dependencies.contains(&package.id);
    let names: Vec<&str> = packages.values().filter(uses).map(|it| it.name.as_str()).collect();
    format!("used by {}", if names.is_empty() { "tests".to_owned() } else { names.join(", ") })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = r#"
[graph]
targets = ["x86_64-unknown-linux-gnu"]
[licenses]
allow = ["MIT"]
exceptions = [{ crate = "odd", allow = ["Zlib"] }]
[bans]
multiple-versions = "deny"
deny = [{ crate = "ring", reason = "one provider" }]
skip = [{ crate = "old@1.0.0", reason = "wanted by b" }, { crate = "gone@1.0.0" }]
[sources]
unknown-registry = "deny"
unknown-git = "deny"
allow-registry = ["https://crates"]
"#;

    fn package(name: &str, version: &str, licence: &str, source: &str) -> (String, Package) {
        let id = format!("{name}@{version}");
        let package = Package {
            id: id.clone(),
            name: name.into(),
            version: version.into(),
            licence: Some(licence.into()),
            source: Some(source.into()),
            dependencies: BTreeSet::new(),
        };
        (id, package)
    }

    #[test]
    fn broken_rules_are_named() {
        let crates = "registry+https://crates";
        let packages: Packages = [
            package("a", "1.0.0", "MIT OR GPL-3.0", crates),
            package("b", "1.0.0", "GPL-3.0", crates),
            package("c", "1.0.0", "MIT", "git+https://forge"),
            package("odd", "1.0.0", "Zlib", crates),
            package("old", "1.0.0", "MIT", crates),
            package("old", "2.0.0", "MIT", crates),
            package("ring", "1.0.0", "MIT", crates),
            package("two", "1.0.0", "MIT", crates),
            package("two", "2.0.0", "MIT", crates),
        ]
        .into();
        let findings = Rules::parse(RULES).unwrap().check(&packages);
        assert_eq!(
            findings,
            [
                "b 1.0.0: licence `GPL-3.0` is not allowed",
                "c 1.0.0: comes from `git+https://forge`, which is not allowed",
                "ring 1.0.0: banned: one provider; used by tests",
                "two: 2 versions (1.0.0, 2.0.0): unify them",
                "deny.toml: `gone@1.0.0` in `bans.skip` is no duplicate: remove it",
            ]
        );
    }

    #[test]
    fn rules_that_are_not_checked_are_rejected() {
        let error = Rules::parse("[bans]\nwildcards = \"deny\"\n").unwrap_err().to_string();
        assert_eq!(error, "deny.toml: `bans.wildcards` is not checked by `cargo xtask deny`");
    }

    #[test]
    fn the_workspace_keeps_the_rules() {
        let report = check().expect("cargo metadata runs");
        assert!(report.findings.is_empty(), "{}", report.findings.join("\n"));
    }
}
