//! Workloads: what makes and keeps pods.

use super::report::{Report, at, inner_form, is_empty, items, join, text};
use super::{pod, volumes};
use crate::controllers::selector;
use kusion_k8s_schema::names;
use serde_json::{Value, json};

/// The longest name of a cron job: its jobs add eleven characters.
const CRON_NAME: usize = 52;

/// A deployment.
pub(super) fn deployment(spec: &Value, report: &mut Report) {
    report.not_negative(spec, "replicas", "spec");
    selected(spec, "deployment", report);
    template(spec, &["Always"], report);
    strategy(at(spec, "strategy"), report);
    report.not_negative(spec, "minReadySeconds", "spec");
    report.not_negative(spec, "revisionHistoryLimit", "spec");
    let deadline = at(spec, "progressDeadlineSeconds");
    report.not_negative(spec, "progressDeadlineSeconds", "spec");
    let least = at(spec, "minReadySeconds").as_i64().unwrap_or(0);
    if deadline.as_i64().is_some_and(|seconds| seconds <= least) {
        let detail = "must be greater than minReadySeconds";
        report.invalid("spec.progressDeadlineSeconds", deadline, detail);
    }
}

fn strategy(strategy: &Value, report: &mut Report) {
    let rolling = at(strategy, "rollingUpdate");
    match text(strategy, "type") {
        "Recreate" => {
            if !rolling.is_null() {
                let detail = "may not be specified when strategy `type` is 'Recreate'";
                report.forbidden("spec.strategy.rollingUpdate", detail);
            }
        }
        "RollingUpdate" => rolling_update(rolling, "spec.strategy.rollingUpdate", report),
        _ => report.not_supported_text(
            "spec.strategy",
            &inner_form(strategy, &["Type", "RollingUpdate"]),
            &["Recreate", "RollingUpdate"],
        ),
    }
}

fn rolling_update(rolling: &Value, path: &str, report: &mut Report) {
    for key in ["maxUnavailable", "maxSurge"] {
        int_or_percent(at(rolling, key), &join(path, key), report);
    }
    let is_zero =
        |key: &str| matches!(at(rolling, key), Value::Number(number) if number.as_i64() == Some(0));
    let none = |key: &str| is_zero(key) || text(rolling, key) == "0%";
    if none("maxUnavailable") && none("maxSurge") {
        let detail = "may not be 0 when `maxSurge` is 0";
        report.invalid(join(path, "maxUnavailable"), at(rolling, "maxUnavailable"), detail);
    }
}

fn int_or_percent(value: &Value, path: &str, report: &mut Report) {
    match value {
        Value::String(percent) => {
            let messages = names::percent(percent);
            if messages.is_empty()
                && percent.trim_end_matches('%').parse::<u32>().is_ok_and(|it| it > 100)
            {
                report.invalid(path, value, "must not be greater than 100%");
            }
            report.messages(path, value, messages);
        }
        Value::Number(number) if number.as_i64().is_some_and(|number| number < 0) => {
            report.invalid(path, value, "must be greater than or equal to 0");
        }
        _ => {}
    }
}

/// A replica set.
pub(super) fn replica_set(spec: &Value, report: &mut Report) {
    report.not_negative(spec, "replicas", "spec");
    report.not_negative(spec, "minReadySeconds", "spec");
    selected(spec, "replicaset", report);
    template(spec, &["Always"], report);
}

/// A replication controller.
pub(super) fn replication_controller(spec: &Value, report: &mut Report) {
    report.not_negative(spec, "minReadySeconds", "spec");
    let wanted = at(spec, "selector");
    if is_empty(wanted) {
        report.required("spec.selector", "");
    }
    report.not_negative(spec, "replicas", "spec");
    if at(spec, "template").is_null() {
        return report.required("spec.template", "");
    }
    let labels = at(at(at(spec, "template"), "metadata"), "labels");
    if !is_empty(wanted) && !selector::map_matches(wanted, labels) {
        let detail = "`selector` does not match template `labels`";
        report.invalid("spec.template.metadata.labels", labels, detail);
    }
    template(spec, &["Always"], report);
}

