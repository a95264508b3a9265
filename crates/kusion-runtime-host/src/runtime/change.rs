//! Plans and makes changes.

use super::read::live;
use super::{Data, Inner, desired_item, recorded_item};
use crate::address::Address;
use crate::answer::Answer;
use crate::error::HostError;
use crate::items::{Fields, Item, Kind, Situation, directory_on};
use crate::script::Script;
use kusion_runtime::{Applied, Change, Deletion, DryRunResult, RuntimeError};
use serde_json::Value;
use std::sync::atomic::Ordering;

impl Inner {
    /// Plans a change with what was read last: a host needs nobody to check a resource.
    pub(super) fn plan_change(&self, change: &Change<'_>) -> Result<DryRunResult, RuntimeError> {
        let (address, item) = desired_item(change.desired)?;
        self.connection(&address)?;
        if let Some(parent) = item.parent()
            && self.is_missing(&address, &parent)
        {
            return Err(RuntimeError::Missing(directory_on(&address.host, &parent)));
        }
        let live = change.live.and_then(|it| it.attributes.as_object());
        let mut after = live.cloned().unwrap_or_default();
        let desired = item.desired();
        // The other form of a content that is replaced.
        if desired.contains_key("content") || desired.contains_key("contentBase64") {
            after.remove("content");
            after.remove("contentBase64");
        }
        for name in item.remembered_names() {
            after.remove(*name);
        }
        after.extend(desired);
        let (conflicts, warnings) = (Vec::new(), Vec::new());
        Ok(DryRunResult { after: Value::Object(after), conflicts, warnings })
    }

    /// Creates or changes an object.
    pub(super) async fn make_change(&self, change: &Change<'_>) -> Result<Applied, RuntimeError> {
        let (address, item) = desired_item(change.desired)?;
        let connection = self.connection(&address)?;
        let managed = change.prior.map(|it| Data::of(it.runtime.as_ref()).unwrap_or_default());
        let adopted = || Data::of(change.live.and_then(|it| it.runtime.as_ref()));
        let situation = Situation {
            live: change.live.map(|it| &*it.attributes),
            remembered: managed.as_ref().map(|it| &it.remembered),
            is_managed: change.prior.is_some(),
        };
        let mut script = Script::new();
        item.apply(&mut script, situation);
        let answers = connection.change(&script).await.map_err(HostError::fault)?;
        let answer = answers.into_iter().next().unwrap_or_default();
        self.count_writes(&answer);
        check(&answer, &address, &*item)?;
        let (fields, failure) = result(&address, &*item, &answer)?;
        let desired = item.desired();
        let remembered = desired
            .into_iter()
            .filter(|(name, _)| item.remembered_names().contains(&name.as_str()))
            .collect();
        let before = match managed {
            Some(data) => data.before,
            None => adopted().and_then(|it| it.before),
        };
        let data = Data { before, remembered };
        let live = live(&change.desired.id, &address, fields, &data);
        Ok(Applied { live, warnings: Vec::new(), failure })
    }

    /// Deletes an object, or restores what was before.
    pub(super) async fn delete_object(&self, deletion: &Deletion<'_>) -> Result<(), RuntimeError> {
        let (address, item) = recorded_item(deletion.prior)?;
        let connection = self.connection(&address)?;
        let data = Data::of(deletion.prior.runtime.as_ref()).unwrap_or_default();
        let mut script = Script::new();
        item.delete(&mut script, data.before.as_ref());
        let answers = connection.change(&script).await.map_err(HostError::fault)?;
        let answer = answers.into_iter().next().unwrap_or_default();
        self.count_writes(&answer);
        if let Some(error) = answer.error() {
            return Err(RuntimeError::Invalid(error));
        }
        match address.kind {
            // Says how a command failed.
            Kind::Command => item.live(&answer).map(|_| ()),
            // Something else may be at the path of a file now: it is kept.
            _ => Ok(()),
        }
    }

    fn count_writes(&self, answer: &Answer) {
        if answer.is("wrote", "yes") {
            self.n_writes.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Returns the error of a script that only reads: nothing can be half done.
pub(super) fn read_fault(error: HostError) -> RuntimeError {
    match error {
        HostError::Unreachable(message) | HostError::Invalid(message) | HostError::Cut(message) => {
            RuntimeError::Unreachable(message)
        }
    }
}

/// Checks that a change was made.
fn check(answer: &Answer, address: &Address, item: &dyn Item) -> Result<(), RuntimeError> {
    if let Some(error) = answer.error() {
        return Err(RuntimeError::Invalid(error));
    }
    if answer.is("is", "moved") {
        return Err(RuntimeError::Moved(format!("`{}` does not exist", address.name)));
    }
    if answer.is("blocked", "parent")
        && let Some(parent) = item.parent()
    {
        return Err(RuntimeError::Missing(directory_on(&address.host, &parent)));
    }
    Ok(())
}

/// Returns the live attributes after a change, and why it failed halfway.
fn result(
    address: &Address,
    item: &dyn Item,
    answer: &Answer,
) -> Result<(Fields, Option<String>), RuntimeError> {
    if let Some(fields) = item.live(answer)? {
        return Ok((fields, None));
    }
    let (name, host) = (&address.name, &address.host);
    match address.kind {
        // It has run: it is recorded, so that it can be undone.
        Kind::Command => {
            let failure = "the check fails although the command succeeded".to_owned();
            Ok((Fields::new(), Some(failure)))
        }
        Kind::Service => {
            let message = format!("service `{name}` does not exist on host `{host}`");
            Err(RuntimeError::Invalid(message))
        }
        kind => {
            let kind = kind.name();
            let message =
                format!("{kind} `{name}` does not exist on host `{host}` after the change");
            Err(RuntimeError::Invalid(message))
        }
    }
}
