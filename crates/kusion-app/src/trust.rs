//! Trust in settings of repositories.
//!
//! The files of a repository may name a context of the user's own kubeconfig and a store without
//! an endpoint. Settings that could start programs, or send secrets and credentials to a server of
//! the repository's choice, are only used if the user trusts them. The trust is for one setting of
//! one folder, with the content that it had.

use crate::backend::{self, Risk};
use crate::cluster::ClusterRequest;
use crate::error::AppError;
use crate::runtimes;
use base_system::{OsSystem, System};
pub use base_trust::TrustedSetting;
use base_trust::{Standing, TrustError, TrustFile, trust_file};
use kusion_generate::{NamedPlugin, Stack, named_plugins};
use kusion_model::Spec;
use kusion_runtime_host::{Escalation, Host};
use kusion_runtime_k8s::inspect;
use kusion_runtime_terraform::{
    Consent, NotFound, ProviderAddress, RESOURCE_TYPE, provider_config,
};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// A setting of a stack that is only used if the user trusts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RiskySetting {
    /// The folder of the stack, or of the KCL module.
    pub folder: PathBuf,
    /// The key: `kubeConfig`, `backend`, `hosts`, `plugins.NAME` or `providerMeta ADDRESS`.
    pub key: Cow<'static, str>,
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
        key: "kubeConfig".into(),
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
        key: "backend".into(),
        value: shown,
        effects: vec![effect],
        digest: blake3::hash(address.as_bytes()).to_hex().to_string(),
    }))
}

/// The setting of a stack for its hosts, which must be trusted: scripts run there with the rights of
/// the user.
pub fn hosts_setting(stack: &Stack) -> Result<Option<RiskySetting>, AppError> {
    let hosts = runtimes::hosts_of(stack)?;
    if hosts.is_empty() {
        return Ok(None);
    }
    let names: Vec<&str> = hosts.iter().map(|it| it.name.as_str()).collect();
    Ok(Some(RiskySetting {
        folder: stack.folder.clone(),
        key: "hosts".into(),
        value: names.join(", "),
        effects: hosts.iter().map(host_effect).collect(),
        digest: blake3::hash(stack.file.hosts.to_string().as_bytes()).to_hex().to_string(),
    }))
}

fn host_effect(host: &Host) -> String {
    let escalation = match &host.escalation {
        Escalation::None => String::new(),
        Escalation::Sudo(user) => format!(", by `sudo` as `{user}`"),
    };
    if host.is_local {
        return format!("runs commands on this machine{escalation}");
    }
    let user = host.user.as_ref().map(|it| format!("{it}@")).unwrap_or_default();
    let port = host.port.map(|it| format!(" port {it}")).unwrap_or_default();
    format!("runs commands on `{user}{}`{port} with your SSH keys{escalation}", host.address)
}

/// The plugins that the KCL module of a folder names: programs that must be trusted. Whether one is
/// started is decided when a program imports it.
pub fn plugin_settings(folder: &Path) -> Result<Vec<RiskySetting>, AppError> {
    let plugins = named_plugins(&OsSystem, folder).map_err(|why| AppError::Plugin { why })?;
    let risky = |plugin: NamedPlugin| RiskySetting {
        folder: plugin.folder,
        key: plugin.setting.into(),
        effects: vec![format!("starts `{}`", plugin.command)],
        value: plugin.command,
        digest: plugin.digest,
    };
    Ok(plugins.into_iter().map(risky).collect())
}

/// The configurations of Terraform providers in a Spec: with the user's credentials, they can reach
/// servers of the repository's choice.
pub fn provider_settings(folder: &Path, spec: &Spec) -> Vec<RiskySetting> {
    let mut settings: Vec<RiskySetting> = Vec::new();
    for resource in &spec.resources {
        let is_terraform = resource.resource_type.as_str() == RESOURCE_TYPE;
        if let Some((address, config)) = provider_config(resource).filter(|_| is_terraform) {
            let setting = provider_setting(folder, &address, &config);
            if !settings.contains(&setting) {
                settings.push(setting);
            }
        }
    }
    settings
}

fn provider_setting(
    folder: &Path,
    address: &ProviderAddress,
    config: &Map<String, Value>,
) -> RiskySetting {
    let value = Value::Object(config.clone()).to_string();
    let digest = blake3::hash(format!("{address} {value}").as_bytes()).to_hex().to_string();
    RiskySetting {
        folder: folder.to_owned(),
        key: format!("providerMeta {address} {}", &digest[..8]).into(),
        value,
        effects: vec![format!("starts `{address}` with it and your credentials")],
        digest,
    }
}

/// Asks the trusted settings before a provider is started.
pub(crate) struct ProviderConsent {
    /// The folder of the stack.
    pub(crate) folder: PathBuf,
    /// The folder for local data.
    pub(crate) home: PathBuf,
}

impl Consent for ProviderConsent {
    fn check(
        &self,
        address: &ProviderAddress,
        config: &Map<String, Value>,
    ) -> Result<(), NotFound> {
        let trust = Trust::open(&OsSystem, &self.home).map_err(|error| error.to_string())?;
        let setting = provider_setting(&self.folder, address, config);
        let RiskySetting { folder, key, digest, .. } = &setting;
        if trust.0.standing(&OsSystem, folder, key, digest) == Standing::Trusted {
            return Ok(());
        }
        // Values may be secret.
        let names: Vec<&str> = config.keys().map(String::as_str).collect();
        let message = format!(
            "its `providerMeta` ({}) is not trusted: with your credentials, it could reach servers \
             of other people",
            names.join(", ").escape_debug()
        );
        Err(NotFound { message, command: Some("trust") })
    }
}

/// The settings that the user trusts.
#[derive(Clone, Debug)]
pub struct Trust(TrustFile);

impl From<TrustError> for AppError {
    fn from(error: TrustError) -> Self {
        Self::Trust { file: error.file, why: error.why }
    }
}

impl Trust {
    /// Reads the trusted settings from the folder for local data.
    pub fn open(system: &dyn System, home: &Path) -> Result<Self, AppError> {
        Ok(Self(TrustFile::open(system, &trust_file(home))?))
    }

    /// Returns all trusted settings, sorted by folder.
    pub fn settings(&self) -> &[TrustedSetting] {
        self.0.settings()
    }

    /// Checks that the user trusts settings.
    pub fn check(
        &self,
        system: &dyn System,
        stack: &Stack,
        settings: Vec<RiskySetting>,
    ) -> Result<(), AppError> {
        let standing = |it: &RiskySetting| self.0.standing(system, &it.folder, &it.key, &it.digest);
        let refused: Vec<RiskySetting> =
            settings.into_iter().filter(|it| standing(it) != Standing::Trusted).collect();
        if refused.is_empty() {
            return Ok(());
        }
        let is_changed = refused.iter().any(|it| standing(it) == Standing::Changed);
        Err(AppError::Untrusted { stack: stack.name.clone(), settings: refused, is_changed })
    }

    /// Records settings as trusted.
    pub fn add(&mut self, system: &dyn System, settings: &[RiskySetting]) -> Result<(), AppError> {
        for setting in settings {
            self.0.add(system, &setting.folder, &setting.key, &setting.digest);
        }
        Ok(self.0.save(system)?)
    }

    /// Withdraws the trust in all settings of a folder and below; returns them.
    pub fn remove(
        &mut self,
        system: &dyn System,
        folder: &Path,
    ) -> Result<Vec<TrustedSetting>, AppError> {
        let gone = self.0.remove(system, folder);
        self.0.save(system)?;
        Ok(gone)
    }
}
