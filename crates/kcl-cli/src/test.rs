//! `kcl test`

use crate::args::{Arity, Opt, Piece, split};
use crate::confine::{self, Confine};
use crate::fetching::provider;
use crate::{Exit, terminal, values, watch};
use base_diag::Colour;
use base_system::{OsSystem, System};
use kcl_driver::{Confinement, RunOptions, parse_argument};
use kcl_test::{Coverage, Filter, TestOptions, TestReport, find_packages, run_tests};
use std::io;
use std::path::{Path, PathBuf};

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
      --watch                      Run the tests again when a file changes
  -D, --argument <key=value>...    Set a top-level argument, read with option()
  -Y, --setting <file>...          Read settings files
  -r, --strict-range-check         Integers have 32 bits
  -E, --external <name=folder>...  Give the folder of an external package
  -j, --threads <n>                How many threads work (default: one per core)
      --color <when>               auto (default), always or never
  -h, --help                       Print this text

Coverage of schemas, lambdas, branches and rules:
      --coverage                   Report what no test reached
      --lcov <file>                Write the coverage in the form of lcov
      --html <folder>              Write the coverage as HTML pages
      --min-coverage <percent>     Fail if less is covered

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
    Watch,
    Coverage,
    Lcov,
    Html,
    MinCoverage,
    Argument,
    Setting,
    Strict,
    NoStyle,
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
    opt(Key::Watch, None, "watch", Arity::None),
    opt(Key::Coverage, None, "coverage", Arity::None),
    opt(Key::Lcov, None, "lcov", Arity::One),
    opt(Key::Html, None, "html", Arity::One),
    opt(Key::MinCoverage, None, "min-coverage", Arity::One),
    opt(Key::Argument, Some('D'), "argument", Arity::Many(|word| word.contains('='))),
    opt(Key::Setting, Some('Y'), "setting", Arity::One),
    opt(Key::Strict, Some('r'), "strict-range-check", Arity::None),
    opt(Key::NoStyle, None, "no-style", Arity::None),
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
    opt(Key::Ignored, Some('V'), "vendor", Arity::None),
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
    watch: bool,
    coverage: CoverageArgs,
}

/// What is done with the coverage.
#[derive(Default)]
struct CoverageArgs {
    is_wanted: bool,
    lcov: Option<PathBuf>,
    html: Option<PathBuf>,
    /// What must be covered, in tenths of a percent.
    min_per_mille: Option<usize>,
}

/// Runs `kcl test` with the words behind it.
pub(crate) fn run(words: &[String]) -> Exit {
    let args = match parse(words) {
        Ok(Some(args)) => args,
        Ok(None) => return terminal::write_out(HELP),
        Err(message) => return terminal::usage(&message),
    };
    if args.watch {
        watch::repeat(|system| run_once(system, &args))
    } else {
        run_once(&OsSystem, &args)
    }
}

fn run_once(system: &(dyn System + Sync), args: &Args) -> Exit {
    let folders = match find_packages(system, &args.patterns) {
        Ok(folders) => folders,
        Err(error) => return terminal::fail(&error.to_string()),
    };
    let progress = terminal::Progress::new("tests");
    let tell = |done, total| progress.show(done, total);
    let report = run_tests(system, &folders, &args.options, &tell);
    progress.clear();
    let mut exit = write(args, &report);
    if let Some(coverage) = &report.coverage
        && let Err(message) = use_coverage(args, coverage)
    {
        exit = terminal::fail(&message);
    }
    if exit == Exit::Done && !report.is_success() { Exit::User } else { exit }
}

