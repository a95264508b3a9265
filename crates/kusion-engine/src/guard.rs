//! Guards against deletions that nobody asked for.

use crate::error::EngineError;
use crate::scope::Scope;
use kusion_model::{Identity, Plan, Resource, ResourceState};
use kusion_plan::{Refusal, emptied_containers, refusals};
use kusion_runtime::Content;
use kusion_store::StackState;
use std::collections::HashSet;

impl Scope {
    /// Returns the steps of a plan that guards or the infrastructure reject.
    pub(crate) async fn refusals(
        &self,
        plan: &Plan,
        state: &StackState,
    ) -> Result<Vec<Refusal>, EngineError> {
        let describe = |resource: &Resource| self.describe(resource);
        let guards = &plan.options.guards;
        let mut found = refusals(plan, &state.resources, guards, &describe);
        for (container, action) in emptied_containers(plan, &state.resources, guards, &describe) {
            let contents = self.foreign_contents(container, state).await?;
            if !contents.is_empty() {
                let id = container.resource.id.clone();
                found.push(Refusal::Contains { id, action, contents });
            }
        }
        Ok(found)
    }

    /// Returns the names of the objects in a container that are not part of the stack.
    async fn foreign_contents(
        &self,
        container: &ResourceState,
        state: &StackState,
    ) -> Result<Vec<String>, EngineError> {
        let resource = &container.resource;
        let runtime = self.runtime(&resource.id, &resource.resource_type)?;
        let contents = runtime.contents(&self.prior_for_runtime(container)).await?;
        let own = state.resources.values().flat_map(|it| {
            let leftovers = it.leftovers.iter().map(|it| &it.identity);
            std::iter::once(&it.identity).chain(leftovers)
        });
        let (by_uid, by_key): (Vec<&Identity>, Vec<&Identity>) =
            own.partition(|it| it.uid.is_some());
        let uids: HashSet<&str> = by_uid.iter().filter_map(|it| it.uid.as_deref()).collect();
        let all_keys: HashSet<&str> = by_uid.iter().map(|it| it.key.as_str()).collect();
        let keys_only: HashSet<&str> = by_key.iter().map(|it| it.key.as_str()).collect();
        let is_foreign = |content: &Content| {
            let Some(Identity { key, uid }) = &content.identity else { return true };
            // It may have been taken over.
            if content.owner.as_ref().is_some_and(|it| !it.is(&self.owner)) {
                return true;
            }
            let is_own = match uid {
                Some(uid) => uids.contains(uid.as_str()),
                None => all_keys.contains(key.as_str()),
            };
            !is_own && !keys_only.contains(key.as_str())
        };
        Ok(contents.into_iter().filter(is_foreign).map(|it| it.name).collect())
    }
}
