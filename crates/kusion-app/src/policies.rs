//! The policies of stacks, as the engine evaluates them.

mod stacks;

pub use stacks::{
    CheckedStack, CheckedStacks, ReplayError, ReplayedRelease, check_compiled, check_live, replay,
};

use base_system::OsSystem;
use kusion_engine::{PolicyCheck, PolicyInput, StackPolicies};
use kusion_generate::{RepositoryPolicies, Stack, stack_facts};
use kusion_model::{Operation, PolicyFinding, Step};
use kusion_policy::{Moment, StackFacts, Subject, SubjectResource, without_secrets};
use kusion_store::Holder;
use std::borrow::Cow;
use std::sync::Arc;

/// Returns the name of the user of this process, as policies see it.
pub fn actor() -> String {
    Holder::current("").user
}

/// Returns the current time, as policies see it.
pub fn now() -> Moment {
    Moment { millis: kusion_store::now_millis() }
}

/// Returns the policies of a stack at a place for the engine; `None` if it has none.
pub(crate) fn of_stack(
    stack: &Stack,
    policies: RepositoryPolicies,
    place: &str,
) -> Option<StackPolicies> {
    if policies.is_empty() {
        return None;
    }
    let check = Arc::new(PlanCheck { policies, facts: stack_facts(stack, place) });
    Some(StackPolicies { check, actor: actor() })
}

struct PlanCheck {
    policies: RepositoryPolicies,
    facts: StackFacts,
}

impl PolicyCheck for PlanCheck {
    fn check(&self, input: &PolicyInput<'_>) -> Result<Vec<PolicyFinding>, String> {
        let subject = plan_subject(self.facts.clone(), input);
        let found = self.policies.check(&OsSystem, &[subject]).map_err(|it| it.to_string())?;
        let findings = found.into_iter().flatten().map(|found| {
            let mut finding = found.finding;
            finding.origin = match &finding.resource {
                Some(id) => input.origins.find(id, &finding.path),
                None => None,
            };
            finding
        });
        Ok(findings.collect())
    }
}

/// Returns what policies see of a plan.
fn plan_subject<'p>(stack: StackFacts, input: &'p PolicyInput<'_>) -> Subject<'p> {
    let operation = match input.plan.operation {
        Operation::Apply => "apply",
        Operation::Destroy => "destroy",
        Operation::Rollback { .. } => "rollback",
    };
    let resource = |step: &'p Step| SubjectResource {
        id: step.id.clone(),
        desired: step.desired.as_ref().map(|it| without_secrets(&it.attributes)),
        old: input.live.get(&step.id).map(Cow::Borrowed),
        action: step.action,
        fields: step.changes.iter().map(|it| it.path.clone()).collect(),
    };
    Subject {
        stack,
        operation,
        actor: input.actor.to_owned(),
        now: Moment { millis: input.now },
        resources: input.plan.steps.iter().map(resource).collect(),
        layers: Vec::new(),
        decisions: input.decisions.to_vec(),
    }
}
