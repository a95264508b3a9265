//! The merge code answers recorded sequences as the real server did.

use std::path::Path;

#[test]
fn recorded_sequences_are_answered_alike() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("recorded/v1.36.jsonl.zst");
    let report = k8s_replay::local(&file).expect("the recorded sequences can be read");
    assert!(report.sequences > 400, "only {} sequences", report.sequences);
    assert!(report.differences.is_empty(), "{}", report.differences.join("\n"));
}
