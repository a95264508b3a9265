//! `CronJob`: Jobs at certain times.

use super::clock::rfc3339;
use super::cron::Schedule;
use super::kind::Kind;
use super::meta::{self, items, text};
use super::record::{Source, Tone, record};
use super::task::Key;
use super::template::is_namespace_ending;
use super::world::World;
use crate::Status;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::sync::Arc;

const COMPONENT: &str = "cronjob-controller";
const SCHEDULED: &str = "batch.kubernetes.io/cronjob-scheduled-timestamp";
/// From how many missed times on people are told.
const MANY: usize = 100;

/// Starts the Job that is due and tidies up old ones.
pub(crate) fn sync(world: &mut World, key: &Key) -> Result<(), Status> {
    let Some(cron) = world.get(Kind::CronJob, key.namespace(), key.name()) else { return Ok(()) };
    let mut jobs = world.cache.children(meta::uid(&cron), Kind::Job);
    jobs.retain(|it| meta::is_controlled_by(it, &cron));
    let mut status = cron["status"].clone();
    if !status.is_object() {
        status = json!({});
    }
    follow_jobs(world, &cron, &jobs, &mut status);
    clean_history(world, &cron, &jobs)?;
    let result =
        if meta::is_deleting(&cron) { Ok(()) } else { start_due(world, key, &cron, &mut status) };
    world.update_status(Kind::CronJob, &cron, status)?;
    result
}

fn tell(world: &mut World, cron: &Value, tone: Tone, reason: &str, message: &str) {
    record(world, Source::component(COMPONENT), Kind::CronJob, cron, tone, reason, message);
}

/// How a Job has ended: `Complete` or `Failed`.
fn ended(job: &Value) -> Option<&'static str> {
    ["Complete", "Failed"].into_iter().find(|it| meta::is_true(job, it))
}

/// Brings the list of active Jobs and the time of the last success up to date.
fn follow_jobs(world: &mut World, cron: &Value, jobs: &[Arc<Value>], status: &mut Value) {
    let mut active = items(&status["active"]).to_vec();
    for job in jobs {
        let listed = active.iter().position(|it| it["uid"] == job["metadata"]["uid"]);
        match (ended(job), listed) {
            (Some(condition), Some(idx)) => {
                active.remove(idx);
                let message =
                    format!("Saw completed job: {}, condition: {condition}", meta::name(job));
                tell(world, cron, Tone::Normal, "SawCompletedJob", &message);
            }
            (None, None) => {
                let message = format!(
                    "Saw a job that the controller did not create or forgot: {}",
                    meta::name(job)
                );
                tell(world, cron, Tone::Warning, "UnexpectedJob", &message);
            }
            _ => {}
        }
        let completed = meta::time(&job["status"]["completionTime"]);
        if meta::is_true(job, "Complete") && completed > meta::time(&status["lastSuccessfulTime"]) {
            status["lastSuccessfulTime"] = job["status"]["completionTime"].clone();
        }
    }
    let mut missing = Vec::new();
    active.retain(|it| {
        let found = jobs.iter().any(|job| job["metadata"]["uid"] == it["uid"]);
        if !found {
            missing.push(text(&it["name"]).to_owned());
        }
        found
    });
    for name in missing {
        let message = format!("Active job went missing: {name}");
        tell(world, cron, Tone::Normal, "MissingJob", &message);
    }
    set_active(status, active);
}

fn set_active(status: &mut Value, active: Vec<Value>) {
    if active.is_empty() {
        meta::remove(status, "active");
    } else {
        status["active"] = active.into();
    }
}

/// Deletes finished Jobs beyond the limits of history, oldest first.
fn clean_history(world: &mut World, cron: &Value, jobs: &[Arc<Value>]) -> Result<(), Status> {
    for (condition, key) in
        [("Complete", "successfulJobsHistoryLimit"), ("Failed", "failedJobsHistoryLimit")]
    {
        let Some(limit) = cron["spec"][key].as_i64() else { continue };
        let mut finished: Vec<&Arc<Value>> = jobs
            .iter()
            .filter(|it| ended(it) == Some(condition) && !meta::is_deleting(it))
            .collect();
        finished.sort_by_key(|it| text(&it["status"]["startTime"]).to_owned());
        let surplus = (finished.len() as i64 - limit).max(0) as usize;
        for job in finished.into_iter().take(surplus) {
            world.delete(Kind::Job, job)?;
            let message = format!("Deleted job {}", meta::name(job));
            tell(world, cron, Tone::Normal, "SuccessfulDelete", &message);
        }
    }
    Ok(())
}

