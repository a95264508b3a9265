//! The suite and kube-rs on a sandbox in this process.

mod kube_rs;
mod recorded;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kusion_sandbox::{Options, Sandbox};

/// A sandbox and a client to it.
struct Cluster {
    client: kube::Client,
    /// Ends with the value.
    _sandbox: Sandbox,
}

/// Starts a sandbox.
async fn cluster() -> anyhow::Result<Cluster> {
    let sandbox = Sandbox::start(Options::default())?;
    let kubeconfig = Kubeconfig::from_yaml(&sandbox.kubeconfig())?;
    let options = KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &options).await?;
    Ok(Cluster { client: kube::Client::try_from(config)?, _sandbox: sandbox })
}
