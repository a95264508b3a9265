//! `kusion key`.

use crate::arguments::app;
use crate::daemon::write_private;
use crate::failure::Failure;
use crate::{home, interrupt, view};
use base_system::{OsSystem, System as _};
use clap::Subcommand;
use kusion_engine::Silent;
use kusion_secret::{KEY_FILE, KEY_VARIABLE, KeyText};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A command of `kusion key`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the fingerprint of the encryption key and where it is stored
    Show,
    /// Print the encryption key, to share a store with another machine
    Export(ExportArgs),
    /// Import an exported encryption key; the old key is kept in a file
    Import(ImportArgs),
    /// Replace the lost encryption key of a store by the key of this machine
    Replace(ReplaceArgs),
}

/// Arguments of `kusion key export`.
#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// Write the key to a file that only its owner can read
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Arguments of `kusion key import`.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// File with the key [default: standard input]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Arguments of `kusion key replace`.
#[derive(Debug, clap::Args)]
pub(crate) struct ReplaceArgs {
    /// Confirm that the key is lost; secrets of earlier releases become unreadable
    #[arg(long, required = true)]
    lost: bool,
    /// State store [default: the local stores in `KUSION_HOME`]
    #[arg(long, value_name = "URL", env = "KUSION_BACKEND", hide_env_values = true)]
    backend: Option<String>,
}

/// Runs a command.
pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Show => show(),
        Command::Export(args) => export(args),
        Command::Import(args) => import(args),
        Command::Replace(args) => replace(args),
    }
}

fn current() -> Result<KeyText, Failure> {
    let variable = std::env::var(KEY_VARIABLE).ok();
    Ok(KeyText::open(variable.as_deref(), &home::folder()?)?)
}

fn show() -> Result<(), Failure> {
    let key = current()?;
    let place = if is_in_environment() {
        format!("the environment variable {KEY_VARIABLE}")
    } else {
        home::folder()?.join(KEY_FILE).display().to_string()
    };
    view::result(&format!("{}  {place}\n", key.fingerprint()))
}

fn export(args: &ExportArgs) -> Result<(), Failure> {
    let key = current()?;
    let text = format!("{}\n", key.reveal());
    match &args.file {
        Some(file) => write_private(file, &text),
        None => view::result(&text),
    }
}

fn import(args: &ImportArgs) -> Result<(), Failure> {
    let mut text = String::new();
    let place = match &args.file {
        Some(file) => {
            text = OsSystem.read_to_string(file).map_err(Failure::file("read", file))?;
            file.display().to_string()
        }
        None => {
            let stdin = std::io::stdin().lock().take(1024).read_to_string(&mut text);
            stdin.map_err(Failure::file("read", "standard input"))?;
            "standard input".to_owned()
        }
    };
    let key = KeyText::parse(&text, &place)?;
    let kept = key.install(&home::folder()?)?;
    let kept = kept.as_deref().map_or_else(String::new, told);
    let unused = if is_in_environment() {
        format!("\nwarning: `{KEY_VARIABLE}` is set and takes precedence over the imported key")
    } else {
        String::new()
    };
    let fingerprint = key.fingerprint();
    view::result(&format!("the encryption key is now {fingerprint}{kept}{unused}\n"))
}

fn is_in_environment() -> bool {
    std::env::var(KEY_VARIABLE).is_ok_and(|it| !it.trim().is_empty())
}

fn told(kept: &Path) -> String {
    format!("; the old key is kept in {}", kept.display())
}

fn replace(args: &ReplaceArgs) -> Result<(), Failure> {
    let app = app(Arc::new(Silent), 1)?;
    let stores = match &args.backend {
        Some(address) => vec![address.clone()],
        None => app.local_stores(),
    };
    let mut replaced = Vec::new();
    for address in &stores {
        replaced.extend(interrupt::read(async { Ok(app.replace_lost_key(address).await?) })?);
    }
    let key = app.sealer().fingerprint();
    view::result(&if stores.is_empty() {
        "there is no local store; pass the store with `--backend URL`\n".to_owned()
    } else if replaced.is_empty() {
        format!("the store already uses the key {key}\n")
    } else {
        let old = replaced.join(" and ");
        format!(
            "the store now uses the key {key} instead of {old}\nsecrets sealed with the \
             old key are treated as changed, and rollbacks to releases with such secrets fail\n"
        )
    })
}
