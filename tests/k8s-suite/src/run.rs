//! Sends the requests of a case and makes the answers comparable.

use crate::case::{Case, Step};
use crate::client::{Client, Response};
use crate::normal;
use crate::recorded::{Answer, Recorded};
use anyhow::{Context as _, bail, ensure};
use futures::stream::{self, StreamExt as _};
use http::Request;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// How often a request is repeated until what it waits for is there.
const TRIES: usize = 100;
/// Time between two tries.
const PAUSE: Duration = Duration::from_millis(150);

/// How many cases run at a time.
pub const AT_ONCE: usize = 4;

/// The result of one case.
struct Outcome {
    /// How many requests had the recorded answer.
    n_passed: usize,
    /// The other ones, each as a text for people.
    failures: Vec<String>,
}

/// Runs cases and compares them with what was recorded in a folder; returns how many requests
/// had the recorded answer, and the others as texts for people.
pub async fn check_all(
    client: &Client,
    cases: &[Case],
    folder: &Path,
) -> anyhow::Result<(usize, Vec<String>)> {
    let mut files: BTreeMap<&str, Recorded> = BTreeMap::new();
    for case in cases {
        let (file, _) = case.file_and_name();
        if !files.contains_key(file) {
            files.insert(file, Recorded::read(folder, file)?);
        }
    }
    let files = &files;
    let mut all = stream::iter(cases)
        .map(|case| async move {
            let (file, name) = case.file_and_name();
            let recorded = files.get(file).and_then(|file| file.answers.get(name));
            check(client, case, recorded.map_or(&[], Vec::as_slice)).await
        })
        .buffered(AT_ONCE);
    let mut n_passed = 0;
    let mut failures = Vec::new();
    while let Some(outcome) = all.next().await {
        n_passed += outcome.n_passed;
        failures.extend(outcome.failures);
    }
    Ok((n_passed, failures))
}

/// Runs a case and compares it with what was recorded.
async fn check(client: &Client, case: &Case, recorded: &[Answer]) -> Outcome {
    let mut outcome = Outcome { n_passed: 0, failures: Vec::new() };
    let found = match answers(client, case).await {
        Ok(found) => found,
        Err(error) => {
            outcome.failures = vec![format!("{}: {error:#}", case.name); case.steps.len()];
            return outcome;
        }
    };
    for (at, step) in case.steps.iter().enumerate() {
        match (found.get(at), recorded.get(at)) {
            (Some(Ok(found)), Some(wanted)) if found == wanted => outcome.n_passed += 1,
            (Some(Ok(found)), Some(wanted)) => outcome.failures.push(format!(
                "{} step {at} {}\n  {}",
                case.name,
                step.note,
                difference(wanted, found)
            )),
            (Some(Err(error)), _) => {
                outcome.failures.push(format!("{} step {at}: {error}", case.name));
            }
            _ => outcome.failures.push(format!("{} step {at}: nothing recorded", case.name)),
        }
    }
    outcome
}

/// Runs a case in a namespace of its own and returns the answers, made comparable.
pub async fn answers(client: &Client, case: &Case) -> anyhow::Result<Vec<Result<Answer, String>>> {
    let id: String = (0..7).map(|_| fastrand::lowercase()).collect();
    let mut run = Run { client, uids: Vec::new(), variables: BTreeMap::new(), id: id.clone() };
    run.variables.insert("ns".into(), format!("t-{id}"));
    run.variables.insert("id".into(), id);
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "$ns"}});
    let make = Step {
        request: "POST /api/v1/namespaces".into(),
        body: Some(namespace),
        ..Step::default()
    };
    run.prepare(&make).await?;
    let waits = Step {
        request: "GET /api/v1/namespaces/$ns/serviceaccounts/default".into(),
        until: BTreeMap::from([("code".into(), json!(200))]),
        ..Step::default()
    };
    run.prepare(&waits).await?;
    for step in &case.before {
        run.prepare(step).await?;
    }
    let mut found = Vec::new();
    for step in &case.steps {
        found.push(run.ask(step).await.map_err(|error| format!("{}: {error:#}", step.request)));
    }
    let remove = Step { request: "DELETE /api/v1/namespaces/$ns".into(), ..Step::default() };
    for step in case.after.iter().chain([&remove]) {
        run.send(step).await?;
    }
    Ok(found)
}

struct Run<'a> {
    client: &'a Client,
    /// Mark of this run, part of all names that must be unique.
    id: String,
    variables: BTreeMap<String, String>,
    uids: Vec<String>,
}

