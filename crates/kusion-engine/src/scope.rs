//! The context of one operation on one stack.

use crate::desired::Desired;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::event::Event;
use crate::log::EventLog;
use crate::policies::StackPolicies;
use crate::stack::Stack;
use kusion_model::{
    Description, FieldPath, Infrastructure, InfrastructureId, Resource, ResourceId, ResourceState,
    ResourceType, RuntimeData, Spec, StackKey, StackOwner, StackSource, Warning,
};
use kusion_runtime::Runtime;
use kusion_secret::{Owner, Redactor};
use kusion_store::StackState;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The context of one operation on one stack: its runtimes and its events.
pub(crate) struct Scope {
    pub(crate) engine: Engine,
    pub(crate) key: StackKey,
    /// Where its files come from, the most specific first.
    pub(crate) sources: Vec<StackSource>,
    /// The ids of its only infrastructures, by the type of resources.
    pins: BTreeMap<ResourceType, String>,
    /// Its policies.
    pub(crate) policies: Option<StackPolicies>,
    /// The stack as the owner of its objects.
    pub(crate) owner: StackOwner,
    pub(crate) log: Arc<EventLog>,
    runtimes: BTreeMap<ResourceType, Arc<dyn Runtime>>,
    /// The identities of the infrastructures of these runtimes.
    pub(crate) infrastructure: Infrastructure,
    /// Hides the secrets of the stack in messages.
    pub(crate) redactor: Redactor,
}

impl Scope {
    /// Creates the context of an operation, without runtimes.
    pub(crate) fn new(stack: &Stack, log: Arc<EventLog>) -> Self {
        let (engine, key) = (stack.engine.clone(), stack.key().clone());
        let (sources, pins) = (stack.sources.clone(), stack.pins.clone());
        let policies = stack.policies.clone();
        let (runtimes, infrastructure) = (BTreeMap::new(), Infrastructure::new());
        let redactor = log.redactor().clone();
        let owner = StackOwner::new(key.clone(), "");
        Self {
            engine,
            key,
            sources,
            pins,
            policies,
            owner,
            log,
            runtimes,
            infrastructure,
            redactor,
        }
    }

    /// Starts the runtimes for resource types, and identifies their infrastructures.
    pub(crate) async fn start(&mut self, types: TypesInUse) -> Result<(), EngineError> {
        self.owner.store = self.engine.store.id().await?.unwrap_or_default();
        for (resource_type, id) in types {
            if self.runtimes.contains_key(&resource_type) {
                continue;
            }
            let runtime = self.engine.runtimes.start(&self.owner, &resource_type).await?;
            let Some(runtime) = runtime else {
                return Err(EngineError::NoRuntime { id, resource_type });
            };
            let identity = runtime.identity().await?;
            self.check_pin(&resource_type, &identity)?;
            self.infrastructure.insert(resource_type.clone(), identity);
            self.runtimes.insert(resource_type, runtime);
        }
        Ok(())
    }

    /// Checks that the stack may be deployed to an infrastructure.
    fn check_pin(
        &self,
        resource_type: &ResourceType,
        found: &InfrastructureId,
    ) -> Result<(), EngineError> {
        match self.pins.get(resource_type) {
            Some(pinned) if *pinned != found.id && !self.key.place.is_temporary() => {
                Err(EngineError::Pinned {
                    stack: Box::new(self.key.clone()),
                    pinned: pinned.clone(),
                    found: Box::new(found.clone()),
                })
            }
            _ => Ok(()),
        }
    }

    /// Starts the runtimes for the desired and recorded resources, and lets them prepare for these.
    pub(crate) async fn start_for(
        &mut self,
        state: &StackState,
        desired: &Desired,
    ) -> Result<(), EngineError> {
        self.start(types_in_use(state, desired)).await?;
        for (resource_type, runtime) in &self.runtimes {
            let resources = resources_of(resource_type, state, desired);
            runtime.prepare(&resources).await?;
        }
        Ok(())
    }

