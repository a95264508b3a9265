//! `ResourceQuota`: what a namespace may use, checked at the door and counted behind it.

mod usage;

use super::admit::{Operation, Review, list};
use crate::controllers::kind::Kind;
use crate::controllers::meta::{self, items, text};
use crate::controllers::task::Key;
use crate::controllers::world::{MANAGER, World};
use crate::pods::resources::Amounts;
use crate::{Api, Status, Write};
use kusion_k8s_schema::Quantity;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// How often a count is tried again when others count at the same time.
const ATTEMPTS: usize = 20;

/// Refuses an object that a quota has no room for; notes its use otherwise.
pub(super) fn check(api: &Api, review: &Review<'_>, object: &Value) -> Result<(), Status> {
    if review.namespace.is_empty() || !usage::is_charged(review, object) {
        return Ok(());
    }
    for _ in 0..ATTEMPTS {
        let quotas = list(api, Kind::ResourceQuota, review.namespace);
        if quotas.is_empty() {
            return Ok(());
        }
        match charge(api, review, object, &quotas) {
            Err(status) if status.is_conflict() => {}
            result => return result,
        }
    }
    Err(Status::internal("resource quota evaluation timed out"))
}

fn charge(
    api: &Api,
    review: &Review<'_>,
    object: &Value,
    quotas: &[Arc<Value>],
) -> Result<(), Status> {
    let mut wanted = usage::of(review.resource, object);
    if let Some(old) = review.old.filter(|_| review.operation == Operation::Update) {
        for (name, amount) in usage::of(review.resource, old) {
            if let Some(slot) = wanted.get_mut(&name) {
                *slot = slot.minus(amount);
            }
        }
    }
    wanted.retain(|_, amount| !amount.is_zero() && !amount.is_negative());
    let mut writes = Vec::new();
    for quota in quotas {
        if !usage::covers(quota, review.resource, object) {
            continue;
        }
        usage::check_constraints(review, quota, object)?;
        let hard = amounts(&quota["status"]["hard"]);
        let used = amounts(&quota["status"]["used"]);
        let known = usage::matching(review.resource, &hard);
        if known.iter().any(|it| !used.contains_key(*it)) || quota["status"]["hard"].is_null() {
            let spec = amounts(&quota["spec"]["hard"]);
            let names: Vec<&str> = usage::matching(review.resource, &spec);
            if !names.is_empty() {
                let why = format!(
                    "status unknown for quota: {}, resources: {}",
                    meta::name(quota),
                    names.join(",")
                );
                return Err(review.forbid(&why));
            }
        }
        let requested: Amounts = wanted
            .iter()
            .filter(|(name, _)| hard.contains_key(*name))
            .map(|(name, amount)| (name.clone(), *amount))
            .collect();
        if requested.is_empty() {
            continue;
        }
        writes.push(add_use(review, quota, &requested, &hard, used)?);
    }
    if review.dry_run {
        return Ok(());
    }
    for quota in writes {
        let write = Write { manager: MANAGER, subresource: "status", ..Write::default() };
        let name = meta::name(&quota).to_owned();
        api.update(Kind::ResourceQuota.resource(), review.namespace, &name, quota, &write)?;
    }
    Ok(())
}

/// The quota with its use raised; a refusal when there is no room.
fn add_use(
    review: &Review<'_>,
    quota: &Value,
    requested: &Amounts,
    hard: &Amounts,
    mut used: Amounts,
) -> Result<Value, Status> {
    let zero = Quantity::ZERO;
    let exceeded: Vec<&String> = requested
        .iter()
        .filter(|(name, amount)| {
            used.get(*name).copied().unwrap_or(zero).plus(**amount) > hard[*name]
        })
        .map(|(name, _)| name)
        .collect();
    if !exceeded.is_empty() {
        let print = |amounts: &Amounts| {
            let parts: Vec<String> = exceeded
                .iter()
                .map(|it| format!("{it}={}", amounts.get(*it).copied().unwrap_or(zero)))
                .collect();
            parts.join(",")
        };
        return Err(review.forbid(&format!(
            "exceeded quota: {}, requested: {}, used: {}, limited: {}",
            meta::name(quota),
            print(requested),
            print(&used),
            print(hard)
        )));
    }
    for (name, amount) in requested {
        let slot = used.entry(name.clone()).or_insert(zero);
        *slot = slot.plus(*amount);
    }
    let mut quota = quota.clone();
    quota["status"]["used"] = to_value(&used);
    Ok(quota)
}

/// Counts what a namespace uses and writes it to the status of a quota.
pub(crate) fn sync(world: &mut World, key: &Key) -> Result<(), Status> {
    let Some(quota) = world.get(Kind::ResourceQuota, key.namespace(), key.name()) else {
        return Ok(());
    };
    let hard = amounts(&quota["spec"]["hard"]);
    let mut used: Amounts = hard.keys().map(|it| (it.clone(), Quantity::ZERO)).collect();
    for (kind, stored) in world.cache.content(key.namespace()) {
        let resource = world.cache.resource(kind);
        let object = if usage::is_measured(resource) { stored.value() } else { Arc::default() };
        if !usage::covers(&quota, resource, &object) {
            continue;
        }
        for (name, amount) in usage::of(resource, &object) {
            if let Some(slot) = used.get_mut(&name) {
                *slot = slot.plus(amount);
            }
        }
    }
    let mut status = quota["status"].clone();
    if !status.is_object() {
        status = json!({});
    }
    status["hard"] = quota["spec"]["hard"].clone();
    status["used"] = to_value(&used);
    if amounts(&quota["status"]["used"]) == used && quota["status"]["hard"] == status["hard"] {
        return Ok(());
    }
    world.update_status(Kind::ResourceQuota, &quota, status)
}

fn amounts(value: &Value) -> Amounts {
    value
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| Quantity::of(value).map(|it| (name.clone(), it)))
        .collect()
}

fn to_value(amounts: &Amounts) -> Value {
    let map: Map<String, Value> =
        amounts.iter().map(|(name, amount)| (name.clone(), amount.to_string().into())).collect();
    Value::Object(map)
}

/// The scopes of a quota as requirements (`scopeName`, `operator`, `values`).
fn scopes(quota: &Value) -> Vec<Value> {
    let plain = items(&quota["spec"]["scopes"])
        .iter()
        .map(|it| json!({"scopeName": text(it), "operator": "Exists"}));
    plain
        .chain(items(&quota["spec"]["scopeSelector"]["matchExpressions"]).iter().cloned())
        .collect()
}
