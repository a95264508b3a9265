//! Options of Terraform providers.

use super::runtimes::{programs, ssh};
use crate::failure::Failure;
use crate::home;
use kusion_app::{RuntimeSettings, UserConfig};
use kusion_runtime_terraform::install::{Mirror, Remote};
use kusion_runtime_terraform::{Guard, ProviderAddress, Providers};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::env::{self, split_paths, var_os};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the help lists the options.
const HEADING: &str = "Terraform providers";

/// The environment variable with folders of providers, separated as in `PATH`.
const FOLDERS: &str = "KUSION_PROVIDER_DIRS";

/// Where the programs of Terraform providers are.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ProviderArgs {
    /// Folder with installed providers, searched before those of `KUSION_PROVIDER_DIRS` and of the
    /// user's `config.yaml`
    #[arg(long, help_heading = HEADING, value_name = "DIR")]
    provider_dir: Vec<PathBuf>,
    /// Folder with a provider under development, which runs without a version and a lock
    #[arg(long, help_heading = HEADING, value_name = "ADDRESS=DIR")]
    provider_override: Vec<String>,
}

impl ProviderArgs {
    /// Returns what the user says about runtimes.
    pub(crate) fn runtimes(&self, config: &UserConfig) -> Result<RuntimeSettings, Failure> {
        let providers = Arc::new(self.providers(config)?);
        Ok(RuntimeSettings { providers, ssh: ssh(), programs: programs(config)? })
    }

    /// Returns what the user says about providers: on the command line, in the environment and in
    /// `config.yaml`.
    pub(crate) fn providers(&self, config: &UserConfig) -> Result<Providers, Failure> {
        // The key of the user's secrets is not for providers.
        let is_ours = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with("KUSION_");
        Ok(Providers {
            mirrors: self.folders(config)?.into_iter().map(Mirror).collect(),
            overrides: self.overrides(config)?,
            configs: configs(config)?,
            remote: Remote {
                mirror: config.providers.mirror.clone(),
                registries: config.providers.registries.clone(),
            },
            environment: env::vars_os().filter(|(name, _)| !is_ours(name)).collect(),
            guard: env::current_exe().ok().map(|program| Guard { program }),
            ..Providers::default()
        })
    }

    /// Returns the folders that are searched, in order. The one where `kusion provider install` puts
    /// providers is among them, and those of Terraform and `OpenTofu`.
    fn folders(&self, config: &UserConfig) -> Result<Vec<PathBuf>, Failure> {
        let listed = |name| var_os(name).filter(|it| !it.is_empty());
        let mut folders = self.provider_dir.clone();
        folders.extend(listed(FOLDERS).iter().flat_map(split_paths));
        folders.extend(config.providers.folders.iter().cloned());
        folders.push(installed()?);
        folders.extend(listed("TF_PLUGIN_CACHE_DIR").map(PathBuf::from));
        folders.extend(listed("HOME").map(|it| Path::new(&it).join(".terraform.d/plugins")));
        let mut found: Vec<PathBuf> = Vec::new();
        for folder in folders {
            let folder = absolute(&folder)?;
            if !found.contains(&folder) {
                found.push(folder);
            }
        }
        Ok(found)
    }

    fn overrides(
        &self,
        config: &UserConfig,
    ) -> Result<BTreeMap<ProviderAddress, PathBuf>, Failure> {
        let mut overrides = BTreeMap::new();
        for (address, folder) in &config.providers.overrides {
            let address = ProviderAddress::parse_short(address).map_err(Failure::Usage)?;
            overrides.insert(address, absolute(folder)?);
        }
        for text in &self.provider_override {
            let invalid = || {
                let message = format!("invalid provider override `{text}`: expected `ADDRESS=DIR`");
                Failure::Usage(message)
            };
            let (address, folder) = text.split_once('=').ok_or_else(invalid)?;
            let address = ProviderAddress::parse_short(address).map_err(Failure::Usage)?;
            overrides.insert(address, absolute(Path::new(folder))?);
        }
        Ok(overrides)
    }
}

/// Returns the configuration of providers in `config.yaml`.
fn configs(config: &UserConfig) -> Result<BTreeMap<ProviderAddress, Map<String, Value>>, Failure> {
    let all = config.providers.config.iter().map(|(address, fields)| {
        let address = ProviderAddress::parse_short(address).map_err(Failure::Usage)?;
        Ok((address, fields.clone()))
    });
    all.collect()
}

/// Returns the folder where `kusion provider install` puts providers.
pub(crate) fn installed() -> Result<PathBuf, Failure> {
    Ok(home::folder()?.join("providers"))
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(Failure::file("use", path))
}
