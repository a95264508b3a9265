//! Names the build: a hash of all sources that take part in the result of a run.

#![expect(clippy::disallowed_methods, reason = "build scripts read sources")]

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

fn main() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf);
    let mut hasher = DefaultHasher::new();
    env!("CARGO_PKG_VERSION").hash(&mut hasher);
    if let Some(crates) = crates {
        for name in folders(&crates) {
            let sources = name.join("src");
            println!("cargo:rerun-if-changed={}", sources.display());
            add(&sources, &mut hasher);
        }
    }
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-env=KCL_BUILD={}", hasher.finish());
}

/// The crates of the language; others take no part.
fn folders(crates: &Path) -> Vec<PathBuf> {
    let mut folders = list(crates);
    folders.retain(|folder| {
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or("");
        name.starts_with("kcl-") || name.starts_with("base-")
    });
    folders
}

fn list(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn add(path: &Path, hasher: &mut DefaultHasher) {
    if path.is_dir() {
        for inner in list(path) {
            add(&inner, hasher);
        }
    } else if let Ok(bytes) = fs::read(path) {
        path.file_name().hash(hasher);
        bytes.hash(hasher);
    }
}
