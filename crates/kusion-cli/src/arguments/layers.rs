//! Options of commands that read layers.

use super::FolderArgs;
use crate::failure::Failure;
use base_system::OsSystem;
use kusion_cells::LeafPath;
use kusion_generate::{CompileOptions, LayeredStack, layered_stacks};

/// Parses the path of a value: `app.replicas`.
pub(crate) fn leaf_path(text: &str) -> Result<LeafPath, String> {
    text.parse().map_err(|error: kusion_cells::PatternError| error.to_string())
}

impl FolderArgs {
    /// Reads the layers of the stacks with cells; for a path, also what programs set there.
    pub(crate) fn layers(&self, path: Option<&LeafPath>) -> Result<Vec<LayeredStack>, Failure> {
        let options = CompileOptions {
            work_dir: self.workdir.clone(),
            folders: self.folders.clone(),
            cells: self.cell.clone(),
            ..CompileOptions::default()
        };
        let roots: Vec<String> = path.and_then(|it| it.0.first().cloned()).into_iter().collect();
        let found = layered_stacks(&OsSystem, &options, &roots)?;
        if found.is_empty() {
            return Err(Failure::NoCells);
        }
        Ok(found)
    }
}
