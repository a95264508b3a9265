//! `kcl vet`

use crate::args::{Arity, Opt, Piece, split};
use crate::confine::{self, Confine};
use crate::run::is_source;
use crate::{Exit, terminal, values};
use base_diag::Colour;
use base_system::{OsSystem, System as _};
use kcl_driver::parse_argument;
use kcl_vet::{DataFile, Report, Rules, SchemaName, find_data, read_data, vet};
use std::path::Path;

/// What `kcl vet --help` says.
pub(crate) const HELP: &str = "\
Check data files against a schema.

Usage: kcl vet [options] <data files or folders | ->... <schema file>

The data is JSON, YAML or TOML; of YAML, all documents are checked. The last word, and
every word that ends with .k, names the package of the schema. In a folder, all files
that end with .json, .yaml, .yml or .toml are data. With '-', data is read from standard
input. All failures are reported, with the line of the data and that of the rule.

Options:
  -s, --schema <name>              The schema (default: the first one of the package)
  -a, --attribute-name <name>      The variable that holds the data, for statements of the
                                   package that read it (default: value)
      --format <format>            json, yaml or toml (default: by the end of the name)
      --output <format>            text (default) or json
  -E, --external <name=folder>...  Give the folder of an external package
  -D, --argument <key=value>...    Set a top-level argument, read with option()
  -j, --threads <n>                How many threads work (default: one per core)
  -q, --quiet                      Print failures only
      --color <when>               auto (default), always or never
  -h, --help                       Print this text

Each document:
      --max-steps <n>              Stop after so many steps
      --max-depth <n>              Stop at so many nested calls
      --max-memory <bytes>         Stop when values take so much memory
      --timeout <duration>         Stop after so much time, such as 30s (default: no limit)
      --no-io                      Allow neither files nor the environment nor plugins
      --plugin <name=command>      Set the program of a plugin, imported as kcl_plugin.name
";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Schema,
    Attribute,
    Format,
    Output,
    External,
    Argument,
    Threads,
    Quiet,
    Color,
    Confine(Confine),
    Help,
}

const fn opt(key: Key, short: Option<char>, long: &'static str, arity: Arity) -> Opt<Key> {
    Opt { key, short, long, arity }
}

const fn limit(which: Confine) -> Opt<Key> {
    which.option(Key::Confine(which))
}

const OPTIONS: &[Opt<Key>] = &[
    opt(Key::Schema, Some('s'), "schema", Arity::One),
    opt(Key::Attribute, Some('a'), "attribute-name", Arity::One),
    opt(Key::Attribute, None, "attribute", Arity::One),
    opt(Key::Format, None, "format", Arity::One),
    opt(Key::Output, None, "output", Arity::One),
    opt(Key::External, Some('E'), "external", Arity::Many(|word| word.contains('='))),
    opt(Key::Argument, Some('D'), "argument", Arity::Many(|word| word.contains('='))),
    opt(Key::Threads, Some('j'), "threads", Arity::One),
    opt(Key::Quiet, Some('q'), "quiet", Arity::None),
    opt(Key::Color, None, "color", Arity::One),
    limit(Confine::MaxSteps),
    limit(Confine::MaxDepth),
    limit(Confine::MaxMemory),
    limit(Confine::Timeout),
    limit(Confine::NoIo),
    limit(Confine::Plugin),
    opt(Key::Help, Some('h'), "help", Arity::None),
];

/// What the command line of `kcl vet` says.
struct Args {
    rules: Rules,
    data: Vec<String>,
    format: Option<kcl_data::Format>,
    json: bool,
    quiet: bool,
    threads: usize,
    colour: Option<Colour>,
}

/// Runs `kcl vet` with the words behind it.
pub(crate) fn run(words: &[String]) -> Exit {
    let args = match parse(words) {
        Ok(Some(args)) => args,
        Ok(None) => return terminal::write_out(HELP),
        Err(message) => return terminal::usage(&message),
    };
    let data = match read(&args) {
        Ok(data) => data,
        Err(message) => return terminal::fail(&message),
    };
    let colour = args.colour.unwrap_or_else(terminal::auto_colour);
    match vet(&OsSystem, &args.rules, &data, args.threads) {
        Ok(reports) => show(&args, &reports, colour),
        Err(error) => {
            terminal::write_err(&error.to_text(colour));
            Exit::User
        }
    }
}

