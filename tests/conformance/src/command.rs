//! Answers by commands of `kcl`, which stands beside this program.

use anyhow::Context as _;
use std::path::Path;
use std::process::{Command, Output};

/// Runs `kcl` with some words in a folder.
pub(crate) fn kcl(folder: &Path, words: &[&str]) -> anyhow::Result<Output> {
    let own = std::env::current_exe()?;
    let program = own.with_file_name("kcl");
    let run = Command::new(&program).args(words).current_dir(folder).output();
    run.with_context(|| format!("cannot run {}: build kcl-cli first", program.display()))
}
