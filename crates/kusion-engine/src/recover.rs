//! Recovery of calls that were interrupted when their process ended.

use crate::call::same_object;
use crate::error::EngineError;
use crate::event::Event;
use crate::failpoints::Failpoint;
use crate::operation::Settlement;
use crate::replay;
use crate::scope::Scope;
use kusion_model::{
    Action, Ending, IMPORT_ID, Leftover, Phase, Record, ReplaceOrder, Resource, ResourceId,
    ResourceState,
};
use kusion_runtime::{Live, Pending, RuntimeError, Target};
use kusion_store::{PendingStep, Session, StackState};
use std::collections::BTreeMap;

impl Scope {
    /// Determines the results of interrupted calls, except for those that the user settles. Changes
    /// nothing.
    pub(crate) async fn findings(
        &self,
        state: &StackState,
        settle: &BTreeMap<ResourceId, Settlement>,
    ) -> Result<Vec<(PendingStep, Ending)>, EngineError> {
        let mut found = Vec::with_capacity(state.pending.len());
        for call in &state.pending {
            let ending = match settle.get(&call.id) {
                None => self.finding(state, call).await?,
                Some(Settlement::Forget) => Ending::Absent,
                Some(Settlement::Adopt(object)) => self.adopted(state, call, object).await?,
            };
            found.push((call.clone(), ending));
        }
        Ok(found)
    }

    /// Returns the result of a call that created the object with an id.
    async fn adopted(
        &self,
        state: &StackState,
        call: &PendingStep,
        object: &str,
    ) -> Result<Ending, EngineError> {
        let missing = || EngineError::NoObject { id: call.id.clone(), object: object.to_owned() };
        let sealed = call.desired.as_deref().ok_or_else(missing)?;
        let mut desired = self.unsealed(sealed)?;
        desired.extensions.insert(IMPORT_ID.to_owned(), object.into());
        let runtime = self.runtime(&call.id, &desired.resource_type)?;
        let target = Target { id: &call.id, desired: Some(&desired), prior: None };
        let live = runtime.read(&[target]).await?.into_iter().next().transpose()?.flatten();
        let live = live.ok_or_else(missing)?;
        let secrets = self.secrets(&desired)?;
        let state = self.made(call, sealed.clone(), live, state.resources.get(&call.id));
        Ok(Ending::Present(Box::new(ResourceState { secrets, ..state })))
    }

    async fn finding(&self, state: &StackState, call: &PendingStep) -> Result<Ending, EngineError> {
        let recorded = state.resources.get(&call.id);
        let prior = recorded.map(|it| self.prior_for_runtime(it));
        // The object can be found without its secrets, whose key may be lost. What is sealed stays
        // sealed in the state.
        let desired = call.desired.as_deref().map(|it| match self.unsealed(it) {
            Ok(plain) => plain,
            Err(error) => {
                self.warn_unreadable(&call.id, &error);
                it.clone()
            }
        });
        let Some(resource) = desired.as_ref().or(recorded.map(|it| &it.resource)) else {
            return Ok(Ending::Absent);
        };
        let runtime = self.runtime(&call.id, &resource.resource_type)?;
        let live = runtime
            .recover(Pending {
                attempt: call.attempt,
                id: &call.id,
                action: call.action,
                desired: desired.as_ref(),
                prior: prior.as_ref(),
            })
            .await
            .map_err(|fault| match fault {
                RuntimeError::Ambiguous(message) => {
                    EngineError::Ambiguous { id: call.id.clone(), message }
                }
                fault => fault.into(),
            })?;
        Ok(match (live, recorded) {
            (None, _) => Ending::Absent,
            // The recorded object still exists: the next plan compares it anyway.
            (Some(live), Some(prior)) if same_object(&live.identity, &prior.identity) => {
                Ending::Present(Box::new(prior.clone()))
            }
            (Some(live), prior) => match (&desired, call.desired.as_deref()) {
                (Some(plain), Some(sealed)) => {
                    let secrets = self.secrets(plain)?;
                    let state = self.made(call, sealed.clone(), live, prior);
                    Ending::Present(Box::new(ResourceState { secrets, ..state }))
                }
                // An object of that name with another owner, which a deletion does not touch.
                _ => Ending::Absent,
            },
        })
    }

    /// Returns the state of an object that an interrupted attempt created.
    fn made(
        &self,
        call: &PendingStep,
        sealed: Resource,
        live: Live,
        prior: Option<&ResourceState>,
    ) -> ResourceState {
        let mut state = ResourceState::new(sealed, live.identity, call.attempt.revision);
        state.runtime = live.runtime.map(|it| self.sealed_data(&call.id, it));
        if let Some(prior) = prior {
            state.leftovers.clone_from(&prior.leftovers);
            let is_replaced = call.action == Action::Replace;
            if is_replaced && call.replace_order == ReplaceOrder::CreateFirst {
                let (identity, runtime) = (prior.identity.clone(), prior.runtime.clone());
                state.leftovers.push(Leftover { identity, runtime });
            }
        }
        state
    }

    /// Records the results of interrupted calls, and closes their release.
    pub(crate) async fn recover(
        &self,
        session: &Session,
        settle: &BTreeMap<ResourceId, Settlement>,
    ) -> Result<StackState, EngineError> {
        let state = session.state();
        let open: Vec<u64> = state
            .releases
            .iter()
            .filter(|it| it.phase == Phase::Running)
            .map(|it| it.head.revision)
            .collect();
        if state.pending.is_empty() && open.is_empty() {
            return Ok(state);
        }
        for (call, ending) in self.findings(&state, settle).await? {
            let exists = matches!(ending, Ending::Present(_));
            let (id, attempt) = (call.id.clone(), call.attempt);
            session.append(vec![Record::StepEnded { attempt, id, ending }]).await?;
            self.engine.failpoints.pass(Failpoint::Recovered, Some(&call.id));
            self.log.emit(Event::Recovered { id: call.id, action: call.action, exists });
        }
        for revision in open {
            let message = "the process ended before the release did".to_owned();
            let phase = Phase::Interrupted;
            session.append(vec![Record::ReleaseClosed { revision, phase, message }]).await?;
            let records = self.engine.store.records(&self.key).await?;
            session.put_events(revision, &replay::of_records(&records, revision)).await?;
        }
        Ok(session.state())
    }
}
