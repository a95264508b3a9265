//! The committed table of the Kubernetes API, compared with a real server.

use std::process::{Command, ExitCode};
use testkit::{Missing, Suite};

fn main() -> ExitCode {
    let kubeconfig = std::env::var("KUSION_REAL_KUBECONFIG").map_err(|_| {
        Missing::new(
            "no real server: KUSION_REAL_KUBECONFIG names no kubeconfig; `.ci/sandbox` starts one",
        )
    });
    let mut suite = Suite::default();
    suite.add_with("real_server::the_committed_table_is_what_it_serves", kubeconfig, |file| {
        the_committed_table_is_what_it_serves(&file);
    });
    suite.run()
}

fn the_committed_table_is_what_it_serves(kubeconfig: &str) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    command.args(["k8s-schema", "--check", "--kubeconfig", kubeconfig]);
    let output = command.output().expect("xtask runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
