//! `kcl lint`

use crate::args::{Arity, Opt, Piece, split};
use crate::fetching::provider;
use crate::report::Report;
use crate::{Exit, help, sources, terminal, values};
use base_diag::{Applicability, Colour, Diagnostic, Edit, apply_edits, render_json, render_text};
use base_system::{FileKind, OsSystem, System as _};
use kcl_driver::RunOptions;
use kcl_lint::{Config, render_sarif};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Format,
    Set,
    Off,
    Warn,
    Error,
    Fix,
    Exclude,
    External,
    Color,
    NoStyle,
    Help,
    Ignored,
}

const fn one(key: Key, long: &'static str) -> Opt<Key> {
    Opt { key, short: None, long, arity: Arity::One }
}

const OPTIONS: &[Opt<Key>] = &[
    one(Key::Format, "format"),
    one(Key::Set, "set"),
    one(Key::Off, "off"),
    one(Key::Warn, "warn"),
    one(Key::Error, "error"),
    Opt { key: Key::Fix, short: None, long: "fix", arity: Arity::None },
    one(Key::Exclude, "exclude"),
    Opt { key: Key::External, short: Some('E'), long: "external", arity: Arity::One },
    one(Key::Color, "color"),
    Opt { key: Key::Help, short: Some('h'), long: "help", arity: Arity::None },
    Opt { key: Key::NoStyle, short: None, long: "no-style", arity: Arity::None },
    // Flags of the reference that change nothing in what is checked.
    ignored('D', "argument", Arity::One),
    ignored('d', "debug", Arity::None),
    ignored('k', "sort-keys", Arity::None),
    ignored('n', "disable-none", Arity::None),
    ignored('q', "quiet", Arity::None),
    ignored('r', "strict-range-check", Arity::None),
    ignored('V', "vendor", Arity::None),
];

const fn ignored(short: char, long: &'static str, arity: Arity) -> Opt<Key> {
    Opt { key: Key::Ignored, short: Some(short), long, arity }
}

/// The form of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Format {
    #[default]
    Text,
    Json,
    Sarif,
}

/// What the command line of `kcl lint` says.
#[derive(Default)]
struct Args {
    words: Vec<String>,
    exclude: Vec<String>,
    packages: Vec<(String, PathBuf)>,
    format: Format,
    config: Config,
    fix: bool,
    colour: Option<Colour>,
}

/// Runs `kcl lint` with the words behind it.
pub(crate) fn run(words: &[String]) -> Exit {
    let args = match parse(words) {
        Ok(Some(args)) => args,
        Ok(None) => return terminal::write_out(help::LINT),
        Err(message) => return terminal::usage(&message),
    };
    let mut report = match look(&args) {
        Ok(report) => report,
        Err(Failed::Message(message)) => return terminal::fail(&message),
        Err(Failed::Exit(exit)) => return exit,
    };
    if args.fix {
        match apply_fixes(&report) {
            Ok(0) => {}
            Ok(n) => {
                let files = if n == 1 { "file" } else { "files" };
                terminal::write_err(&format!("fixed {n} {files}\n"));
                // What is left is shown as it is now.
                report = match look(&args) {
                    Ok(report) => report,
                    Err(Failed::Message(message)) => return terminal::fail(&message),
                    Err(Failed::Exit(exit)) => return exit,
                };
            }
            Err(message) => return terminal::fail(&message),
        }
    }
    let found = &report.diagnostics;
    let text = match args.format {
        Format::Text => {
            let colour = args.colour.unwrap_or_else(terminal::auto_colour_out);
            render_text(found, &report, colour)
        }
        Format::Json => render_json(found, &report),
        Format::Sarif => render_sarif(found, &report, env!("CARGO_PKG_VERSION")),
    };
    let exit = terminal::write_out(&text);
    if found.iter().any(Diagnostic::is_error) { Exit::User } else { exit }
}

/// Why nothing was found out.
enum Failed {
    Message(String),
    /// It is reported already.
    Exit(Exit),
}

/// Lints the programs that the command line names.
fn look(args: &Args) -> Result<Report, Failed> {
    let mut report = Report::default();
    let programs = programs(args).map_err(Failed::Message)?;
    let is_one = programs.len() == 1;
    for files in programs {
        let paths = files.iter().map(|path| path.display().to_string());
        let mut options = RunOptions::files(paths);
        options.packages.clone_from(&args.packages);
        options.provider = Some(provider());
        let linted = kcl_driver::lint(&OsSystem, &options, &args.config).map_err(|error| {
            let colour = args.colour.unwrap_or_else(terminal::auto_colour);
            terminal::write_err(&error.to_text(colour));
            Failed::Exit(Exit::User)
        })?;
        // Findings about imported packages belong to a run of their own folders.
        report.add(linted, |is_main, diagnostic| is_one || is_main || diagnostic.is_error());
    }
    Ok(report)
}

