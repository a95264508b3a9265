//! Runs the cases of all tables, each as a test; at the end the sandbox must still be well.
//!
//! `HOSTILE_SHOW=1` prints how each case ended.

use anyhow::{Context, Result};
use hostile::{Case, Finished, Place, Sandbox, Server, ask, binaries, broken, load, shell};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use testkit::{Suite, repository};

/// The fewest cases that there must be.
const AT_LEAST: usize = 400;

/// The sandbox of all cases; started by the first that needs it.
type Shared = Arc<Mutex<Option<Sandbox>>>;

fn main() -> ExitCode {
    let cases = load(&repository().join("tests/hostile/cases")).expect("the tables can be read");
    let shared = Shared::default();
    let found = binaries();
    let mut suite = Suite::default();
    let n_cases = cases.len();
    suite.add("there_are_enough_cases", move || {
        assert!(n_cases >= AT_LEAST, "{n_cases} cases, expected at least {AT_LEAST}");
    });
    for case in cases {
        let shared = shared.clone();
        suite.add_with(case.name.clone(), found.clone(), move |binaries: PathBuf| {
            let start = Instant::now();
            let finished = run(&case, &binaries, &shared).expect("the case can be run");
            if std::env::var_os("HOSTILE_SHOW").is_some() {
                let text: String = finished.text.chars().take(1500).collect();
                let time = start.elapsed().as_millis();
                say(&format!("@@ {}\t{:?}\t{text:?}\t{time} ms", case.name, finished.code));
            }
            let fault = broken(&case, &finished);
            let text: String = finished.text.chars().take(2000).collect();
            assert_eq!(fault, None, "{}\n{text}", case.family.run);
        });
    }
    let code = suite.run();
    let sandbox = shared.lock().expect("no test panics with the lock").take();
    let Some(sandbox) = sandbox else { return code };
    let peak = hostile::peak_of_children() / 1_000_000;
    match sandbox.check() {
        Ok(bytes) => {
            say(&format!("peak memory: commands {peak} MB, sandbox {} MB", bytes / 1_000_000));
        }
        Err(error) => {
            say(&format!("after all requests: {error:#}"));
            return ExitCode::FAILURE;
        }
    }
    code
}

fn say(line: &str) {
    // Where nobody reads, nothing is said.
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Runs a case as its family says.
fn run(case: &Case, binaries: &Path, shared: &Shared) -> Result<Finished> {
    let family = &case.family;
    let place = Place::new(&case.name)?;
    let server = family.serve.as_deref().map(Server::start).transpose()?;
    let port = server.as_ref().map_or(0, |it| it.port).to_string();
    let put = |text: &str| text.replace("@port@", &port);
    for (path, text) in &family.files {
        place.write(path, &put(text))?;
    }
    let mut variables = Vec::new();
    let mut sandbox_port = 0;
    if family.cluster || family.request.is_some() {
        let mut sandbox = shared.lock().map_err(|_| anyhow::anyhow!("the sandbox failed"))?;
        if sandbox.is_none() {
            *sandbox = Some(Sandbox::start("inputs", binaries)?);
        }
        let sandbox = sandbox.as_ref().context("a sandbox")?;
        variables.push(("KUBECONFIG", sandbox.kubeconfig.clone()));
        sandbox_port = sandbox.port;
    }
    if !family.setup.trim().is_empty() {
        let script = format!("set -e\n{}", put(&family.setup));
        let setup = shell(&place, binaries, &script, &variables)?;
        anyhow::ensure!(setup.code == Some(0), "setup: {setup:?}");
    }
    let Some(request) = &family.request else {
        return shell(&place, binaries, &put(&family.run), &variables);
    };
    let body = std::fs::read(place.work().join("body")).unwrap_or(family.body.clone().into());
    ask(sandbox_port, request, &family.headers, &body)
}
