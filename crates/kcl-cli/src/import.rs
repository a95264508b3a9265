//! `kcl import`

use crate::args::{Arity, Opt, Piece, split};
use crate::{Exit, terminal, values};
use base_system::{OsSystem, System as _};
use kcl_import::{Mode, Options, SourceFile, import};
use std::path::{Path, PathBuf};

/// What `kcl import --help` says.
pub(crate) const HELP: &str = "\
Turn data and schemas of other forms into KCL.

Usage: kcl import [options] <files | ->

Options:
  -m, --mode <mode>      auto (default), json, yaml, toml, openapi, jsonschema, crd,
                         terraformschema, gostruct or proto
  -o, --output <path>    A folder, or a file *.k (default: the working folder)
  -p, --package <name>   The package of schemas (default: models)
  -f, --force            Overwrite files
      --no-docs          Leave out descriptions
  -h, --help             Print this text

With auto, JSON and YAML files are looked into: OpenAPI documents, JSON Schema,
definitions of Kubernetes resources (CRDs) and provider schemas of Terraform become
schemas, everything else becomes data. Files that end with .go or .proto are what their
names say. Existing files are left alone without --force. With '-', the text is read from
standard input, and the result is printed without --output.
";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Mode,
    Output,
    Package,
    Force,
    NoDocs,
    Help,
    Ignored,
}

const fn opt(key: Key, short: Option<char>, long: &'static str, arity: Arity) -> Opt<Key> {
    Opt { key, short, long, arity }
}

const OPTIONS: &[Opt<Key>] = &[
    opt(Key::Mode, Some('m'), "mode", Arity::One),
    opt(Key::Output, Some('o'), "output", Arity::One),
    opt(Key::Package, Some('p'), "package", Arity::One),
    opt(Key::Force, Some('f'), "force", Arity::None),
    opt(Key::NoDocs, None, "no-docs", Arity::None),
    opt(Key::Help, Some('h'), "help", Arity::None),
    // Documents are read as far as they make sense, without a validation before.
    opt(Key::Ignored, Some('s'), "skip-validation", Arity::None),
];

/// What the command line of `kcl import` says.
struct Args {
    files: Vec<String>,
    options: Options,
    /// A folder, or a file `*.k`.
    output: Option<PathBuf>,
    force: bool,
}

/// Runs `kcl import` with the words behind it.
pub(crate) fn run(words: &[String]) -> Exit {
    let args = match parse(words) {
        Ok(Some(args)) => args,
        Ok(None) => return terminal::write_out(HELP),
        Err(message) => return terminal::usage(&message),
    };
    match work(&args) {
        Ok(exit) => exit,
        Err(message) => terminal::fail(&message),
    }
}

fn work(args: &Args) -> Result<Exit, String> {
    let mut inputs = Vec::new();
    for file in &args.files {
        let (name, text) = if file == "-" {
            ("stdin.yaml".to_owned(), values::standard_input()?)
        } else {
            let path = Path::new(file);
            let text = OsSystem.read_to_string(path);
            (file.clone(), text.map_err(|error| format!("cannot read {file}: {error}"))?)
        };
        inputs.push((name, text));
    }
    let imported = import(&inputs, &args.options)
        .map_err(|(name, error)| format!("cannot import {name}: {error}"))?;
    for warning in &imported.warnings {
        terminal::write_err(&format!("warning: {warning}\n"));
    }
    if args.output.is_none() && args.files.iter().any(|file| file == "-") {
        let texts: Vec<&str> = imported.files.iter().map(|file| file.text.as_str()).collect();
        return Ok(terminal::write_out(&texts.join("\n")));
    }
    let paths = target_paths(args, &imported.files)?;
    if let Some(path) = paths.iter().find(|path| !args.force && OsSystem.exists(path)) {
        return Err(format!("{} exists: add --force to overwrite it", path.display()));
    }
    for (file, path) in imported.files.iter().zip(&paths) {
        let fail = |error| format!("cannot write {}: {error}", path.display());
        if let Some(folder) = path.parent() {
            OsSystem.create_dir_all(folder).map_err(fail)?;
        }
        OsSystem.write(path, &file.text).map_err(fail)?;
    }
    let n_files = imported.files.len();
    let plural = if n_files == 1 { "" } else { "s" };
    let first = paths.first().map(|path| path.display().to_string()).unwrap_or_default();
    Ok(terminal::write_out(&match n_files {
        1 => format!("wrote {first}\n"),
        _ => format!("wrote {n_files} file{plural}, the first is {first}\n"),
    }))
}

/// Where the files are written.
fn target_paths(args: &Args, files: &[SourceFile]) -> Result<Vec<PathBuf>, String> {
    let output = args.output.as_deref().unwrap_or(Path::new("."));
    let is_file =
        output.extension().is_some_and(|ending| ending == "k") && !OsSystem.is_dir(output);
    match files {
        [_] if is_file => Ok(vec![output.to_path_buf()]),
        _ if is_file => Err(format!(
            "{} is a file, but {} files are made: name a folder",
            output.display(),
            files.len()
        )),
        _ => Ok(files.iter().map(|file| output.join(&file.path)).collect()),
    }
}

fn parse(words: &[String]) -> Result<Option<Args>, String> {
    let mut args =
        Args { files: Vec::new(), options: Options::default(), output: None, force: false };
    for piece in split(words, OPTIONS)? {
        match piece {
            Piece::Flag(Key::Help) => return Ok(None),
            Piece::Flag(Key::Force) => args.force = true,
            Piece::Flag(Key::NoDocs) => args.options.docs = false,
            Piece::Word(word) => args.files.push(word),
            Piece::Value(Key::Mode, value) => args.options.mode = value.parse::<Mode>()?,
            Piece::Value(Key::Output, value) => args.output = Some(value.into()),
            Piece::Value(Key::Package, value) => {
                let is_name = value.split('.').all(|part| kcl_data::name_text(part).is_some());
                if !is_name {
                    return Err(format!("invalid package name '{value}'"));
                }
                args.options.package = value;
            }
            Piece::Flag(_) | Piece::Value(..) => {}
        }
    }
    if args.files.is_empty() {
        return Err("expected a file to import".into());
    }
    Ok(Some(args))
}
