//! Runs every case of `tests/fixtures` as a test of its own; `UPDATE=1` rewrites the answers.

use anyhow::Context as _;
use language::{Case, Topic, answer, check_data};
use libtest_mimic::{Arguments, Failed, Trial};
use std::process::ExitCode;

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::from_args();
    let mut topics = Topic::read_all(&testkit::repository().join("tests/fixtures"))?;
    if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
        for topic in &mut topics {
            update(topic)?;
        }
    }
    let trials = topics.into_iter().flat_map(|topic| {
        topic.cases.into_iter().map(move |case| {
            Trial::test(format!("{}::{}", topic.name, case.name), move || check(&case))
        })
    });
    Ok(libtest_mimic::run(&arguments, trials.collect()).exit_code())
}

fn check(case: &Case) -> Result<(), Failed> {
    let actual = answer(case)?;
    if actual == case.answer {
        return Ok(check_data(case)?);
    }
    let Case { program, answer, .. } = case;
    Err(format!(
        "{program}\nexpected:\n{answer}\nactual:\n{actual}\n(`.ci/fixtures` asks the reference, UPDATE=1 accepts)"
    )
    .into())
}

fn update(topic: &mut Topic) -> anyhow::Result<()> {
    for case in &mut topic.cases {
        case.answer = answer(case).with_context(|| case.name.clone())?;
    }
    let path = topic.path.display().to_string();
    std::fs::write(&topic.path, topic.to_text()).with_context(|| path)
}
