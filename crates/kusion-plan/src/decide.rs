//! Decides the action for one resource from its desired, recorded and live state.

use crate::diff::{Difference, ListRules, desired_differences, differences};
use crate::management::management_changes;
use kusion_model::markers::{REFERENCE, SEALED, SECRET, is_unknown, shown_secret};
use kusion_model::{
    Action, FieldChange, FieldPath, Identity, Note, Origins, Owner, Reason, Resource, ResourceId,
    ResourceState, Shown, Step,
};
use serde_json::Value;

/// A live object, reduced to comparable attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// Its identity.
    pub identity: Identity,
    /// Its attributes without status and server-managed fields.
    pub attributes: Value,
    /// The fingerprint of `attributes`.
    pub digest: String,
}

/// The owner of a live object, as seen by a stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Ownership {
    /// The stack itself, or nobody.
    #[default]
    Own,
    /// The stack itself, but its mark is missing.
    Unmarked,
    /// Another owner, whose object is left alone.
    Foreign(Owner),
    /// Another owner, whose object is taken over.
    TakenOver(Owner),
    /// All stacks that contain it: it is left alone.
    Shared,
}

/// Result of the dry run of a desired resource.
#[derive(Clone, Debug, PartialEq)]
pub enum DryRun {
    /// Not requested: the resource is not both desired and live.
    None,
    /// Unchanged.
    Same,
    /// The resulting object, reduced like the live object.
    After(Value),
    /// Rejected because immutable fields differ.
    Immutable {
        /// The fields, where they are known.
        fields: Vec<FieldPath>,
        /// The message of the server.
        message: String,
    },
    /// Deferred: uses values that are known only after other steps.
    Later,
}

/// Inputs of the decision for one resource: desired, recorded and live state.
#[derive(Clone, Debug)]
pub struct Facts<'a> {
    /// The resource.
    pub id: &'a ResourceId,
    /// The desired resource with plain secrets; references are resolved where their values are
    /// known.
    pub desired: Option<&'a Resource>,
    /// The desired resource with sealed secrets, for the plan.
    pub sealed: Option<Resource>,
    /// The desired resource before ignore rules were applied, if they changed it.
    pub before_ignore: Option<Resource>,
    /// Paths of desired strings whose values are known only after other steps.
    pub later: Vec<FieldPath>,
    /// The recorded state.
    pub prior: Option<&'a ResourceState>,
    /// The live object.
    pub live: Option<Observed>,
    /// The owner of the live object.
    pub ownership: Ownership,
    /// The result of its dry run.
    pub dry_run: DryRun,
    /// Paths of secret values, desired and live.
    pub secrets: Vec<FieldPath>,
    /// Notes for users.
    pub notes: Vec<Note>,
}

/// Context of decisions, shared by all resources.
pub struct Context<'a> {
    /// Source locations of desired values.
    pub origins: &'a Origins,
    /// The keyed hash of a secret value.
    pub hash: &'a (dyn Fn(&Value) -> String + Sync),
    /// Whether the stack is being destroyed.
    pub is_destroy: bool,
}

/// Decides the step for a resource; `lists` says how the items of its lists are identified. Pure
/// function. Returns `None` if the resource is neither desired nor recorded.
pub fn decide(context: &Context<'_>, facts: Facts<'_>, lists: ListRules<'_>) -> Option<Step> {
    let (action, reason) = choose(context, &facts)?;
    let mut changes = changes(context, &facts, action, lists);
    if action == Action::Update {
        let more = management_changes(context, &facts, lists, &changes);
        changes.extend(more);
    }
    let whole = FieldPath::default();
    let is_shown = action.is_change() && facts.desired.is_some();
    let origin = if is_shown { context.origins.find(facts.id, &whole) } else { None };
    let resource = facts.desired.or(facts.prior.map(|it| &it.resource))?;
    let resource_type = resource.resource_type.clone();
    let live = facts.live;
    Some(Step {
        changes,
        desired: facts.sealed,
        later: facts.later,
        identity: live
            .as_ref()
            .map(|it| it.identity.clone())
            .or_else(|| facts.prior.map(|it| it.identity.clone())),
        live_digest: live.map(|it| it.digest),
        notes: facts.notes,
        origin,
        ..Step::new(facts.id.clone(), resource_type, action, reason)
    })
}

/// Chooses the action by the recorded, desired and live state.
fn choose(context: &Context<'_>, facts: &Facts<'_>) -> Option<(Action, Reason)> {
    if facts.live.is_some()
        && let Some(decision) = leave_alone(facts)
    {
        return Some(decision);
    }
    let removed = if context.is_destroy { Reason::Destroyed } else { Reason::Removed };
    Some(match (facts.prior, facts.desired, &facts.live) {
        (None, None, _) => return None,
        (Some(prior), None, None) if prior.leftovers.is_empty() => (Action::Forget, removed),
        (Some(_), None, _) => (Action::Delete, removed),
        (None, Some(_), None) => (Action::Create, Reason::New),
        (Some(_), Some(_), None) => (Action::Create, Reason::Missing),
        (prior, Some(_), Some(live)) => match &facts.dry_run {
            DryRun::Immutable { fields, message } => (
                Action::Replace,
                Reason::Immutable { fields: fields.clone(), message: message.clone() },
            ),
            _ if prior.is_none() => (Action::Adopt, Reason::Unmanaged),
            DryRun::Same | DryRun::None => keep(prior),
            DryRun::After(after) if *after == live.attributes && !is_new(facts) => {
                match facts.ownership {
                    Ownership::Unmarked => (Action::Update, Reason::Unmarked),
                    _ => keep(prior),
                }
            }
            DryRun::After(_) | DryRun::Later => (Action::Update, Reason::Differs),
        },
    })
}

