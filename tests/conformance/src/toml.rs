//! Kind `toml`: the output of a program as TOML.

use crate::{Answer, findings, words};
use base_system::OsSystem;
use kcl_driver::{Format, RunOptions, run};
use testkit::Case;

/// Answers a case.
pub(crate) fn answer(case: &Case) -> Answer {
    let mut options = RunOptions::files(words(case, "paths"));
    options.format = Some(Format::Toml);
    options.output.sort_keys = case.meta["sort_keys"] == true;
    match run(&OsSystem, &options) {
        Ok(output) => Answer::text("expect.toml", output.result),
        Err(error) => findings(&error.into_findings()),
    }
}
