//! The `kcl` command: reads words, calls `kcl-driver`, writes the result.
//!
//! A command is one file with one function; [`main`] picks it. The result goes to standard
//! output, everything else to standard error.

mod args;
mod ask;
mod batch;
mod catalog;
mod clean;
mod completion;
mod confine;
mod doc;
mod explain;
mod export;
mod fetching;
mod fmt;
mod help;
mod import;
mod lint;
mod man;
mod module;
mod query;
mod registry;
mod rename;
mod report;
mod run;
mod set;
mod sources;
mod terminal;
mod test;
mod values;
mod vet;
mod watch;

use mimalloc::MiMalloc;
use std::env;
use std::ffi::OsString;
use std::panic::{self, UnwindSafe};
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// How a command ended. The number is the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// All went well.
    Done = 0,
    /// The program or its inputs are wrong: the message says what to change.
    User = 1,
    /// The command line is wrong.
    Usage = 2,
    /// A bug of ours.
    Internal = 101,
}

fn main() -> ExitCode {
    let words: Result<Vec<String>, _> = env::args_os().skip(1).map(OsString::into_string).collect();
    let exit = match words {
        Ok(words) if words.first().is_some_and(|word| word == base_plugin::GUARD_WORD) => {
            return base_plugin::guard(&words[1..]);
        }
        Ok(words) => dispatch(&words),
        Err(word) => terminal::usage(&format!("invalid Unicode in '{}'", word.display())),
    };
    ExitCode::from(exit as u8)
}

fn dispatch(words: &[String]) -> Exit {
    let Some((command, rest)) = words.split_first() else {
        terminal::write_out(help::OVERVIEW);
        return Exit::Usage;
    };
    match command.as_str() {
        "run" | "r" => run::run(rest),
        "batch" => batch::run(rest),
        "fmt" => guarded(|| fmt::run(rest)),
        "lint" => guarded(|| lint::run(rest)),
        "explain" => guarded(|| explain::run(rest)),
        "vet" => guarded(|| vet::run(rest)),
        "test" | "t" => guarded(|| test::run(rest)),
        "query" => guarded(|| query::run(rest)),
        "set" => guarded(|| set::run(rest)),
        "rename" => guarded(|| rename::run(rest)),
        "doc" | "d" => guarded(|| doc::run(rest)),
        "export" => guarded(|| export::run(rest)),
        "import" => guarded(|| import::run(rest)),
        "mod" => guarded(|| module::run(rest)),
        "registry" => guarded(|| registry::run(rest)),
        "clean" => guarded(|| clean::run(rest)),
        "completion" => guarded(|| completion::run(rest)),
        "man" => guarded(|| man::run(rest)),
        "server" | "play" | "lsp" => terminal::fail(&later(command)),
        "version" | "--version" | "-V" => terminal::write_out(help::VERSION),
        "help" | "--help" | "-h" => terminal::write_out(help_of(rest)),
        // `kcl main.k` runs the file, as the older command did.
        word if run::is_source(word) || word == "-" => run::run(words),
        word => terminal::usage(&unknown("", word)),
    }
}

/// Returns the help of a command, or that of all.
fn help_of(words: &[String]) -> &'static str {
    let named: Vec<&str> = words.iter().take(2).map(String::as_str).collect();
    let entries = catalog::entries();
    let find = |words: &str| entries.iter().find(|entry| entry.words == words);
    let found = find(&named.join(" ")).or_else(|| find(named.first().copied().unwrap_or("")));
    found.map_or(help::OVERVIEW, |entry| entry.help)
}

/// What is said about a command of the reference that is not here yet.
fn later(command: &str) -> String {
    format!("`kcl {command}` comes with a later version; run `kcl help` to list the commands")
}

/// What is said about an unknown command, below another one or none.
pub(crate) fn unknown(parent: &str, word: &str) -> String {
    let entries = catalog::entries();
    let parent = entries.iter().find(|entry| entry.words == parent);
    let names = parent.map(catalog::Entry::commands).unwrap_or_default();
    let typed = format!("{} {word}", parent.map_or("", |entry| entry.words));
    let typed = typed.trim_start();
    match base_text::nearest(word, names.iter().map(|(name, _)| *name)) {
        Some(name) => format!("unrecognized command '{typed}', did you mean '{name}'?"),
        None => format!("unrecognized command '{typed}'"),
    }
}

/// Runs a command; a panic is reported as a bug.
fn guarded(command: impl FnOnce() -> Exit + UnwindSafe) -> Exit {
    panic::catch_unwind(command).unwrap_or_else(|_| terminal::bug())
}
