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
mod typed;
mod view;

use clap::Parser;
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
    if let Some(code) = kusion_runtime_terraform::run_as_guard() {
        return code;
    }
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|word| word == base_plugin::GUARD_WORD) {
        let words: Result<Vec<String>, _> = arguments.map(OsString::into_string).collect();
        return base_plugin::guard(&words.unwrap_or_default());
    }
    let words = typed::words();
    let args = match Args::try_parse_from(&words) {
        Ok(args) => args,
        Err(error) => return view::usage(&error, typed::pointer(&words)),
    };
    let done = args.log.begin().and_then(|()| commands::run(args.command));
    let exit = done.unwrap_or_else(|failure| {
        view::error(&failure);
        failure.exit()
    });
    ExitCode::from(exit as u8)
}

/// Disables transparent huge pages for this process and its children, to use less memory. Failures
/// are ignored.
fn use_small_pages() {
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_thp_disable(true);
}
