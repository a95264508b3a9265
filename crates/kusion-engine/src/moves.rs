//! Resources that get another id: their recorded state moves, and no object is deleted or created.

use crate::desired::Desired;
use crate::error::{EngineError, Finding};
use crate::scope::Scope;
use kusion_model::{
    Action, Ending, FieldPath, MoveRule, Note, Reason, Record, ResourceId, ResourceState, Step,
};
use kusion_secret::is_sealed;
use kusion_store::StackState;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

impl Scope {
    /// Moves the recorded resources that rules name, if the new id is desired and the old one is
    /// not. Returns the records of the moves; a rule that was applied before has no effect.
    pub(crate) fn apply_moves(
        &self,
        state: &mut StackState,
        rules: &[MoveRule],
        desired: &Desired,
    ) -> Result<Vec<Record>, EngineError> {
        let mut records = Vec::new();
        for MoveRule { from, to } in rules {
            let is_due = desired.contains_key(to)
                && !desired.contains_key(from)
                && !state.resources.contains_key(to);
            let Some(recorded) = state.resources.get(from).filter(|_| is_due) else { continue };
            let moved = self.renamed(recorded, to)?;
            records.extend(records_of(from, &moved));
            state.resources.remove(from);
            state.resources.insert(to.clone(), moved);
        }
        Ok(records)
    }

    /// Returns a recorded state under another id. Secrets are sealed for it.
    pub(crate) fn renamed(
        &self,
        recorded: &ResourceState,
        to: &ResourceId,
    ) -> Result<ResourceState, EngineError> {
        let old = &recorded.resource;
        let runtime = self.runtime(&old.id, &old.resource_type)?;
        let sealed = sealed_paths(&old.attributes);
        let plain =
            ResourceState { resource: self.unsealed(old)?, ..self.prior_for_runtime(recorded) };
        let refused = |message: String| EngineError::Rejected(vec![Finding::new(&old.id, message)]);
        let mut moved = runtime.renamed(&plain, to).map_err(refused)?;
        let owner = self.secret_owner(to);
        self.engine.sealer.seal(&mut moved.resource.attributes, &sealed, owner);
        moved.runtime = moved.runtime.map(|it| self.sealed_data(to, it));
        for leftover in &mut moved.leftovers {
            leftover.runtime = leftover.runtime.take().map(|it| self.sealed_data(to, it));
        }
        Ok(moved)
    }
}

/// Returns the records of a move.
pub(crate) fn records_of(from: &ResourceId, moved: &ResourceState) -> [Record; 2] {
    let to = moved.resource.id.clone();
    [
        Record::Noted { id: from.clone(), ending: Ending::Absent },
        Record::Noted { id: to, ending: Ending::Present(Box::new(moved.clone())) },
    ]
}

/// Adds notes to the steps of moved resources.
pub(crate) fn add_notes(steps: &mut BTreeMap<ResourceId, Step>, moves: &[Record]) {
    for pair in moves.chunks_exact(2) {
        if let [Record::Noted { id: from, .. }, Record::Noted { id: to, .. }] = pair
            && let Some(step) = steps.get_mut(to)
        {
            step.notes.push(Note::Moved { from: from.clone() });
        }
    }
}

/// Removes a resource from the state instead of deleting its object, if a desired resource with
/// another id has the same object.
pub(crate) fn keep_renamed(steps: &mut BTreeMap<ResourceId, Step>) {
    let object = |step: &Step| {
        let uid = step.identity.as_ref()?.uid.clone()?;
        step.live_digest.is_some().then_some(uid)
    };
    let desired: HashMap<String, ResourceId> = steps
        .values()
        .filter(|step| step.desired.is_some())
        .filter_map(|step| Some((object(step)?, step.id.clone())))
        .collect();
    for step in steps.values_mut().filter(|it| it.action == Action::Delete) {
        if let Some(to) = object(step).and_then(|it| desired.get(&it)) {
            (step.action, step.reason) = (Action::Forget, Reason::Renamed { to: to.clone() });
        }
    }
}

/// Returns the paths of sealed values.
fn sealed_paths(value: &Value) -> Vec<FieldPath> {
    let mut found = Vec::new();
    let mut open = vec![(FieldPath::default(), value)];
    while let Some((path, value)) = open.pop() {
        match value {
            _ if is_sealed(value) => found.push(path),
            Value::Object(map) => open.extend(map.iter().map(|(key, it)| (path.key(key), it))),
            Value::Array(items) => {
                open.extend(items.iter().enumerate().map(|(at, it)| (path.index(at), it)));
            }
            _ => {}
        }
    }
    found.sort();
    found
}
