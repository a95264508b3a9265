//! `kcl rename`

use crate::args::{Arity, Opt, Piece, split};
use crate::set::write;
use crate::{Exit, help, terminal};
use base_diag::{Edit, apply_edits};
use base_system::{OsSystem, System as _};
use base_text::unified_diff;
use kcl_driver::RunOptions;
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Check,
    Quiet,
    Help,
}

const OPTIONS: &[Opt<Key>] = &[
    Opt { key: Key::Check, short: None, long: "check", arity: Arity::None },
    Opt { key: Key::Quiet, short: Some('q'), long: "quiet", arity: Arity::None },
    Opt { key: Key::Help, short: Some('h'), long: "help", arity: Arity::None },
];

/// Runs `kcl rename` with the words behind it.
pub(crate) fn run(words: &[String]) -> Exit {
    let pieces = match split(words, OPTIONS) {
        Ok(pieces) => pieces,
        Err(message) => return terminal::usage(&message),
    };
    let (mut words, mut check, mut quiet) = (Vec::new(), false, false);
    for piece in pieces {
        match piece {
            Piece::Word(word) => words.push(word),
            Piece::Flag(Key::Check) => check = true,
            Piece::Flag(Key::Quiet) => quiet = true,
            Piece::Flag(Key::Help) => return terminal::write_out(help::RENAME),
            Piece::Value(..) => {}
        }
    }
    let [symbol, new, files @ ..] = words.as_slice() else {
        return terminal::usage("expected a symbol and a new name");
    };
    let files = if files.is_empty() { &[".".to_owned()][..] } else { files };
    let options = RunOptions::files(files.iter().cloned());
    let compiled = match kcl_driver::compile(&OsSystem, &options) {
        Ok(compiled) => compiled,
        Err(error) => {
            terminal::write_err(&error.to_text(terminal::auto_colour()));
            return Exit::User;
        }
    };
    let program = &compiled.program;
    let edits = match kcl_driver::edit::rename(program, symbol, new) {
        Ok(edits) => edits,
        Err(error) => return terminal::fail(&error.to_string()),
    };
    let mut by_file: BTreeMap<u32, Vec<&Edit>> = BTreeMap::new();
    for edit in &edits {
        by_file.entry(edit.at.file.0).or_default().push(edit);
    }
    for (number, edits) in by_file {
        let file = &program.files[number as usize];
        let Some(after) = apply_edits(&file.text, edits) else {
            return terminal::fail(&format!("cannot change {}: edits overlap", file.path));
        };
        if !quiet {
            let shown = shown(&file.path);
            terminal::write_out(&unified_diff(&shown, &file.text, &after));
        }
        if !check && let Err(message) = write(Path::new(&file.path), &after) {
            return terminal::fail(&message);
        }
    }
    if check && !edits.is_empty() { Exit::User } else { Exit::Done }
}

/// A path as the user would write it.
fn shown(path: &str) -> String {
    let folder = OsSystem.current_dir().unwrap_or_default();
    let path = Path::new(path);
    path.strip_prefix(folder).unwrap_or(path).display().to_string().trim_start_matches('/').into()
}
