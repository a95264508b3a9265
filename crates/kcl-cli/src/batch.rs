//! `kcl batch`

use crate::args::{Arity, Opt, Piece, split};
use crate::confine::{self, Confine};
use crate::{Exit, help, terminal};
use base_diag::Colour;
use base_system::{OsSystem, System as _};
use kcl_driver::{
    BatchOptions, BatchReport, BatchScope, Stack, StackState, find_stacks, read_list, run_batch,
};
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Out,
    Root,
    Threads,
    ChangedSince,
    Full,
    Quiet,
    Color,
    Confine(Confine),
    Help,
}

const fn long(key: Key, long: &'static str, arity: Arity) -> Opt<Key> {
    Opt { key, short: None, long, arity }
}

const fn limit(which: Confine) -> Opt<Key> {
    which.option(Key::Confine(which))
}

const OPTIONS: &[Opt<Key>] = &[
    Opt { key: Key::Out, short: Some('o'), long: "out", arity: Arity::One },
    long(Key::Root, "root", Arity::One),
    Opt { key: Key::Threads, short: Some('j'), long: "threads", arity: Arity::One },
    long(Key::ChangedSince, "changed-since", Arity::One),
    long(Key::Full, "full", Arity::None),
    Opt { key: Key::Quiet, short: Some('q'), long: "quiet", arity: Arity::None },
    long(Key::Color, "color", Arity::One),
    limit(Confine::MaxSteps),
    limit(Confine::MaxDepth),
    limit(Confine::MaxMemory),
    limit(Confine::MaxOutput),
    limit(Confine::Timeout),
    limit(Confine::NoIo),
    limit(Confine::AllowIo),
    limit(Confine::Plugin),
    Opt { key: Key::Help, short: Some('h'), long: "help", arity: Arity::None },
];

/// What the command line of `kcl batch` says.
struct Args {
    /// The list of stacks, or the folder to look for stacks in.
    source: PathBuf,
    options: BatchOptions,
    changed_since: Option<String>,
    quiet: bool,
    colour: Colour,
}

/// Runs `kcl batch` with the words behind it.
pub(crate) fn run(words: &[String]) -> Exit {
    let mut args = match parse(words) {
        Ok(Some(args)) => args,
        Ok(None) => return terminal::write_out(help::BATCH),
        Err(message) => return terminal::usage(&message),
    };
    match compile(&mut args) {
        Ok(report) => show(&report, &args),
        Err(message) => {
            terminal::write_err(&format!("error: {message}\n"));
            Exit::User
        }
    }
}

fn compile(args: &mut Args) -> Result<BatchReport, String> {
    let stacks = find(args)?;
    if let Some(revision) = &args.changed_since {
        let folder = match &args.options.root {
            Some(root) => root.clone(),
            None => stacks.first().map(|stack| stack.folder.clone()).unwrap_or_default(),
        };
        args.options.scope = BatchScope::Touched(changed_files(&folder, revision)?);
    }
    run_batch(&OsSystem, &stacks, &args.options).map_err(|error| error.to_string())
}

fn find(args: &mut Args) -> Result<Vec<Stack>, String> {
    let here = OsSystem.current_dir().map_err(|error| error.to_string())?;
    let source = here.join(&args.source);
    if OsSystem.is_dir(&source) {
        let stacks = find_stacks(&OsSystem, &source).map_err(|error| error.to_string())?;
        args.options.root.get_or_insert(source);
        return Ok(stacks.into_iter().map(Stack::from).collect());
    }
    read_list(&OsSystem, &source).map_err(|error| error.to_string())
}

