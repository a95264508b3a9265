//! The tables of cases.
//!
//! A file of `cases/` is one kind of input. It holds families: what is set up and run, with a hole
//! `@x@`. Each row of a family is a case: its name, what fills the hole, the expected exit code (of
//! a request: the status) and a part of the expected text. `@id@` is a name that no other case has,
//! `@port@` the port of the family's own server.

use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Cases that differ in one text.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// Unique name within the file.
    pub name: String,
    /// Name of a family of the same file whose files come first.
    #[serde(default)]
    pub base: Option<String>,
    /// Files by path.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Shell commands that prepare the folder; they must succeed.
    #[serde(default)]
    pub setup: String,
    /// The shell command that is tested.
    #[serde(default)]
    pub run: String,
    /// Whether the kubeconfig of the shared sandbox is in the environment.
    #[serde(default)]
    pub cluster: bool,
    /// How the server of each case behaves; see [`crate::Server`].
    #[serde(default)]
    pub serve: Option<String>,
    /// A request to the shared sandbox, instead of a command: method and path.
    #[serde(default)]
    pub request: Option<String>,
    /// Lines of the head of the request.
    #[serde(default)]
    pub headers: Vec<String>,
    /// The body of the request.
    #[serde(default)]
    pub body: String,
    /// Texts that must not be in the output.
    #[serde(default)]
    pub never: Vec<String>,
    /// The rows: name, what `@x@` stands for, expected code, part of the expected text.
    #[serde(default)]
    pub cases: Vec<(String, String, i32, String)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    family: Vec<Family>,
}

/// One input, and what must come of it.
#[derive(Clone, Debug)]
pub struct Case {
    /// `KIND/FAMILY/CASE`.
    pub name: String,
    /// The family with all holes filled, but for `@port@`.
    pub family: Family,
    /// Expected exit code, or status of a response.
    pub code: i32,
    /// Part of the expected text.
    pub text: String,
}

/// Reads all tables of a folder; returns their cases in the order of names of files.
pub fn load(folder: &Path) -> Result<Vec<Case>> {
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .with_context(|| format!("cannot read {}", folder.display()))?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|it| it == "toml"))
        .collect();
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let kind = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path)?;
        let table: Table =
            toml::from_str(&text).with_context(|| format!("cannot read {}", path.display()))?;
        for family in &table.family {
            cases.extend(expand(&kind, &table.family, family)?);
        }
    }
    Ok(cases)
}

fn expand(kind: &str, all: &[Family], family: &Family) -> Result<Vec<Case>> {
    let mut full = family.clone();
    if let Some(name) = &family.base {
        let base = all.iter().find(|it| it.name == *name);
        let base = base.with_context(|| format!("{kind}: there is no family `{name}`"))?;
        for (path, text) in &base.files {
            full.files.entry(path.clone()).or_insert_with(|| text.clone());
        }
        full.setup = format!("{}\n{}", base.setup, full.setup);
    }
    full.cases.clear();
    Ok(family.cases.iter().map(|row| fill(kind, &full, row)).collect())
}

fn fill(kind: &str, family: &Family, row: &(String, String, i32, String)) -> Case {
    let (name, hole, code, text) = row;
    let id = format!("{kind}-{}-{name}", family.name);
    let put = |text: &String| text.replace("@x@", hole).replace("@id@", &id);
    let mut family = family.clone();
    family.files = family.files.iter().map(|(path, text)| (put(path), put(text))).collect();
    family.setup = put(&family.setup);
    family.run = put(&family.run);
    family.body = put(&family.body);
    family.serve = family.serve.as_ref().map(put);
    family.request = family.request.as_ref().map(put);
    family.headers = family.headers.iter().map(put).collect();
    let name = format!("{kind}/{}/{name}", family.name);
    Case { name, family, code: *code, text: text.clone() }
}
