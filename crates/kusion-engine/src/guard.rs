//! Guards against deletions that nobody asked for.

use crate::error::EngineError;
use crate::scope::Scope;
use kusion_model::{Plan, Resource, ResourceState};
use kusion_plan::{Refusal, emptied_containers, refusals};
use kusion_runtime::Content;
use kusion_store::StackState;

impl Scope {
    /// Returns the steps of a plan that guards reject.
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
        let is_foreign = |content: &Content| {
            let of_stack = state.resources.values().flat_map(|it| {
                let leftovers = it.leftovers.iter().map(|it| &it.identity);
                std::iter::once(&it.identity).chain(leftovers)
            });
            let Some(identity) = &content.identity else { return true };
            !of_stack.into_iter().any(|ours| match (&ours.uid, &identity.uid) {
                (Some(ours), Some(uid)) => ours == uid,
                _ => ours.key == identity.key,
            })
        };
        Ok(contents.into_iter().filter(is_foreign).map(|it| it.name).collect())
    }
}
