//! `kcl test`

use crate::args::{Arity, Opt, Piece, split};
use crate::confine::{self, Confine};
use crate::{Exit, terminal, values};
use base_diag::Colour;
use base_system::{OsSystem, System as _};
use kcl_driver::{Confinement, RunOptions, parse_argument};
use kcl_test::{Filter, TestOptions, TestReport, find_packages, run_tests};
use std::path::PathBuf;

/// What `kcl test --help` says.
pub(crate) const HELP: &str = "\
Run tests: lambdas test_… in files *_test.k.

Usage: kcl test [options] [folders, files *_test.k or folder/...]

Without words, the tests of the working folder are run; './...' also stands for all
folders below it. A test passes if its lambda raises no error. Tests run in parallel.

Options:
      --run <regex>                Run only tests whose names match
      --fail-fast                  Skip all tests behind the first one that fails
      --format <format>            text (default), json or junit
  -o, --output <file>              Write the report to a file
  -D, --argument <key=value>...    Set a top-level argument, read with option()
  -E, --external <name=folder>...  Give the folder of an external package
  -j, --threads <n>                How many threads work (default: one per core)
      --color <when>               auto (default), always or never
  -h, --help                       Print this text

Each test:
      --max-steps <n>              Stop after so many steps
      --max-depth <n>              Stop at so many nested calls
      --max-memory <bytes>         Stop when values take so much memory
      --timeout <duration>         Stop after so much time, such as 30s (default: no limit)
      --no-io                      Allow neither files nor the environment nor plugins
      --allow-io <package>         Allow files, the environment and plugins in a dependency
      --plugin <name=command>      Set the program of a plugin, imported as kcl_plugin.name
";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Run,
    FailFast,
    Format,
    Output,
    Argument,
    External,
    Threads,
    Color,
    Confine(Confine),
    Help,
    Ignored,
}

const fn opt(key: Key, short: Option<char>, long: &'static str, arity: Arity) -> Opt<Key> {
    Opt { key, short, long, arity }
}

const fn limit(which: Confine) -> Opt<Key> {
    which.option(Key::Confine(which))
}

const OPTIONS: &[Opt<Key>] = &[
    opt(Key::Run, None, "run", Arity::One),
    opt(Key::FailFast, None, "fail-fast", Arity::None),
    opt(Key::Format, None, "format", Arity::One),
    opt(Key::Output, Some('o'), "output", Arity::One),
    opt(Key::Argument, Some('D'), "argument", Arity::Many(|word| word.contains('='))),
    opt(Key::External, Some('E'), "external", Arity::Many(|word| word.contains('='))),
    opt(Key::Threads, Some('j'), "threads", Arity::One),
    opt(Key::Color, None, "color", Arity::One),
    limit(Confine::MaxSteps),
    limit(Confine::MaxDepth),
    limit(Confine::MaxMemory),
    limit(Confine::Timeout),
    limit(Confine::NoIo),
    limit(Confine::AllowIo),
    limit(Confine::Plugin),
    opt(Key::Help, Some('h'), "help", Arity::None),
    // Flags of the reference that mean nothing here.
    opt(Key::Ignored, Some('q'), "quiet", Arity::None),
    opt(Key::Ignored, Some('v'), "verbose", Arity::None),
];

/// The form of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Text,
    Json,
    Junit,
}

/// What the command line of `kcl test` says.
struct Args {
    patterns: Vec<String>,
    options: TestOptions,
    confinement: Confinement,
    form: Form,
    output: Option<PathBuf>,
    colour: Option<Colour>,
}

/// Runs `kcl test` with the words behind it.
pub(crate) fn run(words: &[String]) -> Exit {
    let args = match parse(words) {
        Ok(Some(args)) => args,
        Ok(None) => return terminal::write_out(HELP),
        Err(message) => return terminal::usage(&message),
    };
    let folders = match find_packages(&OsSystem, &args.patterns) {
        Ok(folders) => folders,
        Err(error) => return terminal::fail(&error.to_string()),
    };
    let progress = terminal::Progress::new("tests");
    let tell = |done, total| progress.show(done, total);
    let report = run_tests(&OsSystem, &folders, &args.options, &tell);
    progress.clear();
    let written = write(&args, &report);
    if written == Exit::Done && !report.is_success() { Exit::User } else { written }
}

fn write(args: &Args, report: &TestReport) -> Exit {
    let text = match args.form {
        Form::Text => {
            let to_file = args.output.is_some().then_some(Colour::Never);
            report.to_text(args.colour.or(to_file).unwrap_or_else(terminal::auto_colour_out))
        }
        Form::Json => {
            format!("{}\n", serde_json::to_string_pretty(&report.to_json()).unwrap_or_default())
        }
        Form::Junit => report.to_junit(),
    };
    let Some(path) = &args.output else { return terminal::write_out(&text) };
    match OsSystem.write(path, &text) {
        Ok(()) => Exit::Done,
        Err(error) => terminal::fail(&format!("cannot write {}: {error}", path.display())),
    }
}

fn parse(words: &[String]) -> Result<Option<Args>, String> {
    let mut args = Args {
        patterns: Vec::new(),
        options: TestOptions {
            run: RunOptions { use_cache: true, ..RunOptions::default() },
            ..TestOptions::default()
        },
        confinement: confine::of_user(),
        form: Form::Text,
        output: None,
        colour: None,
    };
    for piece in split(words, OPTIONS)? {
        match piece {
            Piece::Flag(Key::Help) => return Ok(None),
            Piece::Flag(Key::FailFast) => args.options.fail_fast = true,
            Piece::Flag(Key::Confine(which)) => which.set(&mut args.confinement, String::new())?,
            Piece::Flag(_) => {}
            Piece::Value(key, value) => set_value(&mut args, key, value)?,
            Piece::Word(word) => args.patterns.push(word),
        }
    }
    if args.patterns.is_empty() {
        args.patterns.push(".".into());
    }
    args.confinement.apply(&mut args.options.run);
    Ok(Some(args))
}

fn set_value(args: &mut Args, key: Key, value: String) -> Result<(), String> {
    match key {
        Key::Run => {
            let filter = Filter::new(&value).map_err(|error| error.to_string())?;
            args.options.filter = Some(filter);
        }
        Key::Format => {
            args.form = match value.as_str() {
                "text" => Form::Text,
                "json" => Form::Json,
                "junit" => Form::Junit,
                _ => {
                    let expected = "expected text, json or junit";
                    return Err(format!("invalid output format '{value}', {expected}"));
                }
            }
        }
        Key::Output => args.output = Some(value.into()),
        Key::Argument => {
            let argument = parse_argument(&value).map_err(|error| error.to_string())?;
            args.options.run.arguments.push(argument);
        }
        Key::External => args.options.run.packages.push(values::external(&value)?),
        Key::Threads => args.options.threads = values::threads(&value)?,
        Key::Color => args.colour = values::colour(&value)?,
        Key::Confine(which) => which.set(&mut args.confinement, value)?,
        Key::FailFast | Key::Help | Key::Ignored => {}
    }
    Ok(())
}
