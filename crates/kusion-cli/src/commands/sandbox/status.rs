//! `kusion sandbox status`.

use crate::daemon::{Daemon, names};
use crate::failure::Failure;
use crate::view::{self, Output};
use kusion_app::wire::SandboxDocument;

/// Arguments of `kusion sandbox status`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Show only this sandbox; fail if it is not running
    #[arg(long)]
    name: Option<String>,
    /// Output format
    #[arg(long, short, value_enum, default_value_t)]
    output: Output,
}

/// Lists sandboxes.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let names = match &args.name {
        Some(name) => vec![name.clone()],
        None => names()?,
    };
    let mut rows = Vec::new();
    for name in names {
        match Daemon::load(&name)? {
            Some(state) => {
                let running = state.is_running();
                rows.push((state, running));
            }
            None if args.name.is_some() => return Err(Failure::Unknown(name)),
            None => {}
        }
    }
    view::result(&match args.output {
        Output::Json => json(&rows)?,
        Output::Text => text(&rows),
    })?;
    match (&args.name, rows.first()) {
        (Some(name), Some((_, false))) => Err(Failure::NotRunning(name.clone())),
        _ => Ok(()),
    }
}

fn word(running: bool) -> &'static str {
    if running { "running" } else { "stopped" }
}

fn json(rows: &[(Daemon, bool)]) -> Result<String, Failure> {
    let list: Vec<SandboxDocument> = rows
        .iter()
        .map(|(daemon, running)| document(daemon, *running))
        .collect::<Result<_, _>>()?;
    Ok(format!("{}\n", serde_json::to_string(&list).unwrap_or_default()))
}

/// Describes a sandbox for programs.
pub(super) fn document(daemon: &Daemon, running: bool) -> Result<SandboxDocument, Failure> {
    Ok(SandboxDocument {
        name: daemon.name.clone(),
        state: word(running),
        url: daemon.url.clone(),
        pid: running.then_some(daemon.pid),
        kubeconfig: daemon.kubeconfig()?.display().to_string(),
    })
}

fn text(rows: &[(Daemon, bool)]) -> String {
    if rows.is_empty() {
        return "no sandboxes; start one with `kusion sandbox up`\n".to_owned();
    }
    let width = rows.iter().map(|(state, _)| state.name.len()).max().unwrap_or(0).max(4);
    let mut text = format!("{:width$}  {:7}  URL\n", "NAME", "STATE");
    for (state, running) in rows {
        let line = format!("{:width$}  {:7}  {}\n", state.name, word(*running), state.url);
        text.push_str(&line);
    }
    text
}
