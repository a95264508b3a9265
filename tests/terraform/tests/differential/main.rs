//! The same changes through `terraform` and through us: planned actions, planned values and final
//! values must be the same.
//!
//! `recorded.jsonl` holds the answers of terraform 1.11, one line for each case; `UPDATE=1` asks it
//! again. A part of the cases, which changes daily, is always asked afresh where `terraform` is there.

mod ours;

use std::path::PathBuf;
use std::process::ExitCode;
use terraform_suite::cases::{self, Case};
use terraform_suite::oracle::{self, Answer};
use terraform_suite::{Folder, Programs};
use testkit::Suite;

/// Cases with several attributes, beside all with one.
const MIXED: usize = 120;
/// Cases that are asked afresh.
const AFRESH: usize = 30;

fn main() -> ExitCode {
    if let Some(code) = kusion_runtime_terraform::run_as_guard() {
        return code;
    }
    let mut suite = Suite::default();
    let both = || Ok((Programs::find()?, oracle::find()?));
    suite.add_with("recorded_answers_are_ours", Programs::find(), |programs| {
        let all = cases::all(MIXED, 1);
        assert!(all.len() >= 300, "{} cases", all.len());
        let answers = if std::env::var_os("UPDATE").is_some() {
            let terraform = oracle::find().expect("terraform");
            let answers = oracle::ask(&terraform, &programs, &all).expect("answers");
            write(&answers);
            answers
        } else {
            recorded()
        };
        compare(&programs, "recorded", &all, &answers);
    });
    suite.add_with("fresh_answers_are_ours", both(), |(programs, terraform)| {
        let seed = std::env::var("KUSION_CI_SEED").ok().and_then(|it| it.parse().ok()).unwrap_or(7);
        let all = cases::all(AFRESH, seed);
        let some: Vec<Case> = all[all.len() - AFRESH..].to_vec();
        let answers = oracle::ask(&terraform, &programs, &some).expect("answers");
        compare(&programs, "fresh", &some, &answers);
    });
    suite.run()
}

fn compare(programs: &Programs, name: &str, cases: &[Case], answers: &[Answer]) {
    assert_eq!(cases.len(), answers.len(), "run it with UPDATE=1");
    let folder = Folder::new(name).expect("a folder");
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let ours = runtime.expect("a runtime").block_on(ours::answers(programs, &folder, cases));
    let mut wrong = Vec::new();
    for ((case, theirs), ours) in cases.iter().zip(answers).zip(&ours) {
        if theirs != ours {
            wrong.push(format!("{case:?}\n  terraform: {theirs:?}\n  kusion:    {ours:?}"));
        }
    }
    let shown = wrong.iter().take(8).cloned().collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} of {} cases differ:\n{shown}", wrong.len(), cases.len());
}

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/differential/recorded.jsonl")
}

fn recorded() -> Vec<Answer> {
    let text = std::fs::read_to_string(file()).expect("the recorded answers");
    text.lines().map(|line| serde_json::from_str(line).expect("an answer")).collect()
}

fn write(answers: &[Answer]) {
    let lines = answers.iter().map(|it| serde_json::to_string(it).expect("JSON") + "\n");
    std::fs::write(file(), lines.collect::<String>()).expect("the recorded answers");
}
