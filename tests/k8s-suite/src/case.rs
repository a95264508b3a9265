//! Cases as people write them.

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// A list of requests that belong together.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// File and name, for people.
    #[serde(default)]
    pub name: String,
    /// Requests that prepare; their answers are not compared, but must be successes.
    #[serde(default)]
    pub before: Vec<Step>,
    /// The requests whose answers are compared.
    pub steps: Vec<Step>,
    /// Requests that tidy up cluster-scoped objects; the namespace of the case goes by itself.
    #[serde(default)]
    pub after: Vec<Step>,
}

impl Case {
    /// Returns the file of the case and its name in it.
    pub fn file_and_name(&self) -> (&str, &str) {
        self.name.split_once('/').unwrap_or(("", &self.name))
    }
}

/// One request, and which part of the answer counts.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Method and path with query, such as `GET /api/v1/namespaces/$ns/configmaps`. `WATCH` is
    /// a GET that reads `events` lines.
    #[serde(rename = "do")]
    pub request: String,
    /// What is looked at here, for people.
    #[serde(default)]
    pub note: String,
    /// Content type of the body: a short name (`json`, `yaml`, `apply`, `merge`, `strategic`,
    /// `patch`) or a full one.
    #[serde(default, rename = "type")]
    pub content_type: String,
    /// Accepted content type; empty means JSON.
    #[serde(default)]
    pub accept: String,
    /// The body as data.
    #[serde(default)]
    pub body: Option<Value>,
    /// The body as it stands, for bodies that are not valid or have duplicate keys.
    #[serde(default)]
    pub raw: Option<String>,
    /// Only these parts of the answer count (JSON pointers, `*` for every item).
    #[serde(default)]
    pub only: Vec<String>,
    /// These parts of the answer do not count.
    #[serde(default)]
    pub ignore: Vec<String>,
    /// The request is repeated until these parts have these values (or a status for `code`).
    #[serde(default)]
    pub until: BTreeMap<String, Value>,
    /// Parts of the answer to keep as variables for later requests.
    #[serde(default)]
    pub save: BTreeMap<String, String>,
    /// How many watch events are read.
    #[serde(default)]
    pub events: usize,
}

/// One file of cases.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    cases: BTreeMap<String, Case>,
}

/// Reads all files of cases in a folder; names are `file/case`.
pub fn read_cases(folder: &Path) -> anyhow::Result<Vec<Case>> {
    let mut cases = Vec::new();
    let mut paths: Vec<_> = std::fs::read_dir(folder)?
        .collect::<Result<Vec<_>, _>>()?
        .iter()
        .map(std::fs::DirEntry::path)
        .collect();
    paths.sort();
    for path in paths {
        let text = std::fs::read_to_string(&path)?;
        let file: File =
            yaml_serde::from_str(&text).with_context(|| format!("reading {}", path.display()))?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for (name, mut case) in file.cases {
            case.name = format!("{stem}/{name}");
            cases.push(case);
        }
    }
    Ok(cases)
}
