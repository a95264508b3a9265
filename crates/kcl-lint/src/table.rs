//! The table of lints.

use crate::config::Level;
use crate::rules::{self, Context};
use base_diag::Diagnostic;

/// One lint.
#[derive(Clone, Copy, Debug)]
pub struct Lint {
    /// The stable code, e.g. `L1001`; that of the reference for its own lints.
    pub code: &'static str,
    /// The name, e.g. `unused-local`, which can be written instead of the code.
    pub name: &'static str,
    /// The level if nothing else is said.
    pub level: Level,
    /// What it finds, in a few words.
    pub summary: &'static str,
    /// The rule; `None` for what the checker finds.
    pub(crate) run: Option<fn(&Context<'_>, &mut Vec<Diagnostic>)>,
}

const fn own(
    code: &'static str,
    name: &'static str,
    level: Level,
    summary: &'static str,
    run: fn(&Context<'_>, &mut Vec<Diagnostic>),
) -> Lint {
    Lint { code, name, level, summary, run: Some(run) }
}

const fn reference(code: &'static str, name: &'static str, summary: &'static str) -> Lint {
    Lint { code, name, level: Level::Warn, summary, run: None }
}

/// All lints: those of the reference, then our own.
pub const LINTS: &[Lint] = &[
    reference("UnusedImportWarning", "unused-import", "an import that nothing uses"),
    reference("ReimportWarning", "reimport", "a second import of a module"),
    reference("ImportPositionWarning", "import-position", "an import below other statements"),
    own("L1001", "unused-local", Level::Warn, "a local name that nothing reads", rules::unused),
    own("L1002", "shadowing", Level::Warn, "a local name that hides another", rules::shadowing),
    own("L1003", "unreachable", Level::Warn, "code that never runs", rules::unreachable),
    own("L1004", "naming", Level::Warn, "a schema or type name in lower case", rules::naming),
    own("L1005", "deprecated", Level::Warn, "a use of something deprecated", rules::deprecated),
    own(
        "L1006",
        "unknown-key",
        Level::Warn,
        "a key that is nearly an attribute",
        rules::unknown_key,
    ),
    own(
        "L1007",
        "constant-comparison",
        Level::Warn,
        "a comparison with one result",
        rules::comparison,
    ),
    own("L1008", "duplicate-key", Level::Warn, "a key that is set twice", rules::duplicate_key),
    own("L1009", "check-message", Level::Warn, "a check without a message", rules::check_message),
    own(
        "L1010",
        "missing-docs",
        Level::Off,
        "an attribute without documentation",
        rules::missing_docs,
    ),
];

/// The lint of a code.
pub(crate) fn by_code(code: &str) -> Option<&'static Lint> {
    LINTS.iter().find(|lint| lint.code == code)
}

/// The lint of a code or name.
pub(crate) fn by_word(word: &str) -> Option<&'static Lint> {
    LINTS.iter().find(|lint| lint.code == word || lint.name == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_are_unique() {
        for (at, lint) in LINTS.iter().enumerate() {
            for other in &LINTS[at + 1..] {
                assert_ne!(lint.code, other.code);
                assert_ne!(lint.name, other.name);
            }
        }
    }
}
