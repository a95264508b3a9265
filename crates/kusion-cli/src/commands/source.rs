//! Arguments of commands that compile stacks.

use crate::failure::Failure;
use base_system::OsSystem;
use kusion_generate::{CompileOptions, Compiled, compile};
use std::io::Write as _;
use std::path::PathBuf;

/// Which stacks are meant, and how they compile.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct SourceArgs {
    /// Folders of stacks, of projects (all of their stacks), or around them; without any, the
    /// working folder
    #[arg(value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Folder that relative paths start from
    #[arg(long, short = 'w', value_name = "DIR")]
    workdir: Option<PathBuf>,
    /// Top-level argument, `key=value`
    #[arg(long = "argument", short = 'D', value_name = "KEY=VALUE", value_parser = pair)]
    arguments: Vec<String>,
    /// Settings file, relative to the folder of each stack
    #[arg(long = "settings", short = 'Y', value_name = "FILE")]
    settings: Vec<PathBuf>,
    /// Change to the program, `path=value`
    #[arg(long = "overrides", short = 'O', value_name = "PATH=VALUE")]
    overrides: Vec<String>,
}

impl SourceArgs {
    /// Compiles the stacks, in the order of their paths.
    pub(crate) fn compile(&self) -> Result<Vec<Compiled>, Failure> {
        let options = CompileOptions {
            work_dir: self.workdir.clone(),
            folders: self.folders.clone(),
            settings: self.settings.clone(),
            arguments: self.arguments.clone(),
            overrides: self.overrides.clone(),
            no_origins: true,
            ..CompileOptions::default()
        };
        match compile(&OsSystem, &options) {
            // Without places where values come from it is quicker; an error needs them.
            Err(_) => Ok(compile(&OsSystem, &CompileOptions { no_origins: false, ..options })?),
            compiled => Ok(compiled?),
        }
    }

    /// Returns the folder that relative paths start from.
    pub(crate) fn base(&self) -> PathBuf {
        self.workdir.clone().unwrap_or_default()
    }
}

/// Checks that a word is `key=value`.
fn pair(word: &str) -> Result<String, String> {
    match word.split_once('=') {
        Some((key, _)) if !key.trim().is_empty() => Ok(word.to_owned()),
        _ => Err("write `key=value`".to_owned()),
    }
}

/// Writes what the program printed and what there is to say about a stack to standard error.
pub(crate) fn tell(stack: &Compiled) {
    let mut out = std::io::stderr().lock();
    // Nobody is left to tell when this fails.
    let _ = out.write_all(stack.printed.as_bytes());
    for note in &stack.notes {
        let (project, name) = (&stack.stack.project.name, &stack.stack.name);
        let _ = writeln!(out, "note: {project}/{name}: {}", note.trim_end());
    }
}