    /// Checks that the stack is on the infrastructure that its state names. If a temporary
    /// infrastructure was replaced, its resources are removed from the state; returns these
    /// infrastructures as they are now.
    pub(crate) fn check_place(
        &self,
        state: &mut StackState,
        relocate: bool,
    ) -> Result<Infrastructure, EngineError> {
        let moved: Infrastructure = self
            .infrastructure
            .iter()
            .filter(|(name, now)| {
                state.infrastructure.get(*name).is_some_and(|recorded| !recorded.is_same(now))
            })
            .map(|(name, now)| (name.clone(), now.clone()))
            .collect();
        if self.key.place.is_temporary() {
            for name in moved.keys() {
                state.forget(name);
            }
            return Ok(moved);
        }
        match moved.into_iter().next().filter(|_| !relocate) {
            None => Ok(Infrastructure::new()),
            Some((resource_type, found)) => Err(EngineError::OtherInfrastructure {
                recorded: Box::new(state.infrastructure[&resource_type].clone()),
                found: Box::new(found),
                resource_type,
            }),
        }
    }

    /// Returns the infrastructures that differ from the recorded ones.
    pub(crate) fn news(&self, state: &StackState) -> Infrastructure {
        self.infrastructure
            .iter()
            .filter(|(name, now)| match state.infrastructure.get(*name) {
                // An address says less than a recorded id.
                Some(recorded) if now.is_by_address() => !recorded.is_same(now),
                recorded => recorded != Some(*now),
            })
            .map(|(name, now)| (name.clone(), now.clone()))
            .collect()
    }

    /// Returns the runtime of a resource.
    pub(crate) fn runtime(
        &self,
        id: &ResourceId,
        resource_type: &ResourceType,
    ) -> Result<&Arc<dyn Runtime>, EngineError> {
        self.runtimes.get(resource_type).ok_or_else(|| EngineError::NoRuntime {
            id: id.clone(),
            resource_type: resource_type.clone(),
        })
    }

    /// Returns all runtimes with their types.
    pub(crate) fn runtimes(&self) -> impl Iterator<Item = (&ResourceType, &Arc<dyn Runtime>)> {
        self.runtimes.iter()
    }

    /// Returns the static properties of a resource.
    pub(crate) fn describe(&self, resource: &Resource) -> Description {
        let runtime = self.runtimes.get(&resource.resource_type);
        runtime.map(|it| it.describe(resource)).unwrap_or_default()
    }

    /// Returns what seals the secrets of a resource.
    pub(crate) fn secret_owner<'a>(&'a self, resource: &'a ResourceId) -> Owner<'a> {
        Owner { stack: &self.key, resource }
    }

    /// Returns a resource with its secrets sealed.
    pub(crate) fn sealed(&self, resource: &Resource) -> Result<Resource, EngineError> {
        let secrets = self.secrets(resource)?;
        let mut sealed = resource.clone();
        if !secrets.is_empty() {
            let owner = self.secret_owner(&resource.id);
            self.engine.sealer.seal(&mut sealed.attributes, &secrets, owner);
        }
        Ok(sealed)
    }

    /// Returns a resource with its secrets plain.
    pub(crate) fn unsealed(&self, resource: &Resource) -> Result<Resource, EngineError> {
        let owner = self.secret_owner(&resource.id);
        let attributes = self.engine.sealer.unseal(&resource.attributes, owner);
        let attributes = attributes.map_err(|fault| EngineError::Secret {
            id: resource.id.clone(),
            message: fault.to_string(),
        })?;
        Ok(Resource { attributes: attributes.into(), ..resource.clone() })
    }

    /// Returns the private data of a runtime as it is stored in a state.
    pub(crate) fn sealed_data(&self, id: &ResourceId, data: RuntimeData) -> RuntimeData {
        if !data.is_secret {
            return data;
        }
        let mut value = data.value;
        self.engine.sealer.seal_whole(&mut value, &runtime_path(), self.secret_owner(id));
        RuntimeData { value, ..data }
    }

