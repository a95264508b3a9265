//! The same requests that another client sends, without anything around them: what a server can
//! do at best.

use crate::client::Client;
use anyhow::{Context as _, ensure};
use futures::stream::{self, StreamExt as _};
use http::Request;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::path::Path;
use std::time::Instant;

/// One request.
#[derive(Deserialize)]
struct Order {
    method: String,
    path: String,
    #[serde(default)]
    content_type: String,
    #[serde(default)]
    body: Option<Box<RawValue>>,
}

/// Sends requests from a file, a JSON list of lists: one list after the other, the requests of a
/// list in parallel. Returns the seconds of each list.
pub async fn send_phases(client: &Client, file: &Path, at_once: usize) -> anyhow::Result<Vec<f64>> {
    let text =
        std::fs::read_to_string(file).with_context(|| format!("reading {}", file.display()))?;
    let phases: Vec<Vec<Order>> = serde_json::from_str(&text)?;
    let mut seconds = Vec::with_capacity(phases.len());
    for orders in phases {
        let start = Instant::now();
        let mut answers =
            stream::iter(orders).map(|order| send(client, order)).buffer_unordered(at_once);
        while let Some(answer) = answers.next().await {
            answer?;
        }
        seconds.push(start.elapsed().as_secs_f64());
    }
    Ok(seconds)
}

async fn send(client: &Client, order: Order) -> anyhow::Result<()> {
    let mut request = Request::builder()
        .method(order.method.as_str())
        .uri(&order.path)
        .header("accept", "application/json");
    if !order.content_type.is_empty() {
        request = request.header("content-type", order.content_type);
    }
    let body = order.body.map(|it| it.get().as_bytes().to_vec()).unwrap_or_default();
    let response = client.send(request.body(body)?).await?;
    let text = String::from_utf8_lossy(&response.body);
    ensure!(response.status < 300, "{} {}: {} {text}", order.method, order.path, response.status);
    Ok(())
}
