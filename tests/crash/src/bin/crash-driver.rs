//! Runs one operation; ends itself with SIGKILL at a point that `KUSION_DIE_AT` names, or pauses
//! itself with SIGSTOP at one that `KUSION_PAUSE_AT` names.
//!
//! `crash-driver HOME folder:PATH|kubeconfig:PATH|host:PATH SIZE first|changed|replaced|destroy`. Prints the
//! points that were passed, a line each. The state lies in a file below HOME, or where
//! `KUSION_BACKEND` says; with `KUSION_LOCK_WAIT` the driver waits that many seconds for a stack
//! that is held; `KUSION_PARALLEL` is the number of steps at a time.
//! `KUSION_LATENCY_MS` is the time that a call to a folder takes, half of it after the effect.

use anyhow::{Context as _, Result, bail};
use kusion_crash::{Variant, spec};
use kusion_engine::{Engine, Failpoints, Goal, RunOptions, Runtimes, Silent};
use kusion_model::{Origins, Phase, Place, PlanOptions, StackKey};
use kusion_runtime_fake::FileRuntime;
use kusion_runtime_host::{Host, HostRuntime, HostSettings, Limits, Ssh};
use kusion_runtime_k8s::{ClusterSource, KubernetesSource, Options};
use kusion_secret::Sealer;
use kusion_store::{Holder, LockWait, Store, StoreKey};
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
        bail!(
            "usage: crash-driver HOME folder:PATH|kubeconfig:PATH|host:PATH SIZE VARIANT|destroy"
        );
    };
    let size: usize = size.parse().context("the size is a number")?;
    let home = Path::new(home);
    let (runtimes, infrastructure) = (runtimes(place)?, place.as_str());
    let sealer = Arc::new(Sealer::new([7; 32], "a test"));
    let store_key = StoreKey::new(sealer.fingerprint(), sealer.store_key());
    let address = variable("KUSION_BACKEND").unwrap_or_default();
    let store = Store::open(&address, home, store_key).await?;
    let (failpoints, passed) = failpoints();
    let engine = Engine::new(store, runtimes, sealer, Arc::new(Silent)).with_failpoints(failpoints);
    let place = variable("KUSION_PLACE").context("the place is named")?.parse::<Place>()?;
    let stack = engine.stack(StackKey::new("crash", "test", place));
    let mut options = RunOptions::new(Holder::current("crash-driver"));
    if let Some(seconds) = variable("KUSION_LOCK_WAIT") {
        options.lock.wait = LockWait::For(Duration::from_secs(seconds.parse()?));
    }
    let origins = Origins::default();
    let spec = match what.as_str() {
        "destroy" => None,
        name => {
            let variant = Variant::parse(name).context("the variant is known")?;
            Some(spec(infrastructure, size, variant))
        }
    };
    let goal = match &spec {
        Some(spec) => Goal::Apply { spec, origins: &origins },
        None => Goal::Destroy,
    };
    let mut locked = stack.lock(&options).await?;
    let previewed = locked.plan(goal, &PlanOptions::default()).await?;
    let report = locked.run(previewed).await?;
    if report.phase != Phase::Succeeded {
        bail!("the operation ended as {:?}: {:?}", report.phase, report.steps);
    }
    let passed = passed.lock().map_err(|_| anyhow::anyhow!("a point panicked"))?;
    std::io::stdout().write_all(passed.join("\n").as_bytes())?;
    Ok(())
}

fn runtimes(place: &str) -> Result<Runtimes> {
    let parallel = variable("KUSION_PARALLEL").map_or(Ok(8), |it| it.parse())?;
    if let Some(folder) = place.strip_prefix("folder:") {
        let latency = variable("KUSION_LATENCY_MS").map_or(Ok(0), |it| it.parse())?;
        let runtime = FileRuntime::open(Path::new(folder), "crash/test")?
            .with_parallel_calls(parallel)
            .with_latency(Duration::from_millis(latency));
        return Ok(Runtimes::default().with("Fake", Arc::new(runtime)));
    }
    if place.starts_with("host:") {
        let here = Host { is_local: true, ..Host::new("here") };
        let environment = std::env::vars_os().collect();
        let ssh = Ssh { environment, folder: std::env::temp_dir(), ..Ssh::default() };
        let limits = Limits { scripts: parallel, ..Limits::default() };
        let hosts = [here].into_iter().collect();
        let runtime = HostRuntime::new(HostSettings { hosts, ssh, limits })?;
        return Ok(Runtimes::default().with("Host", Arc::new(runtime)));
    }
    let path = place.strip_prefix("kubeconfig:").context("the infrastructure is known")?;
    let source = ClusterSource::Text(std::fs::read_to_string(path)?);
    let options = Options { parallel_calls: parallel, ..Options::default() };
    let kubernetes = KubernetesSource::new(source, options);
    Ok(Runtimes::default().with_source("Kubernetes", Arc::new(kubernetes)))
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Makes points that are remembered, and end or pause the process at the one that is named.
fn failpoints() -> (Failpoints, Arc<Mutex<Vec<String>>>) {
    let (deadly, tiring) = (variable("KUSION_DIE_AT"), variable("KUSION_PAUSE_AT"));
    let passed = Arc::new(Mutex::new(Vec::new()));
    let memory = Arc::clone(&passed);
    let points = Failpoints::new(move |point, id| {
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
