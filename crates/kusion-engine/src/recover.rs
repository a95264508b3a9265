//! Calls of processes that ended without a word.

use crate::call::same_object;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::event::Event;
use crate::points::Point;
use kusion_model::{Ending, Phase, Record, ResourceState};
use kusion_runtime::Pending;
use kusion_store::{PendingOperation, Session, StackState};

impl Engine {
    /// Finds out what the calls without an ending have done. Changes nothing.
    pub(crate) async fn findings(
        &self,
        state: &StackState,
    ) -> Result<Vec<(PendingOperation, Ending)>, EngineError> {
        let mut found = Vec::with_capacity(state.pending.len());
        for call in &state.pending {
            found.push((call.clone(), self.finding(state, call).await?));
        }
        Ok(found)
    }

    async fn finding(
        &self,
        state: &StackState,
        call: &PendingOperation,
    ) -> Result<Ending, EngineError> {
        let prior = state.resources.get(&call.id);
        let desired = call.desired.as_deref().map(|it| self.unsealed(it)).transpose()?;
        let Some(resource) = desired.as_ref().or(prior.map(|it| &it.resource)) else {
            return Ok(Ending::Absent);
        };
        let runtime = self.runtimes.find(&call.id, &resource.resource_type)?;
        let live = runtime
            .recover(Pending {
                operation: call.operation,
                id: &call.id,
                action: call.action,
                desired: desired.as_ref(),
                prior,
            })
            .await?;
        Ok(match (live, prior) {
            (None, _) => Ending::Absent,
            // The object that was known is still there: the next plan compares it anyway.
            (Some(live), Some(prior)) if same_object(&live.identity, &prior.identity) => {
                Ending::Present(Box::new(prior.clone()))
            }
            (Some(live), _) => match call.desired.as_deref() {
                Some(sealed) => Ending::Present(Box::new(ResourceState {
                    resource: sealed.clone(),
                    identity: live.identity,
                    revision: call.operation.revision,
                })),
                // Somebody else's object of that name, which a deletion leaves alone.
                None => Ending::Absent,
            },
        })
    }

    /// Records what the calls without an ending have done, and ends the release that they
    /// belong to.
    pub(crate) async fn recover(&self, session: &Session) -> Result<StackState, EngineError> {
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
        for (call, ending) in self.findings(&state).await? {
            let exists = matches!(ending, Ending::Present(_));
            let (id, operation) = (call.id.clone(), call.operation);
            session.append(vec![Record::Ended { operation, id, ending }]).await?;
            self.points.pass(Point::Recovered, Some(&call.id));
            self.emit(&Event::Recovered { id: call.id, action: call.action, exists });
        }
        for revision in open {
            session
                .append(vec![Record::Closed {
                    revision,
                    phase: Phase::Interrupted,
                    ended: crate::clock::now(),
                    message: "the process ended before the release did".to_owned(),
                }])
                .await?;
        }
        Ok(session.state())
    }
}
