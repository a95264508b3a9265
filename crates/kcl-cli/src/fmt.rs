//! `kcl fmt`

use crate::args::{Arity, Opt, Piece, split};
use crate::{Exit, help, sources, terminal, values};
use base_diag::{Colour, Diagnostic, SourceMap, render_text};
use base_system::{OsSystem, System as _};
use base_text::{FileId, FileSpan, unified_diff};
use kcl_fmt::FormatError;
use std::io::{self, Read as _};
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Check,
    Diff,
    Exclude,
    Color,
    Ignored,
    Help,
}

const OPTIONS: &[Opt<Key>] = &[
    Opt { key: Key::Check, short: None, long: "check", arity: Arity::None },
    Opt { key: Key::Diff, short: None, long: "diff", arity: Arity::None },
    Opt { key: Key::Exclude, short: None, long: "exclude", arity: Arity::One },
    Opt { key: Key::Color, short: None, long: "color", arity: Arity::One },
    // A flag of the reference: folders are always searched.
    Opt { key: Key::Ignored, short: Some('R'), long: "recursive", arity: Arity::None },
    Opt { key: Key::Help, short: Some('h'), long: "help", arity: Arity::None },
];

/// What the command line of `kcl fmt` says.
#[derive(Default)]
struct Args {
    words: Vec<String>,
    exclude: Vec<String>,
    check: bool,
    diff: bool,
    colour: Option<Colour>,
}

/// Runs `kcl fmt` with the words behind it.
pub(crate) fn run(words: &[String]) -> Exit {
    let args = match parse(words) {
        Ok(Some(args)) => args,
        Ok(None) => return terminal::write_out(help::FMT),
        Err(message) => return terminal::usage(&message),
    };
    if args.words.iter().any(|word| word == "-") {
        if args.words.len() > 1 {
            return terminal::usage("'-' cannot be combined with files");
        }
        return standard_input(&args);
    }
    let files = match sources::find(&OsSystem, &args.words, &args.exclude) {
        Ok(files) => files,
        Err(message) => return terminal::fail(&message),
    };
    let mut worst = Exit::Done;
    for path in files {
        let exit = file(&args, &path);
        if exit as u8 > worst as u8 {
            worst = exit;
        }
    }
    worst
}

fn parse(words: &[String]) -> Result<Option<Args>, String> {
    let mut args = Args::default();
    for piece in split(words, OPTIONS)? {
        match piece {
            Piece::Word(word) => args.words.push(word),
            Piece::Flag(Key::Help) => return Ok(None),
            Piece::Flag(Key::Check) => args.check = true,
            Piece::Flag(Key::Diff) => args.diff = true,
            Piece::Value(Key::Exclude, pattern) => args.exclude.push(pattern),
            Piece::Value(Key::Color, when) => args.colour = values::colour(&when)?,
            Piece::Flag(_) | Piece::Value(..) => {}
        }
    }
    if args.words.is_empty() {
        args.words.push(".".to_owned());
    }
    Ok(Some(args))
}

fn standard_input(args: &Args) -> Exit {
    let mut text = String::new();
    if let Err(error) = io::stdin().lock().read_to_string(&mut text) {
        return terminal::fail(&format!("cannot read standard input: {error}"));
    }
    match kcl_fmt::format(&text) {
        Ok(formatted) if args.check || args.diff => {
            report(args, "stdin.k", &text, &formatted).unwrap_or(Exit::Done)
        }
        Ok(formatted) => terminal::write_out(&formatted),
        Err(error) => refuse(args, "stdin.k", &text, error),
    }
}

fn file(args: &Args, path: &Path) -> Exit {
    let shown = path.display().to_string();
    let shown = shown.strip_prefix("./").unwrap_or(&shown);
    let text = match OsSystem.read_to_string(path) {
        Ok(text) => text,
        Err(error) => return terminal::fail(&format!("cannot read {shown}: {error}")),
    };
    let formatted = match kcl_fmt::format(&text) {
        Ok(formatted) => formatted,
        Err(error) => return refuse(args, shown, &text, error),
    };
    if args.check || args.diff {
        return report(args, shown, &text, &formatted).unwrap_or(Exit::Done);
    }
    if formatted == text {
        return Exit::Done;
    }
    // A link that the user names is followed; it stays a link.
    let written = OsSystem.canonicalize(path).and_then(|path| OsSystem.write(&path, &formatted));
    match written {
        Ok(()) => terminal::write_out(&format!("{shown}\n")),
        Err(error) => terminal::fail(&format!("cannot write {shown}: {error}")),
    }
}

/// Says how a file differs from its formatted text; `None` if it does not.
fn report(args: &Args, path: &str, text: &str, formatted: &str) -> Option<Exit> {
    if text == formatted {
        return None;
    }
    if args.diff {
        terminal::write_out(&unified_diff(path, text, formatted));
    } else {
        terminal::write_out(&format!("{path}\n"));
    }
    Some(Exit::User)
}

/// Says why a file is left as it is.
fn refuse(args: &Args, path: &str, text: &str, error: FormatError) -> Exit {
    match error {
        FormatError::Syntax(errors) => {
            let diagnostics: Vec<Diagnostic> = errors
                .into_iter()
                .map(|error| {
                    let at = Some(FileSpan { file: FileId(0), span: error.span });
                    let (code, kind) = ("E1001", "InvalidSyntax");
                    Diagnostic::new(error.severity, code, kind, at, error.message)
                })
                .collect();
            let colour = args.colour.unwrap_or_else(terminal::auto_colour);
            terminal::write_err(&render_text(&diagnostics, &OneFile { path, text }, colour));
            Exit::User
        }
        FormatError::Changed => {
            terminal::write_err(&format!(
                "error: cannot format {path}: the result would not mean the same\nThis is a bug in \
                 {}please report it with the file; it was not changed\n",
                help::VERSION
            ));
            Exit::Internal
        }
    }
}

/// The one file that findings are in.
struct OneFile<'t> {
    path: &'t str,
    text: &'t str,
}

impl SourceMap for OneFile<'_> {
    fn path(&self, _file: FileId) -> &str {
        self.path
    }

    fn text(&self, _file: FileId) -> &str {
        self.text
    }
}
