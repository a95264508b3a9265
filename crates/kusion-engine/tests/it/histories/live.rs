//! The same histories on a running sandbox, in real time: what virtual time says is true.

use super::play::{Act, perform};
use super::{Case, DOCS, cases, verdict};
use crate::world::World;
use futures::future::join_all;
use kusion_engine::{Stop, WatchOptions};
use std::time::Duration;

/// Histories that take longer are played in virtual time only.
const LONGEST: Duration = Duration::from_secs(11);

#[tokio::test(flavor = "multi_thread")]
async fn a_running_sandbox_gives_the_same_verdicts() {
    let with_verdict = |case: Case| Some((documented(&case)?, case));
    let cases: Vec<(String, Case)> = cases::all().into_iter().filter_map(with_verdict).collect();
    assert!(cases.len() >= 20, "{} histories", cases.len());
    let problems = join_all(cases.into_iter().map(|(expected, case)| async move {
        let (name, command) = (case.name, case.command);
        let found = watch(case).await;
        (found != expected).then(|| format!("{name}, {command}: {found}, not {expected}"))
    }));
    let problems: Vec<String> = problems.await.into_iter().flatten().collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Returns the documented verdict of a history that a sandbox can play in a short time.
fn documented(case: &Case) -> Option<String> {
    let acts = &case.history.acts;
    let is_playable = !acts.is_empty() && acts.iter().all(|(at, _)| *at >= 0) && case.is_operation;
    let row = format!("| {} | {} | ", case.name, case.command);
    let row = DOCS.lines().find_map(|it| it.strip_prefix(&row)).filter(|_| is_playable)?;
    let mut cells = row.split(" | ");
    let (words, after) = (cells.next()?, cells.next()?);
    let seconds: f64 = after.strip_suffix(" s")?.parse().ok()?;
    (seconds <= LONGEST.as_secs_f64()).then(|| words.to_owned())
}

/// Applies and watches with an engine, while other processes act at their times.
async fn watch(case: Case) -> String {
    let world = World::start();
    let (now, later): (Vec<_>, Vec<_>) =
        case.history.acts.iter().cloned().partition(|(at, _)| *at == 0);
    let objects: Vec<_> = now
        .into_iter()
        .filter_map(|(_, act)| match act {
            Act::Apply(object) => Some(object),
            Act::Delete(_) => None,
        })
        .collect();
    let report = world.apply(&objects).await.expect("it is applied");
    let act = async {
        for (at, act) in later {
            tokio::time::sleep(Duration::from_millis(at.unsigned_abs())).await;
            perform(world.sandbox.api(), &act);
        }
    };
    let Case { settle, timeout, .. } = case;
    let since = report.started;
    let options = WatchOptions { timeout, forever: false, settle, since, stop: Stop::default() };
    let (end, ()) = tokio::join!(world.stack.watch_objects(report.live, &options), act);
    verdict(&end.expect("it is watched")).0
}
