//! Which lints are on, and how serious they are.

use crate::table::{LINTS, by_code, by_word};
use base_text::nearest;
use std::fmt;
use std::str::FromStr;

/// How serious the findings of a lint are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// They are not looked for.
    Off,
    /// They are shown.
    Warn,
    /// They are shown, and the command fails.
    Error,
}

/// A group of lints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Set {
    /// Those of the reference.
    Reference,
    /// Those that are on if nothing else is said.
    #[default]
    Default,
    /// All.
    All,
}

/// The levels of lints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The group to start from.
    pub set: Set,
    /// Changes by code; the last one of a code wins.
    levels: Vec<(&'static str, Level)>,
}

/// Why a level is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelError(String);

impl fmt::Display for LevelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Config {
    /// Makes a configuration with the levels of a group of lints.
    pub fn new(set: Set) -> Self {
        Self { set, levels: Vec::new() }
    }

    /// Sets the level of a lint, by its code or name.
    ///
    /// # Errors
    /// If there is no such lint or level.
    pub fn set_level(&mut self, lint: &str, level: &str) -> Result<(), LevelError> {
        let Some(known) = by_word(lint) else {
            let names: Vec<&str> = LINTS.iter().map(|it| it.name).collect();
            let hint = nearest(lint, names.iter().copied())
                .map_or(String::new(), |name| format!(" (did you mean `{name}`?)"));
            return Err(LevelError(format!("unknown lint `{lint}`{hint}")));
        };
        self.levels.push((known.code, level.parse()?));
        Ok(())
    }

    /// Takes over the changes of another configuration, which win over those made before.
    pub fn extend(&mut self, other: &Self) {
        self.levels.extend(&other.levels);
    }

    /// The level of a lint, by its code.
    pub fn level(&self, code: &str) -> Level {
        if let Some((_, level)) = self.levels.iter().rev().find(|(known, _)| *known == code) {
            return *level;
        }
        match (by_code(code), self.set) {
            (None, _) => Level::Off,
            (Some(lint), Set::Reference) if lint.run.is_some() => Level::Off,
            (Some(lint), Set::All) if lint.level == Level::Off => Level::Warn,
            (Some(lint), _) => lint.level,
        }
    }
}

impl FromStr for Level {
    type Err = LevelError;

    fn from_str(word: &str) -> Result<Self, LevelError> {
        match word {
            "off" | "allow" => Ok(Self::Off),
            "warn" | "warning" => Ok(Self::Warn),
            "error" | "deny" => Ok(Self::Error),
            _ => Err(LevelError(format!("invalid level `{word}`: expected off, warn or error"))),
        }
    }
}

impl FromStr for Set {
    type Err = LevelError;

    fn from_str(word: &str) -> Result<Self, LevelError> {
        match word {
            "reference" => Ok(Self::Reference),
            "default" => Ok(Self::Default),
            "all" => Ok(Self::All),
            _ => Err(LevelError(format!(
                "invalid set of lints `{word}`: expected reference, default or all"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_by_code_and_name() {
        let mut config = Config::default();
        assert_eq!(config.level("L1010"), Level::Off);
        assert_eq!(config.set_level("missing-docs", "warn"), Ok(()));
        assert_eq!(config.level("L1010"), Level::Warn);
        assert_eq!(config.set_level("L1010", "error"), Ok(()));
        assert_eq!(config.level("L1010"), Level::Error);
        let error = config.set_level("missing-doc", "warn").unwrap_err().to_string();
        assert_eq!(error, "unknown lint `missing-doc` (did you mean `missing-docs`?)");
        assert!(config.set_level("naming", "loud").is_err());
    }

    #[test]
    fn sets() {
        let reference = Config::new(Set::Reference);
        assert_eq!(reference.level("L1001"), Level::Off);
        assert_eq!(reference.level("UnusedImportWarning"), Level::Warn);
        let all = Config::new(Set::All);
        assert_eq!(all.level("L1010"), Level::Warn);
        assert_eq!(all.level("E1001"), Level::Off);
    }
}
