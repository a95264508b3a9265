//! Runs one operation; ends itself with SIGKILL at a point that `KUSION_DIE_AT` names, or pauses
//! itself with SIGSTOP at one that `KUSION_PAUSE_AT` names.
//!
//! `crash-driver HOME folder:PATH|kubeconfig:PATH SIZE first|changed|replaced|destroy`. Prints the
//! points that were passed, a line each. The state lies in a file below HOME, or where
//! `KUSION_BACKEND` says; with `KUSION_LOCK_WAIT` the driver waits that many seconds for a stack
//! that is held; `KUSION_PARALLEL` is the number of steps at a time.
//! `KUSION_LATENCY_MS` is the time that a call to a folder takes, half of it after the effect.

use anyhow::{Context as _, Result, bail};
use kusion_crash::{Variant, spec};
use kusion_engine::{ApplyOptions, Confirm, Engine, Points, Previewed, Runtimes, Silent};
use kusion_model::{Origins, Phase};
use kusion_runtime_fake::FileRuntime;
use kusion_runtime_k8s::{ClusterSource, KubernetesRuntime, Options};
use kusion_secret::Sealer;
use kusion_store::{Holder, LockWait, Store};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [home, place, size, what] = arguments.as_slice() else {
        bail!("usage: crash-driver HOME folder:PATH|kubeconfig:PATH SIZE VARIANT|destroy");
    };
    let size: usize = size.parse().context("the size is a number")?;
    let home = Path::new(home);
    let (runtimes, in_cluster) = runtimes(place).await?;
    let store = Store::open(&variable("KUSION_BACKEND").unwrap_or_default(), home).await?;
    let sealer = Sealer::open(None, home)?;
    let (points, passed) = points();
    let engine = Engine::new(store, runtimes, sealer, Arc::new(Silent)).with_points(points);
    let key = engine.stack_key("crash", "test", "").await?;
    let mut options = ApplyOptions::new(Holder::current("crash-driver"));
    if let Some(seconds) = variable("KUSION_LOCK_WAIT") {
        options.lock.wait = LockWait::For(Duration::from_secs(seconds.parse()?));
    }
    let agree = |_: &Previewed| Confirm::Agreed;
    let report = if what == "destroy" {
        engine.destroy(&key, &options, &agree).await?
    } else {
        let variant = Variant::parse(what).context("the variant is known")?;
        let spec = spec(in_cluster, size, variant);
        engine.apply(&key, &spec, &Origins::default(), &options, &agree).await?
    };
    if report.phase != Phase::Succeeded {
        bail!("the operation ended as {:?}: {:?}", report.phase, report.steps);
    }
    let passed = passed.lock().map_err(|_| anyhow::anyhow!("a point panicked"))?;
    std::io::stdout().write_all(passed.join("\n").as_bytes())?;
    Ok(())
}

async fn runtimes(place: &str) -> Result<(Runtimes, bool)> {
    let parallel = variable("KUSION_PARALLEL").map_or(Ok(8), |it| it.parse())?;
    if let Some(folder) = place.strip_prefix("folder:") {
        let latency = variable("KUSION_LATENCY_MS").map_or(Ok(0), |it| it.parse())?;
        let runtime = FileRuntime::open(Path::new(folder), "crash/test")?
            .with_parallel_calls(parallel)
            .with_latency(Duration::from_millis(latency));
        return Ok((Runtimes::default().with("Fake", Arc::new(runtime)), false));
    }
    let path = place.strip_prefix("kubeconfig:").context("the infrastructure is known")?;
    let source = ClusterSource::Text(std::fs::read_to_string(path)?);
    let options = Options { parallel_calls: parallel, ..Options::default() };
    let runtime = KubernetesRuntime::connect(&source, options).await?;
    Ok((Runtimes::default().with("Kubernetes", Arc::new(runtime)), true))
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Makes points that are remembered, and end or pause the process at the one that is named.
fn points() -> (Points, Arc<Mutex<Vec<String>>>) {
    let (deadly, tiring) = (variable("KUSION_DIE_AT"), variable("KUSION_PAUSE_AT"));
    let passed = Arc::new(Mutex::new(Vec::new()));
    let memory = Arc::clone(&passed);
    let points = Points::new(move |point, id| {
        let name = match id {
            Some(id) => format!("{point:?} {id}"),
            None => format!("{point:?}"),
        };
        if deadly.as_deref() == Some(name.as_str()) {
            let _ = kill(Pid::this(), Signal::SIGKILL);
        }
        if tiring.as_deref() == Some(name.as_str()) {
            let _ = kill(Pid::this(), Signal::SIGSTOP);
        }
        if let Ok(mut passed) = memory.lock() {
            passed.push(name);
        }
    });
    (points, passed)
}
