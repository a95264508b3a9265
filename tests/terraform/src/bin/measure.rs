//! Measures the engine on Terraform resources beside `terraform` in one workspace: create, plan
//! without changes, destroy. Prints wall time and CPU time (with that of providers) in seconds.
//!
//! Usage: `cargo run --release -p terraform-suite --bin measure -- 1 10 100`

use kusion_engine::{Engine, EngineError, EventSink, Goal, RunOptions, Runtimes, StampedEvent};
use kusion_model::{Origins, Phase, Place, PlanOptions, Resource, Spec, StackKey};
use kusion_secret::Sealer;
use kusion_store::{Holder, Store, StoreKey};
use serde_json::{Map, Value, json};
use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Instant;
use terraform_suite::{Folder, Programs, TERRAFORM, oracle, resource};

fn main() -> ExitCode {
    if let Some(code) = kusion_runtime_terraform::run_as_guard() {
        return code;
    }
    let counts: Vec<usize> = std::env::args().skip(1).filter_map(|it| it.parse().ok()).collect();
    match run(&counts) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(counts: &[usize]) -> Result<(), Box<dyn Error>> {
    let programs = Programs::find().map_err(|it| it.to_string())?;
    let terraform = oracle::find().map_err(|it| it.to_string())?;
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "| resources | | create | plan | destroy | (wall / CPU, s) |\n|---|---|---|---|---|---|"
    )?;
    for count in counts {
        let ours = ours(&programs, *count)?;
        writeln!(out, "| {count} | kusion | {} | {} | {} | |", ours[0], ours[1], ours[2])?;
        let theirs = theirs(&terraform, &programs, *count)?;
        writeln!(out, "| {count} | terraform | {} | {} | {} | |", theirs[0], theirs[1], theirs[2])?;
    }
    Ok(())
}

/// Ignores events.
struct Nobody;

impl EventSink for Nobody {
    fn emit(&self, _: &StampedEvent) {}
}

/// Runs the engine with a journal in a file; each operation starts the provider anew.
fn ours(programs: &Programs, count: usize) -> Result<[String; 3], Box<dyn Error>> {
    let folder = Folder::new(&format!("measure-{count}"))?;
    let objects = folder.path().join("objects");
    std::fs::create_dir_all(&objects)?;
    let resources: Vec<Resource> = (0..count)
        .map(|n| {
            let attributes = json!({"name": format!("n{n}"), "text": "some text"});
            resource("probe_plain", &format!("n{n}"), &objects, attributes)
        })
        .collect();
    let spec = Spec { resources, ..Spec::default() };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let measure =
        |kind: Kind| measured(|| runtime.block_on(operate(programs, folder.path(), &spec, kind)));
    Ok([measure(Kind::Apply)?, measure(Kind::Preview)?, measure(Kind::Destroy)?])
}

#[derive(Clone, Copy)]
enum Kind {
    Apply,
    Preview,
    Destroy,
}

async fn operate(
    programs: &Programs,
    folder: &Path,
    spec: &Spec,
    kind: Kind,
) -> Result<(), Box<dyn Error>> {
    let terraform = programs.runtime();
    let sealer = Arc::new(Sealer::new([7; 32], "a measurement"));
    let key = StoreKey::new(sealer.fingerprint(), sealer.store_key());
    let url = format!("sqlite:{}", folder.join("state.db").display());
    let store = Store::open(&url, folder, key).await?;
    let runtimes = Runtimes::default().with(TERRAFORM, Arc::clone(&terraform) as _);
    let stack = Engine::new(store, runtimes, sealer, Arc::new(Nobody)).stack(StackKey::new(
        "measure",
        "dev",
        Place::Main,
    ));
    let origins = Origins::default();
    let goal = match kind {
        Kind::Destroy => Goal::Destroy,
        _ => Goal::Apply { spec, origins: &origins },
    };
    if matches!(kind, Kind::Preview) {
        let previewed = stack.preview(goal, &PlanOptions::default()).await?;
        terraform.close().await;
        return if previewed.plan.is_empty() {
            Ok(())
        } else {
            Err("the plan is not empty".into())
        };
    }
    let mut locked = stack.lock(&RunOptions::new(Holder::current("measure"))).await?;
    let previewed = locked.plan(goal, &PlanOptions::default()).await?;
    let report: Result<_, EngineError> = locked.run(previewed).await;
    terraform.close().await;
    if report?.phase == Phase::Succeeded { Ok(()) } else { Err("a step failed".into()) }
}

fn theirs(
    terraform: &Path,
    programs: &Programs,
    count: usize,
) -> Result<[String; 3], Box<dyn Error>> {
    let folder = Folder::new(&format!("measure-theirs-{count}"))?;
    let objects = folder.path().join("objects");
    std::fs::create_dir_all(&objects)?;
    oracle::write_overrides(folder.path(), programs)?;
    let named = (0..count)
        .map(|n| (format!("n{n}"), json!({"name": format!("n{n}"), "text": "some text"})));
    let config = json!({
        "terraform": {"required_providers": {"probe": {"source": "kusion/probe"}}},
        "provider": {"probe": {"folder": objects}},
        "resource": {"probe_plain": Value::Object(named.collect::<Map<_, _>>())},
    });
    std::fs::write(folder.path().join("main.tf.json"), config.to_string())?;
    let run = |arguments: &[&str]| {
        measured(|| {
            let output = Command::new(terraform)
                .args(arguments)
                .current_dir(folder.path())
                .env("TF_CLI_CONFIG_FILE", folder.path().join("terraform.rc"))
                .env("CHECKPOINT_DISABLE", "1")
                .output()?;
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            if output.status.success() { Ok(()) } else { Err(text.into()) }
        })
    };
    Ok([
        run(&["apply", "-auto-approve", "-input=false", "-no-color"])?,
        run(&["plan", "-input=false", "-no-color"])?,
        run(&["destroy", "-auto-approve", "-input=false", "-no-color"])?,
    ])
}

fn measured(work: impl FnOnce() -> Result<(), Box<dyn Error>>) -> Result<String, Box<dyn Error>> {
    let (start, before) = (Instant::now(), cpu_seconds()?);
    work()?;
    Ok(format!("{:.2} / {:.2}", start.elapsed().as_secs_f64(), cpu_seconds()? - before))
}

/// Returns the CPU time of this process and of its children that have ended.
fn cpu_seconds() -> Result<f64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/self/stat")?;
    let fields = text.rsplit(") ").next().unwrap_or_default().split(' ');
    // User and system time, of the process and of its children, in hundredths of a second.
    let ticks: Vec<f64> = fields.skip(11).take(4).filter_map(|it| it.parse().ok()).collect();
    Ok(ticks.iter().sum::<f64>() / 100.0)
}
