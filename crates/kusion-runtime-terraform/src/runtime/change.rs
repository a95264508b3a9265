//! Plans and makes changes.

use super::read::Current;
use super::{Managed, TerraformRuntime, fault, plain};
use crate::Diagnostic;
use crate::change::{changed_paths, check_applied, check_planned, proposed_new};
use crate::config::{configuration, field_path};
use crate::error::ProviderError;
use crate::provider::{ApplyInput, PlanInput, Planned};
use bytes::Bytes;
use kusion_cty::Value;
use kusion_model::FieldPath;
use kusion_runtime::{Applied, Change, Deletion, DryRunResult, RuntimeError};

/// A plan without values that become known later.
pub(super) struct MadePlan {
    now: Current,
    config: Value,
    planned: Planned,
    warnings: Vec<String>,
}

/// A change with everything that a provider wants to know about it.
struct Prepared {
    managed: Managed,
    /// The object so far; null if it is created.
    now: Current,
    config: Value,
    planned: Planned,
    warnings: Vec<String>,
}

impl TerraformRuntime {
    /// Plans a change without making it.
    pub(super) async fn plan_change(
        &self,
        change: Change<'_>,
    ) -> Result<DryRunResult, RuntimeError> {
        let prepared = self.prepare_change(&change).await?;
        let after = plain(&prepared.planned.state);
        let warnings = prepared.warnings.clone();
        if change.unknown.is_empty() {
            let Prepared { now, config, planned, warnings, .. } = prepared;
            let made = MadePlan { now, config, planned, warnings };
            self.plans().insert(change.desired.id.clone(), made);
        }
        Ok(DryRunResult { after, conflicts: Vec::new(), warnings })
    }

    /// Plans a change with all values known, and makes it.
    pub(super) async fn make_change(&self, change: Change<'_>) -> Result<Applied, RuntimeError> {
        let id = &change.desired.id;
        let prepared = match self.plan_made_before(&change).await? {
            Some(prepared) => prepared,
            None => self.prepare_change(&change).await?,
        };
        let Prepared { managed, now, config, planned, mut warnings } = prepared;
        let is_new = now.state.is_null();
        if !is_new && planned.state == now.state {
            let live = managed.live(id, &now).map_err(fault)?;
            return Ok(Applied { live, warnings, failure: None });
        }
        let applied = managed
            .provider
            .apply(ApplyInput {
                type_name: &managed.type_name,
                schema: &managed.schema,
                prior: &now.state,
                planned: &planned.state,
                config: &config,
                private: &planned.private,
            })
            .await
            .map_err(|error| change_fault(&error, is_new))?;
        let mut failures: Vec<String> = texts(&applied.findings, true);
        warnings.extend(texts(&applied.findings, false));
        if applied.state.is_null() {
            failures.push("the provider returned no object".to_owned());
            return Err(RuntimeError::Invalid(failures.join("; ")));
        }
        if failures.is_empty() && !applied.is_legacy {
            failures = check_applied(&managed.schema.block, &planned.state, &applied.state);
            if !failures.is_empty() {
                let provider = managed.provider.name();
                failures.insert(0, format!("the provider `{provider}` did not do what it planned"));
            }
        }
        let is_failed = !failures.is_empty();
        let state = known(applied.state, &now.state);
        let now = Current { state, private: applied.private, is_tainted: is_new && is_failed };
        let live = managed.live(id, &now).map_err(fault)?;
        Ok(Applied { live, warnings, failure: is_failed.then(|| failures.join("; ")) })
    }

    /// Returns what a change starts from: its provider, its configuration and the object so far.
    async fn inputs(&self, change: &Change<'_>) -> Result<(Managed, Value, Current), RuntimeError> {
        let managed = self.managed(change.desired).await?;
        let unknown = change.unknown;
        let config = configuration(&managed.schema.block, &change.desired.attributes, unknown);
        let config = config.map_err(RuntimeError::Rejected)?;
        let now = match (change.live, change.prior) {
            (Some(live), _) => managed.known(live.runtime.as_ref()),
            (None, Some(prior)) => managed.recorded(change.desired, prior.runtime.as_ref()).await?,
            (None, None) => None,
        };
        Ok((managed, config, now.unwrap_or_default()))
    }

    /// Returns the plan that this process made for a change, if it starts from the same
    /// configuration and the same object.
    async fn plan_made_before(
        &self,
        change: &Change<'_>,
    ) -> Result<Option<Prepared>, RuntimeError> {
        let made = self.plans().remove(&change.desired.id);
        let Some(made) = made else { return Ok(None) };
        let (managed, config, now) = self.inputs(change).await?;
        if config != made.config || now != made.now {
            return Ok(None);
        }
        let MadePlan { planned, warnings, .. } = made;
        Ok(Some(Prepared { managed, now, config, planned, warnings }))
    }

