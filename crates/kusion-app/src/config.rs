//! The settings of a user: defaults for what the command line and the environment do not say.
//!
//! The file is in the user's own configuration folder. It is never read from a repository.

use crate::error::AppError;
use base_system::System;
use base_text::nearest;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The most bytes of the file that are read.
const MAX_BYTES: u64 = 1 << 20;

const KEYS: &[&str] = &["sandbox", "context", "backend", "plugins", "providers", "runtimes"];

/// The settings of a user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(
    expecting = "a map with the keys `sandbox`, `context`, `backend`, `plugins`, `providers` and \
                 `runtimes`"
)]
pub struct UserConfig {
    /// The sandbox of commands that name no cluster.
    #[serde(default)]
    pub sandbox: Option<String>,
    /// The kubeconfig context of stacks that name none.
    #[serde(default)]
    pub context: Option<String>,
    /// The URL of the state store of stacks that name none.
    #[serde(default)]
    pub backend: Option<String>,
    /// Commands of plugins by name. `kcl-driver` reads them when a program imports one.
    #[serde(default)]
    pub plugins: Map<String, Value>,
    /// Where Terraform providers are.
    #[serde(default)]
    pub providers: ProviderConfig,
    /// Commands of runtimes that are programs, by the type of their resources.
    #[serde(default)]
    pub runtimes: BTreeMap<String, String>,
    /// Unknown keys, as written.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// Where the user has Terraform providers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a map with the keys `folders`, `overrides`, `config`, `mirror` and `registries`"
)]
pub struct ProviderConfig {
    /// Folders with installed providers, searched in order.
    #[serde(default)]
    pub folders: Vec<PathBuf>,
    /// Folders with programs under development, by the address of the provider.
    #[serde(default)]
    pub overrides: BTreeMap<String, PathBuf>,
    /// The URL of a network mirror, which is asked instead of registries.
    #[serde(default)]
    pub mirror: Option<String>,
    /// Registries that may be asked beside the default one, with the URL of their API; an empty URL
    /// is looked up.
    #[serde(default)]
    pub registries: BTreeMap<String, String>,
    /// Configuration of providers by address, such as credentials.
    #[serde(default)]
    pub config: BTreeMap<String, Map<String, Value>>,
}

impl UserConfig {
    /// Reads the file; a missing file has no settings.
    ///
    /// # Errors
    ///
    /// If it cannot be read, is too large, or has an invalid value or an unknown key.
    pub fn read(system: &dyn System, path: &Path) -> Result<Self, AppError> {
        let unusable = |why: String| AppError::Config { file: path.to_owned(), why };
        if !system.exists(path) {
            return Ok(Self::default());
        }
        let facts = system.metadata(path).map_err(|error| unusable(error.to_string()))?;
        if facts.len > MAX_BYTES {
            let why = format!("it has {} bytes, at most {MAX_BYTES} are read", facts.len);
            return Err(unusable(why));
        }
        let text = system.read_to_string(path).map_err(|error| unusable(error.to_string()))?;
        Self::parse(&text).map_err(unusable)
    }

    fn parse(text: &str) -> Result<Self, String> {
        if text.lines().all(|it| it.trim().is_empty() || it.trim_start().starts_with('#')) {
            return Ok(Self::default());
        }
        let config: Self = yaml_serde::from_str(text).map_err(|error| error.to_string())?;
        if let Some(key) = config.rest.keys().next() {
            let hint = nearest(key, KEYS.iter().copied());
            let hint = hint.map_or_else(
                || format!("; expected `{}`", KEYS.join("`, `")),
                |it| format!("; did you mean `{it}`?"),
            );
            return Err(format!("unknown key `{key}`{hint}"));
        }
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base_system::MemorySystem;

    fn read(text: &str) -> Result<UserConfig, String> {
        let system = MemorySystem::new().with_file("/c/config.yaml", text);
        UserConfig::read(&system, Path::new("/c/config.yaml")).map_err(|error| error.to_string())
    }

    #[test]
    fn settings_are_read() {
        let config = read("sandbox: default\ncontext: dev\n").expect("settings");
        assert_eq!(config.sandbox.as_deref(), Some("default"));
        assert_eq!((config.context.as_deref(), config.backend), (Some("dev"), None));
        let text = "providers:\n  folders: [/p]\n  overrides:\n    acme/cloud: /src/cloud\n";
        let providers = read(text).expect("settings").providers;
        assert_eq!(providers.folders, [PathBuf::from("/p")]);
        assert_eq!(providers.overrides["acme/cloud"], PathBuf::from("/src/cloud"));
        assert_eq!(read("# nothing\n\n"), Ok(UserConfig::default()));
        let missing = UserConfig::read(&MemorySystem::new(), Path::new("/c/config.yaml"));
        assert_eq!(missing.expect("no file"), UserConfig::default());
    }

    #[test]
    fn mistakes_are_errors() {
        let error = |text: &str| read(text).expect_err(text);
        assert_eq!(
            error("sandbx: a\n"),
            "cannot use /c/config.yaml: unknown key `sandbx`; did you mean `sandbox`?"
        );
        assert!(error("sandbox: [a]\n").contains("line 1"), "{}", error("sandbox: [a]\n"));
        assert!(error("- a\n").contains("expected a map with the keys `sandbox`"));
        assert!(error(&"#".repeat(2 << 20)).contains("at most 1048576"));
    }
}
