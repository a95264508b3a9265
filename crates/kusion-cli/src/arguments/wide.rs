//! The option for commands that change several stacks.

use super::{FolderArgs, quoted};
use crate::failure::{Failure, ManyStacks};
use kusion_generate::{BrokenStack, Stack};
use std::path::{Path, PathBuf};

/// Allows a command to change several stacks.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct WideArgs {
    /// Allow changing all stacks that were found, if there are several
    #[arg(long)]
    all: bool,
    /// Continue with the other stacks after one has failed
    #[arg(long)]
    pub(crate) keep_going: bool,
}

impl WideArgs {
    /// Checks that several stacks are changed only on purpose: with `--all`, or if the command
    /// line names the folder of each stack or of its project. `broken` are those that were found,
    /// too, but cannot be changed.
    pub(crate) fn check(
        self,
        command: &'static str,
        folders: &FolderArgs,
        stacks: &[&Stack],
        broken: &[BrokenStack],
    ) -> Result<(), Failure> {
        if self.all || stacks.len() + broken.len() < 2 {
            return Ok(());
        }
        let base = folders.workdir.clone().unwrap_or_default();
        let named: Vec<PathBuf> = folders
            .folders
            .iter()
            .filter_map(|folder| std::fs::canonicalize(base.join(folder)).ok())
            .collect();
        let is_named = |stack: &&Stack| {
            [&stack.folder, &stack.project.folder].into_iter().any(|it| named.contains(it))
        };
        if stacks.iter().all(is_named) {
            return Ok(());
        }
        let mut names: Vec<String> = stacks.iter().map(|it| it.qualified_name()).collect();
        names.extend(broken.iter().map(|it| it.stack.display().to_string()));
        let example = example(stacks, folders.workdir.as_deref());
        Err(Failure::ManyStacks(Box::new(ManyStacks { command, names, example })))
    }
}

/// Returns the folder of the first stack, as it is typed with a base folder.
pub(super) fn example(stacks: &[&Stack], base: Option<&Path>) -> String {
    let first = stacks.first().map_or_else(PathBuf::new, |it| it.folder.clone());
    quoted(&relative(&first, base).display().to_string())
}

/// Returns a folder as it is typed with a base folder, by default the working folder.
fn relative(folder: &Path, base: Option<&Path>) -> PathBuf {
    let current = std::fs::canonicalize(base.unwrap_or(Path::new("."))).unwrap_or_default();
    folder.strip_prefix(current).unwrap_or(folder).to_owned()
}
