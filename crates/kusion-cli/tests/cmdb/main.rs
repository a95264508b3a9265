//! The example of a plugin, `examples/cmdb`: its own tests, and the stack that uses it. Needs Python.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};
use testkit::{Missing, Suite, repository};

fn main() -> ExitCode {
    let mut suite = Suite::default();
    suite.add_with("the_plugin_passes_its_own_tests", python(), |()| own_tests());
    suite.add_with("the_stack_compiles_once_the_plugin_is_trusted", python(), |()| stack());
    suite.run()
}

fn python() -> Result<(), Missing> {
    let mut command = Command::new("python3");
    let ended = command.args(["-c", "import json"]).stderr(Stdio::null()).status();
    let is_there = ended.is_ok_and(|status| status.success());
    if is_there { Ok(()) } else { Err(Missing::new("skipped: the CMDB example (no python3)")) }
}

fn example() -> PathBuf {
    repository().join("examples/cmdb")
}

fn succeeded(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn own_tests() {
    let output = Command::new("python3")
        .args(["-B", "plugins/test_cmdb.py"])
        .current_dir(example())
        .output()
        .expect("python3 runs");
    succeeded(&output);
}

fn stack() {
    let home = std::env::temp_dir().join(format!("kusion-cmdb-{}", std::process::id()));
    let kusion = |words: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_kusion"))
            .args(words)
            .current_dir(example())
            .env("KUSION_HOME", &home)
            .env_remove("KUSION_TRUST")
            .env("XDG_CONFIG_HOME", Path::new("/no/such/folder"))
            .output()
            .expect("kusion runs")
    };
    let refused = kusion(&["compile", "prod"]);
    let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && errors.contains("`cmdb` is not trusted"), "{errors}");
    succeeded(&kusion(&["trust", "prod"]));
    let spec = succeeded(&kusion(&["compile", "prod"]));
    let golden = testkit::golden::check(&example().join("prod/expected-spec.yaml"), &spec);
    std::fs::remove_dir_all(&home).expect("removed");
    golden.expect("the golden file is up to date");
}
