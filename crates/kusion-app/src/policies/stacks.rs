//! Policies on stacks without a plan: on Specs, on live objects, and on earlier releases.

use crate::app::OpenStack;
use base_system::OsSystem;
use kusion_engine::EngineError;
use kusion_generate::{
    Compiled, GenerateError, RepositoryPolicies, Stack, check_subject, stack_facts,
};
use kusion_model::{
    Action, ListItems, Operation, Origins, PolicyFinding, Resource, ResourceId, Spec,
};
use kusion_plan::differences;
use kusion_policy::{Found, Moment, Policy, Subject, SubjectResource, without_secrets};
use kusion_store::millis_of;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The findings about one stack.
#[derive(Clone, Debug)]
pub struct CheckedStack {
    /// The stack, for display.
    pub stack: String,
    /// The folder of the stack, as messages show it.
    pub folder: PathBuf,
    /// The findings, errors first.
    pub findings: Vec<PolicyFinding>,
}

/// The findings about stacks.
#[derive(Clone, Debug, Default)]
pub struct CheckedStacks {
    /// The policies that were evaluated, in the order of names.
    pub policies: Vec<Policy>,
    /// The stacks.
    pub stacks: Vec<CheckedStack>,
}

impl CheckedStacks {
    /// Adds policies that are not known yet.
    fn add_policies(&mut self, policies: Vec<Policy>) {
        for policy in policies {
            if !self.policies.iter().any(|it| it.name == policy.name) {
                self.policies.push(policy);
            }
        }
        self.policies.sort_by(|a, b| a.name.cmp(&b.name));
    }
}

/// Evaluates the policies of compiled stacks on their Specs. Policies that several stacks share are
/// read once. `layers` returns the layers of a stack.
///
/// # Errors
///
/// If policies are invalid.
pub fn check_compiled(
    compiled: &[Compiled],
    layers: &dyn Fn(&Stack) -> Vec<Value>,
    actor: &str,
    now: Moment,
) -> Result<CheckedStacks, GenerateError> {
    let mut groups: Vec<(RepositoryPolicies, Vec<&Compiled>)> = Vec::new();
    for stack in compiled {
        let policies = RepositoryPolicies::of_stack(&OsSystem, &stack.stack)?;
        match groups.iter_mut().find(|(known, _)| *known == policies) {
            Some((_, stacks)) => stacks.push(stack),
            None => groups.push((policies, vec![stack])),
        }
    }
    let mut checked = CheckedStacks::default();
    for (policies, stacks) in groups.iter().filter(|(policies, _)| !policies.is_empty()) {
        let subjects: Vec<Subject<'_>> =
            stacks.iter().map(|it| check_subject(it, layers(&it.stack), actor, now)).collect();
        checked.add_policies(policies.policies(&OsSystem)?);
        for (stack, found) in stacks.iter().zip(policies.check(&OsSystem, &subjects)?) {
            let findings = located(found, &stack.origins);
            let folder = stack.shown.clone();
            let stack = match stack.stack.cell_name() {
                "" => stack.shown.display().to_string(),
                cell => format!("{} in {cell}", stack.shown.display()),
            };
            checked.stacks.push(CheckedStack { stack, folder, findings });
        }
    }
    Ok(checked)
}

/// Evaluates policies on live objects of a stack.
///
/// # Errors
///
/// If policies are invalid.
pub fn check_live(
    stack: &Stack,
    open: &OpenStack,
    live: &BTreeMap<ResourceId, Value>,
    actor: &str,
    now: Moment,
) -> Result<CheckedStacks, GenerateError> {
    let policies = RepositoryPolicies::of_stack(&OsSystem, stack)?;
    let resource = |(id, value): (&ResourceId, &'_ Value)| SubjectResource {
        id: id.clone(),
        desired: Some(Cow::Owned(value.clone())),
        old: None,
        action: Action::Keep,
        fields: Vec::new(),
    };
    let subject = Subject {
        stack: stack_facts(stack, &open.key().place.to_string()),
        operation: "scan",
        actor: actor.to_owned(),
        now,
        resources: live.iter().map(resource).collect(),
        layers: Vec::new(),
        decisions: Vec::new(),
    };
    let mut checked = CheckedStacks::default();
    checked.add_policies(policies.policies(&OsSystem)?);
    let found = policies.check(&OsSystem, &[subject])?.into_iter().flatten().collect();
    let findings = located(found, &Origins::default());
    let (name, folder) = (open.key().to_string(), stack.folder.clone());
    checked.stacks.push(CheckedStack { stack: name, folder, findings });
    Ok(checked)
}

