//! The `kcl` command: reads words, calls `kcl-driver`, writes the result.
//!
//! A command is one file with one function; [`main`] picks it. The result goes to standard
//! output, everything else to standard error.

mod args;
mod ask;
mod batch;
mod confine;
mod doc;
mod explain;
mod export;
mod fetching;
mod fmt;
mod help;
mod import;
mod lint;
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
        "run" => run::run(rest),
        "batch" => batch::run(rest),
        "fmt" => guarded(|| fmt::run(rest)),
        "lint" => guarded(|| lint::run(rest)),
        "explain" => guarded(|| explain::run(rest)),
        "vet" => guarded(|| vet::run(rest)),
        "test" => guarded(|| test::run(rest)),
        "query" => guarded(|| query::run(rest)),
        "set" => guarded(|| set::run(rest)),
        "rename" => guarded(|| rename::run(rest)),
        "doc" => guarded(|| doc::run(rest)),
        "export" => guarded(|| export::run(rest)),
        "import" => guarded(|| import::run(rest)),
        "mod" => guarded(|| module::run(rest)),
        "registry" => guarded(|| registry::run(rest)),
        "version" | "--version" | "-V" => terminal::write_out(help::VERSION),
        "help" | "--help" | "-h" => terminal::write_out(help_of(rest)),
        // `kcl main.k` runs the file, as the older command did.
        word if run::is_source(word) || word == "-" => run::run(words),
        word => terminal::usage(&format!("unrecognized command '{word}'")),
    }
}

/// Returns the help of a command, or that of all.
fn help_of(words: &[String]) -> &'static str {
    let mut words = words.iter().map(String::as_str);
    let (command, topic) = (words.next(), words.next());
    match command {
        Some("run") => help::RUN,
        Some("batch") => help::BATCH,
        Some("fmt") => help::FMT,
        Some("lint") => help::LINT,
        Some("explain") => help::EXPLAIN,
        Some("query") => help::QUERY,
        Some("set") => help::SET,
        Some("rename") => help::RENAME,
        Some("vet") => vet::HELP,
        Some("test") => test::HELP,
        Some("doc") => doc::HELP,
        Some("export") => export::HELP,
        Some("import") => import::HELP,
        Some("mod") => topic.and_then(module::help_text).unwrap_or(module::MOD),
        Some("registry") => topic.and_then(registry::help_text).unwrap_or(registry::HELP),
        _ => help::OVERVIEW,
    }
}

/// Runs a command; a panic is reported as a bug.
fn guarded(command: impl FnOnce() -> Exit + UnwindSafe) -> Exit {
    panic::catch_unwind(command).unwrap_or_else(|_| terminal::bug())
}
