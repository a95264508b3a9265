//! The file `kcl.mod.lock`: which packages were chosen for a module, and their checksums.
//!
//! The form is that of the reference's package manager. Two fields are added, which it ignores:
//! `digest`, which covers names and contents of all files, and `resolved`, the commit of a Git tag
//! or branch.

use crate::source::{GitReference, Repository, Source};
use base_system::System;
use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::Path;
use toml::{Table, Value};

/// The name of the file beside `kcl.mod`.
pub const LOCK_FILE: &str = "kcl.mod.lock";

/// The content of a lock file, sorted by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockFile {
    /// One entry for each package.
    pub packages: Vec<Locked>,
}

/// One package of a lock file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locked {
    /// The name in `kcl.mod`.
    pub name: String,
    /// Version, tag, commit or branch.
    pub version: String,
    /// The reference's checksum of the contents of all files; empty for a path.
    pub sum: String,
    /// The digest of names and contents of all files.
    pub digest: Option<String>,
    /// Where the package comes from.
    pub origin: Origin,
}

/// Where a package of a lock file comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A folder, which `kcl.mod` names.
    Path,
    /// A tag of an OCI repository.
    Oci {
        /// The registry; `None` for the default one.
        registry: Option<String>,
        /// The path in the registry.
        path: String,
        /// The tag.
        tag: String,
    },
    /// A Git repository.
    Git {
        /// The URL.
        url: String,
        /// What `kcl.mod` asked for.
        reference: Option<GitReference>,
        /// The commit that was taken.
        resolved: Option<String>,
        /// The folder of the package in the repository.
        package: Option<String>,
    },
}

/// Reads the lock file of a module; `None` if there is none. The error is a message.
pub fn read_lock_file(system: &dyn System, root: &Path) -> Result<Option<LockFile>, String> {
    let path = root.join(LOCK_FILE);
    match system.read_to_string(&path) {
        Ok(text) => LockFile::parse(&text)
            .map(Some)
            .map_err(|reason| format!("cannot read `{}`: {reason}", path.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("cannot read `{}`: {error}", path.display())),
    }
}

impl LockFile {
    /// Reads the text of a lock file; the error says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let root: Table = text.parse().map_err(|error: toml::de::Error| {
            format!("not valid TOML: {}", error.message().lines().next().unwrap_or_default())
        })?;
        let mut packages = Vec::new();
        if let Some(table) = root.get("dependencies").and_then(Value::as_table) {
            for (key, value) in table {
                let entry = value.as_table().ok_or_else(|| format!("`{key}` is not a table"))?;
                packages.push(locked(key, entry));
            }
        }
        packages.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Self { packages })
    }

    /// Returns the entry of a package.
    pub fn get(&self, name: &str) -> Option<&Locked> {
        self.packages.iter().find(|it| it.name == name)
    }

    /// Returns the text of the file.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        if !self.packages.is_empty() {
            text.push_str("[dependencies]\n");
        }
        for package in &self.packages {
            let _ = writeln!(text, "  [dependencies.{}]", key(&package.name));
            for (name, value) in package.fields() {
                let _ = writeln!(text, "    {name} = {}", quote(&value));
            }
        }
        text
    }
}

impl Locked {
    /// Returns the name of the folder of the package: `NAME_VERSION`.
    pub fn full_name(&self) -> String {
        full_name(&self.name, &self.version)
    }

    /// Returns whether the entry is one for a source that `kcl.mod` names, at some version.
    pub fn is_for(
        &self,
        source: &Source,
        repository: Option<&Repository>,
        system: &dyn System,
    ) -> bool {
        match (&self.origin, source) {
            (Origin::Path, Source::Path(_)) => true,
            (
                Origin::Git { url, reference, package, .. },
                Source::Git { url: wanted, reference: point, package: folder },
            ) => url == wanted && reference == point && package == folder,
            (Origin::Oci { registry, path, .. }, Source::Registry(_) | Source::Oci { .. }) => {
                let Some(repository) = repository else { return false };
                let registry = registry
                    .clone()
                    .or_else(|| Repository::by_name(system, &self.name).ok().map(|it| it.registry));
                registry.as_ref() == Some(&repository.registry) && *path == repository.path
            }
            _ => false,
        }
    }

