//! `kcl export`

use crate::args::{Arity, Opt, Piece, split};
use crate::fetching::provider;
use crate::{Exit, doc, terminal, values};
use base_system::{OsSystem, System as _};
use kcl_doc::{Docs, json_schema, openapi, proto};
use kcl_driver::{Input, RunOptions};
use std::path::PathBuf;

/// What `kcl export --help` says.
pub(crate) const HELP: &str = "\
Write schemas as OpenAPI, JSON Schema or Protocol Buffers.

Usage: kcl export -m <mode> [options] [files or folders]

Options:
  -m, --mode <mode>                openapi, jsonschema or proto
  -o, --output <file>              Write to a file
  -s, --schema <name>              The schema that the document stands for (jsonschema)
  -p, --package <name>             The package of the messages (proto, default: kcl)
      --version <version>          The version of the document (openapi, default: 1.0.0)
      --compat                     Write openapi exactly as the reference does: constants are
                                   anything, defaults are texts, defaults do not make optional
  -E, --external <name=folder>...  Give the folder of an external package
  -h, --help                       Print this text
";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Mode,
    Output,
    Schema,
    Package,
    Version,
    Compat,
    External,
    Help,
}

const fn opt(key: Key, short: Option<char>, long: &'static str, arity: Arity) -> Opt<Key> {
    Opt { key, short, long, arity }
}

const OPTIONS: &[Opt<Key>] = &[
    opt(Key::Mode, Some('m'), "mode", Arity::One),
    opt(Key::Output, Some('o'), "output", Arity::One),
    opt(Key::Schema, Some('s'), "schema", Arity::One),
    opt(Key::Package, Some('p'), "package", Arity::One),
    opt(Key::Version, None, "version", Arity::One),
    opt(Key::Compat, None, "compat", Arity::None),
    opt(Key::External, Some('E'), "external", Arity::Many(|word| word.contains('='))),
    opt(Key::Help, Some('h'), "help", Arity::None),
];

/// The form to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    OpenApi,
    JsonSchema,
    Proto,
}

/// What the command line of `kcl export` says.
struct Args {
    options: RunOptions,
    mode: Option<Mode>,
    output: Option<PathBuf>,
    schema: Option<String>,
    package: String,
    version: Option<String>,
    form: openapi::Form,
}

/// Runs `kcl export` with the words behind it.
pub(crate) fn run(words: &[String]) -> Exit {
    let args = match parse(words) {
        Ok(Some(args)) => args,
        Ok(None) => return terminal::write_out(HELP),
        Err(message) => return terminal::usage(&message),
    };
    let Some(mode) = args.mode else {
        return terminal::usage("expected a mode: -m openapi, -m jsonschema or -m proto");
    };
    let docs = match doc::read(&args.options) {
        Ok(docs) => docs,
        Err(exit) => return exit,
    };
    let text = match document(&args, mode, &docs) {
        Ok(text) => text,
        Err(message) => return terminal::fail(&message),
    };
    let Some(path) = &args.output else { return terminal::write_out(&text) };
    match OsSystem.write(path, &text) {
        Ok(()) => Exit::Done,
        Err(error) => terminal::fail(&format!("cannot write {}: {error}", path.display())),
    }
}

fn document(args: &Args, mode: Mode, docs: &Docs) -> Result<String, String> {
    let value = match mode {
        Mode::OpenApi => openapi::write(docs, args.version.as_deref(), args.form),
        Mode::JsonSchema => json_schema::write(docs, args.schema.as_deref())?,
        Mode::Proto => return proto::write(docs, &args.package).map_err(|error| error.to_string()),
    };
    let text = serde_json::to_string_pretty(&value).map_err(|error| error.to_string())?;
    Ok(format!("{text}\n"))
}

fn parse(words: &[String]) -> Result<Option<Args>, String> {
    let mut args = Args {
        options: RunOptions {
            ignore_default_settings: true,
            provider: Some(provider()),
            ..RunOptions::default()
        },
        mode: None,
        output: None,
        schema: None,
        package: "kcl".into(),
        version: None,
        form: openapi::Form::Exact,
    };
    for piece in split(words, OPTIONS)? {
        match piece {
            Piece::Flag(Key::Help) => return Ok(None),
            Piece::Flag(Key::Compat) => args.form = openapi::Form::Reference,
            Piece::Flag(_) => {}
            Piece::Word(word) => args.options.inputs.push(Input::path(word)),
            Piece::Value(key, value) => set_value(&mut args, key, value)?,
        }
    }
    if args.options.inputs.is_empty() {
        args.options.inputs.push(Input::path("."));
    }
    Ok(Some(args))
}

fn set_value(args: &mut Args, key: Key, value: String) -> Result<(), String> {
    match key {
        Key::Mode => {
            args.mode = Some(match value.as_str() {
                "openapi" => Mode::OpenApi,
                "jsonschema" => Mode::JsonSchema,
                "proto" => Mode::Proto,
                _ => {
                    let expected = "expected openapi, jsonschema or proto";
                    return Err(format!("invalid mode '{value}', {expected}"));
                }
            });
        }
        Key::Output => args.output = Some(value.into()),
        Key::Schema => args.schema = Some(value),
        Key::Package => {
            let is_name = value.split('.').all(|part| kcl_data::name_text(part).is_some());
            if !is_name {
                return Err(format!("invalid package name '{value}'"));
            }
            args.package = value;
        }
        Key::Version => args.version = Some(value),
        Key::External => args.options.packages.push(values::external(&value)?),
        Key::Compat | Key::Help => {}
    }
    Ok(())
}
