//! Definitions in the `crd` folder of a project.

use crate::GenerateError;
use crate::find::unreadable;
use crate::origins::{SourceLocation, shown};
use crate::shapes::Draft;
use base_system::System;
use kusion_model::Origin;
use serde::Deserialize;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Reads the objects in the YAML files of a folder, ordered by name; empty if the folder does not
/// exist. Files are shown relative to `work_dir`.
pub(crate) fn read(
    system: &dyn System,
    folder: &Path,
    work_dir: &Path,
) -> Result<Vec<Draft>, GenerateError> {
    let mut drafts = Vec::new();
    if !system.is_dir(folder) {
        return Ok(drafts);
    }
    let mut files: Vec<PathBuf> = system.read_dir(folder).map_err(unreadable(folder))?;
    files.retain(|path| {
        path.extension().is_some_and(|it| it == "yaml" || it == "yml" || it == "json")
    });
    files.sort();
    for path in files {
        let text = system.read_to_string(&path).map_err(unreadable(&path))?;
        let file: Arc<str> = shown(work_dir, &path).to_string_lossy().into();
        for (number, document) in yaml_serde::Deserializer::from_str(&text).enumerate() {
            let wrong = |line: Option<u32>, message: String| GenerateError::File {
                path: PathBuf::from(&*file),
                line,
                message,
            };
            let value = Value::deserialize(document).map_err(|error| {
                let line = error.location().and_then(|at| u32::try_from(at.line()).ok());
                wrong(line, error.to_string())
            })?;
            if value.is_null() {
                continue;
            }
            if kusion_k8s_schema::ObjectId::of_object(&value).is_none() {
                let message = format!(
                    "document {} is not a valid Kubernetes object: expected \
                     `apiVersion`, `kind` and `metadata.name`",
                    number + 1
                );
                return Err(wrong(None, message));
            }
            let origin = Origin::new(file.clone(), line_of(&text, number), 1);
            drafts.push(Draft::object(value, SourceLocation::File(origin)));
        }
    }
    Ok(drafts)
}

/// Returns the line at which a document begins.
fn line_of(text: &str, number: usize) -> u32 {
    let ends = text.lines().enumerate().filter(|(_, line)| line.trim_end() == "---");
    let starts_with_mark = text.trim_start().starts_with("---");
    let skipped = if starts_with_mark { number } else { number.wrapping_sub(1) };
    if !starts_with_mark && number == 0 {
        return 1;
    }
    ends.map(|(line, _)| line as u32 + 2).nth(skipped).unwrap_or(1)
}
