//! The limit on the number of update records: the oldest ones are merged.

use std::borrow::Cow;

use super::entries::{Entry, Operation};

/// How many records of writes an object keeps.
const MAX_UPDATERS: usize = 10;

/// The manager of the merged oldest updates.
const OLD_UPDATES: &str = "ancient-changes";

/// Joins the oldest records of each version until at most ten remain.
pub(super) fn cap_updaters(entries: &mut Vec<Entry<'_>>) {
    let mut count = entries.iter().filter(|entry| entry.operation == Operation::Update).count();
    if count <= MAX_UPDATERS {
        return;
    }
    entries.sort_by_cached_key(|entry| {
        let time = entry.time.as_deref().unwrap_or_default().to_owned();
        (entry.operation, time, entry.identity())
    });
    let start = entries.len() - count;
    let mut olds = entries.split_off(start);
    // The first record of each version becomes the bucket once a second one joins it.
    let mut firsts: Vec<usize> = Vec::new();
    let mut idx = 0;
    while idx < olds.len() && count > MAX_UPDATERS {
        let version = olds[idx].api_version.clone();
        let Some(first) = firsts.iter().copied().find(|at| olds[*at].api_version == version) else {
            firsts.push(idx);
            idx += 1;
            continue;
        };
        let joined = olds.remove(idx);
        let bucket_at = olds
            .iter()
            .position(|entry| is_bucket(entry) && entry.api_version == version)
            .unwrap_or(first);
        let bucket = &mut olds[bucket_at];
        bucket.manager = Cow::Borrowed(OLD_UPDATES);
        bucket.subresource = Cow::Borrowed("");
        bucket.fields.absorb(joined.fields);
        bucket.time = joined.time;
        count -= 1;
    }
    entries.append(&mut olds);
}

fn is_bucket(entry: &Entry<'_>) -> bool {
    entry.manager == OLD_UPDATES && entry.subresource.is_empty()
}
