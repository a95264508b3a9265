//! The tests of the models in `konfig`.

use std::process::Command;

/// Least share of the models that their tests must cover, in percent.
const MIN_COVERAGE: &str = "95";

#[test]
fn models_pass_their_tests_and_are_covered_by_them() {
    let output = Command::new(env!("CARGO_BIN_EXE_kcl"))
        .args(["test", "base/...", "--min-coverage", MIN_COVERAGE])
        .current_dir(testkit::repository().join("konfig"))
        .output()
        .expect("the binary runs");
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout}{stderr}");
    assert!(stdout.contains("backend/server.k") && stdout.contains("render/render.k"), "{stdout}");
}
