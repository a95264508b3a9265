//! Operations on one or several stacks: one summary and one question over all of them.

use super::OperationRunner;
use super::confirm::{Confirmation, confirm, confirm_name};
use super::failures::Failures;
use crate::failure::{Exit, Failure};
use crate::view::report::Counts;
use crate::view::{View, words};
use kusion_engine::{EngineError, Goal, Previewed, Report};
use kusion_plan::Refusal;
use std::sync::Arc;

/// An operation to run, and its goal.
pub(crate) type Operation<'a> = (OperationRunner<'a>, Goal<'a>);

/// Runs operations one after the other, and `finish` after each. If one of them needs a
/// confirmation, all plans are shown first, and nothing is changed before all are confirmed. The
/// first failure ends the command, unless `failures` keeps it.
pub(crate) async fn run_all<'a>(
    view: &Arc<View>,
    operations: &[Operation<'a>],
    mut failures: Failures,
    finish: &impl AsyncFn(&OperationRunner<'a>, Report) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let must_ask = operations.iter().any(|(it, _)| it.confirmation != Confirmation::Given);
    let planned = if must_ask {
        confirmed(view, operations, &mut failures).await?
    } else {
        operations.iter().map(|it| (it, None)).collect()
    };
    let mut counts = Counts::default();
    let mut exit = Exit::Success;
    let mut rest = planned.into_iter();
    while let Some(((runner, goal), plan)) = rest.next() {
        let done = match plan {
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
        let end = failures.settle(view, &runner.name(), done);
        if !matches!(end, Ok(None)) {
            tell_of_skipped(view, rest.by_ref().map(|((runner, _), _)| runner));
        }
        exit = end?.unwrap_or(exit);
    }
    // A summary of plans without changes says the same.
    if operations.len() > 1 && !(must_ask && counts.is_empty()) {
        let stacks = words::count(operations.len(), "stack");
        view.text(&format!("{stacks}: {}\n", counts.text()));
    }
    failures.end(exit)
}

/// Shows all plans and a summary, and asks for the confirmations that are missing.
async fn confirmed<'a, 'b>(
    view: &Arc<View>,
    operations: &'b [Operation<'a>],
    failures: &mut Failures,
) -> Result<Vec<(&'b Operation<'a>, Option<Previewed>)>, Failure> {
    let mut planned = Vec::with_capacity(operations.len());
    let mut all_refusals: Vec<Refusal> = Vec::new();
    for operation in operations {
        let (runner, goal) = operation;
        let plan = runner.plan(*goal).await;
        let Some(previewed) = failures.take(view, &runner.name(), plan)? else { continue };
        if previewed.refusals.is_empty() {
            planned.push((operation, previewed));
        } else if failures.keeps_going() {
            // The plan names them.
            failures.note(&runner.name());
        } else {
            all_refusals.extend(previewed.refusals);
        }
    }
    if !all_refusals.is_empty() {
        return Err(EngineError::refused(all_refusals).into());
    }
    view.summary(&planned.iter().map(|(_, it)| &it.plan).collect::<Vec<_>>());
    let changed = planned.iter().filter(|(_, it)| !it.plan.is_empty());
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
    Ok(planned.into_iter().map(|(operation, it)| (operation, Some(it))).collect())
}

fn tell_of_skipped<'a, 'b: 'a>(view: &View, others: impl Iterator<Item = &'a OperationRunner<'b>>) {
    let names: Vec<String> = others.map(OperationRunner::name).collect();
    if !names.is_empty() {
        view.notice(&format!("skipped: {}", names.join(", ")));
    }
}
