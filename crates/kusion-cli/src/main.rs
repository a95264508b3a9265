//! The binary `kusion`: parses the command line, runs one command, prints its failure.

mod arguments;
mod commands;
mod daemon;
mod failure;
mod home;
mod interrupt;
mod log;
mod operate;
mod panic;
#[cfg(test)]
mod reference;
mod view;

use clap::{CommandFactory as _, Parser};
use std::ffi::OsString;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Deploy applications to clusters, and test them in a local sandbox
#[derive(Debug, Parser)]
#[command(
    name = "kusion",
    version,
    propagate_version = true,
    max_term_width = 100,
    disable_help_subcommand = true
)]
struct Args {
    #[command(subcommand)]
    command: commands::Command,
    #[command(flatten)]
    log: log::LogArgs,
}

fn main() -> ExitCode {
    use_small_pages();
    panic::report_as_bugs();
    let args = match Args::try_parse_from(help_first(std::env::args_os().collect())) {
        Ok(args) => args,
        Err(error) if error.use_stderr() => {
            view::usage_error(&error.to_string());
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
        Err(help) => help.exit(),
    };
    let done = args.log.begin().and_then(|()| commands::run(args.command));
    let exit = done.unwrap_or_else(|failure| {
        view::error(&failure);
        failure.exit()
    });
    ExitCode::from(exit as u8)
}

/// Turns `kusion release help list` into `kusion help release list`.
fn help_first(mut words: Vec<OsString>) -> Vec<OsString> {
    let is_group = words.get(1).is_some_and(|word| {
        let command = Args::command();
        let found = command.get_subcommands().find(|it| word == it.get_name());
        found.is_some_and(clap::Command::has_subcommands)
    });
    if is_group && words.get(2).is_some_and(|word| word == "help") {
        words.swap(1, 2);
    }
    words
}

/// Disables transparent huge pages for this process and its children, to use less memory. Failures
/// are ignored.
fn use_small_pages() {
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_thp_disable(true);
}