    fn fields(&self) -> Vec<(&'static str, String)> {
        let mut fields = vec![
            ("name", self.name.clone()),
            ("full_name", self.full_name()),
            ("version", self.version.clone()),
        ];
        let mut add = |name: &'static str, value: Option<&str>| {
            fields.extend(value.filter(|it| !it.is_empty()).map(|it| (name, it.to_owned())));
        };
        add("sum", Some(&self.sum));
        match &self.origin {
            Origin::Path => {}
            Origin::Oci { registry, path, tag } => {
                add("reg", registry.as_deref());
                add("repo", Some(path));
                add("oci_tag", Some(tag));
            }
            Origin::Git { url, reference, resolved, package } => {
                add("url", Some(url));
                match reference {
                    Some(GitReference::Branch(branch)) => add("branch", Some(branch)),
                    Some(GitReference::Commit(commit)) => add("commit", Some(commit)),
                    Some(GitReference::Tag(tag)) => add("git_tag", Some(tag)),
                    None => {}
                }
                add("package", package.as_deref());
                add("resolved", resolved.as_deref());
            }
        }
        add("digest", self.digest.as_deref());
        fields
    }
}

/// Returns the name of the folder of a package.
pub(crate) fn full_name(name: &str, version: &str) -> String {
    if version.is_empty() { name.to_owned() } else { format!("{name}_{version}") }
}

fn locked(key: &str, table: &Table) -> Locked {
    let text = |name: &str| {
        table.get(name).and_then(Value::as_str).filter(|it| !it.is_empty()).map(str::to_owned)
    };
    let origin = if let Some(url) = text("url") {
        let reference = text("commit")
            .map(GitReference::Commit)
            .or_else(|| text("git_tag").map(GitReference::Tag))
            .or_else(|| text("branch").map(GitReference::Branch));
        Origin::Git { url, reference, resolved: text("resolved"), package: text("package") }
    } else if let Some(path) = text("repo") {
        let tag = text("oci_tag").or_else(|| text("version")).unwrap_or_default();
        Origin::Oci { registry: text("reg"), path, tag }
    } else {
        Origin::Path
    };
    Locked {
        name: key.to_owned(),
        version: text("version").unwrap_or_default(),
        sum: text("sum").unwrap_or_default(),
        digest: text("digest"),
        origin,
    }
}

/// Returns a key of TOML, in quotes if it needs them.
pub(crate) fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !name.is_empty() && name.chars().all(is_bare) { name.to_owned() } else { quote(name) }
}

/// Returns a text as a string of TOML.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"[dependencies]
  [dependencies.catalog]
    name = "catalog"
    full_name = "catalog_a29e3db"
    version = "a29e3db"
    sum = "kFmlrYJbJUFFTEXjC9cquc80WB+UpZ/6oMPKrfgyeks="
    url = "https://example.com/catalog.git"
    commit = "a29e3db"
  [dependencies.dep]
    name = "dep"
    full_name = "dep_0.0.1"
    version = "0.0.1"
  [dependencies.k8s]
    name = "k8s"
    full_name = "k8s_1.31"
    version = "1.31"
    sum = "xyz="
    reg = "ghcr.io"
    repo = "kcl-lang/k8s"
    oci_tag = "1.31"
"#;

    #[test]
    fn the_form_of_the_reference_is_read_and_written_unchanged() {
        let lock = LockFile::parse(TEXT).unwrap();
        assert_eq!(lock.to_text(), TEXT);
        let k8s = lock.get("k8s").unwrap();
        assert_eq!(k8s.full_name(), "k8s_1.31");
        assert!(matches!(&k8s.origin, Origin::Oci { path, .. } if path == "kcl-lang/k8s"));
        assert_eq!(LockFile::parse("").unwrap().to_text(), "");
    }

    #[test]
    fn added_fields_and_odd_names_survive() {
        let locked = Locked {
            name: "a.b".into(),
            version: "v\"1".into(),
            sum: "s=".into(),
            digest: Some("blake3:00".into()),
            origin: Origin::Git {
                url: "file:///r".into(),
                reference: Some(GitReference::Tag("v1".into())),
                resolved: Some("abc".into()),
                package: Some("sub".into()),
            },
        };
        let lock = LockFile { packages: vec![locked] };
        assert_eq!(LockFile::parse(&lock.to_text()), Ok(lock));
        assert!(LockFile::parse("dependencies = [").unwrap_err().contains("not valid TOML"));
        assert_eq!(LockFile::parse("[dependencies]\na = 1\n").unwrap_err(), "`a` is not a table");
    }
}
