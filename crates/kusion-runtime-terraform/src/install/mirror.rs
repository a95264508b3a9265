//! Folders of providers, in the layout that Terraform and `OpenTofu` use for mirrors
//! and caches: `registry/namespace/name/version/platform/terraform-provider-name…`.

use crate::address::ProviderAddress;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// A folder of unpacked providers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirror(pub PathBuf);

/// An installed provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// Its folder.
    pub folder: PathBuf,
    /// Its program.
    pub program: PathBuf,
}

impl Mirror {
    /// Finds a version of a provider for this platform.
    ///
    /// # Errors
    ///
    /// Its folder exists, but has no program.
    pub fn find(
        &self,
        address: &ProviderAddress,
        version: &str,
    ) -> Result<Option<Installed>, String> {
        let folder = self.folder_for(address, version);
        if !folder.is_dir() {
            return Ok(None);
        }
        let program = program_in(&folder, &address.name);
        let program = program.map_err(|it| format!("in {}: {it}", folder.display()))?;
        Ok(Some(Installed { folder, program }))
    }

    /// Returns the installed versions of a provider for this platform, sorted as texts.
    pub fn versions(&self, address: &ProviderAddress) -> Vec<String> {
        let folders = fs::read_dir(self.folder_of(address)).into_iter().flatten().flatten();
        let folders = folders.filter(|it| it.path().join(platform()).is_dir());
        let mut versions: Vec<String> =
            folders.filter_map(|it| it.file_name().into_string().ok()).collect();
        versions.sort();
        versions
    }

    /// Returns the archive of a version of a provider for this platform.
    pub fn archive(&self, address: &ProviderAddress, version: &str) -> Option<PathBuf> {
        let ProviderAddress { name, .. } = address;
        let file = format!("terraform-provider-{name}_{version}_{}.zip", platform());
        let path = self.folder_of(address).join(file);
        path.is_file().then_some(path)
    }

    /// Returns the versions of the archives of a provider for this platform, sorted as texts.
    pub fn archive_versions(&self, address: &ProviderAddress) -> Vec<String> {
        let start = format!("terraform-provider-{}_", address.name);
        let end = format!("_{}.zip", platform());
        let files = fs::read_dir(self.folder_of(address)).into_iter().flatten().flatten();
        let names = files.filter_map(|it| it.file_name().into_string().ok());
        let mut versions: Vec<String> = names
            .filter_map(|it| Some(it.strip_prefix(&start)?.strip_suffix(&end)?.to_owned()))
            .collect();
        versions.sort();
        versions
    }

    /// Returns the folder of a version of a provider for this platform.
    pub fn folder_for(&self, address: &ProviderAddress, version: &str) -> PathBuf {
        self.folder_of(address).join(version).join(platform())
    }

    fn folder_of(&self, address: &ProviderAddress) -> PathBuf {
        self.0.join(&address.registry).join(&address.namespace).join(&address.name)
    }
}

/// Returns the name of this platform: `linux_amd64`.
pub fn platform() -> String {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let processor = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "386",
        other => other,
    };
    format!("{system}_{processor}")
}

/// Returns the program of a provider in a folder.
pub(crate) fn program_in(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let files = fs::read_dir(folder).map_err(|error| match error.kind() {
        ErrorKind::NotFound => "the folder does not exist".to_owned(),
        _ => error.to_string(),
    })?;
    let start = format!("terraform-provider-{name}");
    let mut found: Vec<PathBuf> = files
        .flatten()
        .filter(|it| {
            let file = it.file_name();
            let rest = file.to_str().and_then(|it| it.strip_prefix(&start));
            rest.is_some_and(|it| it.is_empty() || it.starts_with("_v"))
        })
        .map(|it| it.path())
        .filter(|it| is_program(it))
        .collect();
    found.sort();
    match found.as_slice() {
        [program] => Ok(program.clone()),
        [] => Err(format!("there is no program `{start}`")),
        _ => Err(format!("there are several programs `{start}`")),
    }
}

fn is_program(path: &Path) -> bool {
    let executable = 0o111;
    fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & executable != 0)
}
