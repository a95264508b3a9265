//! Trust in settings of repositories.
//!
//! The files of a repository may name a context of the user's own kubeconfig and a store without
//! an endpoint. Settings that could start programs, or send secrets and credentials to a server of
//! the repository's choice, are only used if the user trusts them. The trust is for one setting of
//! one folder, with the content that it had.

use crate::backend::{self, Risk};
use crate::cluster::ClusterRequest;
use crate::error::AppError;
use base_system::System;
use kusion_generate::Stack;
use kusion_runtime_k8s::inspect;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The name of the file with the trusted settings, in the folder for local data.
const FILE: &str = "trust.json";
/// Version of its format.
const VERSION: u32 = 1;

/// A setting of a stack that is only used if the user trusts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RiskySetting {
    /// The folder of the stack.
    pub folder: PathBuf,
    /// The key: `kubeConfig` or `backend`.
    pub key: &'static str,
    /// The value, for display.
    pub value: String,
    /// What it does, each as a verb and its object: "starts X".
    pub effects: Vec<String>,
    /// A fingerprint of everything that it does.
    digest: String,
}

/// The setting of a stack for its kubeconfig, if it must be trusted.
pub fn kubeconfig_setting(
    stack: &Stack,
    request: &ClusterRequest,
) -> Result<Option<RiskySetting>, AppError> {
    let Some(path) = request.file_of_stack(stack) else { return Ok(None) };
    let found = inspect(&path).map_err(|error| AppError::Kubeconfig {
        stack: stack.name.clone(),
        why: error.to_string(),
    })?;
    let starts = found.programs.iter().map(|it| format!("starts `{it}`"));
    let sends = found.files.iter().map(|it| format!("sends `{}` to its server", it.display()));
    let reaches = found.servers.iter().map(|it| format!("sends the stack's secrets to {it}"));
    Ok(Some(RiskySetting {
        folder: stack.folder.clone(),
        key: "kubeConfig",
        value: stack.file.kube_config.clone().unwrap_or_default(),
        effects: starts.chain(sends).chain(reaches).collect(),
        digest: found.digest,
    }))
}

/// The setting of a stack for its state store, if it must be trusted.
pub fn backend_setting(stack: &Stack) -> Result<Option<RiskySetting>, AppError> {
    let Some(address) = backend::setting(stack)? else { return Ok(None) };
    Ok(backend::risk(&address).map(|Risk { shown, effect }| RiskySetting {
        folder: stack.folder.clone(),
        key: "backend",
        value: shown,
        effects: vec![effect],
        digest: blake3::hash(address.as_bytes()).to_hex().to_string(),
    }))
}

/// The settings that the user trusts.
#[derive(Clone, Debug)]
pub struct Trust {
    file: PathBuf,
    trusted: Vec<TrustedSetting>,
}

#[derive(Serialize, Deserialize)]
struct Document {
    version: u32,
    /// Called `consents` by the first builds.
    #[serde(alias = "consents")]
    trusted: Vec<TrustedSetting>,
}

/// A trusted setting.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TrustedSetting {
    /// The folder of the stack.
    pub folder: PathBuf,
    /// The key of the setting.
    pub setting: String,
    /// The fingerprint of what it did.
    digest: String,
}

impl Trust {
    /// Reads the trusted settings from the folder for local data.
    pub fn open(system: &dyn System, home: &Path) -> Result<Self, AppError> {
        let file = home.join(FILE);
        let unusable = |why: String| AppError::Trust { file: file.clone(), why };
        let text = match system.read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self { file, trusted: Vec::new() });
            }
            Err(error) => return Err(unusable(error.to_string())),
        };
        let document: Document =
            serde_json::from_str(&text).map_err(|error| unusable(error.to_string()))?;
        if document.version != VERSION {
            let why = format!("its format version is {}, expected {VERSION}", document.version);
            return Err(unusable(why));
        }
        Ok(Self { file, trusted: document.trusted })
    }

    /// Returns all trusted settings, sorted by folder.
    pub fn settings(&self) -> &[TrustedSetting] {
        &self.trusted
    }

    /// Checks that the user trusts settings.
    pub fn check(
        &self,
        system: &dyn System,
        stack: &Stack,
        settings: Vec<RiskySetting>,
    ) -> Result<(), AppError> {
        let refused: Vec<RiskySetting> =
            settings.into_iter().filter(|it| self.find(system, it) != Some(true)).collect();
        if refused.is_empty() {
            return Ok(());
        }
        let is_changed = refused.iter().any(|it| self.find(system, it).is_some());
        Err(AppError::Untrusted { stack: stack.name.clone(), settings: refused, is_changed })
    }

    /// Returns whether the trust in a setting is for its current content; `None` if it is not trusted.
    fn find(&self, system: &dyn System, setting: &RiskySetting) -> Option<bool> {
        let folder = absolute(system, &setting.folder);
        let trusted =
            self.trusted.iter().find(|it| it.folder == folder && it.setting == setting.key)?;
        Some(trusted.digest == setting.digest)
    }

    /// Records settings as trusted.
    pub fn add(&mut self, system: &dyn System, settings: &[RiskySetting]) -> Result<(), AppError> {
        for setting in settings {
            let folder = absolute(system, &setting.folder);
            self.trusted.retain(|it| !(it.folder == folder && it.setting == setting.key));
            let (setting, digest) = (setting.key.to_owned(), setting.digest.clone());
            self.trusted.push(TrustedSetting { folder, setting, digest });
        }
        self.trusted.sort();
        self.save(system)
    }

    /// Withdraws the trust in all settings of a folder and below; returns them.
    pub fn remove(
        &mut self,
        system: &dyn System,
        folder: &Path,
    ) -> Result<Vec<TrustedSetting>, AppError> {
        let folder = absolute(system, folder);
        let (gone, kept) = std::mem::take(&mut self.trusted)
            .into_iter()
            .partition(|it| it.folder.starts_with(&folder));
        self.trusted = kept;
        self.save(system)?;
        Ok(gone)
    }

    fn save(&self, system: &dyn System) -> Result<(), AppError> {
        let document = Document { version: VERSION, trusted: self.trusted.clone() };
        let failed = |why: String| AppError::Trust { file: self.file.clone(), why };
        let text =
            serde_json::to_string_pretty(&document).map_err(|error| failed(error.to_string()))?;
        system.write(&self.file, &(text + "\n")).map_err(|error| failed(error.to_string()))
    }
}

fn absolute(system: &dyn System, folder: &Path) -> PathBuf {
    system.canonicalize(folder).unwrap_or_else(|_| folder.to_owned())
}
