//! `kcl run`

use crate::args::{Arity, Opt, Piece, split};
use crate::confine::{self, Confine};
use crate::fetching::fetcher;
use crate::{Exit, help, terminal, values};
use base_diag::{Colour, render_text};
use base_system::{OsSystem, System as _};
use kcl_driver::{
    Confinement, FailureKind, Format, Input, Provenance, RunError, RunOptions, RunOutput,
    SharedProvider, Usage, parse_argument,
};
use kcl_fetch::{FetchOptions, Location};
use kcl_pkg::GitReference;
use std::io::{self, Read as _};
use std::panic;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Argument,
    Setting,
    Override,
    External,
    Tag,
    Offline,
    Locked,
    Selector,
    Format,
    Output,
    DisableNone,
    SortKeys,
    ShowHidden,
    SchemaTypePath,
    Provenance,
    Quiet,
    ErrorFormat,
    Color,
    Strict,
    Debug,
    Partial,
    Complete,
    Confine(Confine),
    ShowUsage,
    Help,
    NoStyle,
    Ignored,
}

const fn opt(key: Key, short: char, long: &'static str, arity: Arity) -> Opt<Key> {
    Opt { key, short: Some(short), long, arity }
}

const fn long(key: Key, long: &'static str, arity: Arity) -> Opt<Key> {
    Opt { key, short: None, long, arity }
}

const fn limit(which: Confine) -> Opt<Key> {
    which.option(Key::Confine(which))
}

const OPTIONS: &[Opt<Key>] = &[
    opt(Key::Argument, 'D', "argument", Arity::Many(|word| word.contains('='))),
    opt(Key::Setting, 'Y', "setting", Arity::Many(|word| !is_source(word))),
    opt(Key::Override, 'O', "overrides", Arity::Many(is_override)),
    opt(Key::External, 'E', "external", Arity::Many(|word| word.contains('='))),
    opt(Key::Tag, 't', "tag", Arity::One),
    long(Key::Offline, "offline", Arity::None),
    long(Key::Locked, "locked", Arity::None),
    opt(Key::Selector, 'S', "path-selector", Arity::Many(|word| !is_source(word))),
    opt(Key::Format, 'f', "format", Arity::One),
    opt(Key::Output, 'o', "output", Arity::One),
    opt(Key::DisableNone, 'n', "disable-none", Arity::None),
    opt(Key::SortKeys, 'k', "sort-keys", Arity::None),
    opt(Key::ShowHidden, 'H', "show-hidden", Arity::None),
    long(Key::SchemaTypePath, "include-schema-type-path", Arity::None),
    long(Key::Provenance, "provenance", Arity::None),
    opt(Key::Quiet, 'q', "quiet", Arity::None),
    long(Key::ErrorFormat, "error-format", Arity::One),
    long(Key::Color, "color", Arity::One),
    opt(Key::Strict, 'r', "strict-range-check", Arity::None),
    opt(Key::Debug, 'd', "debug", Arity::None),
    long(Key::Partial, "partial", Arity::None),
    long(Key::Complete, "complete", Arity::None),
    limit(Confine::MaxSteps),
    limit(Confine::MaxDepth),
    limit(Confine::MaxMemory),
    limit(Confine::MaxOutput),
    limit(Confine::Timeout),
    limit(Confine::NoIo),
    limit(Confine::AllowIo),
    limit(Confine::Plugin),
    long(Key::ShowUsage, "show-usage", Arity::None),
    opt(Key::Help, 'h', "help", Arity::None),
    long(Key::NoStyle, "no-style", Arity::None),
    // Flags of the reference that mean nothing here.
    opt(Key::Ignored, 'K', "fast-eval", Arity::None),
    opt(Key::Ignored, 'R', "recursive", Arity::None),
    opt(Key::Ignored, 'v', "verbose", Arity::None),
    opt(Key::Ignored, 'V', "vendor", Arity::None),
    long(Key::Ignored, "no-sum-check", Arity::None),
    long(Key::Ignored, "target", Arity::One),
];

/// Whether a word names a source file.
pub(crate) fn is_source(word: &str) -> bool {
    Path::new(word).extension().is_some_and(|extension| extension == "k")
}