/// A stateful set.
pub(super) fn stateful_set(spec: &Value, report: &mut Report) {
    let policy = at(spec, "podManagementPolicy");
    match policy.as_str() {
        None | Some("") => report.required("spec.podManagementPolicy", ""),
        Some("OrderedReady" | "Parallel") => {}
        Some(_) => {
            report.invalid(
                "spec.podManagementPolicy",
                policy,
                "must be 'OrderedReady' or 'Parallel'",
            );
        }
    }
    let strategy = at(spec, "updateStrategy");
    match text(strategy, "type") {
        "OnDelete" if !at(strategy, "rollingUpdate").is_null() => {
            let detail = "only allowed for updateStrategy 'RollingUpdate'";
            report.invalid(
                "spec.updateStrategy.rollingUpdate",
                at(strategy, "rollingUpdate"),
                detail,
            );
        }
        "OnDelete" => {}
        "RollingUpdate" => {
            report.not_negative(
                at(strategy, "rollingUpdate"),
                "partition",
                "spec.updateStrategy.rollingUpdate",
            );
        }
        "" => report.required("spec.updateStrategy", ""),
        _ => {
            let detail = "must be 'RollingUpdate' or 'OnDelete'";
            let shown = inner_form(strategy, &["Type", "RollingUpdate"]);
            report.invalid_text("spec.updateStrategy", &shown, detail);
        }
    }
    let retention = "persistentVolumeClaimRetentionPolicy";
    for key in ["whenDeleted", "whenScaled"] {
        let path = join("spec", retention);
        report.one_of_if_set(at(spec, retention), key, &path, &["Retain", "Delete"]);
    }
    for (path, claim) in items(spec, "volumeClaimTemplates", "spec") {
        volumes::claim(at(claim, "spec"), &join(&path, "spec"), report);
    }
    report.not_negative(spec, "replicas", "spec");
    report.not_negative(spec, "minReadySeconds", "spec");
    report.not_negative(at(spec, "ordinals"), "start", "spec.ordinals");
    selected(spec, "statefulset", report);
    template(&with_claimed_volumes(spec), &["Always"], report);
}

/// Returns a stateful set whose template has a volume for each claim template, as its pods will
/// have: a claim replaces a volume of the same name.
fn with_claimed_volumes(spec: &Value) -> Value {
    let mut spec = spec.clone();
    let names: Vec<Value> = items(&spec, "volumeClaimTemplates", "spec")
        .map(|(_, claim)| at(at(claim, "metadata"), "name").clone())
        .collect();
    if names.is_empty() {
        return spec;
    }
    let own = spec["template"]["spec"]["volumes"].take();
    let own = own.as_array().into_iter().flatten().filter(|it| !names.contains(at(it, "name")));
    let claimed = names
        .iter()
        .map(|name| json!({"name": name, "persistentVolumeClaim": {"claimName": name}}));
    spec["template"]["spec"]["volumes"] = claimed.chain(own.cloned()).collect();
    spec
}

/// A daemon set.
pub(super) fn daemon_set(spec: &Value, report: &mut Report) {
    selected(spec, "daemonset", report);
    template(spec, &["Always"], report);
    report.not_negative(spec, "minReadySeconds", "spec");
    let strategy = at(spec, "updateStrategy");
    match text(strategy, "type") {
        "OnDelete" => {}
        "RollingUpdate" => {
            rolling_update(
                at(strategy, "rollingUpdate"),
                "spec.updateStrategy.rollingUpdate",
                report,
            );
        }
        _ => report.not_supported_text(
            "spec.updateStrategy",
            &inner_form(strategy, &["Type", "RollingUpdate"]),
            &["RollingUpdate", "OnDelete"],
        ),
    }
    report.not_negative(spec, "revisionHistoryLimit", "spec");
}

