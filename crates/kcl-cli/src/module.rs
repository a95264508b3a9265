//! `kcl mod`: the module of a folder and its dependencies. Each command is a file.

mod add;
mod graph;
mod help;
mod init;
mod metadata;
mod pkg;
mod pull;
mod push;
mod remove;
mod tree;
mod update;
mod vendor;

use crate::args::{Arity, Opt, Piece, split};
use crate::fetching::fetcher;
use crate::{Exit, terminal};
use base_system::{OsSystem, System as _};
use kcl_fetch::{FetchOptions, Fetcher};
use kcl_pkg::{LOCK_FILE, MOD_FILE, ModFile, Request, Resolution, Update, read_mod_file, resolve};
use std::path::{Path, PathBuf};

pub(crate) use help::{MOD, text as help_text};

/// Why a command stopped.
pub(crate) enum Stop {
    /// It asks for help.
    Help,
    /// The command line is wrong.
    Usage(String),
    /// Something failed; the message says what.
    Failed(String),
}

impl Stop {
    /// Makes it from an error.
    #[expect(clippy::needless_pass_by_value, reason = "errors are mapped with it")]
    pub(crate) fn failed(error: impl ToString) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Runs `kcl mod` with the words behind it.
pub(crate) fn run(words: &[String]) -> Exit {
    let Some((command, rest)) = words.split_first() else {
        terminal::write_out(MOD);
        return Exit::Usage;
    };
    let result = match command.as_str() {
        "init" => init::run(rest),
        "add" => add::run(rest),
        "remove" | "rm" => remove::run(rest),
        "update" => update::run(rest),
        "tree" => tree::run(rest),
        "graph" => graph::run(rest),
        "metadata" => metadata::run(rest),
        "vendor" => vendor::run(rest),
        "pull" => pull::run(rest),
        "push" => push::run(rest),
        "pkg" => pkg::run(rest),
        "help" | "--help" | "-h" => {
            let topic = rest.first().and_then(|name| help_text(name));
            return terminal::write_out(topic.unwrap_or(MOD));
        }
        word => Err(Stop::Usage(crate::unknown("mod", word))),
    };
    finish(result, help_text(command).unwrap_or(MOD))
}

/// Reports how a command ended.
pub(crate) fn finish(result: Result<Exit, Stop>, help: &str) -> Exit {
    match result {
        Ok(exit) => exit,
        Err(Stop::Help) => terminal::write_out(help),
        Err(Stop::Usage(message)) => terminal::usage(&message),
        Err(Stop::Failed(message)) => {
            terminal::write_err(&format!("error: {message}\n"));
            Exit::User
        }
    }
}

/// An option of the commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Git,
    Oci,
    Tag,
    Commit,
    Branch,
    Package,
    Rename,
    Target,
    TarPath,
    Vendor,
    Offline,
    Locked,
    Quiet,
    Help,
    UpdateFirst,
    NoSumCheck,
}

pub(crate) const fn option(key: Key) -> Opt<Key> {
    let (short, long, arity) = match key {
        Key::Git => (None, "git", Arity::One),
        Key::Oci => (None, "oci", Arity::One),
        Key::Tag => (Some('t'), "tag", Arity::One),
        Key::Commit => (None, "commit", Arity::One),
        Key::Branch => (None, "branch", Arity::One),
        Key::Package => (None, "package", Arity::One),
        Key::Rename => (None, "rename", Arity::One),
        Key::Target => (None, "target", Arity::One),
        Key::TarPath => (None, "tar-path", Arity::One),
        Key::Vendor => (None, "vendor", Arity::None),
        Key::Offline => (None, "offline", Arity::None),
        Key::Locked => (None, "locked", Arity::None),
        Key::Quiet => (Some('q'), "quiet", Arity::None),
        Key::Help => (Some('h'), "help", Arity::None),
        // Of the reference. The lock file is always checked and kept up to date.
        Key::UpdateFirst => (None, "update", Arity::None),
        Key::NoSumCheck => (None, "no-sum-check", Arity::None),
    };
    Opt { key, short, long, arity }
}

/// The command line of one command.
#[derive(Default)]
pub(crate) struct Line {
    pub(crate) words: Vec<String>,
    flags: Vec<Key>,
    values: Vec<(Key, String)>,
}

