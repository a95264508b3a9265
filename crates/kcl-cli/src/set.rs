//! `kcl set`

use crate::args::{Arity, Opt, Piece, split};
use crate::{Exit, help, run, terminal};
use base_system::{OsSystem, System as _};
use base_text::unified_diff;
use kcl_driver::edit::{Override, add_import, canonical, set, sets};
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Override,
    Import,
    Check,
    Quiet,
    Help,
}

const OPTIONS: &[Opt<Key>] = &[
    Opt {
        key: Key::Override,
        short: Some('O'),
        long: "overrides",
        arity: Arity::Many(|word| !run::is_source(word)),
    },
    Opt { key: Key::Import, short: None, long: "import", arity: Arity::One },
    Opt { key: Key::Check, short: None, long: "check", arity: Arity::None },
    Opt { key: Key::Quiet, short: Some('q'), long: "quiet", arity: Arity::None },
    Opt { key: Key::Help, short: Some('h'), long: "help", arity: Arity::None },
];

/// What the command line of `kcl set` says.
#[derive(Default)]
struct Args {
    files: Vec<PathBuf>,
    changes: Vec<String>,
    imports: Vec<String>,
    /// Whether files are written as the reference writes them.
    canonical: bool,
    check: bool,
    quiet: bool,
}

/// Runs `kcl set` with the words behind it.
pub(crate) fn run(words: &[String]) -> Exit {
    let args = match parse(words) {
        Ok(Some(args)) => args,
        Ok(None) => return terminal::write_out(help::SET),
        Err(message) => return terminal::usage(&message),
    };
    match change(&args) {
        Ok(exit) => exit,
        Err(message) => terminal::fail(&message),
    }
}

fn parse(words: &[String]) -> Result<Option<Args>, String> {
    let mut args = Args::default();
    for piece in split(words, OPTIONS)? {
        match piece {
            Piece::Word(word) if run::is_source(&word) => args.files.push(word.into()),
            Piece::Word(word) => args.changes.push(word),
            Piece::Flag(Key::Help) => return Ok(None),
            Piece::Flag(Key::Check) => args.check = true,
            Piece::Flag(Key::Quiet) => args.quiet = true,
            Piece::Value(Key::Override, spec) => {
                args.changes.push(spec);
                args.canonical = true;
            }
            Piece::Value(Key::Import, import) => args.imports.push(import),
            Piece::Flag(_) | Piece::Value(..) => {}
        }
    }
    if args.files.is_empty() {
        return Err("expected a file, such as main.k".into());
    }
    if args.changes.is_empty() {
        return Err("expected a change, such as app.image=\"nginx\"".into());
    }
    Ok(Some(args))
}

/// A file before and after the changes.
struct File {
    path: PathBuf,
    before: String,
    after: String,
}

fn change(args: &Args) -> Result<Exit, String> {
    let read = |path: &PathBuf| {
        let text = OsSystem
            .read_to_string(path)
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        Ok(File { path: path.clone(), before: text.clone(), after: text })
    };
    let mut files = args.files.iter().map(read).collect::<Result<Vec<File>, String>>()?;
    for text in &args.changes {
        let spec: Override = text.parse().map_err(|error| format!("{error}"))?;
        let variable = spec.path.first().map_or("", String::as_str);
        // The file that owns the value, or the last one.
        let owner = files.iter().position(|file| sets(&file.after, variable));
        let last = files.len() - 1;
        let file = &mut files[owner.unwrap_or(last)];
        file.after = set(&file.after, &spec)
            .map_err(|error| format!("cannot change {}: {error}", file.path.display()))?;
    }
    for file in &mut files {
        for import in &args.imports {
            file.after = add_import(&file.after, import);
        }
        if args.canonical {
            file.after = canonical(&file.after);
        }
    }
    let mut n_changed = 0;
    for file in files.iter().filter(|file| file.before != file.after) {
        n_changed += 1;
        let shown = file.path.display().to_string();
        if !args.quiet {
            let shown = shown.strip_prefix("./").unwrap_or(&shown);
            terminal::write_out(&unified_diff(shown, &file.before, &file.after));
        }
        if !args.check {
            write(&file.path, &file.after)?;
        }
    }
    Ok(if args.check && n_changed > 0 { Exit::User } else { Exit::Done })
}

/// Writes a file; a link that the user names stays a link.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), String> {
    OsSystem
        .canonicalize(path)
        .and_then(|real| OsSystem.write(&real, text))
        .map_err(|error| format!("cannot write {}: {error}", path.display()))
}