/// The schedule and its time zone; what is wrong with them otherwise.
fn schedule_of(cron: &Value) -> Result<(Schedule, TimeZone), (&'static str, String)> {
    let mut line = text(&cron["spec"]["schedule"]);
    let mut zone_name = text(&cron["spec"]["timeZone"]);
    for prefix in ["TZ=", "CRON_TZ="] {
        if let Some((zone, rest)) = line.strip_prefix(prefix).and_then(|it| it.split_once(' ')) {
            (zone_name, line) = (zone, rest);
        }
    }
    let zone = if zone_name.is_empty() {
        TimeZone::UTC
    } else {
        TimeZone::get(zone_name).map_err(|_| {
            let message = format!("invalid timeZone: {zone_name:?}: unknown time zone {zone_name}");
            ("UnknownTimeZone", message)
        })?
    };
    let schedule = Schedule::parse(line)
        .ok_or_else(|| ("UnparseableSchedule", format!("unparseable schedule: {line:?}")))?;
    Ok((schedule, zone))
}

/// The latest time that is due, and how many were (capped).
fn latest_due(
    schedule: &Schedule,
    zone: &TimeZone,
    earliest: Timestamp,
    now: Timestamp,
) -> Option<(Timestamp, usize)> {
    let mut window = 60;
    loop {
        let start = now.checked_sub(SignedDuration::from_secs(window)).ok()?.max(earliest);
        let mut found = None;
        let mut count = 0;
        let mut at = start;
        while let Some(next) = schedule.next(at, zone).filter(|it| *it <= now) {
            found = Some(next);
            count += 1;
            at = next;
            if count > 10 * MANY {
                break;
            }
        }
        if let Some(found) = found {
            let spacing = found.as_second() - start.as_second();
            let missed = (now.as_second() - earliest.as_second()) / spacing.max(1);
            return Some((found, count.max(missed as usize)));
        }
        if start == earliest {
            return None;
        }
        window *= 2;
    }
}

fn start_due(world: &mut World, key: &Key, cron: &Value, status: &mut Value) -> Result<(), Status> {
    if cron["spec"]["suspend"] == true {
        return Ok(());
    }
    let (schedule, zone) = match schedule_of(cron) {
        Ok(found) => found,
        Err((reason, message)) => {
            tell(world, cron, Tone::Warning, reason, &message);
            return Ok(());
        }
    };
    let now = world.now();
    if let Some(next) = schedule.next(now, &zone) {
        world.queue.add_at(key.clone(), next.as_millisecond() + 10);
    }
    let last = meta::time(&status["lastScheduleTime"]);
    let mut earliest = last.or_else(|| meta::created(cron)).unwrap_or(now);
    let deadline = cron["spec"]["startingDeadlineSeconds"].as_i64();
    if let Some(seconds) = deadline
        && let Ok(start) = now.checked_sub(SignedDuration::from_secs(seconds))
    {
        earliest = earliest.max(start);
    }
    let Some((due, missed)) = latest_due(&schedule, &zone, earliest, now) else { return Ok(()) };
    if missed > MANY {
        let message = format!(
            "too many missed start times: {missed}. Set or decrease .spec.startingDeadlineSeconds or check clock skew"
        );
        tell(world, cron, Tone::Warning, "TooManyMissedTimes", &message);
    }
    if deadline.is_some_and(|it| due.as_second() + it < now.as_second()) {
        let time = due.strftime("%a, %d %b %Y %H:%M:%S +0000");
        let message = format!("Missed scheduled time to start a job: {time}");
        tell(world, cron, Tone::Warning, "MissSchedule", &message);
        return Ok(());
    }
    let name = job_name(cron, due);
    let active = items(&status["active"]).to_vec();
    if active.iter().any(|it| it["name"] == *name) || last == Some(due) {
        return Ok(());
    }
    match text(&cron["spec"]["concurrencyPolicy"]) {
        "Forbid" if !active.is_empty() => {
            let message = "Not starting job because prior execution is running and concurrency policy is Forbid";
            tell(world, cron, Tone::Normal, "JobAlreadyActive", message);
            return Ok(());
        }
        "Replace" => {
            replace(world, cron, &active)?;
            set_active(status, Vec::new());
        }
        _ => {}
    }
    start(world, cron, status, due, &name)
}