impl Line {
    /// Reads a command line with some options and at most so many words.
    pub(crate) fn parse(words: &[String], keys: &[Key], most: usize) -> Result<Self, Stop> {
        let known: Vec<Opt<Key>> = keys
            .iter()
            .copied()
            .chain([Key::Quiet, Key::Help, Key::NoSumCheck])
            .map(option)
            .collect();
        let mut line = Self::default();
        for piece in split(words, &known).map_err(Stop::Usage)? {
            match piece {
                Piece::Flag(Key::Help) => return Err(Stop::Help),
                Piece::Flag(key) => line.flags.push(key),
                Piece::Value(key, value) => line.values.push((key, value)),
                Piece::Word(word) => line.words.push(word),
            }
        }
        match line.words.get(most) {
            Some(word) => Err(Stop::Usage(format!("unexpected argument '{word}' found"))),
            None => Ok(line),
        }
    }

    pub(crate) fn has(&self, key: Key) -> bool {
        self.flags.contains(&key)
    }

    pub(crate) fn value(&self, key: Key) -> Option<&str> {
        self.values.iter().rev().find(|(it, _)| *it == key).map(|(_, value)| value.as_str())
    }

    /// Makes a fetcher as the options say.
    pub(crate) fn fetcher(&self) -> Fetcher {
        let options =
            FetchOptions { offline: self.has(Key::Offline), locked: self.has(Key::Locked) };
        fetcher(options, self.has(Key::Quiet))
    }

    /// Prints a line about what was done, unless the command is to be quiet.
    pub(crate) fn say(&self, text: &str) -> Exit {
        if self.has(Key::Quiet) { Exit::Done } else { terminal::write_out(text) }
    }
}

/// The module of the working folder.
pub(crate) struct Module {
    pub(crate) root: PathBuf,
    pub(crate) text: String,
    pub(crate) mod_file: ModFile,
}

impl Module {
    /// Finds the module of the working folder: the nearest folder with a `kcl.mod`.
    pub(crate) fn find() -> Result<Self, Stop> {
        let start = OsSystem.current_dir().map_err(Stop::failed)?;
        let root = start.ancestors().find(|it| OsSystem.is_file(&it.join(MOD_FILE)));
        let root = root.ok_or_else(|| {
            let start = start.display();
            Stop::Failed(format!("`{start}` is not in a module: run `kcl mod init` to create one"))
        })?;
        let path = root.join(MOD_FILE);
        let text = OsSystem.read_to_string(&path).map_err(Stop::failed)?;
        let mod_file = read_mod_file(&OsSystem, root).map_err(Stop::failed)?.unwrap_or_default();
        Ok(Self { root: root.to_owned(), text, mod_file })
    }

    /// Takes another text of `kcl.mod`, which is not written yet.
    pub(crate) fn with_text(self, text: String) -> Result<Self, Stop> {
        let mod_file = ModFile::parse(&text).map_err(Stop::Failed)?;
        Ok(Self { text, mod_file, ..self })
    }

    /// Finds all dependencies, downloaded if needed.
    pub(crate) fn resolve(
        &self,
        fetcher: &Fetcher,
        update: &Update,
        use_vendor: bool,
    ) -> Result<Resolution, Stop> {
        let (root, mod_file) = (self.root.as_path(), &self.mod_file);
        let provider = Some(fetcher as &dyn kcl_pkg::Provider);
        let request = Request { system: &OsSystem, root, mod_file, provider, update, use_vendor };
        resolve(&request).map_err(Stop::failed)
    }

    /// Writes `kcl.mod` and the lock file.
    pub(crate) fn write(&self, resolution: &Resolution) -> Result<(), Stop> {
        write(&self.root.join(MOD_FILE), &self.text)?;
        self.write_lock(resolution)
    }

    /// Writes the lock file if it changes.
    pub(crate) fn write_lock(&self, resolution: &Resolution) -> Result<(), Stop> {
        if !resolution.lock_changed {
            return Ok(());
        }
        write(&self.root.join(LOCK_FILE), &resolution.lock.to_text())
    }

    /// Returns the name of the module, and its version if it has one.
    pub(crate) fn label(&self, separator: &str) -> String {
        let name = self.mod_file.name.as_deref().unwrap_or("this module");
        label(name, self.mod_file.version.as_deref().unwrap_or_default(), separator)
    }
}

/// Returns a name with a version behind it, if there is one.
pub(crate) fn label(name: &str, version: &str, separator: &str) -> String {
    if version.is_empty() { name.to_owned() } else { format!("{name}{separator}{version}") }
}

fn write(path: &Path, text: &str) -> Result<(), Stop> {
    let failed = |error| Stop::Failed(format!("cannot write `{}`: {error}", path.display()));
    OsSystem.write(path, text).map_err(failed)
}
