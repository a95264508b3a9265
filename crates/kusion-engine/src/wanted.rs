//! What a stack wants, with its secrets in two forms.

use crate::engine::Engine;
use crate::error::EngineError;
use kusion_model::{FieldPath, Resource, ResourceId, Spec};
use kusion_secret::Redactor;
use std::collections::BTreeMap;

/// The wanted resources by id, secrets plain.
pub(crate) type Wanted = BTreeMap<ResourceId, Resource>;

/// Sorts the resources of a Spec by id.
pub(crate) fn wanted(spec: &Spec) -> Wanted {
    spec.resources.iter().map(|it| (it.id.clone(), it.clone())).collect()
}

impl Engine {
    /// Returns the paths of the secrets of a resource.
    pub(crate) fn secrets(&self, resource: &Resource) -> Result<Vec<FieldPath>, EngineError> {
        let runtime = self.runtimes.find(&resource.id, &resource.resource_type)?;
        Ok(runtime.secret_paths(&resource.attributes))
    }

    /// Returns a resource with its secrets sealed.
    pub(crate) fn sealed(&self, resource: &Resource) -> Result<Resource, EngineError> {
        let secrets = self.secrets(resource)?;
        let mut sealed = resource.clone();
        if !secrets.is_empty() {
            self.sealer.seal(&mut sealed.attributes, &secrets);
        }
        Ok(sealed)
    }

    /// Returns a resource with its secrets plain.
    pub(crate) fn unsealed(&self, resource: &Resource) -> Result<Resource, EngineError> {
        let attributes = self.sealer.unseal(&resource.attributes).map_err(|fault| {
            EngineError::Secret { id: resource.id.clone(), message: fault.to_string() }
        })?;
        Ok(Resource { attributes: attributes.into(), ..resource.clone() })
    }

    /// Returns a Spec with its secrets sealed.
    pub(crate) fn sealed_spec(&self, wanted: &Wanted) -> Result<Spec, EngineError> {
        let resources = wanted.values().map(|it| self.sealed(it)).collect::<Result<_, _>>()?;
        Ok(Spec { resources, ..Spec::default() })
    }

    /// Returns a fingerprint of the wanted resources.
    pub(crate) fn wanted_digest(&self, wanted: &Wanted) -> String {
        self.sealer.hash_of(&wanted.values().collect::<Vec<_>>())
    }

    /// Makes what hides the secrets of a stack in messages of others.
    pub(crate) fn redactor(&self, wanted: &Wanted) -> Result<Redactor, EngineError> {
        let mut secrets = Vec::new();
        for resource in wanted.values() {
            for path in self.secrets(resource)? {
                secrets.extend(path.find(&resource.attributes));
            }
        }
        Ok(Redactor::new(secrets))
    }
}
