//! What a real server answered.

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// An answer, made comparable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The request, for people.
    pub request: String,
    /// HTTP status.
    pub status: u16,
    /// Content type.
    #[serde(rename = "type")]
    pub content_type: String,
    /// Warning headers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The body, or the parts of it that count.
    pub body: Value,
}

/// The answers to all cases of one file, by the name of the case.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Recorded {
    /// What made this file.
    pub generated_by: String,
    /// The answers.
    pub answers: BTreeMap<String, Vec<Answer>>,
}

impl Recorded {
    /// Reads the answers that were recorded for a file of cases.
    pub fn read(folder: &Path, file: &str) -> anyhow::Result<Self> {
        let path = path(folder, file);
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("reading {}; `k8s-suite record` makes it", path.display()))?;
        Ok(serde_json::from_str(&text)?)
    }

    /// Writes them, a line per answer.
    pub fn write(&self, folder: &Path, file: &str) -> anyhow::Result<()> {
        let mut text = format!(
            "{{\"generated_by\":{},\"answers\":{{",
            serde_json::to_string(&self.generated_by)?
        );
        for (n_cases, (name, answers)) in self.answers.iter().enumerate() {
            text.push_str(if n_cases == 0 { "\n" } else { ",\n" });
            text.extend([&serde_json::to_string(name)?, ": ["]);
            for (n_answers, answer) in answers.iter().enumerate() {
                text.push_str(if n_answers == 0 { "\n" } else { ",\n" });
                text.push_str(&serde_json::to_string(answer)?);
            }
            text.push_str("\n]");
        }
        text.push_str("\n}}\n");
        std::fs::write(path(folder, file), text)?;
        Ok(())
    }
}

fn path(folder: &Path, file: &str) -> PathBuf {
    folder.join(format!("{file}.json"))
}
