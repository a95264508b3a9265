//! Which families of addresses a service uses, on a cluster that has IPv4 only.

use crate::Cause;
use crate::controllers::meta::{items, text};
use serde_json::{Value, json};

const POLICY: &str = "spec.ipFamilyPolicy";
const SINGLE: &str = "SingleStack";
const DUAL: &str = "RequireDualStack";

/// Sets policy and families where they are missing; returns what cannot be had.
pub(super) fn init(spec: &mut Value, old: Option<&Value>) -> Result<(), Vec<Cause>> {
    if text(&spec["type"]) == "ExternalName" || prefers_as_before(spec, old) {
        return Ok(());
    }
    set_policy(spec, old);
    let causes = crate::validate::service_addresses(spec, old);
    if !causes.is_empty() {
        return Err(causes);
    }
    check_policy(spec, old)?;
    if text(&spec["clusterIP"]) == "None" && is_selectorless(spec) {
        set_both(spec);
        return Ok(());
    }
    check_configured(spec)?;
    if items(&spec["ipFamilies"]).is_empty() {
        spec["ipFamilies"] = json!(["IPv4"]);
    }
    Ok(())
}

/// Whether nothing changes for a service that takes what it can get.
fn prefers_as_before(spec: &Value, old: Option<&Value>) -> bool {
    let prefers = |it: &Value| text(&it["ipFamilyPolicy"]) == "PreferDualStack";
    old.is_some_and(|old| {
        prefers(spec)
            && prefers(old)
            && spec["type"] == old["type"]
            && same(spec, old, "clusterIPs")
            && same(spec, old, "ipFamilies")
    })
}

fn same(spec: &Value, old: &Value, key: &str) -> bool {
    items(&spec[key]) == items(&old[key])
}

fn is_selectorless(spec: &Value) -> bool {
    spec["selector"].as_object().is_none_or(serde_json::Map::is_empty)
}

fn set_policy(spec: &mut Value, old: Option<&Value>) {
    if !spec["ipFamilyPolicy"].is_null() {
        return;
    }
    let before = old.map(|it| &it["ipFamilyPolicy"]).filter(|it| !it.is_null());
    spec["ipFamilyPolicy"] = match before {
        Some(policy) => policy.clone(),
        None if text(&spec["clusterIP"]) == "None" && is_selectorless(spec) => DUAL.into(),
        None => SINGLE.into(),
    };
}

/// Checks that the policy allows the families and addresses; drops what a single one leaves out.
fn check_policy(spec: &mut Value, old: Option<&Value>) -> Result<(), Vec<Cause>> {
    let mut causes = Vec::new();
    let policy = spec["ipFamilyPolicy"].clone();
    let single = text(&policy) == SINGLE;
    for (key, released) in [("clusterIPs", "cluster IP"), ("ipFamilies", "IP family")] {
        let Some(old) = old else { break };
        let count = items(&spec[key]).len();
        if single {
            if same(spec, old, key) && count > 1 {
                spec[key] = json!([spec[key][0]]);
            }
        } else if count > 0 && count < items(&old[key]).len() {
            let detail = format!("must be 'SingleStack' to release the secondary {released}");
            causes.push(Cause::invalid(POLICY, &policy, detail));
        }
    }
    for (key, several) in [("clusterIPs", "cluster IPs"), ("ipFamilies", "IP families")] {
        if single && items(&spec[key]).len() == 2 {
            let detail = format!(
                "must be 'RequireDualStack' or 'PreferDualStack' when multiple {several} are specified"
            );
            causes.push(Cause::invalid(POLICY, &policy, detail));
        }
    }
    let known = items(&spec["ipFamilies"]).len();
    for (idx, address) in items(&spec["clusterIPs"]).iter().enumerate().skip(known) {
        if text(address) == "None" {
            break;
        }
        if text(address).contains(':') {
            let field = format!("spec.clusterIPs[{idx}]");
            let detail = "IPv6 is not configured on this cluster";
            causes.push(Cause::invalid(field, &spec["clusterIPs"], detail));
        }
    }
    if causes.is_empty() { Ok(()) } else { Err(causes) }
}

/// A service without address and selector may name families that the cluster does not have.
fn set_both(spec: &mut Value) {
    if items(&spec["ipFamilies"]).is_empty() {
        spec["ipFamilies"] = json!(["IPv4"]);
    }
    if let [only] = items(&spec["ipFamilies"])
        && text(&spec["ipFamilyPolicy"]) != SINGLE
    {
        let other = if text(only) == "IPv4" { "IPv6" } else { "IPv4" };
        spec["ipFamilies"] = json!([only, other]);
    }
}

fn check_configured(spec: &Value) -> Result<(), Vec<Cause>> {
    let mut causes = Vec::new();
    if text(&spec["ipFamilyPolicy"]) == DUAL {
        let detail = "this cluster is not configured for dual-stack services";
        causes.push(Cause::invalid(POLICY, &spec["ipFamilyPolicy"], detail));
    }
    for (idx, family) in items(&spec["ipFamilies"]).iter().enumerate() {
        if text(family) != "IPv4" {
            let field = format!("spec.ipFamilies[{idx}]");
            causes.push(Cause::invalid(field, family, "not configured on this cluster"));
        }
    }
    if causes.is_empty() { Ok(()) } else { Err(causes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(mut spec: Value, old: Option<&Value>) -> Result<Value, String> {
        match init(&mut spec, old) {
            Ok(()) => Ok(spec["ipFamilies"].clone()),
            Err(causes) => Err(causes[0].to_string()),
        }
    }

    #[test]
    fn families_follow_the_policy() {
        assert_eq!(made(json!({}), None).unwrap(), json!(["IPv4"]));
        let headless = json!({"clusterIP": "None", "clusterIPs": ["None"]});
        assert_eq!(made(headless.clone(), None).unwrap(), json!(["IPv4", "IPv6"]));
        let both = json!({"ipFamilyPolicy": DUAL, "ipFamilies": ["IPv4", "IPv6"]});
        let mut single = headless.clone();
        single["ipFamilyPolicy"] = SINGLE.into();
        single["ipFamilies"] = json!(["IPv4", "IPv6"]);
        assert_eq!(made(single, Some(&both)).unwrap(), json!(["IPv4"]));
        let mut selecting = headless;
        selecting["selector"] = json!({"a": "b"});
        assert_eq!(made(selecting, None).unwrap(), json!(["IPv4"]));
    }

    #[test]
    fn what_the_cluster_does_not_have_is_refused() {
        let why = made(json!({"ipFamilyPolicy": DUAL}), None).unwrap_err();
        assert!(why.contains("not configured for dual-stack"), "{why}");
        let why = made(json!({"ipFamilies": ["IPv6"]}), None).unwrap_err();
        assert!(why.contains("not configured on this cluster"), "{why}");
        let why = made(json!({"ipFamilies": ["IPv4", "IPv4"]}), None).unwrap_err();
        assert!(why.contains("Duplicate value"), "{why}");
    }
}
