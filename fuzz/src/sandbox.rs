//! The sandbox as a target: sessions of HTTP requests to a cluster in this process.
//!
//! A session is a text, so that it can be written to a file, cut down and replayed: for each
//! request a line `METHOD TARGET CONTENT-TYPE ACCEPT`, its body, and a line `%%`.

mod damage;
mod objects;
mod session;

pub(crate) use session::{http, patch};

use crate::target::Reached;
use kusion_sandbox::{Api, ControllerOptions, Reconcilers};
use serde_json::Value;

/// Steps of reconcilers after a request.
const STEPS: usize = 40;

/// The largest response that is useful.
const MAX_RESPONSE_BYTES: usize = 32 << 20;

/// One request of a session.
pub(crate) struct Request<'a> {
    pub(crate) method: &'a str,
    target: &'a str,
    content: &'a str,
    accept: &'a str,
    body: &'a str,
}

/// Runs a session on a new cluster; with reconcilers, if it is to be looked at closely.
pub(crate) fn feed(text: &str, closely: bool) -> Result<Reached, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let _guard = runtime.enter();
    let api = Api::new();
    let mut reconcilers = if closely {
        let made = Reconcilers::new(api.clone(), &ControllerOptions::default());
        Some(made.map_err(|status| format!("no cluster: {status}"))?)
    } else {
        None
    };
    let mut reached = Reached::Rejected;
    for (number, request) in requests(text).enumerate() {
        let (code, _) = send(&api, &request)?;
        if let Some(reconcilers) = &mut reconcilers {
            reconcilers.work(STEPS);
        }
        if code >= 300 {
            continue;
        }
        if reconcilers.is_none() {
            same_again(&api, &request)?;
        }
        // Every session starts with a namespace.
        if number > 0 {
            let is_read = request.method == "GET";
            reached = reached.max(if is_read { Reached::Accepted } else { Reached::Evaluated });
        }
    }
    Ok(reached)
}

/// Splits a session into its requests.
pub(crate) fn requests(text: &str) -> impl Iterator<Item = Request<'_>> {
    text.split("\n%%\n").map(|part| {
        let (head, body) = part.split_once('\n').unwrap_or((part, ""));
        let mut words = head.split(' ');
        let mut word = || words.next().unwrap_or_default();
        Request { method: word(), target: word(), content: word(), accept: word(), body }
    })
}

/// Sends a request; its response must be one.
fn send(api: &Api, request: &Request<'_>) -> Result<(u16, Vec<u8>), String> {
    let mut headers = vec![("content-type", request.content)];
    if !request.accept.is_empty() {
        headers.push(("accept", request.accept));
    }
    let body = request.body.as_bytes().to_vec();
    let (code, body) = api.respond(request.method, request.target, &headers, body);
    if !(200..600).contains(&code) {
        return Err(format!("{} gives the code {code}", request.method));
    }
    if body.len() > MAX_RESPONSE_BYTES {
        return Err(format!("a response of {} bytes", body.len()));
    }
    let is_object = request.target.starts_with("/api") && !request.target.contains("/log");
    let wants_json = request.accept.is_empty() || request.accept == "application/json";
    if is_object && wants_json && body.first() == Some(&b'{') {
        serde_json::from_slice::<Value>(&body)
            .map_err(|error| format!("a response is not valid JSON: {error}"))?;
    }
    Ok((code, body))
}

/// A merge patch, or a configuration that is applied, does nothing the third time. (The second
/// time, a server may write defaults that it left out when it created the object.)
fn same_again(api: &Api, request: &Request<'_>) -> Result<(), String> {
    let is_repeatable =
        matches!(request.content, "application/merge-patch+json" | "application/apply-patch+yaml");
    // What names a state of the object, or asks for a new one, cannot be repeated.
    let is_bound =
        ["resourceVersion", "generateName", "managedFields", "Timestamp", "finalizers", ":null"]
            .iter()
            .any(|word| request.body.contains(word));
    // The server chooses the selector of a Job by its uid.
    let is_plain = !request.target.contains("dryRun")
        && !request.target.contains("/jobs/")
        && request.accept.is_empty();
    if request.method != "PATCH" || !is_repeatable || is_bound || !is_plain {
        return Ok(());
    }
    let (_, second) = send(api, request)?;
    let (code, third) = send(api, request)?;
    if code >= 300 {
        let text = String::from_utf8_lossy(&third).into_owned();
        return Err(format!("the same patch fails the third time: {text}"));
    }
    if second != third {
        return Err("the same patch changes the object the third time".to_owned());
    }
    Ok(())
}
