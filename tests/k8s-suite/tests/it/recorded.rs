//! The sandbox gives the answers that were recorded from a real server.

use crate::cluster;
use k8s_suite::{Client, check_all, read_cases};
use std::path::Path;

/// So many of a hundred checks must give the answer of the real server.
const FLOOR: usize = 98;

#[tokio::test(flavor = "multi_thread")]
async fn the_sandbox_answers_as_the_real_server() -> anyhow::Result<()> {
    let cluster = cluster().await?;
    let client = Client::from_kube(cluster.client.clone());
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cases = read_cases(&root.join("cases"))?;
    let (n_passed, failures) = check_all(&client, &cases, &root.join("recorded")).await?;
    let n_checks = n_passed + failures.len();
    assert!(n_checks >= 300, "only {n_checks} checks");
    assert!(
        n_passed * 100 >= n_checks * FLOOR,
        "{n_passed} of {n_checks} checks passed\n{}",
        failures.join("\n")
    );
    Ok(())
}