/// The files of each program: those named one by one are one program, and so are those of each
/// folder that was found in a folder.
fn programs(args: &Args) -> Result<Vec<Vec<PathBuf>>, String> {
    let is_folder = |word: &&String| {
        let path = word.strip_suffix("...").unwrap_or(word);
        let path = Path::new(if path.is_empty() { "." } else { path });
        OsSystem.metadata(path).is_ok_and(|facts| facts.kind == FileKind::Directory)
    };
    let (folders, named): (Vec<&String>, Vec<&String>) = args.words.iter().partition(is_folder);
    let mut programs = Vec::new();
    if !named.is_empty() {
        programs.push(named.into_iter().map(PathBuf::from).collect());
    }
    let folders: Vec<String> = folders.into_iter().cloned().collect();
    let mut by_folder: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for file in sources::find(&OsSystem, &folders, &args.exclude)? {
        let folder = file.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        by_folder.entry(folder).or_default().push(file);
    }
    programs.extend(by_folder.into_values());
    Ok(programs)
}

/// Applies the fixes that change no meaning to the files that were named; returns how many changed.
fn apply_fixes(report: &Report) -> Result<usize, String> {
    let mut edits: BTreeMap<u32, Vec<&Edit>> = BTreeMap::new();
    for diagnostic in &report.diagnostics {
        let mut safe = diagnostic.fixes.iter();
        let Some(fix) = safe.find(|fix| fix.applicability == Applicability::Safe) else { continue };
        if !fix.edits.iter().all(|edit| report.is_main(edit.at.file.0)) {
            continue;
        }
        for edit in &fix.edits {
            let others = edits.entry(edit.at.file.0).or_default();
            // One statement may have two findings with the same fix.
            if !others.contains(&edit) {
                others.push(edit);
            }
        }
    }
    let mut n_files = 0;
    for (file, edits) in edits {
        let (path, text) = report.file(file);
        let fixed = apply_edits(text, edits)
            .ok_or_else(|| format!("cannot fix {path}: two fixes change the same place"))?;
        if fixed != text {
            let written = OsSystem
                .canonicalize(Path::new(path))
                .and_then(|path| OsSystem.write(&path, &fixed));
            written.map_err(|error| format!("cannot write {path}: {error}"))?;
            n_files += 1;
        }
    }
    Ok(n_files)
}

fn parse(words: &[String]) -> Result<Option<Args>, String> {
    let mut args = Args::default();
    for piece in split(words, OPTIONS)? {
        match piece {
            Piece::Word(word) => args.words.push(word),
            Piece::Flag(Key::Help) => return Ok(None),
            Piece::Flag(Key::Fix) => args.fix = true,
            Piece::Flag(Key::NoStyle) => args.colour = Some(Colour::Never),
            Piece::Flag(_) => {}
            Piece::Value(key, value) => set_value(&mut args, key, value)?,
        }
    }
    if args.words.is_empty() {
        args.words.push(".".to_owned());
    }
    Ok(Some(args))
}

fn set_value(args: &mut Args, key: Key, value: String) -> Result<(), String> {
    let level = match key {
        Key::Format => {
            args.format = match value.as_str() {
                "text" => Format::Text,
                "json" => Format::Json,
                "sarif" => Format::Sarif,
                _ => return Err(format!("invalid format '{value}', expected text, json or sarif")),
            };
            return Ok(());
        }
        Key::Set => {
            args.config.set =
                value.parse().map_err(|error: kcl_lint::LevelError| error.to_string())?;
            return Ok(());
        }
        Key::Exclude => {
            args.exclude.push(value);
            return Ok(());
        }
        Key::External => {
            args.packages.push(values::external(&value)?);
            return Ok(());
        }
        Key::Color => {
            args.colour = values::colour(&value)?;
            return Ok(());
        }
        Key::Off => "off",
        Key::Warn => "warn",
        Key::Error => "error",
        Key::Fix | Key::NoStyle | Key::Help | Key::Ignored => return Ok(()),
    };
    for lint in value.split(',') {
        args.config.set_level(lint, level).map_err(|error| error.to_string())?;
    }
    Ok(())
}