/// What policies would have found in an earlier release.
#[derive(Clone, Debug)]
pub struct ReplayedRelease {
    /// The revision.
    pub revision: u64,
    /// When it started, RFC 3339.
    pub started: String,
    /// The operation.
    pub operation: Operation,
    /// The findings, those that would have blocked it first.
    pub findings: Vec<PolicyFinding>,
}

/// The error of a replay.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// Policies are invalid.
    #[error(transparent)]
    Policies(#[from] GenerateError),
    /// A release cannot be read.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// Evaluates policies on the last releases of a stack, the oldest first: each is compared with the
/// Spec of the release before it, at the time and with the user of the release.
///
/// # Errors
///
/// If policies are invalid, or a release cannot be read.
pub async fn replay(
    stack: &Stack,
    open: &OpenStack,
    policies: &RepositoryPolicies,
    last: usize,
) -> Result<Vec<ReplayedRelease>, ReplayError> {
    let state = open.stack.state().await?;
    let first = state.releases.len().saturating_sub(last);
    let mut before = Spec::default();
    let mut changes = Vec::new();
    for (at, release) in state.releases.iter().enumerate() {
        if at + 1 < first {
            continue;
        }
        let spec = match release.head.operation {
            Operation::Destroy => Spec::default(),
            _ => match open.stack.sealed_spec(release.head.revision).await {
                Err(EngineError::NoRelease { .. }) => continue,
                spec => spec?,
            },
        };
        let old = std::mem::replace(&mut before, spec.clone());
        if at >= first {
            changes.push((release, old, spec));
        }
    }
    let place = open.key().place.to_string();
    let subjects: Vec<Subject<'_>> = changes
        .iter()
        .map(|(release, old, new)| Subject {
            stack: stack_facts(stack, &place),
            operation: match release.head.operation {
                Operation::Apply => "apply",
                Operation::Destroy => "destroy",
                Operation::Rollback { .. } => "rollback",
            },
            actor: release.head.operator.split('@').next().unwrap_or_default().to_owned(),
            now: Moment { millis: millis_of(&release.started).unwrap_or_default() },
            resources: changed(old, new),
            layers: Vec::new(),
            decisions: Vec::new(),
        })
        .collect();
    let found = policies.check(&OsSystem, &subjects)?;
    let replayed = changes.iter().zip(found).map(|((release, ..), found)| ReplayedRelease {
        revision: release.head.revision,
        started: release.started.clone(),
        operation: release.head.operation,
        findings: located(found, &Origins::default()),
    });
    Ok(replayed.collect())
}

/// Returns the resources of a release, and those that it deleted, with what changed.
fn changed<'s>(old: &'s Spec, new: &'s Spec) -> Vec<SubjectResource<'s>> {
    let before: BTreeMap<&ResourceId, &Resource> =
        old.resources.iter().map(|it| (&it.id, it)).collect();
    let after: BTreeMap<&ResourceId, &Resource> =
        new.resources.iter().map(|it| (&it.id, it)).collect();
    let mut resources = Vec::new();
    for (id, resource) in &after {
        let prior = before.get(*id).map(|it| &it.attributes);
        let fields = prior.map_or(Vec::new(), |prior| {
            let changes = differences(prior, &resource.attributes, &|_| ListItems::Unknown);
            changes.into_iter().map(|it| it.path).collect()
        });
        let action = match prior {
            None => Action::Create,
            Some(_) if fields.is_empty() => Action::Keep,
            Some(_) => Action::Update,
        };
        resources.push(SubjectResource {
            id: (*id).clone(),
            desired: Some(without_secrets(&resource.attributes)),
            old: prior.map(|it| without_secrets(it)),
            action,
            fields,
        });
    }
    for (id, resource) in before.iter().filter(|(id, _)| !after.contains_key(*id)) {
        resources.push(SubjectResource {
            id: (*id).clone(),
            desired: None,
            old: Some(without_secrets(&resource.attributes)),
            action: Action::Delete,
            fields: Vec::new(),
        });
    }
    resources
}

/// Adds the source locations of values to findings.
fn located(found: Vec<Found>, origins: &Origins) -> Vec<PolicyFinding> {
    let with_origin = |found: Found| {
        let mut finding = found.finding;
        let id = finding.resource.as_ref();
        finding.origin = id.and_then(|id| origins.find(id, &finding.path));
        finding
    };
    found.into_iter().map(with_origin).collect()
}