/// A job.
pub(super) fn job(spec: &Value, path: &str, report: &mut Report) {
    let numbers = [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ];
    for key in numbers {
        report.not_negative(spec, key, path);
    }
    report.one_of_if_set(spec, "completionMode", path, &["Indexed", "NonIndexed"]);
    if text(spec, "completionMode") == "Indexed" && at(spec, "completions").is_null() {
        let detail = "when completion mode is Indexed";
        report.required(join(path, "completions"), detail);
    }
    let inner = at(spec, "template");
    // Only templates of jobs have no selector: the server sets it, unless it was told not to.
    if path == "spec" {
        let wanted = at(spec, "selector");
        if wanted.is_null() {
            report.required("spec.selector", "");
        }
        let labels = at(at(inner, "metadata"), "labels");
        if wanted.is_null() || !selector::matches(wanted, labels) {
            let detail = "`selector` does not match template `labels`";
            report.invalid("spec.template.metadata.labels", labels, detail);
        }
    }
    pod::template(inner, &join(path, "template"), report);
    let policy = at(at(inner, "spec"), "restartPolicy");
    let place = format!("{path}.template.spec.restartPolicy");
    match policy.as_str() {
        Some("" | "Always") | None => {
            report.required(place, "valid values: \"OnFailure\", \"Never\"");
        }
        Some("OnFailure" | "Never") => {}
        Some(_) => report.not_supported(place, policy, &["OnFailure", "Never"]),
    }
}

/// A cron job.
pub(super) fn cron_job(job_object: &Value, report: &mut Report) {
    let spec = at(job_object, "spec");
    let name = at(at(job_object, "metadata"), "name");
    if name.as_str().is_some_and(|name| name.len() > CRON_NAME) {
        report.invalid("metadata.name", name, "must be no more than 52 characters");
    }
    schedule(at(spec, "schedule"), report);
    let zone = at(spec, "timeZone");
    if let Some(name) = zone.as_str() {
        time_zone(name, zone, report);
    }
    report.not_negative(spec, "startingDeadlineSeconds", "spec");
    report.one_of(spec, "concurrencyPolicy", "spec", &["Allow", "Forbid", "Replace"]);
    job(at(at(spec, "jobTemplate"), "spec"), "spec.jobTemplate.spec", report);
    report.not_negative(spec, "successfulJobsHistoryLimit", "spec");
    report.not_negative(spec, "failedJobsHistoryLimit", "spec");
}

fn schedule(schedule: &Value, report: &mut Report) {
    let text = schedule.as_str().unwrap_or_default();
    if text.is_empty() {
        return report.required("spec.schedule", "");
    }
    if crate::controllers::cron::Schedule::parse(text).is_some() {
        return;
    }
    let fields: Vec<&str> = text.split_whitespace().collect();
    let detail = if fields.len() == 5 || text.starts_with('@') {
        format!("failed to parse: {text}")
    } else {
        format!("expected exactly 5 fields, found {}: [{}]", fields.len(), fields.join(" "))
    };
    report.invalid("spec.schedule", schedule, &detail);
}

fn time_zone(name: &str, zone: &Value, report: &mut Report) {
    if name.is_empty() {
        report.invalid("spec.timeZone", zone, "timeZone must be nil or non-empty string");
    } else if name.eq_ignore_ascii_case("local") {
        report.invalid(
            "spec.timeZone",
            zone,
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones",
        );
    } else if jiff::tz::TimeZone::get(name).is_err() {
        report.invalid("spec.timeZone", zone, &format!("unknown time zone {name}"));
    }
}

