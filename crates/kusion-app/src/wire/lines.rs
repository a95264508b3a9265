//! Lines: what commands print while they work.

use crate::inventory::{Audited, StackEntry};
use crate::secrets::hash_only;
use kusion_engine::{
    EVENT_VERSION, Finding, RelatedObject, ResourceStatus, StampedEvent, WatchEnd,
};
use kusion_model::{
    Action, Health, Infrastructure, LeafOrigin, Operation, Origins, Plan, PlanOptions,
    PolicyFinding, ResourceId, Spec, StackKey, StackSource, Step, leaf_origins,
};
use kusion_plan::{Refusal, waves};
use kusion_store::ReleaseEntry;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A line for programs.
#[derive(Serialize)]
pub struct Line<T> {
    version: u32,
    #[serde(flatten)]
    content: T,
}

impl<T: Serialize> Line<T> {
    /// Creates a line.
    pub fn new(content: T) -> Self {
        Self { version: EVENT_VERSION, content }
    }

    /// Writes it, without a line break.
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// A plan: the same for the same inputs, without secrets. Written step by step, so that a large
/// plan is not held twice.
#[derive(Serialize)]
#[serde(tag = "event", rename = "plan")]
pub struct PlanLine<'a> {
    counts: Map<String, Value>,
    plan: PublicPlan<'a>,
    refusals: Vec<RefusalLine<'a>>,
    /// What policies found; left out if there is nothing.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    findings: &'a [PolicyFinding],
}

/// A step of a plan that a guard rejects.
#[derive(Serialize)]
struct RefusalLine<'a> {
    #[serde(flatten)]
    refusal: &'a Refusal,
    message: String,
}

impl<'a> PlanLine<'a> {
    /// Creates the line of a plan and of the steps that guards reject.
    pub fn new(plan: &'a Plan, refusals: &'a [Refusal]) -> Self {
        Self {
            counts: counts(&[plan]),
            plan: PublicPlan {
                stack: &plan.key,
                operation: plan.operation,
                options: &plan.options,
                infrastructure: &plan.infrastructure,
                state_seq: plan.state_seq,
                spec_digest: &plan.spec_digest,
                steps: PublicSteps(&plan.steps),
            },
            refusals: refusals
                .iter()
                .map(|refusal| RefusalLine { refusal, message: refusal.to_string() })
                .collect(),
            findings: plan.policies.as_ref().map_or(&[], |it| &it.findings),
        }
    }
}

/// The summary of the plans of several stacks.
#[derive(Serialize)]
#[serde(tag = "event", rename = "summary")]
pub struct SummaryLine {
    stacks: usize,
    counts: Map<String, Value>,
}

impl SummaryLine {
    /// Creates the line of plans.
    pub fn new(plans: &[&Plan]) -> Self {
        Self { stacks: plans.len(), counts: counts(plans) }
    }
}

/// Counts the steps of plans by action.
fn counts(plans: &[&Plan]) -> Map<String, Value> {
    let actions = [
        ("create", Action::Create),
        ("adopt", Action::Adopt),
        ("update", Action::Update),
        ("replace", Action::Replace),
        ("delete", Action::Delete),
        ("forget", Action::Forget),
        ("keep", Action::Keep),
    ];
    let count = |action| plans.iter().map(|plan| plan.count(action)).sum::<usize>();
    actions.into_iter().map(|(name, action)| (name.to_owned(), count(action).into())).collect()
}

/// A [`Plan`] without secrets.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PublicPlan<'a> {
    stack: &'a StackKey,
    operation: Operation,
    options: &'a PlanOptions,
    infrastructure: &'a Infrastructure,
    state_seq: u64,
    spec_digest: &'a str,
    steps: PublicSteps<'a>,
}

struct PublicSteps<'a>(&'a [Step]);

impl Serialize for PublicSteps<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().zip(waves(self.0)).map(|(step, wave)| {
            let mut value = json!(step);
            hash_only(&mut value);
            if let Value::Object(step) = &mut value
                && wave > 0
            {
                step.insert("wave".to_owned(), wave.into());
            }
            value
        }))
    }
}

/// The health of the resources of a stack.
#[derive(Serialize)]
#[serde(tag = "event", rename = "status")]
pub struct StatusLine<'a> {
    stack: &'a StackKey,
    resources: Vec<ResourceLine<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceLine<'a> {
    id: &'a ResourceId,
    revision: u64,
    health: Option<&'a Health>,
    related: &'a [RelatedObject],
}