/// The files that differ from those of a revision, by `git`.
fn changed_files(folder: &Path, revision: &str) -> Result<Vec<PathBuf>, String> {
    let git = |words: &[&str]| {
        let output = Command::new("git")
            .arg("-C")
            .arg(folder)
            .args(words)
            .output()
            .map_err(|error| format!("failed to run git: {error}"))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(format!("git: {}", String::from_utf8_lossy(&output.stderr).trim()))
    };
    if revision.starts_with('-') {
        return Err(format!("invalid revision '{revision}'"));
    }
    let top = git(&["rev-parse", "--show-toplevel"])?;
    let top = Path::new(top.trim_end_matches('\n'));
    // Both names of a renamed file count, and so do files that git does not know yet.
    let changed =
        git(&["diff", "--name-only", "--no-renames", "--no-relative", "-z", revision, "--"])?;
    let top_text = top.display().to_string();
    let new =
        git(&["-C", &top_text, "ls-files", "--others", "--exclude-standard", "--full-name", "-z"])?;
    let names = changed.split('\0').chain(new.split('\0')).filter(|name| !name.is_empty());
    Ok(names.map(|name| top.join(name)).collect())
}

/// Shows what became of the stacks, in their order.
fn show(report: &BatchReport, args: &Args) -> Exit {
    let (mut n_compiled, mut n_unchanged, mut n_failed, mut n_lines_all) = (0, 0, 0, 0);
    for outcome in &report.outcomes {
        let mut said = String::new();
        if !args.quiet {
            said.push_str(&outcome.printed);
            said.push_str(&outcome.warnings.to_text(args.colour));
        }
        match &outcome.state {
            StackState::Compiled { n_lines, .. } => {
                n_compiled += 1;
                n_lines_all += n_lines;
            }
            StackState::Unchanged => n_unchanged += 1,
            StackState::Failed(findings) => {
                n_failed += 1;
                said.push_str(&findings.to_text(args.colour));
            }
            StackState::Crashed => {
                n_failed += 1;
                said.push_str("error: this is a bug of ours: the compiler stopped\n");
            }
        }
        if !said.is_empty() {
            terminal::write_err(&format!("{}:\n{said}", outcome.name));
        }
    }
    let summary = format!(
        "{} stacks: {n_compiled} compiled ({n_lines_all} lines), {n_unchanged} unchanged, \
         {n_failed} failed\n",
        report.outcomes.len()
    );
    let exit = if args.quiet { Exit::Done } else { terminal::write_out(&summary) };
    if n_failed > 0 { Exit::User } else { exit }
}

/// Reads the words; `None` if they ask for help.
fn parse(words: &[String]) -> Result<Option<Args>, String> {
    let mut args = Args {
        source: PathBuf::new(),
        options: BatchOptions { confinement: confine::of_user(), ..BatchOptions::default() },
        colour: terminal::auto_colour(),
        changed_since: None,
        quiet: false,
    };
    let number = |value: &str| {
        value.parse::<usize>().map_err(|_| format!("invalid number of threads '{value}'"))
    };
    let mut words_seen = 0;
    for piece in split(words, OPTIONS)? {
        match piece {
            Piece::Word(word) => {
                words_seen += 1;
                match words_seen {
                    1 => args.source = word.into(),
                    2 => args.options.threads = number(&word)?,
                    _ => return Err(format!("unexpected argument '{word}' found")),
                }
            }
            Piece::Flag(Key::Help) => return Ok(None),
            Piece::Flag(Key::Confine(which)) => {
                which.set(&mut args.options.confinement, String::new())?;
            }
            Piece::Flag(Key::Full) => args.options.scope = BatchScope::All,
            Piece::Flag(_) => args.quiet = true,
            Piece::Value(Key::Confine(which), value) => {
                which.set(&mut args.options.confinement, value)?;
            }
            Piece::Value(Key::Out, value) => args.options.out = Some(value.into()),
            Piece::Value(Key::Root, value) => args.options.root = Some(value.into()),
            Piece::Value(Key::Threads, value) => args.options.threads = number(&value)?,
            Piece::Value(Key::ChangedSince, value) => args.changed_since = Some(value),
            Piece::Value(_, value) => {
                args.colour = match value.as_str() {
                    "auto" => terminal::auto_colour(),
                    "always" => Colour::Always,
                    "never" => Colour::Never,
                    _ => return Err(format!("invalid colour choice '{value}'")),
                }
            }
        }
    }
    if words_seen == 0 {
        return Err("a list of stacks or a folder is required".to_owned());
    }
    Ok(Some(args))
}
