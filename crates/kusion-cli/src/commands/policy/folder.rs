//! Options that select a folder of policies.

use crate::failure::Failure;
use base_system::{OsSystem, System as _};
use kusion_generate::PolicyFolder;
use std::path::{Path, PathBuf};

/// Selects a folder of policies.
#[derive(Debug, clap::Args)]
pub(super) struct PolicyFolderArgs {
    /// Folder with policies, or the folder that contains `policies` [default: the working folder]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

impl PolicyFolderArgs {
    /// Opens the folder: `policies` in it, or the folder itself.
    pub(super) fn open(&self) -> Result<PolicyFolder, Failure> {
        let work_dir = OsSystem.current_dir().map_err(Failure::file("read", "."))?;
        let base = match &self.folder {
            Some(folder) => work_dir.join(folder),
            None => work_dir.clone(),
        };
        let base = OsSystem.canonicalize(&base).map_err(Failure::file("read", &base))?;
        // Another folder may have YAML files that are no policies.
        let is_named = base.file_name().is_some_and(|it| it == "policies");
        let all = OsSystem.read_dir(&base).unwrap_or_default();
        let has_rules = all.iter().any(|it| it.extension().is_some_and(|it| it == "k"));
        let own = (is_named || has_rules).then(|| base.clone());
        for folder in std::iter::once(base.join("policies")).chain(own) {
            if let Some(found) = PolicyFolder::open(&OsSystem, &folder, &work_dir)? {
                return Ok(found);
            }
        }
        Err(Failure::Usage(format!(
            "there are no policies in {}: expected files `*.k` in the folder or in `policies` in it",
            self.folder.as_deref().unwrap_or(Path::new(".")).display()
        )))
    }
}