fn replace(world: &mut World, cron: &Value, active: &[Value]) -> Result<(), Status> {
    for reference in active {
        let name = text(&reference["name"]);
        if let Some(job) = world.get(Kind::Job, meta::namespace(cron), name) {
            world.delete(Kind::Job, &job)?;
            let message = format!("Deleted job {name}");
            tell(world, cron, Tone::Normal, "SuccessfulDelete", &message);
        }
    }
    Ok(())
}

/// The name of the Job of a time.
fn job_name(cron: &Value, due: Timestamp) -> String {
    format!("{}-{}", meta::name(cron), due.as_second() / 60)
}

fn start(
    world: &mut World,
    cron: &Value,
    status: &mut Value,
    due: Timestamp,
    name: &str,
) -> Result<(), Status> {
    let namespace = meta::namespace(cron);
    let job = match world.create(Kind::Job, namespace, new_job(cron, due, name)) {
        Ok(job) => {
            let message = format!("Created job {name}");
            tell(world, cron, Tone::Normal, "SuccessfulCreate", &message);
            job
        }
        Err(status) if is_namespace_ending(&status) => return Ok(()),
        Err(failure) if failure.is_already_exists() => {
            let job = world.api.get(Kind::Job.resource(), namespace, name)?;
            if !meta::is_controlled_by(&job, cron) {
                return Ok(());
            }
            job
        }
        Err(failure) => {
            let message = format!("Error creating job: {failure}");
            tell(world, cron, Tone::Warning, "FailedCreate", &message);
            return Err(failure);
        }
    };
    let mut reference = meta::object_reference(Kind::Job, &job);
    reference["apiVersion"] = Kind::Job.api_version().into();
    reference["resourceVersion"] = job["metadata"]["resourceVersion"].clone();
    let mut active = items(&status["active"]).to_vec();
    active.push(reference);
    set_active(status, active);
    status["lastScheduleTime"] = rfc3339(due).into();
    Ok(())
}

/// The Job of a time.
fn new_job(cron: &Value, due: Timestamp, name: &str) -> Value {
    let template = &cron["spec"]["jobTemplate"];
    let mut metadata = json!({
        "name": name,
        "namespace": meta::namespace(cron),
        "ownerReferences": [meta::controller_reference(Kind::CronJob, cron)],
        "annotations": {},
    });
    for key in ["labels", "annotations"] {
        if template["metadata"][key].is_object() {
            metadata[key] = template["metadata"][key].clone();
        }
    }
    let zone = schedule_of(cron).map_or(TimeZone::UTC, |it| it.1);
    let zoned = due.to_zoned(zone);
    let stamp = if zoned.offset().seconds() == 0 {
        rfc3339(due)
    } else {
        zoned.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
    };
    metadata["annotations"][SCHEDULED] = stamp.into();
    json!({"metadata": metadata, "spec": template["spec"]})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn the_latest_of_many_missed_times_counts() {
        let schedule = Schedule::parse("*/5 * * * *").unwrap();
        let (earliest, now) = (at("2026-01-01T00:00:00Z"), at("2026-03-01T00:07:00Z"));
        let (due, missed) = latest_due(&schedule, &TimeZone::UTC, earliest, now).unwrap();
        assert_eq!(due, at("2026-03-01T00:05:00Z"));
        assert!(missed > MANY);
        assert_eq!(latest_due(&schedule, &TimeZone::UTC, at("2026-03-01T00:05:00Z"), now), None);
    }

    #[test]
    fn a_job_tells_when_it_was_due() {
        let cron = json!({"metadata": {"name": "c", "namespace": "n"}, "spec": {
            "schedule": "* * * * *", "timeZone": "America/New_York",
            "jobTemplate": {"metadata": {"labels": {"a": "b"}}, "spec": {"x": 1}}}});
        let due = at("2026-06-01T12:00:00Z");
        let job = new_job(&cron, due, &job_name(&cron, due));
        assert_eq!(job["metadata"]["name"], "c-29671920");
        assert_eq!(job["metadata"]["annotations"][SCHEDULED], "2026-06-01T08:00:00-04:00");
    }
}
