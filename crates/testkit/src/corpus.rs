//! The conformance vectors, which live beside the repository and are never copied into it.

use crate::suite::Missing;
use anyhow::Context as _;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The folder of vectors.
#[derive(Clone, Debug)]
pub struct Corpus {
    root: PathBuf,
}

/// One vector: a folder with inputs and the reference's answers.
#[derive(Clone, Debug)]
pub struct Case {
    /// `category/name`.
    pub name: String,
    /// The folder.
    pub dir: PathBuf,
    /// What is asked: `run`, `parse`, `fmt` …
    pub kind: String,
    /// All of `case.json`.
    pub meta: Value,
}

impl Corpus {
    /// Finds the vectors: `KCL_CONFORMANCE`, or `shared/conformance` beside the repository.
    ///
    /// # Errors
    ///
    /// When they are not there.
    pub fn locate() -> Result<Self, Missing> {
        let root = match std::env::var_os("KCL_CONFORMANCE") {
            Some(path) => PathBuf::from(path),
            None => crate::repository().join("../shared/conformance"),
        };
        if root.join("corpus").is_dir() {
            return Ok(Self { root });
        }
        let root = root.display();
        Err(Missing::new(format!("no conformance vectors at {root}; set KCL_CONFORMANCE")))
    }

    /// Returns the folder of the cases.
    pub fn folder(&self) -> PathBuf {
        self.root.join("corpus")
    }

    /// Lists the cases of one kind, by name.
    pub fn cases(&self, kind: &str) -> anyhow::Result<Vec<Case>> {
        let corpus = self.folder();
        let mut cases = Vec::new();
        for category in folders(&corpus)? {
            for dir in folders(&category)? {
                let name = dir.strip_prefix(&corpus)?.to_string_lossy().into_owned();
                let case = Case::read(name, &dir)?;
                if case.kind == kind {
                    cases.push(case);
                }
            }
        }
        Ok(cases)
    }
}

impl Case {
    /// Reads the case in folder `dir`.
    pub fn read(name: impl Into<String>, dir: &Path) -> anyhow::Result<Self> {
        let path = dir.join("case.json");
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let meta: Value =
            serde_json::from_str(&text).with_context(|| path.display().to_string())?;
        let kind = meta["kind"].as_str().unwrap_or("run").to_owned();
        Ok(Self { name: name.into(), dir: dir.into(), kind, meta })
    }

    /// Returns a text of `case.json`, if it is there.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.meta[key].as_str()
    }

    /// Returns a list of texts of `case.json`; empty if it is not there.
    pub fn texts(&self, key: &str) -> Vec<&str> {
        self.meta[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// Reads a file of the case.
    pub fn read_file(&self, path: &str) -> anyhow::Result<String> {
        let path = self.dir.join(path);
        std::fs::read_to_string(&path).with_context(|| path.display().to_string())
    }
}

fn folders(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(path).with_context(|| path.display().to_string())?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
