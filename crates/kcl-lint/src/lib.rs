//! Warnings about valid programs that are probably not what was meant.
//!
//! [`lint`] runs the rules of [`LINTS`] over the main package of a program. Warnings about imports
//! are those of the checker (`kcl-types`); [`select`] gives both the levels of a [`Config`] and
//! leaves out what comments switch off. [`explain`] has a page for each code, also for those of
//! errors. Evaluates nothing and reads no files. Start reading at `table.rs`; each file in `rules`
//! is one rule.

mod comments;
mod config;
mod explain;
mod rules;
mod sarif;
mod table;

pub use config::{Config, Level, LevelError, Set};
pub use explain::{explain, explained_codes};
pub use sarif::render_sarif;
pub use table::{LINTS, Lint};

use base_diag::{Diagnostic, Severity};
use kcl_hir::Program;

/// Runs the rules that are switched on over the main package; findings in the order of files and
/// places.
pub fn lint(program: &Program, config: &Config) -> Vec<Diagnostic> {
    let Some(package) = program.main_package() else { return Vec::new() };
    let mut found = Vec::new();
    for &file in &package.files {
        let mut here = Vec::new();
        for lint in LINTS {
            if let Some(run) = lint.run
                && config.level(lint.code) != Level::Off
            {
                run(&rules::Context { program, file }, &mut here);
            }
        }
        here.sort_by_key(|it| it.labels.first().and_then(|label| label.at));
        found.append(&mut here);
    }
    found
}

/// Gives findings their levels, and drops those that are switched off: by the configuration, or by
/// a comment in the source.
pub fn select(program: &Program, config: &Config, found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut switches = comments::Switches::new(program);
    let mut kept = Vec::new();
    for mut diagnostic in found {
        if table::by_code(diagnostic.code).is_some() {
            let level = config.level(diagnostic.code);
            if level == Level::Off || switches.is_off(&diagnostic) {
                continue;
            }
            let is_error = level == Level::Error;
            diagnostic.severity = if is_error { Severity::Error } else { Severity::Warning };
        }
        kept.push(diagnostic);
    }
    kept
}
