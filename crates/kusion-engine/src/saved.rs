//! Saved plans: the file format, and the check that they are still valid.
//!
//! A file has a header line, one line for each plan and a last line with a MAC over all bytes
//! before it. The MAC requires the encryption key, so a plan runs only as it was shown.

use crate::desired::Desired;
use crate::error::EngineError;
use crate::observe::LiveObjects;
use crate::scope::Scope;
use kusion_model::{PLAN_VERSION, Plan, ResourceId, StackKey};
use kusion_secret::{MAC_LENGTH, Sealer};
use kusion_store::StackState;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// File type in the header line.
const FORMAT: &str = "kusion-plan";

/// The error of a saved plan that cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SavedPlanError {
    /// The file is not a saved plan.
    #[error("not a valid plan file: {0}")]
    NotAPlan(String),
    /// Written by another version.
    #[error("the plan has format {found}, but this version supports format {PLAN_VERSION}")]
    Version {
        /// The format of the file.
        found: u64,
    },
    /// It was saved with another key.
    #[error("the plan was saved with the key {expected}, but the current key is {found}")]
    OtherKey {
        /// The fingerprint of the key that it was saved with.
        expected: String,
        /// The fingerprint of the current key.
        found: String,
    },
    /// The file was modified after it was saved.
    #[error("the plan file was changed after it was saved")]
    Changed,
    /// A decision about it was changed, or made with another key.
    #[error("line {line} of the approvals of the plan is not valid, or was changed")]
    Decision {
        /// The line.
        line: usize,
    },
    /// It was made for another stack.
    #[error("the plan is for {stack} at the place `{}`", stack.place)]
    OtherStack {
        /// The stack that it was made for.
        stack: Box<StackKey>,
    },
    /// It was made for another infrastructure.
    #[error("the plan was made for {then}, but this is {now}")]
    OtherInfrastructure {
        /// The one that it was made for.
        then: String,
        /// The current one.
        now: String,
    },
    /// The state has changed since.
    #[error("the stack has changed since the plan was made (now at record {now}, plan at {then})")]
    StateMoved {
        /// The last record when the plan was made.
        then: u64,
        /// The last record now.
        now: u64,
    },
    /// Live objects have changed since.
    #[error("changed since the plan was made: {}", moved(.0))]
    LiveMoved(Vec<ResourceId>),
}

impl SavedPlanError {
    /// Returns the error code, for programs. Codes are stable.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotAPlan(_) => "not-a-plan",
            Self::Version { .. } => "plan-version",
            Self::OtherKey { .. } => "plan-other-key",
            Self::Changed => "plan-changed",
            Self::Decision { .. } => "plan-approvals",
            Self::OtherStack { .. } => "plan-other-stack",
            Self::OtherInfrastructure { .. } => "plan-other-infrastructure",
            Self::StateMoved { .. } => "plan-state-moved",
            Self::LiveMoved(_) => "plan-live-moved",
        }
    }
}

fn moved(ids: &[ResourceId]) -> String {
    let names: Vec<&str> = ids.iter().take(5).map(ResourceId::as_str).collect();
    let more = if ids.len() > 5 { format!(" and {} more", ids.len() - 5) } else { String::new() };
    format!("{}{more}", names.join(", "))
}

/// The first line of a file.
#[derive(Serialize, Deserialize)]
struct Head {
    format: String,
    version: u64,
    /// The version of the engine that wrote it.
    engine: String,
    /// The fingerprint of the key.
    key: String,
}

/// The last line of a file.
#[derive(Serialize)]
struct Tail {
    mac: String,
}

/// Plans that were read from a file and verified.
#[derive(Clone, Debug)]
pub struct SavedPlans {
    /// The plans, one for each stack.
    pub plans: Vec<Plan>,
    /// The fingerprint of the file.
    pub digest: String,
}

