//! The Go modules that are on this machine.

use anyhow::Context as _;
use std::path::{Path, PathBuf};

/// Returns the folder of a module of Kubernetes, `api` for example. `version` is that of Kubernetes.
pub(crate) fn kubernetes_module(name: &str, version: &str) -> PathBuf {
    let cache = match std::env::var_os("GOMODCACHE") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join("go/pkg/mod"),
    };
    cache.join(format!("k8s.io/{name}@{}", version.replacen("v1.", "v0.", 1)))
}

/// Reads the Go files of a package that people have written, without its tests.
pub(crate) fn written_files(folder: &Path) -> anyhow::Result<Vec<String>> {
    let entries =
        std::fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    let mut texts = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_go = path.extension().is_some_and(|extension| extension == "go");
        if is_go && !name.ends_with("_test.go") && !name.starts_with("zz_") {
            texts.push(std::fs::read_to_string(&path)?);
        }
    }
    Ok(texts)
}