fn is_override(word: &str) -> bool {
    word.contains(['=', ':']) || word.ends_with('-')
}

/// What the command line of `kcl run` says.
struct Args {
    options: RunOptions,
    confinement: Confinement,
    output: Option<PathBuf>,
    tag: Option<String>,
    fetch: FetchOptions,
    quiet: bool,
    json_errors: bool,
    /// Whether messages are coloured; by default, what they are written to decides.
    colour: Option<Colour>,
    show_usage: bool,
}

impl Args {
    fn colour(&self) -> Colour {
        self.colour.unwrap_or_else(terminal::auto_colour)
    }
}

/// A command line that can't be obeyed.
enum Refusal {
    /// It asks for help.
    Help,
    /// It is wrong.
    Usage(String),
    /// A value is wrong; shown as the reference does.
    Value(String),
    /// A package cannot be downloaded.
    Failed(String),
}

/// Runs `kcl run` with the words behind it.
pub(crate) fn run(words: &[String]) -> Exit {
    let args = match parse(words) {
        Ok(args) => args,
        Err(Refusal::Help) => return terminal::write_out(help::RUN),
        Err(Refusal::Usage(message)) => return terminal::usage(&message),
        Err(Refusal::Value(message)) => {
            terminal::write_err(&format!("error[E3M38]: EvaluationError\n{message}\n"));
            return Exit::Usage;
        }
        Err(Refusal::Failed(message)) => {
            terminal::write_err(&format!("error: {message}\n"));
            return Exit::User;
        }
    };
    let outcome = panic::catch_unwind(|| {
        kcl_driver::run_then(&OsSystem, &args.options, |outcome| -> Exit {
            let exit = match &outcome {
                Ok(output) => finish(&args, output),
                Err(error) => fail(&args, error),
            };
            args.options.plugins.stop();
            // Whatever is left goes with the process.
            process::exit(i32::from(exit as u8))
        })
    });
    outcome.unwrap_or_else(|_| terminal::bug())
}

fn finish(args: &Args, output: &RunOutput) -> Exit {
    if !args.quiet && !output.warnings.is_empty() {
        terminal::write_err(&render_text(&output.warnings, &output.program, args.colour()));
    }
    if args.show_usage {
        let Usage { steps, memory } = output.usage;
        let bytes = output.result.len();
        terminal::write_err(&format!(
            "used: {steps} steps, {memory} bytes of memory, {bytes} bytes of output\n"
        ));
    }
    let mut printed = if args.quiet { "" } else { output.printed.as_str() };
    let mut target = args.output.as_ref().or(output.output.as_ref());
    let mut result = &output.result;
    let json = output.provenance.as_ref().map(Provenance::to_json);
    if let Some(json) = &json {
        // Where things are from is for programs to read: it stands alone, and it does not go
        // where the settings want the result.
        terminal::write_err(printed);
        printed = "";
        target = args.output.as_ref();
        result = json;
    }
    if let Some(path) = target {
        if let Err(error) = OsSystem.write(path, &format!("{result}\n")) {
            terminal::write_err(&format!("error: failed to write {}: {error}\n", path.display()));
            return Exit::User;
        }
        terminal::write_out(printed)
    } else if result.is_empty() {
        terminal::write_out(printed)
    } else {
        terminal::write_all_out(&[printed, result, "\n"])
    }
}

fn fail(args: &Args, error: &RunError) -> Exit {
    if !args.quiet && !error.printed.is_empty() {
        terminal::write_out(&error.printed);
    }
    let text = if args.json_errors { error.to_json() } else { error.to_text(args.colour()) };
    terminal::write_err(&text);
    match error.kind {
        FailureKind::User => Exit::User,
        FailureKind::Internal => Exit::Internal,
    }
}

