//! Where dependencies come from.

use base_system::System;
use std::fmt;

/// The registry of packages that are given by name and version only.
pub const DEFAULT_REGISTRY: &str = "ghcr.io";
/// The part of the default registry that holds the packages.
pub const DEFAULT_REPOSITORY: &str = "kcl-lang";

/// Where a dependency comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// `{ path = "../lib" }`
    Path(String),
    /// `"1.2.3"`: a version, or a range of versions, of a package of the default registry.
    Registry(String),
    /// `{ oci = "oci://ghcr.io/kcl-lang/k8s", tag = "1.31" }`
    Oci {
        /// The URL of the repository.
        url: String,
        /// The tag, or a range of versions; empty for the newest version.
        tag: String,
    },
    /// `{ git = "https://…", tag = "v1" }`
    Git {
        /// The URL of the repository.
        url: String,
        /// What of its history; the default branch if nothing is said.
        reference: Option<GitReference>,
        /// The folder of the package in the repository.
        package: Option<String>,
    },
}

/// A point in the history of a Git repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitReference {
    /// A tag.
    Tag(String),
    /// A commit: all of its hash, or the first digits.
    Commit(String),
    /// The latest commit of a branch.
    Branch(String),
}

impl GitReference {
    /// Returns the name of the tag, commit or branch.
    pub fn word(&self) -> &str {
        match self {
            Self::Tag(word) | Self::Commit(word) | Self::Branch(word) => word,
        }
    }
}

impl Source {
    /// Returns the word behind the name of the package in the name of its folder: version, tag,
    /// commit or branch; `None` if there is none.
    pub fn word(&self) -> Option<&str> {
        let word = match self {
            Self::Path(_) => None,
            Self::Registry(version) => Some(version.as_str()),
            Self::Oci { tag, .. } => Some(tag.as_str()),
            Self::Git { reference, .. } => reference.as_ref().map(GitReference::word),
        };
        word.filter(|word| !word.is_empty())
    }

    /// Returns the OCI repository; `None` for sources of other kinds.
    pub fn repository(
        &self,
        system: &dyn System,
        name: &str,
    ) -> Option<Result<Repository, String>> {
        match self {
            Self::Registry(_) => Some(Repository::by_name(system, name)),
            Self::Oci { url, .. } => Some(Repository::parse(url)),
            Self::Path(_) | Self::Git { .. } => None,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => write!(f, "path {path}"),
            Self::Registry(version) if version.is_empty() => f.write_str("any version"),
            Self::Registry(version) => f.write_str(version),
            Self::Oci { url, tag } if tag.is_empty() => f.write_str(url),
            Self::Oci { url, tag } => write!(f, "{url} {tag}"),
            Self::Git { url, reference, package } => {
                f.write_str(url)?;
                match reference {
                    Some(GitReference::Tag(tag)) => write!(f, " tag {tag}")?,
                    Some(GitReference::Commit(commit)) => write!(f, " commit {commit}")?,
                    Some(GitReference::Branch(branch)) => write!(f, " branch {branch}")?,
                    None => {}
                }
                package.as_ref().map_or(Ok(()), |package| write!(f, " folder {package}"))
            }
        }
    }
}

/// A repository of an OCI registry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Repository {
    /// Host, and port if there is one.
    pub registry: String,
    /// The path below it.
    pub path: String,
}

impl Repository {
    /// Reads `oci://host/path`; the error says what is wrong.
    pub fn parse(url: &str) -> Result<Self, String> {
        let invalid = |why: &str| format!("invalid OCI URL `{url}`: {why}");
        let rest = ["oci://", "https://", "http://"].iter().find_map(|it| url.strip_prefix(it));
        let rest = rest.ok_or_else(|| invalid("expected oci://HOST/REPOSITORY"))?;
        let rest = rest.trim_end_matches('/');
        let (registry, path) =
            rest.split_once('/').ok_or_else(|| invalid("expected oci://HOST/REPOSITORY"))?;
        Self { registry: registry.to_owned(), path: path.to_owned() }.checked(url)
    }

    /// Returns the repository of a package that is given by name only: below `$KPM_REG/$KPM_REPO`,
    /// or in the default registry.
    pub fn by_name(system: &dyn System, name: &str) -> Result<Self, String> {
        let env = |name: &str, default: &str| {
            system.env(name).filter(|it| !it.is_empty()).unwrap_or_else(|| default.to_owned())
        };
        let registry = env("KPM_REG", DEFAULT_REGISTRY);
        let folder = env("KPM_REPO", DEFAULT_REPOSITORY);
        let path = format!("{}/{name}", folder.trim_matches('/'));
        Self { registry, path }.checked(&format!("the package {name}"))
    }

    /// Refuses what could be anything else than a host and a path in a URL.
    fn checked(self, shown: &str) -> Result<Self, String> {
        let is_host =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']');
        let is_path = |part: &str| {
            let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
            part.starts_with(|c: char| c.is_ascii_alphanumeric()) && part.chars().all(fits)
        };
        if self.registry.is_empty() || !self.registry.chars().all(is_host) {
            return Err(format!("invalid registry `{}` of {shown}", self.registry));
        }
        if self.path.len() > 255 || !self.path.split('/').all(is_path) {
            return Err(format!("invalid repository `{}` of {shown}", self.path));
        }
        Ok(self)
    }

    /// Returns the last part of the path: the name of a package, unless something else is said.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}

impl fmt::Display for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "oci://{}/{}", self.registry, self.path)
    }
}

/// Returns whether a name, version or tag may be part of the name of a folder.
pub fn is_safe_word(word: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '+');
    let starts = |c: char| c.is_ascii_alphanumeric() || c == '_';
    word.len() <= 128 && word.starts_with(starts) && word.chars().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base_system::MemorySystem;

    #[test]
    fn repositories_by_url_and_by_name() {
        let show = |url: &str| match Repository::parse(url) {
            Ok(it) => format!("{} {}", it.registry, it.path),
            Err(message) => message,
        };
        assert_eq!(show("oci://ghcr.io/kcl-lang/k8s"), "ghcr.io kcl-lang/k8s");
        assert_eq!(show("oci://localhost:5000/a/"), "localhost:5000 a");
        assert_eq!(
            show("ghcr.io/x"),
            "invalid OCI URL `ghcr.io/x`: expected oci://HOST/REPOSITORY"
        );
        assert!(show("oci://user@evil/x").starts_with("invalid registry"));
        assert!(show("oci://h/a/../b").starts_with("invalid repository"));
        assert!(show("oci://h/a?b").starts_with("invalid repository"));
        let system = MemorySystem::new().with_env("KPM_REG", "localhost:1");
        let by_name = Repository::by_name(&system, "k8s").unwrap();
        assert_eq!(by_name.to_string(), "oci://localhost:1/kcl-lang/k8s");
    }

    #[test]
    fn words_that_could_leave_a_folder_are_refused() {
        for word in ["1.31", "v0.4.0", "a29e3db", "my-pkg", "1.0.0+build"] {
            assert!(is_safe_word(word), "{word}");
        }
        for word in ["", "..", "../a", "a/b", ".store", "-x", "a b", "a\n"] {
            assert!(!is_safe_word(word), "{word}");
        }
    }
}
