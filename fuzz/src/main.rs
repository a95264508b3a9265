//! Feeds random input to the language, the store and the sandbox, and reports what breaks.
//!
//! `kcl-fuzz parse` damages real programs, `kcl-fuzz run` generates mostly well-typed ones,
//! `kcl-fuzz format` puts comments into both;
//! `kcl-fuzz journal` edits the values of a store; `kcl-fuzz http` and `kcl-fuzz patch` send
//! requests to a sandbox in the process; `kcl-fuzz plan` and `kcl-fuzz settings` damage files. The
//! process that the user starts supervises workers (`kcl-fuzz work`), so that even an input that
//! kills its process is found. Input number *n* of a seed is always the same. Start reading at
//! `supervisor.rs`; what is expected of an input is in `target.rs`.

#![expect(clippy::print_stdout, reason = "a command line tool prints its result")]

mod documents;
mod format;
mod generate;
mod input;
mod journal;
mod minimise;
mod mutate;
mod sandbox;
mod seeds;
mod supervisor;
mod target;
mod worker;

use anyhow::{Context as _, bail};
use input::{Inputs, Kind};
use std::path::PathBuf;
use std::process::ExitCode;
use supervisor::Campaign;

/// Programs allocate little and often; the tool uses this allocator too.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "usage: kcl-fuzz parse|format|run|journal|http|patch|plan|settings [--n N] [--seconds S] [--seed N] [--from N] [--threads N] [--out DIR]
       kcl-fuzz replay [--kind parse|format|run|journal|http|patch|plan|settings] FILE…
       kcl-fuzz print parse|format|run|journal|http|patch|plan|settings [--n N] [--seed N] [--from N] [--out DIR]";

fn main() -> anyhow::Result<ExitCode> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    if words.is_empty() {
        bail!(USAGE);
    }
    let command = words.remove(0);
    let mut options = Options::read(words)?;
    match command.as_str() {
        "work" => {
            let job = options.job()?;
            worker::work(&job);
            Ok(ExitCode::SUCCESS)
        }
        "replay" => replay(&options),
        "print" => print(&mut options),
        name => supervisor::run(&options.campaign(Kind::named(name).context(USAGE)?)),
    }
}

/// The words after the command.
struct Options {
    files: Vec<String>,
    kind: Option<Kind>,
    n: Option<u64>,
    seconds: Option<f64>,
    seed: u64,
    from: u64,
    threads: usize,
    out: PathBuf,
}

impl Options {
    fn read(words: Vec<String>) -> anyhow::Result<Self> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let mut options = Self {
            files: Vec::new(),
            kind: None,
            n: None,
            seconds: None,
            seed: 1,
            from: 0,
            threads,
            out: "target/fuzz".into(),
        };
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            if !word.starts_with("--") {
                options.files.push(word);
                continue;
            }
            let value = words.next().with_context(|| format!("{word} needs a value"))?;
            match word.as_str() {
                "--kind" => options.kind = Some(Kind::named(&value).context(USAGE)?),
                "--n" => options.n = Some(value.replace('_', "").parse()?),
                "--seconds" => options.seconds = Some(value.parse()?),
                "--seed" => options.seed = value.parse()?,
                "--from" => options.from = value.parse()?,
                "--threads" => options.threads = value.parse()?,
                "--out" => options.out = value.into(),
                _ => bail!("{word}: no such option\n{USAGE}"),
            }
        }
        Ok(options)
    }

    fn campaign(self, kind: Kind) -> Campaign {
        Campaign {
            kind,
            seed: self.seed,
            from: self.from,
            n: self.n,
            seconds: self.seconds,
            threads: self.threads.max(1),
            out: self.out,
        }
    }

    fn job(self) -> anyhow::Result<worker::Job> {
        let kind = self.files.first().and_then(|name| Kind::named(name)).context(USAGE)?;
        Ok(worker::Job {
            kind,
            seed: self.seed,
            from: self.from,
            n: self.n.context("work needs --n")?,
            threads: self.threads.max(1),
            seconds: self.seconds,
        })
    }
}

/// Feeds files to both kinds of target, or to one, with as much stack as a worker has.
fn replay(options: &Options) -> anyhow::Result<ExitCode> {
    worker::silence_panics();
    let body = || replay_here(options);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(worker::STACK_BYTES)
            .spawn_scoped(scope, body)?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn replay_here(options: &Options) -> anyhow::Result<ExitCode> {
    let mut code = ExitCode::SUCCESS;
    for path in &options.files {
        let text = std::fs::read_to_string(path).with_context(|| path.clone())?;
        let kinds = options.kind.map_or_else(|| kinds_of(path), |kind| vec![kind]);
        for kind in kinds {
            match worker::attempt(kind, &text, true) {
                Ok(reached) => println!("{path}: {}: {reached:?}", kind.name()),
                Err(message) => {
                    println!("FAILED {message}");
                    code = ExitCode::FAILURE;
                }
            }
        }
    }
    Ok(code)
}

/// Returns the kinds of target that a file is for, by its extension.
fn kinds_of(path: &str) -> Vec<Kind> {
    let extension = path.rsplit('.').next().unwrap_or_default();
    Kind::ALL.into_iter().filter(|kind| kind.extension() == extension).collect()
}

/// Writes inputs to files, for other tools to use.
fn print(options: &mut Options) -> anyhow::Result<ExitCode> {
    let kind = options.files.first().and_then(|name| Kind::named(name)).context(USAGE)?;
    let inputs = Inputs::new(kind, options.seed);
    std::fs::create_dir_all(&options.out)?;
    for index in options.from..options.from + options.n.unwrap_or(10) {
        let name = format!("{index}.{}", kind.extension());
        std::fs::write(options.out.join(name), inputs.make(index))?;
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Inputs that once broke something, or that ask for too much.
    #[test]
    fn old_failures_stay_fixed() {
        let folder = testkit::repository().join("tests/fuzz-cases");
        let mut paths: Vec<PathBuf> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        assert!(!paths.is_empty());
        for path in paths {
            let start = std::time::Instant::now();
            let options = Options::read(vec![path.display().to_string()]).unwrap();
            assert_eq!(replay(&options).unwrap(), ExitCode::SUCCESS, "{}", path.display());
            assert!(start.elapsed() < worker::WAIT_LIMIT, "{} is slow", path.display());
        }
    }

    #[test]
    fn inputs_depend_on_seed_and_number_only() {
        for kind in Kind::ALL {
            let (one, two) = (Inputs::new(kind, 5), Inputs::new(kind, 5));
            assert!((0..100).all(|index| one.make(index) == two.make(index)));
            assert_ne!(one.make(1), Inputs::new(kind, 6).make(1));
        }
    }
}
