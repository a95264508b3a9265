//! Options that select and compile stacks.

use super::confine::ConfineArgs;
use super::{SiteArgs, ViewArgs};
use crate::failure::{Exit, Failure};
use crate::interrupt;
use crate::view::View;
use base_system::{OsSystem, System as _};
use kusion_app::OpenStack;
use kusion_generate::{
    CompileOptions, Compiled, Outcome, Stack, Work, compile, compile_each, find_cells,
};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

/// Selects stacks.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct FolderArgs {
    /// Folders of stacks or projects, or folders that contain them [default: the working folder]
    #[arg(value_name = "DIR")]
    pub(crate) folders: Vec<PathBuf>,
    /// Base folder for relative paths
    #[arg(long, short = 'w', value_name = "DIR")]
    pub(crate) workdir: Option<PathBuf>,
    /// Cells of the stacks, such as `env=prod,zone=gz00a|gz00b` [default: all]
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) cell: Option<String>,
}

/// Options of the compiler.
#[derive(Debug, Clone, clap::Args)]
struct ProgramArgs {
    /// Top-level argument, `key=value`
    #[arg(long = "argument", short = 'D', value_name = "KEY=VALUE", value_parser = pair)]
    arguments: Vec<String>,
    /// Settings file, relative to the folder of each stack
    #[arg(long = "settings", short = 'Y', value_name = "FILE")]
    settings: Vec<PathBuf>,
    /// Override of a value in the program, `path=value`
    #[arg(long = "overrides", short = 'O', value_name = "PATH=VALUE")]
    overrides: Vec<String>,
    /// Name of an argument or environment variable whose value is secret: fields that contain it
    /// are hidden and encrypted
    #[arg(long, value_name = "NAME")]
    secret_input: Vec<String>,
    #[command(flatten)]
    confine: ConfineArgs,
}

/// Selects stacks and compiles them.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct SourceArgs {
    #[command(flatten)]
    pub(crate) folders: FolderArgs,
    #[command(flatten)]
    program: ProgramArgs,
}

/// Selects deployed stacks.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct StackArgs {
    #[command(flatten)]
    pub(crate) folders: FolderArgs,
    #[command(flatten)]
    pub(crate) site: SiteArgs,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

impl FolderArgs {
    /// Finds the stacks, in the order of their paths, without compiling them.
    pub(crate) fn find(&self) -> Result<Vec<Stack>, Failure> {
        let system = OsSystem;
        let base = match &self.workdir {
            Some(folder) => folder.clone(),
            None => system.current_dir().map_err(Failure::file("read", "."))?,
        };
        Ok(find_cells(&system, &base, &self.folders, self.cell.as_deref())?)
    }

    /// Returns the selected stack; fails if there are several.
    pub(crate) fn find_one(&self) -> Result<Stack, Failure> {
        let stacks = self.find()?;
        if let [stack] = stacks.as_slice() {
            return Ok(stack.clone());
        }
        if let [first, rest @ ..] = stacks.as_slice()
            && rest.iter().all(|it| it.folder == first.folder)
        {
            let (count, example) = (stacks.len(), first.cell_name().to_owned());
            return Err(Failure::OneCell { count, example });
        }
        Err(Failure::OneStack {
            count: stacks.len(),
            example: super::wide::example(
                &stacks.iter().collect::<Vec<_>>(),
                self.workdir.as_deref(),
            ),
        })
    }

    /// Returns the folders as they are written on a command line, without the base folder.
    pub(crate) fn folder_words(&self) -> String {
        let mut text = String::new();
        for folder in &self.folders {
            let _ = write!(text, " {}", quoted(&folder.display().to_string()));
        }
        text
    }

    /// Returns the folders as they are written on a command line.
    pub(crate) fn words(&self) -> String {
        let mut text = self.folder_words();
        if let Some(folder) = &self.workdir {
            let _ = write!(text, " -w {}", quoted(&folder.display().to_string()));
        }
        if let Some(cell) = &self.cell {
            let _ = write!(text, " --cell {}", quoted(cell));
        }
        text
    }
}

impl SourceArgs {
    /// Compiles the stacks, in the order of their paths. If `is_trusted` is true, the plugins that
    /// the repository names are started.
    pub(crate) fn compile(&self, is_trusted: bool) -> Result<Vec<Compiled>, Failure> {
        Ok(compile(&OsSystem, &self.options(is_trusted)?)?)
    }

    /// Compiles the stacks, in the order of their paths. If `keep_going` is true, a stack that
    /// fails does not keep the others from being compiled.
    pub(crate) fn compile_each(
        &self,
        keep_going: bool,
        is_trusted: bool,
    ) -> Result<Outcome, Failure> {
        if keep_going {
            return Ok(compile_each(&OsSystem, &self.options(is_trusted)?)?);
        }
        let compiled = self.compile(is_trusted)?;
        let (n_stacks, errors) = (compiled.len(), Vec::new());
        Ok(Outcome { n_stacks, compiled, errors, work: Work::default() })
    }

    fn options(&self, is_trusted: bool) -> Result<CompileOptions, Failure> {
        let (folders, program) = (&self.folders, &self.program);
        Ok(CompileOptions {
            work_dir: folders.workdir.clone(),
            folders: folders.folders.clone(),
            cells: folders.cell.clone(),
            settings: program.settings.clone(),
            arguments: program.arguments.clone(),
            overrides: program.overrides.clone(),
            secret_inputs: program.secret_input.clone(),
            confinement: program.confine.confinement(is_trusted)?,
            ..CompileOptions::default()
        })
    }
}

impl StackArgs {
    /// Opens the selected stack, and shows data of it.
    pub(crate) fn read(
        &self,
        show: impl AsyncFnOnce(&Arc<View>, &OpenStack) -> Result<(), Failure>,
    ) -> Result<Exit, Failure> {
        self.view.show(|view| {
            interrupt::read(async {
                let stack = self.folders.find_one()?;
                let open = self.site.opener(view)?.open(&stack).await?;
                show(view, &open).await.map(|()| Exit::Success)
            })
        })
    }
}

/// Checks that an argument is `key=value`.
fn pair(word: &str) -> Result<String, String> {
    match word.split_once('=') {
        Some((key, _)) if !key.trim().is_empty() => Ok(word.to_owned()),
        _ => Err("expected `key=value`".to_owned()),
    }
}

/// Quotes a word for a shell.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-_./:@=+,".contains(&b);
    if !word.is_empty() && word.bytes().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_words_are_quoted() {
        assert_eq!(quoted("a/b-c"), "a/b-c");
        assert_eq!(quoted("a b's"), r"'a b'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
