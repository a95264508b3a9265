//! Requests to a real server.

use anyhow::{Context as _, ensure};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// A server to ask.
pub(super) struct Server<'a> {
    kubeconfig: &'a Path,
}

impl<'a> Server<'a> {
    /// Names a server by its kubeconfig.
    pub(super) fn new(kubeconfig: &'a Path) -> Self {
        Self { kubeconfig }
    }

    /// Reads a JSON document.
    pub(super) fn get(&self, path: &str) -> anyhow::Result<Value> {
        let kubectl = std::env::var_os("KUBECTL").unwrap_or_else(|| "kubectl".into());
        let output = Command::new(&kubectl)
            .arg("--kubeconfig")
            .arg(self.kubeconfig)
            .args(["get", "--raw", path])
            .output()
            .with_context(|| format!("running {}", kubectl.display()))?;
        ensure!(
            output.status.success(),
            "{path}: {}",
            String::from_utf8_lossy(&output.stderr).trim_end()
        );
        serde_json::from_slice(&output.stdout).with_context(|| format!("{path} is no JSON"))
    }
}
