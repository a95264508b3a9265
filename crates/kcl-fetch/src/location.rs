//! Packages as users name them on the command line.

use crate::git::check_url;
use kcl_pkg::{GitReference, Repository, Source, is_safe_word};
use thiserror::Error;

/// A package as it is named on the command line: its name, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The name by which files import it.
    pub name: String,
    /// Where it comes from.
    pub source: Source,
}

/// Why a name of a package is not valid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct LocationError {
    message: String,
}

impl LocationError {
    fn new(word: &str, why: &str) -> Self {
        Self { message: format!("invalid package `{word}`: {why}") }
    }
}

impl Location {
    /// Returns whether a word names a package of a registry or a Git repository by its URL.
    pub fn is_url(word: &str) -> bool {
        ["oci://", "git://", "git+https://", "git+ssh://", "git+file://", "git+http://"]
            .iter()
            .any(|scheme| word.starts_with(scheme))
            || (word.starts_with("https://") && is_repository(word))
            || word.starts_with("ssh://")
    }

    /// Reads a word: a URL, or `NAME:VERSION` of the default registry. `reference` is what the
    /// command line says about the point of a Git repository, or the tag of a registry.
    pub fn parse(word: &str, reference: Option<GitReference>) -> Result<Self, LocationError> {
        if word.starts_with("oci://") {
            return Self::oci(word, reference);
        }
        if Self::is_url(word) {
            return Self::git(word.strip_prefix("git+").unwrap_or(word), reference);
        }
        let invalid = |why: &str| LocationError::new(word, why);
        let (name, version) = word.split_once(':').unwrap_or((word, ""));
        if !is_safe_word(name) {
            return Err(invalid("expected NAME, NAME:VERSION, oci://… or git://…, or a folder"));
        }
        if word.contains(':') && version.is_empty() {
            return Err(invalid("expected a version behind `:`"));
        }
        let version = match reference {
            Some(GitReference::Tag(tag)) if version.is_empty() => tag,
            _ => version.to_owned(),
        };
        Ok(Self { name: name.to_owned(), source: Source::Registry(version) })
    }

    /// Reads the URL of an OCI repository, with `:TAG` or `?tag=TAG` behind it.
    pub fn oci(word: &str, reference: Option<GitReference>) -> Result<Self, LocationError> {
        let (url, query) = split_query(word);
        let (url, tag) = match url.rsplit_once(':') {
            Some((head, tag)) if head.matches('/').count() > 2 => (head, tag.to_owned()),
            _ => (url, String::new()),
        };
        let tag = match (reference, query.tag) {
            (Some(GitReference::Tag(tag)), _) | (None, Some(tag)) => tag,
            _ => tag,
        };
        let url = url.replacen("https://", "oci://", 1);
        let repository = Repository::parse(&url).map_err(|message| LocationError { message })?;
        let name = repository.name().to_owned();
        Ok(Self { name, source: Source::Oci { url: repository.to_string(), tag } })
    }

    /// Reads the URL of a Git repository, with `?tag=…`, `?branch=…`, `?commit=…` or `?package=…`
    /// behind it.
    pub fn git(word: &str, reference: Option<GitReference>) -> Result<Self, LocationError> {
        let (url, query) = split_query(word);
        let url = check_url(url).map_err(|why| LocationError::new(word, &why))?;
        let reference = reference
            .or_else(|| query.commit.map(GitReference::Commit))
            .or_else(|| query.tag.map(GitReference::Tag))
            .or_else(|| query.branch.map(GitReference::Branch));
        let path = url.trim_end_matches('/');
        let path = path.strip_suffix("/.git").or(path.strip_suffix(".git")).unwrap_or(path);
        let last = path.rsplit(['/', ':']).next().unwrap_or_default();
        let name = query.package.clone().unwrap_or_else(|| last.to_owned());
        let name = name.rsplit('/').next().unwrap_or_default().to_owned();
        if !is_safe_word(&name) {
            let why = "the URL does not end with the name of a repository";
            return Err(LocationError::new(word, why));
        }
        Ok(Self { name, source: Source::Git { url, reference, package: query.package } })
    }
}

#[derive(Default)]
struct Query {
    tag: Option<String>,
    branch: Option<String>,
    commit: Option<String>,
    package: Option<String>,
}

/// Whether a URL ends as those of Git repositories do.
fn is_repository(word: &str) -> bool {
    let path = word.split('?').next().unwrap_or(word);
    path.trim_end_matches('/').rsplit_once('.').is_some_and(|(_, end)| end == "git")
}

fn split_query(word: &str) -> (&str, Query) {
    let Some((url, text)) = word.split_once('?') else { return (word, Query::default()) };
    let mut query = Query::default();
    for (name, value) in text.split('&').filter_map(|pair| pair.split_once('=')) {
        let value = Some(value.to_owned());
        match name {
            "tag" => query.tag = value,
            "branch" => query.branch = value,
            "commit" => query.commit = value,
            "package" | "mod" => query.package = value,
            _ => {}
        }
    }
    (url, query)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(word: &str) -> String {
        match Location::parse(word, None) {
            Ok(Location { name, source }) => format!("{name}: {source}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn every_form_of_package() {
        assert_eq!(show("k8s:1.31"), "k8s: 1.31");
        assert_eq!(show("k8s"), "k8s: any version");
        assert_eq!(show("oci://ghcr.io/kcl-lang/k8s"), "k8s: oci://ghcr.io/kcl-lang/k8s");
        assert_eq!(show("oci://h:5000/a/k8s:1.2"), "k8s: oci://h:5000/a/k8s 1.2");
        assert_eq!(show("oci://h:5000/k8s?tag=1.2"), "k8s: oci://h:5000/k8s 1.2");
        assert_eq!(
            show("git://github.com/kcl-lang/konfig?tag=v0.4.0"),
            "konfig: https://github.com/kcl-lang/konfig tag v0.4.0"
        );
        assert_eq!(
            show("https://x/y.git?commit=abc&package=sub/z"),
            "z: https://x/y.git commit abc folder sub/z"
        );
        assert_eq!(show("git+file:///srv/y"), "y: file:///srv/y");
        assert_eq!(show("git+file:///srv/y/.git"), "y: file:///srv/y/.git");
        assert!(show("../a/b").starts_with("invalid package `../a/b`: expected NAME"));
        assert!(show("k8s:").contains("expected a version"));
        assert!(show("git://-x/y").contains("no valid host"));
    }
}
