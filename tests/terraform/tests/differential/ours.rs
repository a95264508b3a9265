//! Our own answers.

use kusion_model::{AttemptId, FieldPath, Resource, ResourceState};
use kusion_runtime::{Change, Deletion, Live, Runtime, RuntimeError, Target};
use kusion_runtime_terraform::TerraformRuntime;
use serde_json::Value;
use terraform_suite::cases::{Case, KNOWN, UNKNOWN};
use terraform_suite::oracle::{Answer, normalise, with_texts};
use terraform_suite::{Folder, Programs, resource};

/// Creates and changes all resources.
pub(crate) async fn answers(programs: &Programs, folder: &Folder, cases: &[Case]) -> Vec<Answer> {
    let runtime = programs.runtime();
    let mut answers = Vec::with_capacity(cases.len());
    for case in cases {
        answers.push(answer(&runtime, folder, case).await);
    }
    runtime.close().await;
    answers
}

async fn answer(runtime: &TerraformRuntime, folder: &Folder, case: &Case) -> Answer {
    let desired = |attributes: Value| {
        let mut it = resource(case.type_name, &case.name, folder.path(), attributes);
        // Values are compared, and secrets are not the point here.
        it.depends_on.clear();
        it
    };
    let before = desired(case.before.clone());
    let planned_first = runtime.dry_run(Change::new(&before)).await.expect("a plan").after;
    let made = runtime.apply(Change::new(&before)).await.expect("an object");
    assert_eq!(made.failure, None, "{case:?}");
    // `terraform` shows the state as it was applied, and reads it before the next plan.
    let first = made.live.attributes.clone().into_value();
    let live = read(runtime, &before, &made.live).await;
    let after = desired(case.after.clone());
    let unknown = FieldPath::of_strings(&case.after, &|text| text == UNKNOWN);
    let change = Change { live: Some(&live), unknown: &unknown, ..Change::new(&after) };
    let (actions, planned) = match runtime.dry_run(change).await {
        Ok(result) if result.after == *live.attributes => (vec!["no-op"], result.after),
        Ok(result) => (vec!["update"], result.after),
        Err(RuntimeError::Immutable { .. }) => {
            let change = Change { unknown: &unknown, ..Change::new(&after) };
            let result = runtime.dry_run(change).await.expect("a plan");
            (vec!["delete", "create"], result.after)
        }
        Err(error) => (vec!["error"], error.to_string().into()),
    };
    let known = desired(with_texts(&case.after, KNOWN));
    let last = if actions.len() == 2 {
        let mut prior = ResourceState::new(before.clone(), live.identity.clone(), 1);
        prior.runtime.clone_from(&live.runtime);
        let attempt = AttemptId { revision: 1, step: 1 };
        runtime.delete(Deletion::new(&prior, attempt)).await.expect("a deletion");
        runtime.apply(Change::new(&known)).await
    } else {
        runtime.apply(Change { live: Some(&live), ..Change::new(&known) }).await
    };
    let last = match last {
        Ok(applied) => {
            assert_eq!(applied.failure, None, "{case:?}");
            applied.live.attributes.into_value()
        }
        Err(error) => error.to_string().into(),
    };
    let normal = |mut value: Value| {
        normalise(&mut value);
        value
    };
    Answer {
        name: case.name.clone(),
        planned_first: normal(planned_first),
        first: normal(first),
        actions: actions.into_iter().map(str::to_owned).collect(),
        planned: normal(planned),
        last: normal(last),
    }
}

async fn read(runtime: &TerraformRuntime, desired: &Resource, live: &Live) -> Live {
    let mut prior = ResourceState::new(desired.clone(), live.identity.clone(), 1);
    prior.runtime.clone_from(&live.runtime);
    let target = Target { id: &desired.id, desired: Some(desired), prior: Some(&prior) };
    let read = runtime.read(&[target]).await.expect("answers").remove(0);
    read.expect("an answer").expect("an object")
}
