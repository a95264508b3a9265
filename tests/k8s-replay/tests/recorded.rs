//! The merge code and the sandbox answer recorded sequences as the real server did.

use std::path::{Path, PathBuf};

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("recorded/v1.36.jsonl.zst")
}

#[test]
fn recorded_sequences_are_answered_alike() {
    let report = k8s_replay::local(&file()).expect("the recorded sequences can be read");
    assert!(report.sequences > 400, "only {} sequences", report.sequences);
    assert!(report.differences.is_empty(), "{}", report.differences.join("\n"));
}

#[test]
fn a_sandbox_answers_all_of_them_alike() {
    let sandbox = kusion_sandbox::Sandbox::start(kusion_sandbox::Options::default())
        .expect("the sandbox starts");
    let mut server =
        k8s_replay::Server::of_text(&sandbox.kubeconfig()).expect("the sandbox can be reached");
    let sequences = k8s_replay::load(&file()).expect("the recorded sequences can be read");
    let report = k8s_replay::run(&mut server, &sequences).expect("every request is answered");
    assert!(report.sequences >= 1000, "only {} sequences", report.sequences);
    assert!(report.differences.is_empty(), "{}", report.differences.join("\n"));
}
