//! The suite on a sandbox in this process, against the recorded answers of a real server.

use k8s_suite::{Client, check_all, read_cases};
use kusion_sandbox::{Options, Sandbox};
use std::path::Path;

/// So many of a hundred checks must give the answer of the real server.
const FLOOR: usize = 98;

#[tokio::test(flavor = "multi_thread")]
async fn the_sandbox_answers_as_the_real_server() -> anyhow::Result<()> {
    let sandbox = Sandbox::start(Options::default())?;
    let folder = std::env::temp_dir().join(format!("k8s-suite-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let kubeconfig = folder.join("kubeconfig");
    std::fs::write(&kubeconfig, sandbox.kubeconfig())?;
    let client = Client::connect(&kubeconfig).await?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cases = read_cases(&root.join("cases"))?;
    let (n_passed, failures) = check_all(&client, &cases, &root.join("recorded")).await?;
    std::fs::remove_dir_all(&folder)?;
    let n_checks = n_passed + failures.len();
    assert!(n_checks >= 300, "only {n_checks} checks");
    assert!(
        n_passed * 100 >= n_checks * FLOOR,
        "{n_passed} of {n_checks} checks passed\n{}",
        failures.join("\n")
    );
    Ok(())
}
