//! Random sequences, made while a server answers them.

mod bodies;
mod change;

use std::fmt;

use anyhow::Result;
use fastrand::Rng;
use serde_json::{Value, json};

use super::kinds::Kind;
use super::{Sequence, Server, Target as _};

/// How an object is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// `POST`.
    Create,
    /// `PUT`.
    Update,
    /// Server-side apply.
    Apply,
    /// JSON merge patch.
    Merge,
    /// JSON patch.
    Json,
    /// Strategic merge patch.
    Strategic,
}

impl Method {
    const ALL: [Self; 6] =
        [Self::Create, Self::Update, Self::Apply, Self::Merge, Self::Json, Self::Strategic];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Apply => "apply",
            Self::Merge => "merge",
            Self::Json => "json",
            Self::Strategic => "strategic",
        }
    }

    /// Returns the method of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }

    /// Returns the HTTP method.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Create => "POST",
            Self::Update => "PUT",
            _ => "PATCH",
        }
    }

    /// Returns the content type.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Create | Self::Update => "application/json",
            Self::Apply => "application/apply-patch+yaml",
            Self::Merge => "application/merge-patch+json",
            Self::Json => "application/json-patch+json",
            Self::Strategic => "application/strategic-merge-patch+json",
        }
    }
}

/// One request.
#[derive(Debug, Clone)]
pub struct Step {
    /// How it writes.
    pub method: Method,
    /// What it writes to; empty for the object itself.
    pub subresource: String,
    /// As whom.
    pub manager: String,
    /// Whether an apply takes fields from others.
    pub force: bool,
    /// What it sends, without the name of the object.
    pub body: Value,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slash = if self.subresource.is_empty() { "" } else { "/" };
        let force = if self.force { ", forced" } else { "" };
        write!(f, "{}{slash}{} by {}{force}", self.method.name(), self.subresource, self.manager)
    }
}

/// The managers of a sequence.
const MANAGERS: [&str; 3] = ["one", "two", "kubectl"];

/// Makes the sequence of a number on a server, and removes its object.
pub(super) fn sequence(server: &mut Server, number: u64) -> Result<Sequence> {
    let mut rng = Rng::with_seed(number);
    let kind = match rng.u32(0..100) {
        0..15 => Kind::ConfigMap,
        15..55 => Kind::Thing,
        55..80 => Kind::Deployment,
        _ => Kind::Service,
    };
    let name = format!("replay-{number}");
    server.delete(kind, &name)?;
    let mut steps = Vec::new();
    for idx in 0..rng.usize(5..12) {
        let live = server.current(kind, &name)?;
        let step = step(&mut rng, kind, idx, &live);
        let answer = server.send(kind, &name, &step)?;
        steps.push((step, answer));
    }
    server.delete(kind, &name)?;
    Ok(Sequence { number, kind, steps })
}

fn step(rng: &mut Rng, kind: Kind, idx: usize, live: &Value) -> Step {
    let manager = MANAGERS[rng.usize(..MANAGERS.len())];
    if live.is_null() {
        let method = if rng.bool() { Method::Create } else { Method::Apply };
        let body = bodies::whole(rng, kind, idx == 0);
        return Step {
            method,
            subresource: String::new(),
            manager: manager.to_owned(),
            force: false,
            body,
        };
    }
    let mut step = Step {
        method: Method::Apply,
        subresource: String::new(),
        manager: manager.to_owned(),
        force: false,
        body: Value::Null,
    };
    if kind == Kind::Thing && rng.u32(0..100) < 15 {
        "status".clone_into(&mut step.subresource);
    }
    let status = !step.subresource.is_empty();
    match rng.u32(0..100) {
        0..50 => {
            step.body =
                if status { bodies::status(rng, kind) } else { bodies::whole(rng, kind, false) };
            step.force = rng.u32(0..100) < 55;
        }
        50..65 => {
            step.method = Method::Update;
            step.body = change::updated(rng, kind, live, status);
        }
        65..78 => {
            step.method = Method::Merge;
            step.body = change::merge_patch(rng, kind, status);
        }
        78..88 => {
            step.method = Method::Json;
            step.body = change::json_patch(rng, live, status);
        }
        88..94 if !status => {
            // What client-side apply sends.
            step.method = if kind == Kind::Thing { Method::Merge } else { Method::Strategic };
            "kubectl-client-side-apply".clone_into(&mut step.manager);
            step.body = bodies::whole(rng, kind, false);
            let last = format!("{}\n", step.body);
            step.body["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] =
                json!(last);
        }
        _ => {
            step.method = if kind == Kind::Thing { Method::Merge } else { Method::Strategic };
            step.body = change::merge_patch(rng, kind, status);
        }
    }
    step
}