/// Writes the plans of several stacks. They contain no plain secrets.
pub fn write_plans(plans: &[Plan], sealer: &Sealer) -> String {
    let head = Head {
        format: FORMAT.to_owned(),
        version: PLAN_VERSION.into(),
        engine: env!("CARGO_PKG_VERSION").to_owned(),
        key: sealer.fingerprint().to_owned(),
    };
    let mut text = json_line(&head);
    for plan in plans {
        text.push_str(&json_line(plan));
    }
    let mac = hex(&sealer.plan_mac(text.as_bytes()));
    text.push_str(&json_line(&Tail { mac }));
    text
}

/// Reads plans and verifies that they were not modified.
pub fn read_plans(bytes: &[u8], sealer: &Sealer) -> Result<SavedPlans, SavedPlanError> {
    let not_a_plan = |what: &str| SavedPlanError::NotAPlan(what.to_owned());
    let text = std::str::from_utf8(bytes).map_err(|_| not_a_plan("it is not valid UTF-8"))?;
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let head: Head = serde_json::from_str(first).map_err(|_| {
        version_of(text).map_or_else(
            || not_a_plan("its first line is not a plan header"),
            |found| SavedPlanError::Version { found },
        )
    })?;
    if head.format != FORMAT {
        return Err(not_a_plan("its first line is not a plan header"));
    }
    if head.version != u64::from(PLAN_VERSION) {
        return Err(SavedPlanError::Version { found: head.version });
    }
    if head.key != sealer.fingerprint() {
        let found = sealer.fingerprint().to_owned();
        return Err(SavedPlanError::OtherKey { expected: head.key, found });
    }
    let body = rest.strip_suffix('\n').ok_or(SavedPlanError::Changed)?;
    let last = body.rsplit_once('\n').map_or(body, |(_, last)| last);
    let signed = &text[..text.len() - last.len() - 1];
    let expected = sealer.plan_mac(signed.as_bytes());
    // There is one valid encoding only: nothing can be added that the MAC does not cover.
    if last != json_line(&Tail { mac: hex(&expected) }).trim_end() {
        return Err(SavedPlanError::Changed);
    }
    let plans = signed
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).map_err(|error| not_a_plan(&error.to_string())))
        .collect::<Result<Vec<Plan>, _>>()?;
    Ok(SavedPlans { plans, digest: hex(&expected) })
}

/// Returns the version of a plan in format 1, which was one JSON object.
fn version_of(text: &str) -> Option<u64> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    value.get("steps")?;
    value.get("version")?.as_u64()
}

fn json_line(value: &impl Serialize) -> String {
    let mut line = serde_json::to_string(value).unwrap_or_default();
    line.push('\n');
    line
}

pub(crate) fn hex(bytes: &[u8; MAC_LENGTH]) -> String {
    bytes.iter().fold(String::with_capacity(2 * MAC_LENGTH), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

impl Scope {
    /// Checks that the inputs of a plan have not changed, and returns the live objects.
    pub(crate) async fn check_moved(
        &self,
        plan: &Plan,
        state: &StackState,
        desired: &Desired,
    ) -> Result<LiveObjects, EngineError> {
        for (name, then) in &plan.infrastructure {
            if let Some(now) = self.infrastructure.get(name).filter(|now| now.id != then.id) {
                let (then, now) = (then.to_string(), now.to_string());
                return Err(SavedPlanError::OtherInfrastructure { then, now }.into());
            }
        }
        let now = state.changed;
        // A store with fewer records than the plan is another store.
        if now != plan.state_seq {
            return Err(SavedPlanError::StateMoved { then: plan.state_seq, now }.into());
        }
        let prior = self.priors_for_runtimes(&state.resources);
        let (live, _) = self.read_live(desired, &prior).await?;
        let mut moved = Vec::new();
        for step in &plan.steps {
            let runtime = self.runtime(&step.id, &step.resource_type)?;
            let now = live.get(&step.id).map(|it| self.observed(runtime.as_ref(), it).digest);
            if now != step.live_digest {
                moved.push(step.id.clone());
            }
        }
        if moved.is_empty() { Ok(live) } else { Err(SavedPlanError::LiveMoved(moved).into()) }
    }
}