fn show(args: &Args, reports: &[Report], colour: Colour) -> Exit {
    let n_failed = reports.iter().filter(|report| !report.is_valid()).count();
    let exit = if n_failed == 0 { Exit::Done } else { Exit::User };
    if args.json {
        let reports: Vec<_> = reports.iter().map(Report::to_json).collect();
        let text = serde_json::to_string_pretty(&reports).unwrap_or_default();
        let written = terminal::write_out(&format!("{text}\n"));
        return if written == Exit::Done { exit } else { written };
    }
    for report in reports {
        terminal::write_err(&report.to_text(colour));
    }
    if n_failed == 0 {
        if args.quiet {
            return Exit::Done;
        }
        return terminal::write_out("Validate success!\n");
    }
    let n_failures: usize = reports.iter().map(|report| report.failures.len()).sum();
    let plural = |n: usize| if n == 1 { "" } else { "s" };
    terminal::write_err(&format!(
        "{n_failures} failure{} in {n_failed} of {} file{}\n",
        plural(n_failures),
        reports.len(),
        plural(reports.len()),
    ));
    exit
}

/// Reads the data that the command line names.
fn read(args: &Args) -> Result<Vec<DataFile>, String> {
    let mut files = Vec::new();
    for word in &args.data {
        let path = Path::new(word);
        if word == "-" {
            let format = args.format.unwrap_or(kcl_data::Format::Yaml);
            files.push(DataFile::new("<stdin>", values::standard_input()?, format));
        } else if OsSystem.is_dir(path) {
            for path in find_data(&OsSystem, path).map_err(|error| error.to_string())? {
                files.push(read_data(&OsSystem, &path, None).map_err(|error| error.to_string())?);
            }
        } else {
            files.push(read_data(&OsSystem, path, args.format).map_err(|error| error.to_string())?);
        }
    }
    Ok(files)
}

fn parse(words: &[String]) -> Result<Option<Args>, String> {
    let mut args = Args {
        rules: Rules { confinement: confine::of_user(), ..Rules::files([""; 0]) },
        data: Vec::new(),
        format: None,
        json: false,
        quiet: false,
        threads: 0,
        colour: None,
    };
    for piece in split(words, OPTIONS)? {
        match piece {
            Piece::Flag(Key::Help) => return Ok(None),
            Piece::Flag(Key::Quiet) => args.quiet = true,
            Piece::Flag(Key::Confine(which)) => {
                which.set(&mut args.rules.confinement, String::new())?;
            }
            Piece::Flag(_) => {}
            Piece::Value(key, value) => set_value(&mut args, key, value)?,
            Piece::Word(word) => args.data.push(word),
        }
    }
    let (mut rules, mut data): (Vec<String>, Vec<String>) =
        args.data.iter().cloned().partition(|word| is_source(word));
    if rules.is_empty() {
        rules.extend(data.pop());
    }
    if rules.is_empty() || data.is_empty() {
        return Err("expected data and a schema file: kcl vet data.yaml schema.k".into());
    }
    args.rules.inputs = Rules::files(rules).inputs;
    args.data = data;
    Ok(Some(args))
}

fn set_value(args: &mut Args, key: Key, value: String) -> Result<(), String> {
    match key {
        Key::Schema => {
            let is_name = value.split('.').all(|part| kcl_data::name_text(part).is_some());
            if !is_name {
                return Err(format!("invalid schema name '{value}'"));
            }
            args.rules.schema = SchemaName::Named(value);
        }
        Key::Attribute => {
            let name = kcl_data::name_text(&value);
            args.rules.attribute = name.ok_or_else(|| format!("invalid name '{value}'"))?;
        }
        Key::Format => args.format = Some(value.parse()?),
        Key::Output => {
            args.json = match value.as_str() {
                "json" => true,
                "text" => false,
                _ => return Err(format!("invalid output format '{value}', expected text or json")),
            }
        }
        Key::External => args.rules.packages.push(values::external(&value)?),
        Key::Argument => {
            let argument = parse_argument(&value).map_err(|error| error.to_string())?;
            args.rules.arguments.push(argument);
        }
        Key::Threads => args.threads = values::threads(&value)?,
        Key::Color => args.colour = values::colour(&value)?,
        Key::Confine(which) => which.set(&mut args.rules.confinement, value)?,
        Key::Quiet | Key::Help => {}
    }
    Ok(())
}