/// A horizontal pod autoscaler.
pub(super) fn autoscaler(spec: &Value, report: &mut Report) {
    let least = at(spec, "minReplicas");
    let most = at(spec, "maxReplicas");
    if least.as_i64().is_some_and(|count| count < 1) {
        report.invalid("spec.minReplicas", least, "must be greater than or equal to 1");
    }
    if most.as_i64().is_none_or(|count| count < 1) {
        report.required("spec.maxReplicas", "must be set and greater than 0");
    }
    let zero = json!(0);
    if least.as_i64().is_some_and(|least| most.as_i64().unwrap_or(0) < least) {
        let shown = if most.is_null() { &zero } else { most };
        report.invalid("spec.maxReplicas", shown, "must be greater than or equal to `minReplicas`");
    }
    let target = at(spec, "scaleTargetRef");
    for key in ["kind", "name"] {
        let value = text(target, key);
        if value.is_empty() {
            report.required(format!("spec.scaleTargetRef.{key}"), "");
        } else {
            report.messages(
                &format!("spec.scaleTargetRef.{key}"),
                at(target, key),
                names::path_segment(value),
            );
        }
    }
    if !text(target, "apiVersion").contains('/') {
        let version = Value::from(text(target, "apiVersion"));
        report.invalid(
            "spec.scaleTargetRef.apiVersion",
            &version,
            "apiVersion must specify API group",
        );
    }
}

/// A pod disruption budget.
pub(super) fn budget(spec: &Value, report: &mut Report) {
    let (least, most) = (at(spec, "minAvailable"), at(spec, "maxUnavailable"));
    if !least.is_null() && !most.is_null() {
        let shown = inner_form(
            spec,
            &["MinAvailable", "Selector", "MaxUnavailable", "UnhealthyPodEvictionPolicy"],
        );
        report.invalid_text("spec", &shown, "minAvailable and maxUnavailable cannot be both set");
    }
    int_or_percent(least, "spec.minAvailable", report);
    int_or_percent(most, "spec.maxUnavailable", report);
    report.one_of_if_set(
        spec,
        "unhealthyPodEvictionPolicy",
        "spec",
        &["AlwaysAllow", "IfHealthyBudget"],
    );
}

/// The selector must be there and match the labels of the template.
fn selected(spec: &Value, owner: &str, report: &mut Report) {
    let wanted = at(spec, "selector");
    let labels = at(at(at(spec, "template"), "metadata"), "labels");
    if wanted.is_null() {
        report.required("spec.selector", "");
    } else {
        if selector::is_empty(wanted) {
            report.invalid(
                "spec.selector",
                wanted,
                &format!("empty selector is invalid for {owner}"),
            );
            return;
        }
        expressions(wanted, report);
    }
    if wanted.is_null() || !selector::matches(wanted, labels) {
        let detail = "`selector` does not match template `labels`";
        report.invalid("spec.template.metadata.labels", labels, detail);
    }
}

fn expressions(wanted: &Value, report: &mut Report) {
    report.causes.extend(names::labels(wanted.get("matchLabels"), "spec.selector.matchLabels"));
    for (path, it) in items(wanted, "matchExpressions", "spec.selector") {
        match text(it, "operator") {
            "In" | "NotIn" if is_empty(at(it, "values")) => {
                let detail = "must be specified when `operator` is 'In' or 'NotIn'";
                report.required(join(&path, "values"), detail);
            }
            "Exists" | "DoesNotExist" if !is_empty(at(it, "values")) => {
                let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                report.forbidden(join(&path, "values"), detail);
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            _ => report.invalid(
                join(&path, "operator"),
                at(it, "operator"),
                "not a valid selector operator",
            ),
        }
    }
}

fn template(spec: &Value, policies: &[&str], report: &mut Report) {
    let inner = at(spec, "template");
    pod::template(inner, "spec.template", report);
    let policy = at(at(inner, "spec"), "restartPolicy");
    let known = ["Always", "OnFailure", "Never"];
    if policy.as_str().is_some_and(|it| known.contains(&it) && !policies.contains(&it)) {
        report.not_supported("spec.template.spec.restartPolicy", policy, policies);
    }
}
