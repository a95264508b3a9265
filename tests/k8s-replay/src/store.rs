//! Recorded sequences in a file: compressed JSON, one sequence per line.

use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, Result};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::{Value, json};

use super::generate::{Method, Step};
use super::{Answer, Kind, Sequence};

/// Writes sequences to a file.
pub fn save(path: &Path, sequences: &[Sequence]) -> Result<()> {
    let mut text = String::new();
    for sequence in sequences {
        let steps: Vec<Value> = sequence
            .steps
            .iter()
            .map(|(step, answer)| {
                json!({
                    "method": step.method.name(), "subresource": step.subresource,
                    "manager": step.manager, "force": step.force, "body": step.body,
                    "answer": answer.to_value(),
                })
            })
            .collect();
        let line = json!({"number": sequence.number, "kind": sequence.kind.name(), "steps": steps});
        text.push_str(&line.to_string());
        text.push('\n');
    }
    std::fs::write(path, compress_to_vec(text.as_bytes(), CompressionLevel::Fastest))?;
    Ok(())
}

/// Reads sequences from a file.
pub fn load(path: &Path) -> Result<Vec<Sequence>> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    let mut decoder = ruzstd::decoding::StreamingDecoder::new(bytes.as_slice())?;
    let mut text = String::new();
    decoder.read_to_string(&mut text)?;
    text.lines().map(|line| sequence(&serde_json::from_str(line)?)).collect()
}

fn sequence(line: &Value) -> Result<Sequence> {
    let kind = Kind::of_name(super::text(line, "/kind")).context("unknown kind")?;
    let steps = line["steps"].as_array().context("no steps")?.iter().map(|raw| {
        let step = Step {
            method: Method::of_name(super::text(raw, "/method")).context("unknown method")?,
            subresource: super::text(raw, "/subresource").to_owned(),
            manager: super::text(raw, "/manager").to_owned(),
            force: raw["force"] == true,
            body: raw["body"].clone(),
        };
        Ok((step, Answer::from_value(&raw["answer"])))
    });
    Ok(Sequence {
        number: line["number"].as_u64().unwrap_or(0),
        kind,
        steps: steps.collect::<Result<_>>()?,
    })
}
