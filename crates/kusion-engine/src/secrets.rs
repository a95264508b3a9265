//! Which values are secret, and how messages hide them.
//!
//! A value is secret because its runtime says so, because its resource marks it, or because a
//! reference fills it from a secret value. The last becomes a mark, too, so that states, releases
//! and saved plans know it.

use crate::desired::Desired;
use crate::error::EngineError;
use crate::observe::LiveObjects;
use crate::scope::Scope;
use kusion_model::{FieldPath, Health, Resource, ResourceId, ResourceState};
use kusion_secret::Redactor;
use kusion_store::StackState;
use serde_json::Value;
use std::borrow::Cow;

/// Texts of at least this length are found inside longer ones; shorter ones only as whole values.
const SEARCHED: usize = 8;

impl Scope {
    /// Returns the paths of the secrets of a resource.
    pub(crate) fn secrets(&self, resource: &Resource) -> Result<Vec<FieldPath>, EngineError> {
        self.secrets_in(resource, &resource.attributes)
    }

    /// Returns the paths of the secrets in attributes of a resource, such as those of its live
    /// object.
    pub(crate) fn secrets_in(
        &self,
        resource: &Resource,
        attributes: &Value,
    ) -> Result<Vec<FieldPath>, EngineError> {
        let runtime = self.runtime(&resource.id, &resource.resource_type)?;
        let mut paths = runtime.secret_paths(resource, attributes);
        paths.extend(resource.secret_patterns().iter().flat_map(|it| it.find(attributes)));
        paths.sort();
        paths.dedup();
        Ok(paths)
    }

    /// Returns whether the value at a path of a resource is secret or contains a secret.
    pub(crate) fn is_secret(&self, resource: &Resource, path: &FieldPath) -> bool {
        let runtime = self.runtime(&resource.id, &resource.resource_type);
        runtime.is_ok_and(|it| it.is_secret_path(resource, path))
            || resource.secret_patterns().iter().any(|it| it.overlaps(path))
    }

    /// Learns the secrets of a stack: desired, live and recorded ones, so that messages can hide
    /// them.
    pub(crate) fn learn_secrets(
        &self,
        desired: &Desired,
        live: &LiveObjects,
        state: &StackState,
    ) -> Result<(), EngineError> {
        for resource in desired.values() {
            self.learn(resource, &resource.attributes)?;
        }
        for (id, object) in live {
            let recorded = state.resources.get(id).map(|it| &it.resource);
            if let Some(resource) = desired.get(id).or(recorded) {
                self.learn(resource, &object.attributes)?;
            }
        }
        for state in state.resources.values().filter(|it| !it.secrets.is_empty()) {
            // A secret of a lost key cannot be read, so no message can contain it by us.
            if let Ok(plain) = self.unsealed(&state.resource) {
                self.learn(&plain, &plain.attributes)?;
            }
        }
        Ok(())
    }

    /// Learns the secrets in attributes of a resource.
    pub(crate) fn learn(&self, resource: &Resource, attributes: &Value) -> Result<(), EngineError> {
        let paths = self.secrets_in(resource, attributes)?;
        let values = paths.iter().filter_map(|path| path.find(attributes));
        self.redactor.learn(resource.id.as_str(), values);
        Ok(())
    }

    /// Returns a message about a resource without secrets.
    pub(crate) fn hide(&self, id: &ResourceId, text: &str) -> String {
        self.redactor.redact_about(id.as_str(), text)
    }

    /// Returns the paths in a live object, or in the result of a dry run, that contain a value
    /// which the desired or the recorded resource marks as secret: items of lists may have moved.
    pub(crate) fn moved_secrets(
        &self,
        desired: Option<&Resource>,
        prior: Option<&ResourceState>,
        objects: &[&Value],
    ) -> Vec<FieldPath> {
        let recorded = prior.filter(|it| !it.resource.secret_patterns().is_empty());
        let recorded = recorded.and_then(|it| self.unsealed(&it.resource).ok());
        let mut texts = Vec::new();
        for resource in desired.into_iter().chain(&recorded) {
            for pattern in resource.secret_patterns() {
                let paths = pattern.find(&resource.attributes);
                texts.extend(paths.iter().filter_map(|it| it.find(&resource.attributes)?.as_str()));
            }
        }
        texts.retain(|it| !it.is_empty());
        if texts.is_empty() {
            return Vec::new();
        }
        let is_match = |text: &str| {
            let has = |it: &&str| text == *it || it.len() >= SEARCHED && text.contains(*it);
            texts.iter().any(has)
        };
        objects.iter().flat_map(|object| FieldPath::of_strings(object, &is_match)).collect()
    }
}

/// Hides secrets in a text.
pub(crate) fn hide(redactor: &Redactor, text: &mut String) {
    if let Cow::Owned(hidden) = redactor.redact(text) {
        *text = hidden;
    }
}

/// Hides secrets in the texts of a health.
pub(crate) fn hide_health(redactor: &Redactor, health: &mut Health) {
    hide(redactor, &mut health.message);
    health.reason.iter_mut().for_each(|it| hide(redactor, it));
    for warning in &mut health.warnings {
        hide(redactor, &mut warning.message);
    }
}
