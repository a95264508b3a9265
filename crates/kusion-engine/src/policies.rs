//! Policies on plans.

use crate::desired::Desired;
use crate::error::EngineError;
use crate::observe::LiveObjects;
use crate::scope::Scope;
use crate::stack::Stack;
use kusion_model::{
    Origins, Plan, PolicyDecision, PolicyFinding, PolicyRecord, Resource, ResourceId,
};
use kusion_plan::Refusal;
use kusion_store::StackState;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What policies are evaluated on. Contains no plain secrets.
pub struct PolicyInput<'a> {
    /// The plan; secrets of desired resources are sealed.
    pub plan: &'a Plan,
    /// The live objects of its resources, without secrets.
    pub live: BTreeMap<ResourceId, Value>,
    /// Source locations of desired values.
    pub origins: &'a Origins,
    /// The user.
    pub actor: &'a str,
    /// The time, in milliseconds since the Unix epoch.
    pub now: u64,
    /// The decisions about the plan.
    pub decisions: &'a [PolicyDecision],
}

/// Evaluates the policies of a stack on plans.
pub trait PolicyCheck: Send + Sync {
    /// Returns the findings, within bounded time.
    ///
    /// # Errors
    ///
    /// If policies cannot be read. The plan is then refused.
    fn check(&self, input: &PolicyInput<'_>) -> Result<Vec<PolicyFinding>, String>;
}

/// The policies of a stack, and the user that they see.
#[derive(Clone)]
pub struct StackPolicies {
    /// Evaluates them.
    pub check: Arc<dyn PolicyCheck>,
    /// The user.
    pub actor: String,
}

impl Stack {
    /// Returns the live objects of the recorded resources, with a text in the place of secrets.
    ///
    /// # Errors
    ///
    /// If the store or the infrastructure cannot be read.
    pub async fn live_without_secrets(&self) -> Result<BTreeMap<ResourceId, Value>, EngineError> {
        let state = self.engine.store.read(self.key()).await?;
        let mut scope = self.scope();
        let desired = Desired::new();
        scope.start_for(&state, &desired).await?;
        let prior = scope.priors_for_runtimes(&state.resources);
        let live = scope.read_all_live(&desired, &prior).await?;
        let mut shown = BTreeMap::new();
        for (id, object) in &live {
            if let Some(recorded) = state.resources.get(id) {
                let value = scope.without_secrets(&recorded.resource, &object.attributes)?;
                shown.insert(id.clone(), value);
            }
        }
        Ok(shown)
    }
}

impl Scope {
    /// Evaluates the policies of the stack on a plan, and records in it what they found. Returns
    /// the findings that do not let it run.
    pub(crate) fn evaluate_policies(
        &self,
        plan: &mut Plan,
        live: &LiveObjects,
        state: &StackState,
        origins: &Origins,
        decisions: &[PolicyDecision],
    ) -> Result<Vec<Refusal>, EngineError> {
        let Some(policies) = &self.policies else { return Ok(Vec::new()) };
        let mut shown = BTreeMap::new();
        for step in &plan.steps {
            let recorded = state.resources.get(&step.id).map(|it| &it.resource);
            let resource = step.desired.as_ref().or(recorded);
            if let (Some(object), Some(resource)) = (live.get(&step.id), resource) {
                let attributes = self.without_secrets(resource, &object.attributes)?;
                shown.insert(step.id.clone(), attributes);
            }
        }
        let now = kusion_store::now_millis();
        let actor = &policies.actor;
        let input = PolicyInput { plan, live: shown, origins, actor, now, decisions };
        let findings = policies.check.check(&input).map_err(EngineError::Policies)?;
        let blocking = findings.iter().filter(|it| it.blocks(decisions)).cloned();
        let refusals = blocking.map(|finding| Refusal::Policy { finding }).collect();
        let (actor, decisions) = (actor.clone(), decisions.to_vec());
        plan.policies = Some(PolicyRecord { now, actor, findings, decisions });
        Ok(refusals)
    }

    /// Returns attributes of a resource with a text in the place of secrets.
    fn without_secrets(
        &self,
        resource: &Resource,
        attributes: &Value,
    ) -> Result<Value, EngineError> {
        let mut shown = attributes.clone();
        for path in self.secrets_in(resource, attributes)? {
            if let Some(value) = path.find_mut(&mut shown) {
                *value = "(secret)".into();
            }
        }
        Ok(shown)
    }
}
