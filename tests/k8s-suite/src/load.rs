//! A load of many objects and watchers, and what it costs the processes of the server.

use crate::client::{Client, lines};
use anyhow::{Context as _, ensure};
use futures::stream::{self, StreamExt as _};
use http::Request;
use serde_json::{Value, json};
use std::time::Instant;

/// Objects that are created.
const OBJECTS: usize = 10_000;
/// Watchers that are told of changes.
const WATCHERS: usize = 50;
/// Changes that each watcher is told of.
const CHANGES: usize = 1_000;
/// Whole lists that are read.
const LISTS: usize = 20;
/// Requests that run at a time.
const AT_ONCE: usize = 8;

/// What one part of the load cost.
pub struct Cost {
    /// What was done.
    pub name: &'static str,
    /// How many requests or events it was.
    pub count: usize,
    /// Seconds on the wall.
    pub wall: f64,
    /// Seconds of processor time of the server's processes.
    pub cpu: f64,
    /// Their memory afterwards, in MB.
    pub memory: f64,
}

/// Puts the load on a server; `processes` are those whose cost counts.
pub async fn load(client: &Client, processes: &[u32]) -> anyhow::Result<Vec<Cost>> {
    let id: String = (0..7).map(|_| fastrand::lowercase()).collect();
    let objects = format!("/api/v1/namespaces/load-{id}/configmaps");
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": format!("load-{id}")}});
    send(client, "POST", "/api/v1/namespaces", "application/json", &namespace).await?;
    let mut meter = Meter::new(processes)?;
    let mut costs = Vec::new();

    many(OBJECTS, |at| {
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": format!("c{at}"), "labels": {"part": (at % 10).to_string()}},
            "data": {"key": format!("value {at}"), "more": "x".repeat(200)},
        });
        let path = objects.clone();
        async move { send(client, "POST", &path, "application/json", &object).await }
    })
    .await?;
    costs.push(meter.cost("create", OBJECTS)?);

    let mut version = String::new();
    for _ in 0..LISTS {
        let list = send(client, "GET", &objects, "", &Value::Null).await?;
        ensure!(
            list["items"].as_array().is_some_and(|items| items.len() >= OBJECTS),
            "objects are missing"
        );
        list["metadata"]["resourceVersion"].as_str().unwrap_or_default().clone_into(&mut version);
    }
    costs.push(meter.cost("list all", LISTS)?);

    let watch = format!("{objects}?watch=true&resourceVersion={version}");
    let watchers: Vec<_> = (0..WATCHERS)
        .map(|_| {
            let (client, path) = (client.clone(), watch.clone());
            tokio::spawn(async move {
                let request = Request::builder().uri(path).header("accept", "application/json");
                let response = client.watch(request.body(Vec::new())?, CHANGES).await?;
                anyhow::Ok(lines(&response.body))
            })
        })
        .collect();
    many(CHANGES, |at| {
        let path = format!("{objects}/c{at}");
        let patch = json!({"data": {"key": "changed"}});
        async move { send(client, "PATCH", &path, "application/merge-patch+json", &patch).await }
    })
    .await?;
    for watcher in watchers {
        let seen = watcher.await??;
        ensure!(seen >= CHANGES, "a watcher saw only {seen} changes");
    }
    costs.push(meter.cost("change, told to 50 watchers", CHANGES)?);
    let path = format!("/api/v1/namespaces/load-{id}");
    send(client, "DELETE", &path, "", &Value::Null).await?;
    Ok(costs)
}

async fn many<F, A>(count: usize, ask: F) -> anyhow::Result<()>
where
    F: Fn(usize) -> A,
    A: Future<Output = anyhow::Result<Value>>,
{
    let mut all = stream::iter(0..count).map(ask).buffer_unordered(AT_ONCE);
    while let Some(answer) = all.next().await {
        answer?;
    }
    Ok(())
}

async fn send(
    client: &Client,
    method: &str,
    path: &str,
    content_type: &str,
    body: &Value,
) -> anyhow::Result<Value> {
    let mut request =
        Request::builder().method(method).uri(path).header("accept", "application/json");
    let mut bytes = Vec::new();
    if !body.is_null() {
        bytes = serde_json::to_vec(body)?;
        request = request.header("content-type", content_type);
    }
    let response = client.send(request.body(bytes)?).await?;
    let text = String::from_utf8_lossy(&response.body);
    ensure!(response.status < 300, "{method} {path}: {} {text}", response.status);
    Ok(serde_json::from_str(&text)?)
}

/// Reads what processes have cost so far.
struct Meter<'a> {
    processes: &'a [u32],
    start: Instant,
    cpu: f64,
}

impl<'a> Meter<'a> {
    fn new(processes: &'a [u32]) -> anyhow::Result<Self> {
        Ok(Self { processes, start: Instant::now(), cpu: cpu(processes)? })
    }

    /// Returns the cost since the last call.
    fn cost(&mut self, name: &'static str, count: usize) -> anyhow::Result<Cost> {
        let now = cpu(self.processes)?;
        let cost = Cost {
            name,
            count,
            wall: self.start.elapsed().as_secs_f64(),
            cpu: now - self.cpu,
            memory: memory(self.processes)?,
        };
        self.start = Instant::now();
        self.cpu = now;
        Ok(cost)
    }
}

/// Processor time of processes in seconds; the kernel counts in hundredths.
fn cpu(processes: &[u32]) -> anyhow::Result<f64> {
    let mut ticks = 0.0;
    for process in processes {
        let text = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
        let after_name = text.rsplit(')').next().context("a stat line has a name")?;
        let fields: Vec<&str> = after_name.split_whitespace().collect();
        for at in [11, 12] {
            ticks += fields.get(at).context("a stat line is long")?.parse::<f64>()?;
        }
    }
    Ok(ticks / 100.0)
}

/// Memory of processes in MB.
fn memory(processes: &[u32]) -> anyhow::Result<f64> {
    let mut kilobytes = 0.0;
    for process in processes {
        let text = std::fs::read_to_string(format!("/proc/{process}/status"))?;
        let line = text.lines().find(|line| line.starts_with("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().nth(1));
        kilobytes += number.context("a process has memory")?.parse::<f64>()?;
    }
    Ok(kilobytes / 1024.0)
}
