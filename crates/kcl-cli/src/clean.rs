//! `kcl clean`: removes what earlier runs kept.

use crate::args::{Arity, Opt, Piece, split};
use crate::{Exit, ask, terminal};
use base_cache::entries_from_env;
use base_system::{OsSystem, System as _};
use kcl_pkg::store_home;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// What `kcl clean --help` says.
pub(crate) const HELP: &str = "\
Remove the package cache and the downloaded packages.

Usage: kcl clean [options] [folder]

Removes what earlier runs kept of packages, caches of the reference in the folder (default:
this one) and its module, and downloaded packages. Sources, kcl.mod and kcl.mod.lock stay;
packages are downloaded again when they are needed. You are asked before each removal.

Options:
  -y, --yes    Ask nothing
  -h, --help   Print this text
";

#[derive(Clone, Copy)]
enum Key {
    Yes,
    Help,
}

const OPTIONS: &[Opt<Key>] = &[
    Opt { key: Key::Yes, short: Some('y'), long: "yes", arity: Arity::None },
    Opt { key: Key::Help, short: Some('h'), long: "help", arity: Arity::None },
];

/// Runs `kcl clean` with the words behind it.
pub(crate) fn run(words: &[String]) -> Exit {
    let pieces = match split(words, OPTIONS) {
        Ok(pieces) => pieces,
        Err(message) => return terminal::usage(&message),
    };
    let (mut yes, mut folder) = (false, None);
    for piece in pieces {
        match piece {
            Piece::Flag(Key::Help) => return terminal::write_out(HELP),
            Piece::Flag(Key::Yes) => yes = true,
            Piece::Word(word) if folder.is_none() => folder = Some(PathBuf::from(word)),
            Piece::Word(word) => {
                return terminal::usage(&format!("unexpected argument '{word}' found"));
            }
            Piece::Value(..) => {}
        }
    }
    if !yes && !ask::can_ask() {
        return terminal::fail("nobody can be asked without a terminal: run `kcl clean --yes`");
    }
    let folder = folder.unwrap_or_else(|| ".".into());
    if !OsSystem.is_dir(&folder) {
        return terminal::fail(&format!("cannot read {}: not a folder", folder.display()));
    }
    let downloads = store_home(&OsSystem).filter(|it| OsSystem.is_dir(it));
    let entries = entries_from_env(&OsSystem);
    let facts = [
        (format!("the package cache ({})", count(entries.len())), entries),
        ("caches of the reference".to_owned(), reference_caches(&folder)),
        ("downloaded packages".to_owned(), downloads.into_iter().collect()),
    ];
    if facts.iter().all(|(_, paths)| paths.is_empty()) {
        terminal::write_err("there is nothing to remove\n");
    }
    for (what, paths) in facts {
        if let Err(exit) = remove(&what, &paths, yes) {
            return exit;
        }
    }
    Exit::Done
}

fn count(n: usize) -> String {
    if n == 1 { "1 file".to_owned() } else { format!("{n} files") }
}

/// Removes files or folders of one folder, if there are any and the user agrees.
fn remove(what: &str, paths: &[PathBuf], yes: bool) -> Result<(), Exit> {
    let [first, ..] = paths else { return Ok(()) };
    let place = if paths.len() == 1 { first } else { first.parent().unwrap_or(first) };
    let place = terminal::safe(&place.to_string_lossy());
    if !yes {
        let question = format!("Remove {what} in {place}? [y/N] ");
        let answer = ask::ask(&question).map_err(|error| terminal::fail(&error.to_string()))?;
        if !matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
            return Ok(());
        }
    }
    for path in paths {
        match OsSystem.remove(path) {
            // Another process may have removed it.
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(terminal::fail(&format!("cannot remove {}: {error}", path.display())));
            }
            _ => {}
        }
    }
    terminal::write_out(&format!("removed {what} in {place}\n"));
    Ok(())
}

/// The caches that the reference leaves in a folder and in its module.
fn reference_caches(folder: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let real = OsSystem.canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
    let module = real.ancestors().find(|it| OsSystem.is_file(&it.join("kcl.mod")));
    for folder in [Some(real.as_path()), module].into_iter().flatten() {
        for name in [".kclvm/cache", "__main__/.kclvm/cache"] {
            let path = folder.join(name);
            // A link could lead anywhere.
            let is_real = OsSystem.canonicalize(&path).is_ok_and(|it| it == path);
            if is_real && !paths.contains(&path) {
                paths.push(path);
            }
        }
    }
    paths
}