impl<'a> StatusLine<'a> {
    /// Creates the line of a stack.
    pub fn new(stack: &'a StackKey, resources: &'a BTreeMap<ResourceId, ResourceStatus>) -> Self {
        let resources = resources
            .iter()
            .map(|(id, status)| ResourceLine {
                id,
                revision: status.state.revision,
                health: status.health.as_ref(),
                related: &status.related,
            })
            .collect();
        Self { stack, resources }
    }
}

/// Result of a watch.
#[derive(Serialize)]
#[serde(tag = "event", rename = "watchEnded")]
pub struct WatchLine<'a> {
    stack: &'a StackKey,
    end: &'static str,
    findings: &'a [Finding],
}

impl<'a> WatchLine<'a> {
    /// Creates the line of an end.
    pub fn new(stack: &'a StackKey, end: &'a WatchEnd) -> Self {
        let (end, findings): (_, &[Finding]) = match end {
            WatchEnd::Ready => ("ready", &[]),
            WatchEnd::Failed(findings) => ("failed", findings),
            WatchEnd::TimedOut(findings) => ("timedOut", findings),
            WatchEnd::Stopped => ("stopped", &[]),
        };
        Self { stack, end, findings }
    }
}

/// A release.
#[derive(Serialize)]
#[serde(tag = "event", rename = "release")]
pub struct ReleaseLine<'a> {
    stack: &'a StackKey,
    #[serde(flatten)]
    release: &'a ReleaseEntry,
    #[serde(skip_serializing_if = "Option::is_none")]
    spec: Option<&'a Spec>,
    /// What set the values of the Spec.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    origins: Vec<LeafOrigin<'a>>,
}

impl<'a> ReleaseLine<'a> {
    /// Creates the line of a release, optionally with its Spec and what set the values of it.
    pub fn new(
        stack: &'a StackKey,
        release: &'a ReleaseEntry,
        spec: Option<(&'a Spec, &Origins)>,
    ) -> Self {
        let mut origins = spec.map(|(spec, it)| leaf_origins(spec, it)).unwrap_or_default();
        origins.retain(|leaf| leaf.origin.is_some());
        Self { stack, release, spec: spec.map(|(spec, _)| spec), origins }
    }
}

/// A stack of a store.
#[derive(Serialize)]
#[serde(tag = "event", rename = "stack", rename_all = "camelCase")]
pub struct StackLine<'a> {
    stack: &'a StackKey,
    /// The location of its store.
    store: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a StackSource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    infrastructure: Option<&'a Infrastructure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    release: Option<&'a ReleaseEntry>,
    resources: Vec<&'a ResourceId>,
    /// Why its state cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl<'a> StackLine<'a> {
    /// Creates the line of a stack.
    pub fn new(entry: &'a StackEntry) -> Self {
        let state = entry.state.as_ref().ok();
        Self {
            stack: &entry.key,
            store: &entry.store,
            source: state.and_then(|it| it.source.as_ref()),
            infrastructure: state.map(|it| &it.infrastructure),
            release: state.and_then(|it| it.releases.last()),
            resources: state.map(|it| it.resources.keys().collect()).unwrap_or_default(),
            error: entry.state.as_ref().err().map(ToString::to_string),
        }
    }
}

/// The result of checking the values of a stack.
#[derive(Serialize)]
#[serde(tag = "event", rename = "check")]
pub struct CheckLine<'a> {
    stack: &'a StackKey,
    /// The location of its store.
    store: &'a str,
    problems: &'a [String],
}

impl<'a> CheckLine<'a> {
    /// Creates the line of a stack.
    pub fn new(audited: &'a Audited) -> Self {
        let Audited { key, store, problems } = audited;
        Self { stack: key, store, problems }
    }
}

/// An event of a release that has ended.
#[derive(Serialize)]
pub struct ReplayLine<'a>(pub &'a StampedEvent);

/// The warnings of the compiler.
#[derive(Serialize)]
#[serde(tag = "event", rename = "diagnostics")]
pub struct DiagnosticsLine {
    /// The diagnostics: `severity`, `code`, `message`, `file`, `line`, `column`, `help`.
    pub diagnostics: Vec<Value>,
}

/// The error of a command.
#[derive(Serialize)]
#[serde(tag = "event", rename = "error")]
pub struct ErrorLine<'a> {
    /// The error code. Codes are stable.
    pub code: &'a str,
    /// The error message.
    pub message: String,
    /// The resources that it is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subjects: Vec<&'a ResourceId>,
    /// The problems of resources, with fields and source locations, if they are the cause.
    #[serde(skip_serializing_if = "<[Finding]>::is_empty")]
    pub findings: &'a [Finding],
    /// How to fix the error, if that is known.
    pub hint: Option<String>,
    /// The diagnostics of the compiler, if they are the cause.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Value>,
}
