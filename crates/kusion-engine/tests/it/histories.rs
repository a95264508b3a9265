//! Histories of pods, in virtual time: what a watch says in the end, when, and with which exit code.
//!
//! A history is a list of changes of objects. Most are played by the reconcilers of a sandbox whose
//! clock the test moves ([`play`]); what it cannot play is written by hand ([`written`]). The real
//! watcher of the Kubernetes runtime and the real watch of the engine see them in the virtual time
//! of the timers. `docs/health.md` holds the results.

mod cases;
mod live;
mod play;
mod runtime;
mod written;

use crate::world::{key, sealer, store_on};
use futures::future::join_all;
use kusion_engine::{Engine, Runtimes, Silent, Stop, WatchEnd, WatchOptions, Watched};
use kusion_k8s_schema::RESOURCE_TYPE;
use kusion_model::{Identity, ResourceId, ResourceType};
use kusion_runtime::Live;
use kusion_runtime_k8s::ObjectChange;
use kusion_store::Memory;
use play::Act;
use runtime::Scripted;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// The table of the results.
const DOCS: &str = include_str!("../../../../docs/health.md");

/// A change of an object, milliseconds after the start of the watch; before it if negative.
type Change = (i64, ObjectChange);

/// The changes of objects over time.
struct History {
    /// The time at which the watch starts.
    start: jiff::Timestamp,
    changes: Vec<Change>,
    /// The watched object.
    target: Value,
    /// What led to the changes, if a sandbox played them.
    acts: Vec<(i64, Act)>,
}

/// A history and how it is watched.
struct Case {
    name: &'static str,
    history: History,
    /// The command, for users.
    command: &'static str,
    /// Whether an operation started together with the watch.
    is_operation: bool,
    settle: Duration,
    timeout: Option<Duration>,
}

/// What a watch said in the end.
struct Verdict {
    words: String,
    after: Duration,
    exit: u8,
}

#[tokio::test(start_paused = true)]
async fn each_history_has_its_verdict() {
    let cases = cases::all();
    assert!(cases.len() >= 40, "{} histories", cases.len());
    let rows = join_all(cases.into_iter().map(row)).await.concat();
    let head = "| history | command | verdict | after | exit code |\n|---|---|---|---|---|\n";
    let table = format!("{head}{rows}");
    assert!(DOCS.contains(&table), "docs/health.md must contain this table:\n\n{table}");
}

async fn row(case: Case) -> String {
    let (name, command) = (case.name, case.command);
    let Verdict { words, after, exit } = watch(case).await;
    format!("| {name} | {command} | {words} | {:.1} s | {exit} |\n", after.as_secs_f64())
}

async fn watch(case: Case) -> Verdict {
    let Case { history, is_operation, settle, timeout, .. } = case;
    let start = history.start.to_string();
    let identity = Identity::new(String::new(), None);
    let live = Live::new(identity, history.target.clone());
    let runtimes = Runtimes::default()
        .with_source(RESOURCE_TYPE, Arc::new(Scripted::new(&start, history.changes)));
    let store = store_on(Arc::new(Memory::default()));
    let stack = Engine::new(store, runtimes, sealer(), Arc::new(Silent)).stack(key("dev"));
    let resource_type = ResourceType::new(RESOURCE_TYPE);
    let watched = vec![Watched { id: ResourceId::new("it"), resource_type, live }];
    let since = is_operation.then_some(start);
    let options = WatchOptions { timeout, forever: false, settle, since, stop: Stop::default() };
    let begun = tokio::time::Instant::now();
    let end = stack.watch_objects(watched, &options).await.expect("it is watched");
    let (words, exit) = verdict(&end);
    Verdict { words, after: begun.elapsed(), exit }
}

/// Returns a verdict with its reason, and the exit code.
fn verdict(end: &WatchEnd) -> (String, u8) {
    let reason = |findings: &[kusion_engine::Finding]| {
        let message = findings.first().map_or("", |it| it.message.as_str());
        let first = message.split([':', ' ']).next().unwrap_or_default();
        // Without a reason, the message starts with a number of pods.
        if first.starts_with(|it: char| it.is_ascii_uppercase()) {
            format!(": `{first}`")
        } else {
            String::new()
        }
    };
    match end {
        WatchEnd::Ready => ("ready".to_owned(), 0),
        WatchEnd::Failed(findings) => (format!("failed{}", reason(findings)), 1),
        WatchEnd::TimedOut(findings) => (format!("timed out{}", reason(findings)), 1),
        WatchEnd::Stopped => ("stopped".to_owned(), 130),
    }
}