fn parse(words: &[String]) -> Result<Args, Refusal> {
    let pieces = split(words, OPTIONS).map_err(Refusal::Usage)?;
    let mut args = Args {
        options: RunOptions { use_cache: true, ..RunOptions::default() },
        confinement: confine::of_user(),
        output: None,
        tag: None,
        fetch: FetchOptions::default(),
        quiet: false,
        json_errors: false,
        colour: None,
        show_usage: false,
    };
    for piece in pieces {
        match piece {
            Piece::Word(word) if word == "-" => args.options.inputs.push(standard_input()?),
            Piece::Word(word) => args.options.inputs.push(Input::path(word)),
            Piece::Flag(key) => set_flag(&mut args, key)?,
            Piece::Value(key, value) => set_value(&mut args, key, value)?,
        }
    }
    args.confinement.apply(&mut args.options);
    use_packages(&mut args)?;
    Ok(args)
}

/// Lets missing dependencies be downloaded, and puts the folders of packages in the place of their
/// URLs.
fn use_packages(args: &mut Args) -> Result<(), Refusal> {
    let fetcher = fetcher(args.fetch, args.quiet);
    let reference = args.tag.clone().map(GitReference::Tag);
    for input in args.options.inputs.iter_mut().filter(|it| it.text.is_none()) {
        if !Location::is_url(&input.path) {
            continue;
        }
        let failed = |error: &dyn ToString| Refusal::Failed(error.to_string());
        let location =
            Location::parse(&input.path, reference.clone()).map_err(|error| failed(&error))?;
        let (fetched, _) = fetcher.get_location(&location).map_err(|error| failed(&error))?;
        input.path = fetched.folder.display().to_string();
        // What is in the working folder is about another program.
        args.options.ignore_default_settings = true;
    }
    args.options.provider = Some(SharedProvider(Arc::new(fetcher)));
    Ok(())
}

fn set_flag(args: &mut Args, key: Key) -> Result<(), Refusal> {
    let options = &mut args.options;
    match key {
        Key::Help => return Err(Refusal::Help),
        Key::DisableNone => options.output.disable_none = true,
        Key::SortKeys => options.output.sort_keys = true,
        Key::ShowHidden => options.output.show_hidden = true,
        Key::SchemaTypePath => options.output.include_schema_type_path = true,
        Key::Provenance => options.provenance = true,
        Key::Strict => options.eval.strict_range_check = true,
        Key::Debug => options.eval.debug = true,
        Key::Partial => options.eval.partial = true,
        Key::Complete => (options.eval.partial, options.eval.complete) = (true, true),
        Key::Offline => args.fetch.offline = true,
        Key::Locked => args.fetch.locked = true,
        Key::Quiet => args.quiet = true,
        Key::ShowUsage => args.show_usage = true,
        Key::Confine(which) => {
            which.set(&mut args.confinement, String::new()).map_err(Refusal::Usage)?;
        }
        Key::NoStyle => args.colour = Some(Colour::Never),
        _ => {}
    }
    Ok(())
}

fn set_value(args: &mut Args, key: Key, value: String) -> Result<(), Refusal> {
    let usage = |message: String| Refusal::Usage(message);
    let options = &mut args.options;
    match key {
        Key::Argument => options
            .arguments
            .push(parse_argument(&value).map_err(|error| Refusal::Value(error.to_string()))?),
        Key::Setting => options.settings.push(value.into()),
        Key::Override => options.overrides.push(value),
        Key::Selector => options.selectors.push(value),
        Key::External => {
            options.packages.push(values::external(&value).map_err(usage)?);
        }
        Key::Format => options.format = Some(value.parse::<Format>().map_err(usage)?),
        Key::Output => args.output = Some(value.into()),
        Key::Tag => args.tag = Some(value),
        Key::ErrorFormat => {
            args.json_errors = match value.as_str() {
                "json" => true,
                "text" | "human" => false,
                _ => return Err(usage(format!("invalid error format '{value}'"))),
            }
        }
        Key::Color => args.colour = values::colour(&value).map_err(usage)?,
        Key::Confine(which) => which.set(&mut args.confinement, value).map_err(usage)?,
        _ => {}
    }
    Ok(())
}

fn standard_input() -> Result<Input, Refusal> {
    let mut text = String::new();
    io::stdin()
        .lock()
        .read_to_string(&mut text)
        .map_err(|error| Refusal::Value(format!("Failed to read standard input: {error}")))?;
    Ok(Input::text("stdin.k", text))
}
