//! Versions of providers, and constraints of versions: `2.5.1`, `~> 2.5`, `>= 2.0, < 3.0`.

use semver::Version;
use std::fmt;

/// The longest text that is read.
const MAX_TEXT: usize = 200;

/// Constraints that a version must fulfil, all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraints(Vec<Constraint>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Constraint {
    operator: Operator,
    version: Version,
    /// How many numbers of the version were written.
    n_numbers: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Greater,
    AtLeast,
    Less,
    AtMost,
    /// The last number that was written may grow.
    Near,
}

/// The operators as they are written, the longer ones first.
const OPERATORS: &[(&str, Operator)] = &[
    ("~>", Operator::Near),
    (">=", Operator::AtLeast),
    ("<=", Operator::AtMost),
    ("!=", Operator::NotEqual),
    (">", Operator::Greater),
    ("<", Operator::Less),
    ("=", Operator::Equal),
];

impl Constraints {
    /// Reads constraints, separated by commas.
    ///
    /// # Errors
    ///
    /// The text is not a list of constraints; the message says which part is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > MAX_TEXT {
            return Err(format!("a version constraint has more than {MAX_TEXT} characters"));
        }
        let all = text.split(',').map(|part| {
            Constraint::parse(part.trim()).ok_or_else(|| {
                format!(
                    "invalid version constraint `{}`: expected a version, perhaps with an operator \
                     before it, such as `2.5.1`, `~> 2.5` or `>= 2.0, < 3.0`",
                    part.trim().escape_debug()
                )
            })
        });
        all.collect::<Result<_, _>>().map(Self)
    }

    /// Returns whether a version fulfils all constraints. Pre-releases must be named exactly.
    pub fn allow(&self, version: &Version) -> bool {
        let is_named =
            |it: &Constraint| it.operator == Operator::Equal && it.version.pre == version.pre;
        (version.pre.is_empty() || self.0.iter().any(is_named))
            && self.0.iter().all(|it| it.allows(version))
    }
}

impl fmt::Display for Constraints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, it) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            let sign = OPERATORS.iter().find(|(_, known)| *known == it.operator);
            match sign {
                Some((_, Operator::Equal)) | None => {}
                Some((sign, _)) => write!(f, "{sign} ")?,
            }
            let Version { major, minor, patch, pre, .. } = &it.version;
            match it.n_numbers {
                1 => write!(f, "{major}")?,
                2 => write!(f, "{major}.{minor}")?,
                _ => write!(f, "{major}.{minor}.{patch}")?,
            }
            if !pre.is_empty() {
                write!(f, "-{pre}")?;
            }
        }
        Ok(())
    }
}

impl Constraint {
    fn parse(text: &str) -> Option<Self> {
        let found = OPERATORS.iter().find_map(|(sign, it)| Some((*it, text.strip_prefix(sign)?)));
        let (operator, rest) = found.unwrap_or((Operator::Equal, text));
        let rest = rest.trim_start();
        let numbers = rest.split(['-', '+']).next()?;
        let n_numbers = numbers.split('.').count();
        let missing = match n_numbers {
            1 => ".0.0",
            2 => ".0",
            3 => "",
            _ => return None,
        };
        let version = format!("{numbers}{missing}{}", &rest[numbers.len()..]);
        Some(Self { operator, version: Version::parse(&version).ok()?, n_numbers })
    }

    fn allows(&self, version: &Version) -> bool {
        let own = &self.version;
        match self.operator {
            Operator::Equal => version == own,
            Operator::NotEqual => version != own,
            Operator::Greater => version > own,
            Operator::AtLeast => version >= own,
            Operator::Less => version < own,
            Operator::AtMost => version <= own,
            Operator::Near => {
                let is_same_minor = self.n_numbers < 3 || version.minor == own.minor;
                version >= own && version.major == own.major && is_same_minor
            }
        }
    }
}

/// Reads a version; `None` if it is not one.
pub fn parse_version(text: &str) -> Option<Version> {
    Version::parse(text).ok().filter(|_| text.len() <= MAX_TEXT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(constraints: &str, allowed: &[&str], refused: &[&str]) {
        let parsed = Constraints::parse(constraints).expect(constraints);
        let version = |it: &&str| parse_version(it).expect(it);
        for it in allowed {
            assert!(parsed.allow(&version(it)), "{constraints} and {it}");
        }
        for it in refused {
            assert!(!parsed.allow(&version(it)), "{constraints} and {it}");
        }
        assert_eq!(parsed.to_string(), constraints);
    }

    #[test]
    fn constraints_are_as_in_terraform() {
        check("2.5.1", &["2.5.1"], &["2.5.2", "2.5.1-beta1", "2.5.0"]);
        check("~> 2.5", &["2.5.0", "2.9.3"], &["2.4.9", "3.0.0", "2.6.0-rc1"]);
        check("~> 2.5.1", &["2.5.1", "2.5.9"], &["2.6.0", "2.5.0"]);
        check(">= 2.0, < 3.0", &["2.0.0", "2.9.9"], &["1.9.9", "3.0.0"]);
        check("!= 2.1.0, ~> 2.0", &["2.2.0"], &["2.1.0"]);
        check("> 1.0.0, <= 2.0.0", &["2.0.0"], &["1.0.0"]);
        check("2.5.1-beta1", &["2.5.1-beta1"], &["2.5.1"]);
    }

    #[test]
    fn mistakes_name_the_part() {
        for text in ["", "latest", "1.2.3.4", "~> ", ">= 1.0,", "01.2.3", "../1"] {
            let error = Constraints::parse(text).expect_err(text);
            assert!(error.starts_with("invalid version constraint `"), "{error}");
        }
        let long = "1".repeat(300);
        assert!(Constraints::parse(&long).expect_err("long").contains("more than 200"));
    }
}
