//! Logs of simulated pods.

use super::body::Body;
use super::present;
use super::query::Query;
use crate::pods::logs;
use crate::{Status, clock};
use hyper::Response;
use serde_json::Value;

/// Answers a request for the log of a pod.
pub(crate) fn answer(pod: &Value, query: &Query) -> Result<Response<Body>, Status> {
    let mut lines = logs::lines(pod, query.get("container"), query.flag("previous"))?;
    let oldest = match (query.get("sinceTime"), query.get("sinceSeconds").parse::<i64>()) {
        ("", Ok(seconds)) => clock::parse(&clock::after(seconds.saturating_neg())),
        ("", Err(_)) => None,
        (time, _) => clock::parse(time),
    };
    if let Some(oldest) = oldest {
        lines.retain(|line| clock::parse(&line.time).is_none_or(|time| time >= oldest));
    }
    if let Ok(tail) = query.get("tailLines").parse::<usize>() {
        lines.drain(..lines.len().saturating_sub(tail));
    }
    let mut text = String::new();
    for line in &lines {
        if query.flag("timestamps") {
            text.push_str(&line.time);
            text.push(' ');
        }
        text.push_str(&line.text);
        text.push('\n');
    }
    if let Ok(limit) = query.get("limitBytes").parse::<usize>() {
        while text.len() > limit {
            text.pop();
        }
    }
    Ok(present::response(200, "text/plain", Body::from(text)))
}
