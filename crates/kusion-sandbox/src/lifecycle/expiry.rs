//! Objects that live for a time only: finished Jobs with a TTL, and events.

use crate::Propagation;
use crate::Status;
use crate::controllers::kind::Kind;
use crate::controllers::meta::{self, items};
use crate::controllers::task::Key;
use crate::controllers::world::World;

/// How long events are kept.
const EVENT_SECONDS: i64 = 3600;
/// How often old events are looked for.
const SWEEP_MS: i64 = 60_000;

/// Deletes a Job whose time after its end is over.
pub(crate) fn sync_job(world: &mut World, key: &Key) -> Result<(), Status> {
    let Some(job) = world.get(Kind::Job, key.namespace(), key.name()) else { return Ok(()) };
    let Some(ttl) = job["spec"]["ttlSecondsAfterFinished"].as_i64() else { return Ok(()) };
    if meta::is_deleting(&job) {
        return Ok(());
    }
    let end = items(&job["status"]["conditions"])
        .iter()
        .find(|it| (it["type"] == "Complete" || it["type"] == "Failed") && it["status"] == "True")
        .and_then(|it| meta::time(&it["lastTransitionTime"]));
    let Some(end) = end else { return Ok(()) };
    let rest = end.as_second() + ttl - world.now().as_second();
    if rest > 0 {
        world.add_after(key, rest * 1000);
        return Ok(());
    }
    world.delete_at(&key.place, meta::uid(&job), Propagation::Foreground, None)
}

/// Deletes events that are too old.
pub(crate) fn sweep_events(world: &mut World, key: &Key) -> Result<(), Status> {
    let now = world.now().as_second();
    let old: Vec<_> = world
        .cache
        .all(Kind::Event)
        .filter(|event| {
            let last = meta::time(&event["lastTimestamp"])
                .or_else(|| meta::time(&event["eventTime"]))
                .or_else(|| meta::created(event));
            last.is_some_and(|it| it.as_second() + EVENT_SECONDS < now)
        })
        .collect();
    for event in old {
        world.delete(Kind::Event, &event)?;
    }
    world.add_after(key, SWEEP_MS);
    Ok(())
}
