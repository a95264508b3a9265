//! `dims.k`: the axes of a repository.

use super::wrong;
use crate::GenerateError;
use base_system::{System, root_of};
use kcl_driver::{EvalOptions, Format, RunOptions, run};
use kusion_cells::{Axes, Axis, PathPattern};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The name of the file that declares axes.
const FILE: &str = "dims.k";

/// The axes of the stacks below a folder.
#[derive(Debug)]
pub struct Dims {
    /// The folder of `dims.k`.
    pub folder: PathBuf,
    /// The axes.
    pub axes: Axes,
}

/// What `dims.k` may set.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Declared {
    axes: Vec<DeclaredAxis>,
    #[serde(default)]
    order: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    sets: Vec<String>,
    #[serde(default)]
    keys: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeclaredAxis {
    name: String,
    #[serde(default)]
    values: Vec<String>,
    #[serde(default)]
    groups: BTreeMap<String, Vec<String>>,
}

impl Dims {
    /// Returns the nearest folder with a `dims.k`, at or above a folder. Folders above the root of
    /// the repository are not searched: others may write there.
    ///
    /// # Errors
    ///
    /// If there is none: what to do.
    pub(crate) fn folder_of(
        system: &dyn System,
        folder: &Path,
        work_dir: &Path,
    ) -> Result<PathBuf, String> {
        let root = root_of(system, folder, &["kcl.mod", "project.yaml"], work_dir);
        let has_file = |folder: &&Path| system.is_file(&folder.join(FILE));
        let Some(found) = folder.ancestors().find(has_file) else {
            return Err("`cells` needs a dims.k, in this folder or above it".to_owned());
        };
        if found.starts_with(&root) {
            return Ok(found.to_path_buf());
        }
        let above = found.join(FILE);
        let mut message = format!(
            "`cells` needs a dims.k in the repository: {} is above its root {}, and does not count",
            above.display(),
            root.display()
        );
        if !system.exists(&root.join(".git")) {
            message.push_str("; if it belongs to the repository, put a kcl.mod beside it");
        }
        Err(message)
    }

    /// Reads the `dims.k` of a folder. The program uses neither files nor the environment.
    pub(crate) fn read(system: &(dyn System + Sync), folder: &Path) -> Result<Self, GenerateError> {
        let path = folder.join(FILE);
        let options = RunOptions {
            work_dir: Some(folder.to_owned()),
            ignore_default_settings: true,
            format: Some(Format::Json),
            eval: EvalOptions { no_io: true, ..EvalOptions::default() },
            use_cache: true,
            ..RunOptions::files([path.display().to_string()])
        };
        let output = run(system, &options).map_err(|error| GenerateError::Program {
            stack: folder.to_owned(),
            findings: error.into_findings(),
        })?;
        let declared: Declared = serde_json::from_str(&output.result).map_err(|error| {
            let message = error.to_string();
            let message = message.rsplit_once(" at line ").map_or(&*message, |(start, _)| start);
            wrong(&path, None, message)
        })?;
        let axes = axes(declared).map_err(|message| wrong(&path, None, message))?;
        Ok(Self { folder: folder.to_owned(), axes })
    }
}

fn axes(declared: Declared) -> Result<Axes, String> {
    let axis = |it: DeclaredAxis| Axis { name: it.name, values: it.values, groups: it.groups };
    let axes = declared.axes.into_iter().map(axis).collect();
    let mut axes = Axes::new(axes).map_err(|error| error.to_string())?;
    let pattern = |text: &str| text.parse::<PathPattern>().map_err(|error| error.to_string());
    for (text, order) in &declared.order {
        axes = axes.with_order(pattern(text)?, order).map_err(|error| error.to_string())?;
    }
    for text in &declared.sets {
        axes = axes.with_set(pattern(text)?);
    }
    for (text, key) in declared.keys {
        axes = axes.with_keyed(pattern(&text)?, key);
    }
    Ok(axes)
}
