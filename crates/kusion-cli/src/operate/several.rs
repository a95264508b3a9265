//! Operations on one or several stacks: one summary and one question over all of them.

use super::OperationRunner;
use super::confirm::{Confirmation, confirm, confirm_name};
use crate::failure::{Exit, Failure};
use crate::view::report::Counts;
use crate::view::{View, words};
use kusion_engine::{EngineError, Goal, Previewed, Report};
use std::sync::Arc;

/// Runs operations one after the other, and `finish` after each. If one of them needs a
/// confirmation, all plans are shown first, and nothing is changed before all are confirmed. The
/// first failure ends the command.
pub(crate) async fn run_all<'a>(
    view: &Arc<View>,
    operations: &[(OperationRunner<'a>, Goal<'a>)],
    finish: &impl AsyncFn(&OperationRunner<'a>, Report) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let must_ask = operations.iter().any(|(it, _)| it.confirmation != Confirmation::Given);
    let plans = if must_ask { confirmed(view, operations).await? } else { Vec::new() };
    let mut plans = plans.into_iter();
    let mut counts = Counts::default();
    let mut exit = Exit::Success;
    for (number, (runner, goal)) in operations.iter().enumerate() {
        let done = match plans.next() {
            Some(previewed) => runner.run_confirmed(previewed).await,
            None => runner.run_at_once(*goal).await,
        };
        let done = match done {
            Ok(report) => {
                counts.add(&report);
                finish(runner, report).await
            }
            Err(failure) => Err(failure),
        };
        if !matches!(done, Ok(Exit::Success)) {
            tell_of_skipped(view, &operations[number + 1..]);
        }
        exit = done?;
        if exit != Exit::Success {
            break;
        }
    }
    // A summary of plans without changes says the same.
    if operations.len() > 1 && !(must_ask && counts.is_empty()) {
        let stacks = words::count(operations.len(), "stack");
        view.text(&format!("{stacks}: {}\n", counts.text()));
    }
    Ok(exit)
}

/// Shows all plans and a summary, and asks for the confirmations that are missing.
async fn confirmed(
    view: &Arc<View>,
    operations: &[(OperationRunner<'_>, Goal<'_>)],
) -> Result<Vec<Previewed>, Failure> {
    let mut plans = Vec::with_capacity(operations.len());
    for (runner, goal) in operations {
        plans.push(runner.plan(*goal).await?);
    }
    let refusals: Vec<_> = plans.iter().flat_map(|it| it.refusals.clone()).collect();
    if !refusals.is_empty() {
        return Err(EngineError::Guarded(refusals).into());
    }
    view.summary(&plans.iter().map(|it| &it.plan).collect::<Vec<_>>());
    let changed = operations.iter().zip(&plans).filter(|(_, it)| !it.plan.is_empty());
    let changed: Vec<&OperationRunner<'_>> = changed.map(|((runner, _), _)| runner).collect();
    let asked = changed.iter().find(|it| it.confirmation == Confirmation::Question);
    if let Some(runner) = asked {
        confirm(view, runner.wording.question, &runner.options.stop)?;
    }
    for runner in changed {
        if let Confirmation::Name(name) = &runner.confirmation {
            confirm_name(view, name, &runner.options.stop)?;
        }
    }
    Ok(plans)
}

fn tell_of_skipped(view: &View, others: &[(OperationRunner<'_>, Goal<'_>)]) {
    if !others.is_empty() {
        let names = others.iter().map(|(it, _)| it.open.key());
        let names: Vec<String> =
            names.map(|key| format!("{}/{}", key.project, key.stack)).collect();
        view.notice(&format!("skipped: {}", names.join(", ")));
    }
}
