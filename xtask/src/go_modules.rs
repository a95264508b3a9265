//! The Go modules that are on this machine.

use std::path::PathBuf;

/// Returns the folder of a module of Kubernetes, `api` for example. `version` is that of Kubernetes.
pub(crate) fn kubernetes_module(name: &str, version: &str) -> PathBuf {
    let cache = match std::env::var_os("GOMODCACHE") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join("go/pkg/mod"),
    };
    cache.join(format!("k8s.io/{name}@{}", version.replacen("v1.", "v0.", 1)))
}
