//! The `kcl` command: reads words, calls `kcl-driver`, writes the result.
//!
//! A command is one file with one function; [`main`] picks it. The result goes to standard
//! output, everything else to standard error.

mod args;
mod batch;
mod confine;
mod explain;
mod fmt;
mod help;
mod lint;
mod query;
mod rename;
mod report;
mod run;
mod set;
mod sources;
mod terminal;

use mimalloc::MiMalloc;
use std::env;
use std::ffi::OsString;
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
        "fmt" => fmt::run(rest),
        "lint" => lint::run(rest),
        "explain" => explain::run(rest),
        "query" => query::run(rest),
        "set" => set::run(rest),
        "rename" => rename::run(rest),
        "version" | "--version" | "-V" => terminal::write_out(help::VERSION),
        "help" | "--help" | "-h" => terminal::write_out(match rest.first().map(String::as_str) {
            Some("run") => help::RUN,
            Some("batch") => help::BATCH,
            Some("fmt") => help::FMT,
            Some("lint") => help::LINT,
            Some("explain") => help::EXPLAIN,
            Some("query") => help::QUERY,
            Some("set") => help::SET,
            Some("rename") => help::RENAME,
            _ => help::OVERVIEW,
        }),
        // `kcl main.k` runs the file, as the older command did.
        word if run::is_source(word) || word == "-" => run::run(words),
        word => terminal::usage(&format!("unrecognized command '{word}'")),
    }
}
