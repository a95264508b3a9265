//! `kcl doc`

use crate::args::{Arity, Opt, Piece, split};
use crate::{Exit, terminal, values};
use base_system::{OsSystem, System as _};
use kcl_doc::{DocError, Docs, html, markdown, openapi};
use kcl_driver::{Input, RunOptions};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What `kcl doc --help` says.
pub(crate) const HELP: &str = "\
Write documentation of schemas.

Usage: kcl doc generate [options] [files or folders]

Describes the schemas of a package and of those that it imports: attributes, types,
defaults, rules and examples, as their docstrings have them. Without files, the package
of the working folder is described.

Options:
      --file-path <path>           The file or folder, as a word does
      --format <format>            md (default), html or openapi
      --target <folder>            Write files there; without it, md and openapi are printed,
                                   and html is written to the folder docs
      --ignore-deprecated          Leave out what is deprecated
      --open                       Show the pages in a browser (html)
  -E, --external <name=folder>...  Give the folder of an external package
  -h, --help                       Print this text
";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    FilePath,
    Format,
    Target,
    IgnoreDeprecated,
    Open,
    External,
    Help,
}

const fn opt(key: Key, short: Option<char>, long: &'static str, arity: Arity) -> Opt<Key> {
    Opt { key, short, long, arity }
}

const OPTIONS: &[Opt<Key>] = &[
    opt(Key::FilePath, None, "file-path", Arity::One),
    opt(Key::Format, None, "format", Arity::One),
    opt(Key::Target, None, "target", Arity::One),
    opt(Key::IgnoreDeprecated, None, "ignore-deprecated", Arity::None),
    opt(Key::Open, None, "open", Arity::None),
    opt(Key::External, Some('E'), "external", Arity::Many(|word| word.contains('='))),
    opt(Key::Help, Some('h'), "help", Arity::None),
];

/// The form of the documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Markdown,
    Html,
    OpenApi,
}

/// What the command line of `kcl doc generate` says.
struct Args {
    options: RunOptions,
    form: Form,
    target: Option<PathBuf>,
    ignore_deprecated: bool,
    open: bool,
}

/// Runs `kcl doc` with the words behind it.
pub(crate) fn run(words: &[String]) -> Exit {
    let rest = match words.split_first() {
        Some((word, rest)) if word == "generate" || word == "gen" => rest,
        Some((word, _)) if word == "--help" || word == "-h" => return terminal::write_out(HELP),
        _ => return terminal::usage("expected 'kcl doc generate'"),
    };
    let args = match parse(rest) {
        Ok(Some(args)) => args,
        Ok(None) => return terminal::write_out(HELP),
        Err(message) => return terminal::usage(&message),
    };
    match read(&args.options) {
        Ok(docs) if args.ignore_deprecated => write(&args, &docs.without_deprecated()),
        Ok(docs) => write(&args, &docs),
        Err(exit) => exit,
    }
}

/// Describes the schemas of a program; what is wrong with the program is told, and does not stop
/// it.
pub(crate) fn read(options: &RunOptions) -> Result<Docs, Exit> {
    let colour = terminal::auto_colour();
    match Docs::read(&OsSystem, options) {
        Ok((docs, findings)) => {
            terminal::write_err(&findings.to_text(colour));
            Ok(docs)
        }
        Err(DocError::Load(error)) => {
            terminal::write_err(&error.to_text(colour));
            Err(Exit::User)
        }
        Err(error @ DocError::NoSchemas(_)) => {
            if let DocError::NoSchemas(findings) = &error {
                terminal::write_err(&findings.to_text(colour));
            }
            Err(terminal::fail(&error.to_string()))
        }
    }
}

fn write(args: &Args, docs: &Docs) -> Exit {
    let (file, text) = match args.form {
        Form::Html => return write_site(args, docs),
        Form::Markdown => ("schemas.md", markdown::write(docs)),
        Form::OpenApi => {
            let document = openapi::write(docs, None, openapi::Form::Exact);
            let text = serde_json::to_string_pretty(&document).unwrap_or_default();
            ("openapi.json", format!("{text}\n"))
        }
    };
    match &args.target {
        None => terminal::write_out(&text),
        Some(target) => match write_file(target, file, &text) {
            Ok(path) => terminal::write_out(&format!("wrote {}\n", path.display())),
            Err(message) => terminal::fail(&message),
        },
    }
}

fn write_site(args: &Args, docs: &Docs) -> Exit {
    let target = args.target.clone().unwrap_or_else(|| "docs".into());
    let pages = html::write(docs);
    for page in &pages {
        if let Err(message) = write_file(&target, &page.file, &page.text) {
            return terminal::fail(&message);
        }
    }
    let index = target.join("index.html");
    let written = format!("wrote {} pages, start at {}\n", pages.len(), index.display());
    let exit = terminal::write_out(&written);
    if !args.open {
        return exit;
    }
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let quiet = || Stdio::null();
    let started =
        Command::new(program).arg(&index).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
    match started {
        Ok(_) => exit,
        Err(error) => {
            let index = index.display();
            terminal::fail(&format!("cannot start {program}: {error}; open {index} in a browser"))
        }
    }
}

/// Writes a file as a whole into a folder, which is made if it is missing.
fn write_file(folder: &Path, file: &str, text: &str) -> Result<PathBuf, String> {
    let path = folder.join(file);
    let fail = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    OsSystem.create_dir_all(folder).map_err(fail)?;
    OsSystem.write(&path, text).map_err(fail)?;
    Ok(path)
}

fn parse(words: &[String]) -> Result<Option<Args>, String> {
    let mut args = Args {
        options: RunOptions { ignore_default_settings: true, ..RunOptions::default() },
        form: Form::Markdown,
        target: None,
        ignore_deprecated: false,
        open: false,
    };
    for piece in split(words, OPTIONS)? {
        match piece {
            Piece::Flag(Key::Help) => return Ok(None),
            Piece::Flag(Key::IgnoreDeprecated) => args.ignore_deprecated = true,
            Piece::Flag(Key::Open) => args.open = true,
            Piece::Value(Key::FilePath, word) | Piece::Word(word) => {
                args.options.inputs.push(Input::path(word));
            }
            Piece::Value(Key::Format, value) => {
                args.form = match value.as_str() {
                    "md" | "markdown" => Form::Markdown,
                    "html" => Form::Html,
                    "openapi" => Form::OpenApi,
                    _ => {
                        let expected = "expected md, html or openapi";
                        return Err(format!("invalid output format '{value}', {expected}"));
                    }
                }
            }
            Piece::Value(Key::Target, value) => args.target = Some(value.into()),
            Piece::Value(Key::External, value) => {
                args.options.packages.push(values::external(&value)?);
            }
            Piece::Flag(_) | Piece::Value(..) => {}
        }
    }
    if args.options.inputs.is_empty() {
        args.options.inputs.push(Input::path("."));
    }
    Ok(Some(args))
}