    /// Returns the state of a resource with plain private data, for its runtime. Data whose key is
    /// lost is left out.
    pub(crate) fn prior_for_runtime(&self, state: &ResourceState) -> ResourceState {
        let mut state = state.clone();
        let id = state.resource.id.clone();
        let leftovers = state.leftovers.iter_mut().map(|it| &mut it.runtime);
        for slot in std::iter::once(&mut state.runtime).chain(leftovers) {
            let Some(data) = slot.as_mut().filter(|it| it.is_secret) else { continue };
            let owner = self.secret_owner(&id);
            match self.engine.sealer.unseal_whole(&data.value, &runtime_path(), owner) {
                Ok(plain) => data.value = plain,
                Err(fault) => {
                    let message = fault.to_string();
                    self.warn_unreadable(&id, &EngineError::Secret { id: id.clone(), message });
                    *slot = None;
                }
            }
        }
        state
    }

    /// Warns that the secrets of a resource cannot be read.
    pub(crate) fn warn_unreadable(&self, id: &ResourceId, error: &EngineError) {
        let (reason, message) = ("SecretUnreadable".to_owned(), error.to_string());
        let warning = Warning { reason, message, since: None };
        self.log.emit(Event::Warning { id: id.clone(), object: None, warning });
    }

    /// Does the same for all resources of a state; copies nothing if nothing is sealed.
    pub(crate) fn priors_for_runtimes<'a>(
        &self,
        states: &'a BTreeMap<ResourceId, ResourceState>,
    ) -> Cow<'a, BTreeMap<ResourceId, ResourceState>> {
        let is_secret = |it: &ResourceState| it.runtime.as_ref().is_some_and(|it| it.is_secret);
        if !states.values().any(is_secret) {
            return Cow::Borrowed(states);
        }
        let plain = states.iter().map(|(id, it)| (id.clone(), self.prior_for_runtime(it)));
        Cow::Owned(plain.collect())
    }

    /// Returns a Spec with its secrets sealed.
    pub(crate) fn sealed_spec(&self, desired: &Desired) -> Result<Spec, EngineError> {
        let resources = desired.values().map(|it| self.sealed(it)).collect::<Result<_, _>>()?;
        Ok(Spec { resources, ..Spec::default() })
    }

    /// Returns a fingerprint of the desired resources.
    pub(crate) fn desired_digest(&self, desired: &Desired) -> String {
        self.engine.sealer.hash_of(&desired.values().collect::<Vec<_>>())
    }
}

/// Resource types, each with an example resource.
pub(crate) type TypesInUse = BTreeMap<ResourceType, ResourceId>;

/// Returns the types of all desired, recorded and pending resources.
fn types_in_use(state: &StackState, desired: &Desired) -> TypesInUse {
    let mut types = TypesInUse::new();
    let mut add = |resource: &Resource| {
        if !types.contains_key(&resource.resource_type) {
            types.insert(resource.resource_type.clone(), resource.id.clone());
        }
    };
    desired.values().for_each(&mut add);
    state.resources.values().for_each(|it| add(&it.resource));
    state.pending.iter().filter_map(|it| it.desired.as_deref()).for_each(&mut add);
    types
}

/// Returns the desired and recorded resources of a type, each once.
fn resources_of<'a>(
    resource_type: &ResourceType,
    state: &'a StackState,
    desired: &'a Desired,
) -> Vec<&'a Resource> {
    let recorded = state.resources.values().map(|it| &it.resource);
    desired
        .values()
        .chain(recorded.filter(|it| !desired.contains_key(&it.id)))
        .filter(|it| it.resource_type == *resource_type)
        .collect()
}

/// The path under which private data of a runtime is sealed.
fn runtime_path() -> FieldPath {
    FieldPath::default().key("$runtime")
}
