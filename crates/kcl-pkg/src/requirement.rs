//! Which versions of a package will do.

use semver::{Version, VersionReq};
use std::fmt;

/// What a `kcl.mod` asks of the version of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// Every version.
    Any,
    /// `1.31`: this version. If another module asks for a later one of the same major number, that
    /// one serves both.
    Version(String, Version),
    /// `>=1.28, <2`, `^1.2`, `~1.3`, `1.*`: the newest version of a range.
    Range(String, VersionReq),
    /// A tag that is not a version.
    Tag(String),
}

impl Requirement {
    /// Reads what a `kcl.mod` says; the error says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() || text == "*" {
            return Ok(Self::Any);
        }
        if text.contains(['<', '>', '^', '~', '=', '*', ',', ' ']) {
            let range = VersionReq::parse(text);
            return range.map(|range| Self::Range(text.to_owned(), range)).map_err(|error| {
                format!(
                    "invalid range of versions `{text}`: {error}, expected such as `>=1.28, <2`"
                )
            });
        }
        Ok(match parse_version(text) {
            Some(version) => Self::Version(text.to_owned(), version),
            None => Self::Tag(text.to_owned()),
        })
    }

    /// Returns whether a version, as it is written in a tag, fulfils the requirement.
    pub fn allows(&self, tag: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Tag(text) => text == tag,
            Self::Version(text, least) => {
                text == tag
                    || parse_version(tag)
                        .is_some_and(|it| it >= *least && is_compatible(&it, least))
            }
            Self::Range(_, range) => parse_version(tag).is_some_and(|it| range.matches(&it)),
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any version"),
            Self::Version(text, _) | Self::Range(text, _) | Self::Tag(text) => f.write_str(text),
        }
    }
}

/// Whether one version can take the place of the other: the first number that is not 0 is the same.
fn is_compatible(a: &Version, b: &Version) -> bool {
    let rank = |it: &Version| match (it.major, it.minor) {
        (0, 0) => (0, 0, it.patch),
        (0, minor) => (0, minor, 0),
        (major, _) => (major, 0, 0),
    };
    rank(a) == rank(b)
}

/// Reads a version: up to three numbers, with or without `v` before and a suffix behind; `None` if
/// it is something else.
pub fn parse_version(text: &str) -> Option<Version> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let end = text.find(['-', '+']).unwrap_or(text.len());
    let (numbers, suffix) = text.split_at(end);
    let missing = match numbers.matches('.').count() {
        0 => ".0.0",
        1 => ".0",
        _ => "",
    };
    Version::parse(&format!("{numbers}{missing}{suffix}")).ok()
}

/// Returns the newest of some tags: the highest version, and one without a suffix if there is any.
pub fn newest<'t>(tags: impl IntoIterator<Item = &'t str>) -> Option<&'t str> {
    let versions = tags.into_iter().filter_map(|tag| Some((parse_version(tag)?, tag)));
    let newest = versions.max_by(|(a, a_tag), (b, b_tag)| {
        let rank = |it: &Version| it.pre.is_empty();
        rank(a).cmp(&rank(b)).then_with(|| a.cmp(b)).then_with(|| a_tag.cmp(b_tag))
    });
    newest.map(|(_, tag)| tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_ranges_and_tags() {
        for (requirement, tag, expected) in [
            ("1.28", "1.28", true),
            ("1.28", "1.31.2", true),
            ("1.28", "1.27", false),
            ("1.28", "2.0", false),
            ("0.2.0", "0.3.0", false),
            ("0.2.0", "v0.2.4", true),
            (">=1.28, <2", "1.31", true),
            ("~1.28", "1.29.0", false),
            ("1.*", "1.9", true),
            ("latest", "latest", true),
            ("latest", "1.0", false),
            ("", "anything", true),
        ] {
            let parsed = Requirement::parse(requirement).unwrap();
            assert_eq!(parsed.allows(tag), expected, "{requirement} {tag}");
        }
        assert!(Requirement::parse(">=x").unwrap_err().contains("invalid range of versions `>=x`"));
    }

    #[test]
    fn the_newest_tag_is_a_release() {
        assert_eq!(newest(["1.9", "1.10", "2.0-alpha", "latest"]), Some("1.10"));
        assert_eq!(newest(["2.0-alpha", "2.0-beta"]), Some("2.0-beta"));
        assert_eq!(newest(["latest"]), None);
    }
}
