//! Completion indexes: `0-3,5`.

use super::super::meta::annotation;
use serde_json::Value;
use std::collections::BTreeSet;

/// The annotation and label of a pod with its index.
pub(super) const INDEX: &str = "batch.kubernetes.io/job-completion-index";
/// The annotation of a pod with the failures of its index before it.
pub(super) const FAILURES: &str = "batch.kubernetes.io/job-index-failure-count";

/// The index of a pod.
pub(super) fn of(pod: &Value) -> Option<i64> {
    annotation(pod, INDEX)?.parse().ok()
}

/// The failures of the pod's index before it.
pub(super) fn failures(pod: &Value) -> i64 {
    annotation(pod, FAILURES).and_then(|it| it.parse().ok()).unwrap_or(0)
}

/// Reads ranges; what is no number is left out.
pub(super) fn parse(line: &str) -> BTreeSet<i64> {
    let mut set = BTreeSet::new();
    for part in line.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse::<i64>(), last.parse::<i64>())
            && last - first < 1_000_000
        {
            set.extend(first..=last);
        }
    }
    set
}

/// Writes ranges.
pub(super) fn print(set: &BTreeSet<i64>) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut run: Option<(i64, i64)> = None;
    let mut flush = |run: Option<(i64, i64)>| match run {
        Some((first, last)) if first == last => parts.push(first.to_string()),
        Some((first, last)) if last == first + 1 => parts.push(format!("{first},{last}")),
        Some((first, last)) => parts.push(format!("{first}-{last}")),
        None => {}
    };
    for index in set {
        run = match run {
            Some((first, last)) if last + 1 == *index => Some((first, *index)),
            other => {
                flush(other);
                Some((*index, *index))
            }
        };
    }
    flush(run);
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_round_trip() {
        for line in ["", "0", "0,1", "0-2", "0-2,5", "1,3-5,9"] {
            assert_eq!(print(&parse(line)), line);
        }
    }
}
