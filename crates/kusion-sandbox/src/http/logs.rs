//! Logs of simulated pods.

use super::body::Body;
use super::present;
use super::query::Query;
use crate::Status;
use crate::api::Api;
use crate::pods::logs;
use hyper::Response;
use serde_json::Value;

/// Answers a request for the log of a pod.
pub(crate) fn answer(_api: &Api, pod: &Value, query: &Query) -> Result<Response<Body>, Status> {
    let previous = query.get("previous") == "true";
    let mut lines = logs::lines(pod, query.get("container"), previous)?;
    if let Ok(count) = query.get("tailLines").parse::<usize>() {
        lines.drain(..lines.len().saturating_sub(count));
    }
    let timestamps = query.get("timestamps") == "true";
    let mut text = String::new();
    for line in lines {
        if timestamps {
            text.push_str(&line.time);
            text.push(' ');
        }
        text.push_str(&line.text);
        text.push('\n');
    }
    if let Ok(limit) = query.get("limitBytes").parse::<usize>() {
        let mut end = limit.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
    }
    Ok(present::text(200, text))
}
