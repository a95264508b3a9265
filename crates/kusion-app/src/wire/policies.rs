//! Documents about policies.

use super::documents::indented;
use crate::policies::ReplayedRelease;
use kusion_engine::EVENT_VERSION;
use kusion_model::{Operation, PolicyFinding};
use kusion_policy::Policy;
use serde::Serialize;

/// Policies: `kusion policy list`.
#[derive(Debug, Serialize)]
pub struct PoliciesDocument {
    version: u32,
    policies: Vec<Policy>,
}

impl PoliciesDocument {
    /// Creates the document.
    pub fn new(policies: Vec<Policy>) -> Self {
        Self { version: EVENT_VERSION, policies }
    }

    /// Writes it.
    pub fn text(&self) -> String {
        indented(self)
    }
}

/// What policies would have found in earlier releases: `kusion policy replay`.
#[derive(Debug, Serialize)]
pub struct ReplayDocument<'a> {
    version: u32,
    releases: Vec<Release<'a>>,
}

#[derive(Debug, Serialize)]
struct Release<'a> {
    revision: u64,
    started: &'a str,
    operation: Operation,
    blocked: bool,
    findings: &'a [PolicyFinding],
}

impl<'a> ReplayDocument<'a> {
    /// Creates the document.
    pub fn new(releases: &'a [ReplayedRelease]) -> Self {
        let release = |it: &'a ReplayedRelease| Release {
            revision: it.revision,
            started: &it.started,
            operation: it.operation,
            blocked: it.findings.iter().any(|it| it.blocks(&[])),
            findings: &it.findings,
        };
        Self { version: EVENT_VERSION, releases: releases.iter().map(release).collect() }
    }

    /// Writes it.
    pub fn text(&self) -> String {
        indented(self)
    }
}