/// Writes the coverage to files, and compares it with what is required.
fn use_coverage(args: &Args, coverage: &Coverage) -> Result<(), String> {
    if args.form == Form::Junit {
        terminal::write_err(&coverage.to_text());
    }
    let CoverageArgs { lcov, html, min_per_mille, .. } = &args.coverage;
    let fail = |path: &Path| {
        let path = path.display().to_string();
        move |error: io::Error| format!("cannot write {path}: {error}")
    };
    if let Some(path) = lcov {
        OsSystem.write(path, &coverage.to_lcov()).map_err(fail(path))?;
    }
    if let Some(folder) = html {
        OsSystem.create_dir_all(folder).map_err(fail(folder))?;
        for page in coverage.to_html() {
            let path = folder.join(&page.file);
            OsSystem.write(&path, &page.text).map_err(fail(&path))?;
        }
        let index = folder.join("index.html");
        terminal::write_err(&format!("wrote {}\n", index.display()));
    }
    let all = coverage.tally(None);
    match min_per_mille {
        Some(min) if all.per_mille() < *min => Err(format!(
            "{} is covered, but {}.{} % is required by --min-coverage",
            all.percent(),
            min / 10,
            min % 10
        )),
        _ => Ok(()),
    }
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
            run: RunOptions { provider: Some(provider()), ..RunOptions::default() },
            ..TestOptions::default()
        },
        confinement: confine::of_user(),
        form: Form::Text,
        output: None,
        colour: None,
        watch: false,
        coverage: CoverageArgs::default(),
    };
    for piece in split(words, OPTIONS)? {
        match piece {
            Piece::Flag(Key::Help) => return Ok(None),
            Piece::Flag(Key::FailFast) => args.options.fail_fast = true,
            Piece::Flag(Key::Coverage) => args.coverage.is_wanted = true,
            Piece::Flag(Key::Watch) => args.watch = true,
            Piece::Flag(Key::Strict) => args.options.run.eval.strict_range_check = true,
            Piece::Flag(Key::NoStyle) => args.colour = Some(Colour::Never),
            Piece::Flag(Key::Confine(which)) => which.set(&mut args.confinement, String::new())?,
            Piece::Flag(_) => {}
            Piece::Value(key, value) => set_value(&mut args, key, value)?,
            Piece::Word(word) => args.patterns.push(word),
        }
    }
    if args.patterns.is_empty() {
        args.patterns.push(".".into());
    }
    let CoverageArgs { is_wanted, lcov, html, min_per_mille } = &args.coverage;
    if *is_wanted || lcov.is_some() || html.is_some() || min_per_mille.is_some() {
        args.options.coverage = Some(args.patterns.clone());
    }
    args.options.run.use_cache = !args.watch;
    args.confinement.apply(&mut args.options.run);
    Ok(Some(args))
}

fn set_value(args: &mut Args, key: Key, value: String) -> Result<(), String> {
    let here = OsSystem.current_dir().unwrap_or_default();
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
        Key::Lcov => args.coverage.lcov = Some(value.into()),
        Key::Html => args.coverage.html = Some(value.into()),
        Key::MinCoverage => args.coverage.min_per_mille = Some(per_mille(&value)?),
        Key::Argument => {
            let argument = parse_argument(&value).map_err(|error| error.to_string())?;
            args.options.run.arguments.push(argument);
        }
        Key::Setting => {
            let files = value.split(',').map(|file| here.join(file));
            args.options.run.settings.extend(files);
        }
        Key::External => args.options.run.packages.push(values::external(&value)?),
        Key::Threads => args.options.threads = values::threads(&value)?,
        Key::Color => args.colour = values::colour(&value)?,
        Key::Confine(which) => which.set(&mut args.confinement, value)?,
        Key::FailFast
        | Key::Watch
        | Key::Coverage
        | Key::Strict
        | Key::NoStyle
        | Key::Help
        | Key::Ignored => {}
    }
    Ok(())
}

/// Reads a percentage such as `90`, `90%` or `92.5`.
fn per_mille(value: &str) -> Result<usize, String> {
    let invalid = || format!("invalid percentage '{value}', expected a number from 0 to 100");
    let number = value.trim_end_matches('%').trim_end();
    let (whole, tenths) = number.split_once('.').unwrap_or((number, "0"));
    let whole: usize = whole.parse().map_err(|_| invalid())?;
    let tenths: usize = match tenths.len() {
        1 => tenths.parse().map_err(|_| invalid())?,
        _ => return Err(invalid()),
    };
    let sum = whole.saturating_mul(10).saturating_add(tenths);
    if sum <= 1000 { Ok(sum) } else { Err(invalid()) }
}
