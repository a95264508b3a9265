//! Semantic versions in rules.

use std::cmp::Ordering;

/// A semantic version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Semver {
    numbers: [u64; 3],
    /// The parts of the pre-release, in their order.
    before: Vec<String>,
}

impl Semver {
    /// Reads a version; `loose` accepts `v1`, `1.2` and leading zeros, too.
    pub(super) fn parse(text: &str, loose: bool) -> Option<Self> {
        let text = if loose { text.strip_prefix('v').unwrap_or(text) } else { text };
        let (text, build) = text.split_once('+').map_or((text, None), |it| (it.0, Some(it.1)));
        if build.is_some_and(|build| !build.split('.').all(is_identifier)) {
            return None;
        }
        let (core, before) = text.split_once('-').map_or((text, None), |it| (it.0, Some(it.1)));
        let mut numbers = [0; 3];
        let parts: Vec<&str> = core.split('.').collect();
        if parts.len() > 3 || (parts.len() < 3 && !loose) {
            return None;
        }
        for (number, part) in numbers.iter_mut().zip(&parts) {
            let is_plain = loose || *part == "0" || !part.starts_with('0');
            let digits = !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
            *number = part.parse().ok().filter(|_| is_plain && digits)?;
        }
        let before: Vec<String> =
            before.map(|it| it.split('.').map(str::to_owned).collect()).unwrap_or_default();
        let is_good = |part: &String| {
            is_identifier(part) && (!is_number(part) || part == "0" || !part.starts_with('0'))
        };
        before.iter().all(is_good).then_some(Self { numbers, before })
    }

    /// Returns the number at a place: major, minor, patch.
    pub(super) fn number(&self, at: usize) -> i64 {
        i64::try_from(self.numbers[at]).unwrap_or(i64::MAX)
    }
}

fn is_identifier(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-')
}

fn is_number(part: &str) -> bool {
    part.bytes().all(|it| it.is_ascii_digit())
}

impl PartialOrd for Semver {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Semver {
    fn cmp(&self, other: &Self) -> Ordering {
        let parts =
            |left: &String, right: &String| match (left.parse::<u64>(), right.parse::<u64>()) {
                (Ok(left), Ok(right)) => left.cmp(&right),
                (Ok(_), Err(_)) => Ordering::Less,
                (Err(_), Ok(_)) => Ordering::Greater,
                (Err(_), Err(_)) => left.cmp(right),
            };
        // A version comes after all of its pre-releases.
        let is_final = |it: &Self| it.before.is_empty();
        self.numbers.cmp(&other.numbers).then(is_final(self).cmp(&is_final(other))).then_with(
            || {
                let first = self.before.iter().zip(&other.before).map(|(a, b)| parts(a, b));
                let first = first.into_iter().find(|order| order.is_ne());
                first.unwrap_or_else(|| self.before.len().cmp(&other.before.len()))
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered() {
        let list = [
            "0.9.9",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-2.x",
            "1.0.0",
            "1.2.0",
            "1.10.0+build",
        ];
        let mut versions: Vec<Semver> =
            list.iter().map(|it| Semver::parse(it, false).expect("a version")).collect();
        versions.sort();
        let numbers: Vec<i64> = versions.iter().map(|it| it.number(1)).collect();
        assert_eq!(numbers, [9, 0, 0, 0, 0, 0, 2, 10]);
        for bad in ["", "1", "1.2", "01.2.3", "1.2.3-", "1.2.3-01", "v1.2.3", "1.2.3+", "1.2.x"] {
            assert_eq!(Semver::parse(bad, false), None, "{bad}");
        }
        assert_eq!(Semver::parse("v1.02", true), Semver::parse("1.2.0", false));
    }
}