/// Returns the action for a live object that does not belong to the stack alone. An action on an
/// object of another owner is shown, and refused.
fn leave_alone(facts: &Facts<'_>) -> Option<(Action, Reason)> {
    let reason = match &facts.ownership {
        Ownership::Own | Ownership::Unmarked | Ownership::TakenOver(_) => return None,
        Ownership::Foreign(owner) => Reason::Owned { owner: owner.clone() },
        Ownership::Shared => Reason::Shared,
    };
    match (facts.desired, facts.prior, &reason) {
        (None, None, _) => None,
        (None, Some(_), _) => Some((Action::Forget, reason)),
        (Some(_), _, Reason::Shared) => Some((Action::Keep, reason)),
        (Some(_), _, _) => Some((Action::Adopt, reason)),
    }
}

/// Keeps a resource unchanged, unless an interrupted replacement left objects behind that must be
/// deleted.
fn keep(prior: Option<&ResourceState>) -> (Action, Reason) {
    match prior {
        Some(prior) if !prior.leftovers.is_empty() => (Action::Update, Reason::Leftovers),
        _ => (Action::Keep, Reason::Same),
    }
}

/// Returns whether the desired resource differs from the one last applied. If so, it is applied
/// even if no value differs, so that field ownership is updated.
fn is_new(facts: &Facts<'_>) -> bool {
    let Some(prior) = facts.prior else { return true };
    let forms = [&facts.sealed, &facts.before_ignore];
    !forms.into_iter().flatten().any(|it| is_alike(&it.attributes, &prior.resource.attributes))
}

/// Whether two values with sealed secrets are equal. A value sealed by different versions of the
/// engine has one hash, but perhaps not the same bytes.
pub fn is_alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            if let (Some(a), Some(b)) = (a.get(SEALED), b.get(SEALED)) {
                return a.get("hash") == b.get("hash");
            }
            a.len() == b.len()
                && a.iter().all(|(key, value)| b.get(key).is_some_and(|it| is_alike(value, it)))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_alike(a, b))
        }
        _ => a == b,
    }
}

fn changes(
    context: &Context<'_>,
    facts: &Facts<'_>,
    action: Action,
    lists: ListRules<'_>,
) -> Vec<FieldChange> {
    let Some(live) = &facts.live else { return Vec::new() };
    let found = match (&facts.dry_run, facts.desired) {
        (_, None) => return Vec::new(),
        _ if action == Action::Keep => return Vec::new(),
        (DryRun::After(after), _) => differences(&live.attributes, after, lists),
        (DryRun::Same, _) => return Vec::new(),
        (_, Some(desired)) => desired_differences(&live.attributes, &desired.attributes, lists),
    };
    found.into_iter().map(|it| change(context, facts, it)).collect()
}

fn change(context: &Context<'_>, facts: &Facts<'_>, found: Difference<'_>) -> FieldChange {
    // Lists may have other indexes on the two sides; a path that is secret on one side hides both.
    let paths = [&found.path, &found.old_path];
    let shown = |value: &Value| shown(context, facts, paths, value);
    FieldChange {
        before: found.before.map(shown),
        after: found.after.map(shown),
        // The path of a removed item is that of another one in the new list.
        origin: found.after.and_then(|_| context.origins.find(facts.id, &found.path)),
        label: found.label,
        path: found.path,
        management: None,
    }
}

/// Returns a value as it is shown; it is at one of the paths.
pub(crate) fn shown(
    context: &Context<'_>,
    facts: &Facts<'_>,
    paths: [&FieldPath; 2],
    value: &Value,
) -> Shown {
    let secrets = &facts.secrets;
    let [path, old_path] = paths;
    let is_secret = |secret: &FieldPath| secret.is_prefix_of(path) || secret.is_prefix_of(old_path);
    if secrets.iter().any(is_secret) {
        return Shown::Secret { hash: (context.hash)(value) };
    }
    if is_unknown(value) {
        let text = facts.desired.and_then(|it| path.find(&it.attributes)).and_then(Value::as_str);
        let text = text.filter(|it| it.contains(REFERENCE)).unwrap_or_default();
        return Shown::Later(text.to_owned());
    }
    if let Value::String(text) = value
        && facts.later.contains(path)
        && text.contains(REFERENCE)
    {
        return Shown::Later(text.clone());
    }
    let mut plain = value.clone();
    for (secret, path) in secrets.iter().flat_map(|secret| paths.map(|path| (secret, path))) {
        if !path.is_prefix_of(secret) {
            continue;
        }
        let below = FieldPath(secret.0[path.0.len()..].to_vec());
        if let Some(hidden) = below.find_mut(&mut plain).filter(|it| it.get(SECRET).is_none()) {
            *hidden = shown_secret((context.hash)(hidden));
        }
    }
    Shown::Plain(plain)
}
