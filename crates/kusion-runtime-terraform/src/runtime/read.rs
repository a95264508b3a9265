//! Reads objects.

use super::{Managed, TerraformRuntime, fault, identity, plain, unusable};
use crate::error::ProviderError;
use crate::state::Recorded;
use bytes::Bytes;
use kusion_cty::Value;
use kusion_model::{
    Action, IMPORT_ID, ReplaceOrder, Resource, ResourceId, ResourceState, RuntimeData,
};
use kusion_runtime::{Live, Pending, Runtime as _, RuntimeError, Target};
use serde_json::Value as Json;

/// The state of an object, with data of its provider.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Current {
    pub(super) state: Value,
    pub(super) private: Bytes,
    pub(super) is_tainted: bool,
}

impl TerraformRuntime {
    /// Reads the object of a resource; without a recorded state, the one that it names by
    /// `extensions.importId`.
    pub(super) async fn read_target(
        &self,
        target: &Target<'_>,
    ) -> Result<Option<Live>, RuntimeError> {
        if let Some(prior) = target.prior {
            // The recorded resource says which provider made the object.
            let managed = self.managed(&prior.resource).await?;
            return self.read_recorded(&managed, prior).await;
        }
        let Some(desired) = target.desired else { return Ok(None) };
        let Some(id) = desired.extensions.get(IMPORT_ID).and_then(Json::as_str) else {
            return Ok(None);
        };
        let managed = self.managed(desired).await?;
        let found = managed.provider.import(&managed.type_name, id).await.map_err(fault)?;
        let found = found.into_iter().find(|it| it.type_name == managed.type_name);
        let Some(found) = found else { return Ok(None) };
        let current = Current { state: found.state, private: found.private, is_tainted: false };
        managed.refresh(&desired.id, current).await
    }

    async fn read_recorded(
        &self,
        managed: &Managed,
        prior: &ResourceState,
    ) -> Result<Option<Live>, RuntimeError> {
        let Some(current) = managed.recorded(&prior.resource, prior.runtime.as_ref()).await? else {
            return Ok(None);
        };
        managed.refresh(&prior.resource.id, current).await
    }

    /// Determines what an interrupted call did. An object that a provider was asked to create cannot
    /// be found: its id is unknown.
    pub(super) async fn look_after(
        &self,
        pending: Pending<'_>,
    ) -> Result<Option<Live>, RuntimeError> {
        let creates_first = || {
            let order = pending.desired.map(|it| self.describe(it).replace_order);
            order == Some(ReplaceOrder::CreateFirst)
        };
        let known = match pending.action {
            Action::Create | Action::Adopt => None,
            Action::Replace if creates_first() => None,
            _ => pending.prior,
        };
        let live = match known {
            Some(prior) => {
                let managed = self.managed(&prior.resource).await?;
                self.read_recorded(&managed, prior).await?
            }
            None => None,
        };
        match pending.action {
            // As long as the old object exists, no new one was asked for.
            Action::Create | Action::Adopt | Action::Replace if live.is_none() => {
                Err(RuntimeError::Ambiguous(format!(
                    "an interrupted call may have created `{}`; look for it with the tools of its \
                     provider",
                    pending.id
                )))
            }
            _ => Ok(live),
        }
    }
}

impl Managed {
    /// Returns the recorded state, in the current version of its schema; `None` if there is none.
    pub(super) async fn recorded(
        &self,
        resource: &Resource,
        data: Option<&RuntimeData>,
    ) -> Result<Option<Current>, RuntimeError> {
        let Some(recorded) = data.and_then(Recorded::from_data) else {
            let message = format!("`{}`: the recorded state is missing or unreadable", resource.id);
            return Err(unusable(message));
        };
        if recorded.version > self.schema.version {
            return Err(unusable(format!(
                "`{}`: its state was recorded by a newer version of the provider `{}`",
                resource.id,
                self.provider.name()
            )));
        }
        let Recorded { version, state, private, is_tainted } = recorded;
        let state = self.provider.upgrade(&self.type_name, &self.schema, version, &state).await;
        let state = state.map_err(fault)?;
        Ok((!state.is_null()).then_some(Current { state, private, is_tainted }))
    }

    /// Returns the state of an object that was read in this run, so that its schema is the current
    /// one.
    pub(super) fn known(&self, data: Option<&RuntimeData>) -> Option<Current> {
        let Recorded { state, private, is_tainted, .. } = data.and_then(Recorded::from_data)?;
        let state = kusion_cty::json::decode(state.as_bytes(), &self.schema.ty).ok()?;
        Some(Current { state, private, is_tainted })
    }

    /// Reads an object by its state; `None` if it does not exist.
    async fn refresh(&self, id: &ResourceId, now: Current) -> Result<Option<Live>, RuntimeError> {
        let read = self.provider.read(&self.type_name, &self.schema, &now.state, &now.private);
        let read = read.await.map_err(fault)?;
        if read.state.is_null() {
            return Ok(None);
        }
        let now = Current { state: read.state, private: read.private, ..now };
        self.live(id, &now).map(Some).map_err(fault)
    }

    /// Returns an object with its state.
    pub(super) fn live(&self, id: &ResourceId, now: &Current) -> Result<Live, ProviderError> {
        let recorded = Recorded::new(&self.schema, &now.state, now.private.clone(), now.is_tainted);
        let recorded = recorded.map_err(|error| ProviderError::Invalid {
            provider: self.provider.name().to_owned(),
            call: crate::Call::Read,
            message: error.to_string(),
        })?;
        let identity = identity(&self.type_name, &now.state, id);
        Ok(Live { runtime: Some(recorded.to_data()), ..Live::new(identity, plain(&now.state)) })
    }
}