    async fn prepare_change(&self, change: &Change<'_>) -> Result<Prepared, RuntimeError> {
        let (managed, config, now) = self.inputs(change).await?;
        let checked = managed.provider.check_resource(&managed.type_name, &managed.schema, &config);
        let mut warnings = texts(&checked.await.map_err(fault)?, false);
        if now.is_tainted {
            let message = "its creation failed halfway".to_owned();
            return Err(RuntimeError::Immutable { fields: Vec::new(), message });
        }
        let planned = managed.plan(&now, &config).await?;
        let fields = changed_paths(&planned.requires_replace, &now.state, &planned.state);
        if !now.state.is_null() && !fields.is_empty() {
            let fields: Vec<FieldPath> = fields.iter().map(field_path).collect();
            let message = "the provider cannot change them in place".to_owned();
            return Err(RuntimeError::Immutable { fields, message });
        }
        warnings.extend(texts(&planned.warnings, false));
        Ok(Prepared { managed, now, config, planned, warnings })
    }

    /// Deletes an object.
    pub(super) async fn delete_object(&self, deletion: Deletion<'_>) -> Result<(), RuntimeError> {
        let resource = &deletion.prior.resource;
        let managed = self.managed(resource).await?;
        let now = match deletion.live {
            Some(live) => managed.known(live.runtime.as_ref()),
            None => managed.recorded(resource, deletion.prior.runtime.as_ref()).await?,
        };
        let Some(now) = now else { return Ok(()) };
        let schemas = managed.provider.schemas().await.map_err(fault)?;
        let private = if schemas.plans_destroy {
            managed.plan(&now, &Value::Null).await?.private
        } else {
            now.private.clone()
        };
        let applied = managed
            .provider
            .apply(ApplyInput {
                type_name: &managed.type_name,
                schema: &managed.schema,
                prior: &now.state,
                planned: &Value::Null,
                config: &Value::Null,
                private: &private,
            })
            .await
            .map_err(|error| change_fault(&error, false))?;
        let failures = texts(&applied.findings, true);
        if !failures.is_empty() {
            return Err(RuntimeError::Invalid(failures.join("; ")));
        }
        if !applied.state.is_null() {
            return Err(RuntimeError::Invalid("the provider did not delete it".to_owned()));
        }
        Ok(())
    }
}

impl Managed {
    /// Plans a change, and checks that the plan follows the configuration.
    async fn plan(&self, now: &Current, config: &Value) -> Result<Planned, RuntimeError> {
        let proposed = proposed_new(&self.schema.block, &now.state, config);
        let private = if now.state.is_null() { Bytes::new() } else { now.private.clone() };
        let planned = self.provider.plan(PlanInput {
            type_name: &self.type_name,
            schema: &self.schema,
            prior: &now.state,
            proposed: &proposed,
            config,
            private: &private,
        });
        let planned = planned.await.map_err(fault)?;
        let found = check_planned(&self.schema.block, &now.state, config, &planned.state);
        match found.as_slice() {
            [] => Ok(planned),
            found if planned.is_legacy => {
                let provider = self.provider.name();
                tracing::debug!(target: "terraform_provider", provider, "{}", found.join("; "));
                Ok(planned)
            }
            found => {
                let provider = self.provider.name();
                let found = found.join("; ");
                let message = format!("the provider `{provider}` made an invalid plan: {found}");
                Err(RuntimeError::Invalid(message))
            }
        }
    }
}

/// Returns the error of a call that may have changed something. Whether an object was created cannot
/// be determined.
fn change_fault(error: &ProviderError, is_new: bool) -> RuntimeError {
    let message = error.to_string();
    match (error.is_ambiguous(), is_new) {
        (true, true) => RuntimeError::Ambiguous(message),
        (true, false) => RuntimeError::Transient { message, retry_after_ms: None },
        (false, _) => RuntimeError::Invalid(message),
    }
}

/// Returns a state in which nothing is unknown: a call that failed halfway may leave parts open.
fn known(state: Value, prior: &Value) -> Value {
    match state {
        Value::Unknown(_) => Value::Null,
        Value::Map(fields) => Value::Map(
            fields
                .into_iter()
                .map(|(name, value)| {
                    let value = known(value, prior.get(&name));
                    (name, value)
                })
                .collect(),
        ),
        Value::List(items) => {
            Value::List(items.into_iter().map(|it| known(it, &Value::Null)).collect())
        }
        Value::Typed(mut typed) => {
            typed.value = known(typed.value, prior);
            Value::Typed(typed)
        }
        value => value,
    }
}

fn texts(found: &[Diagnostic], is_error: bool) -> Vec<String> {
    found.iter().filter(|it| it.is_error == is_error).map(ToString::to_string).collect()
}
