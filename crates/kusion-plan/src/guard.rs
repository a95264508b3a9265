//! What a plan must not do without being told so.

use crate::order::is_match;
use kusion_model::{Action, Operation, Plan, ResourceId, ResourceState, Step};
use serde_json::Value;
use std::collections::BTreeMap;

/// What a plan may do.
#[derive(Clone, Debug)]
pub struct Guards {
    /// Whether a plan may delete many resources at once.
    pub allow_mass_delete: bool,
    /// The share of the known resources, in percent, above which a deletion is a mass deletion.
    pub mass_delete_percent: usize,
    /// Kinds that are not deleted or replaced without being named.
    pub protected_kinds: Vec<String>,
    /// Kinds, or patterns of ids, that may be deleted although they are protected.
    pub allowed: Vec<String>,
}

impl Default for Guards {
    fn default() -> Self {
        let kinds = ["CustomResourceDefinition", "PersistentVolume", "PersistentVolumeClaim"];
        Self {
            allow_mass_delete: false,
            mass_delete_percent: 50,
            protected_kinds: kinds.map(str::to_owned).to_vec(),
            allowed: Vec::new(),
        }
    }
}

/// Deletions below this number are never a mass deletion.
const FEW: usize = 5;

/// What a guard refuses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A resource says that it must not be deleted.
    #[error(
        "{id} is marked `kusion.io/prevent-destroy` and would be {verb}; remove the mark first"
    )]
    PreventDestroy {
        /// The resource.
        id: ResourceId,
        /// What would happen to it.
        verb: &'static str,
    },
    /// Resources of this kind hold data.
    #[error(
        "{id} would be {verb}, and a {kind} is protected; allow it with `--allow-delete {kind}`"
    )]
    Protected {
        /// The resource.
        id: ResourceId,
        /// Its kind.
        kind: String,
        /// What would happen to it.
        verb: &'static str,
    },
    /// Somebody else made it.
    #[error(
        "{id} exists, this stack does not own it, and it would be deleted and made again; \
         allow it with `--allow-delete {id}`"
    )]
    Foreign {
        /// The resource.
        id: ResourceId,
    },
    /// A large share would go.
    #[error(
        "{count} of {known} resources would be deleted or replaced, more than {percent} %; \
         allow it with `--allow-mass-delete`"
    )]
    MassDelete {
        /// How many.
        count: usize,
        /// Of how many.
        known: usize,
        /// The limit.
        percent: usize,
    },
}

/// Says what of a plan must not be done. Pure.
pub fn refusals(
    plan: &Plan,
    prior: &BTreeMap<ResourceId, ResourceState>,
    guards: &Guards,
) -> Vec<Refusal> {
    let mut found = Vec::new();
    let mut count = 0;
    for step in &plan.steps {
        let verb = match step.action {
            Action::Delete => "deleted",
            Action::Replace => "replaced",
            _ => continue,
        };
        count += 1;
        let known = prior.get(&step.id).map(|it| &it.resource);
        if [known, step.desired.as_ref()].into_iter().flatten().any(|it| {
            is_marked(&it.extensions.get("kusion.io/prevent-destroy"))
                || is_marked(
                    &it.attributes.pointer("/metadata/annotations/kusion.io~1prevent-destroy"),
                )
        }) {
            found.push(Refusal::PreventDestroy { id: step.id.clone(), verb });
        } else if let Some(kind) = protected_kind(step, prior, guards) {
            found.push(Refusal::Protected { id: step.id.clone(), kind, verb });
        } else if known.is_none() && !guards.allowed.iter().any(|it| is_match(it, step.id.as_str()))
        {
            found.push(Refusal::Foreign { id: step.id.clone() });
        }
    }
    let percent = guards.mass_delete_percent;
    let is_mass = count >= FEW && count * 100 > prior.len() * percent;
    if plan.operation != Operation::Destroy && is_mass && !guards.allow_mass_delete {
        found.push(Refusal::MassDelete { count, known: prior.len(), percent });
    }
    found
}

fn is_marked(value: &Option<&Value>) -> bool {
    value.is_some_and(|it| *it == Value::Bool(true) || it == "true")
}

fn protected_kind(
    step: &Step,
    prior: &BTreeMap<ResourceId, ResourceState>,
    guards: &Guards,
) -> Option<String> {
    let resource = prior.get(&step.id).map(|it| &it.resource).or(step.desired.as_ref())?;
    let kind = resource.attributes.get("kind")?.as_str()?;
    let is_protected = guards.protected_kinds.iter().any(|it| it == kind);
    let is_allowed = guards.allowed.iter().any(|it| it == kind || is_match(it, step.id.as_str()));
    (is_protected && !is_allowed).then(|| kind.to_owned())
}