impl Run<'_> {
    async fn prepare(&mut self, step: &Step) -> anyhow::Result<()> {
        let response = self.send(step).await?;
        let text = String::from_utf8_lossy(&response.body);
        ensure!(response.status < 300, "{}: {} {text}", step.request, response.status);
        Ok(())
    }

    /// Sends a request, again until what it waits for is there; keeps what is to be saved.
    async fn send(&mut self, step: &Step) -> anyhow::Result<Response> {
        for _ in 0..TRIES {
            let request = self.request(step)?;
            let response = match step.events {
                0 => self.client.send(request).await?,
                n_events => self.client.watch(request, n_events).await?,
            };
            let body: Value = serde_json::from_slice(&response.body).unwrap_or(Value::Null);
            let there = step.until.iter().all(|(pointer, wanted)| match pointer.as_str() {
                "code" => *wanted == json!(response.status),
                _ => match (body.pointer(pointer), wanted) {
                    (Some(Value::String(found)), Value::String(wanted)) => {
                        *found == self.fill(wanted)
                    }
                    (found, wanted) => found.unwrap_or(&Value::Null) == wanted,
                },
            });
            if there {
                self.keep(step, &body);
                return Ok(response);
            }
            tokio::time::sleep(PAUSE).await;
        }
        bail!("{}: {:?} never came", step.request, step.until)
    }

    fn keep(&mut self, step: &Step, body: &Value) {
        normal::collect_uids(body, &mut self.uids);
        for (name, pointer) in &step.save {
            let text = match body.pointer(pointer) {
                Some(Value::String(text)) => text.clone(),
                Some(value) => value.to_string(),
                None => String::new(),
            };
            self.variables.insert(name.clone(), text);
        }
    }

    async fn ask(&mut self, step: &Step) -> anyhow::Result<Answer> {
        let response = self.send(step).await?;
        let text = String::from_utf8_lossy(&response.body).into_owned();
        let mut body = match step.events {
            0 => serde_json::from_str(&text).unwrap_or(Value::String(text)),
            n_events => {
                let lines: Vec<Value> = text
                    .lines()
                    .take(n_events)
                    .map(serde_json::from_str)
                    .collect::<Result<_, _>>()
                    .context("an event is not JSON")?;
                for line in &lines {
                    normal::collect_uids(line, &mut self.uids);
                }
                Value::Array(lines)
            }
        };
        normal::normalise(&mut body, &self.id, &self.uids);
        normal::without(&mut body, &step.ignore);
        if !step.only.is_empty() {
            body = normal::only(&body, &step.only);
        }
        let marked = |text: &String| text.replace(&self.id, "$id");
        Ok(Answer {
            request: step.request.clone(),
            status: response.status,
            content_type: response.content_type,
            warnings: response.warnings.iter().map(marked).collect(),
            body,
        })
    }

    fn request(&self, step: &Step) -> anyhow::Result<Request<Vec<u8>>> {
        let text = self.fill(&step.request);
        let (method, path) = text.split_once(' ').context("a request is `METHOD /path`")?;
        let method = if method == "WATCH" { "GET" } else { method };
        let body = match (&step.raw, &step.body) {
            (Some(raw), _) => self.fill(raw).into_bytes(),
            (None, Some(body)) => self.fill(&body.to_string()).into_bytes(),
            (None, None) => Vec::new(),
        };
        let accept = if step.accept.is_empty() { "application/json" } else { &step.accept };
        let mut request = Request::builder().method(method).uri(path).header("accept", accept);
        if !body.is_empty() {
            request = request.header("content-type", content_type(&step.content_type));
        }
        Ok(request.body(body)?)
    }

    /// Puts the values of variables in place of `$name`.
    fn fill(&self, text: &str) -> String {
        let mut filled = text.to_owned();
        for (name, value) in self.variables.iter().rev() {
            filled = filled.replace(&format!("${name}"), value);
        }
        filled
    }
}

fn content_type(short: &str) -> &str {
    match short {
        "" | "json" => "application/json",
        "yaml" => "application/yaml",
        "apply" => "application/apply-patch+yaml",
        "merge" => "application/merge-patch+json",
        "strategic" => "application/strategic-merge-patch+json",
        "patch" => "application/json-patch+json",
        full => full,
    }
}

/// The first difference between two answers, for people.
fn difference(wanted: &Answer, found: &Answer) -> String {
    if wanted.status != found.status {
        return format!(
            "{}: status {} instead of {}: {}",
            wanted.request, found.status, wanted.status, found.body
        );
    }
    if wanted.content_type != found.content_type {
        return format!(
            "{}: type {} instead of {}",
            wanted.request, found.content_type, wanted.content_type
        );
    }
    if wanted.warnings != found.warnings {
        return format!(
            "{}: warnings {:?} instead of {:?}",
            wanted.request, found.warnings, wanted.warnings
        );
    }
    let mut path = String::new();
    let (wanted_part, found_part) = first_difference(&wanted.body, &found.body, &mut path);
    format!("{}: at {path}\n    wanted {wanted_part}\n    found  {found_part}", wanted.request)
}

fn first_difference(wanted: &Value, found: &Value, path: &mut String) -> (String, String) {
    match (wanted, found) {
        (Value::Object(left), Value::Object(right)) => {
            let keys = left.keys().chain(right.keys().filter(|key| !left.contains_key(*key)));
            for key in keys {
                match (left.get(key), right.get(key)) {
                    (Some(a), Some(b)) if a == b => {}
                    (Some(a), Some(b)) => {
                        path.extend(["/", key]);
                        return first_difference(a, b, path);
                    }
                    (a, b) => {
                        path.extend(["/", key]);
                        let shown =
                            |it: Option<&Value>| it.map_or("(absent)".into(), Value::to_string);
                        return (shown(a), shown(b));
                    }
                }
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (at, (a, b)) in left.iter().zip(right).enumerate() {
                if a != b {
                    path.extend(["/", &at.to_string()]);
                    return first_difference(a, b, path);
                }
            }
        }
        _ => {}
    }
    (wanted.to_string(), found.to_string())
}
