//! Starts and configures providers.

use super::{Managed, TerraformRuntime, fault};
use crate::address::{ProviderAddress, Reference};
use crate::config::{configuration, secret_paths};
use crate::host::guard::Guard;
use crate::host::launch::Launch;
use crate::limits::Limits;
use crate::pool::{Pool, PoolKey};
use crate::provider::Provider;
use crate::{ProviderError, schema::Schema};
use async_trait::async_trait;
use kusion_model::Resource;
use kusion_runtime::RuntimeError;
use kusion_secret::Redactor;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

/// Finds the programs of providers.
#[async_trait]
pub trait ProviderSource: Send + Sync {
    /// Returns the program of a provider, whose version fulfils constraints such as `2.5.1` or
    /// `~> 2.5`.
    ///
    /// # Errors
    ///
    /// It is not installed, or not what was locked.
    async fn program(
        &self,
        address: &ProviderAddress,
        constraints: &str,
    ) -> Result<PathBuf, NotFound>;
}

/// Why there is no program for a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFound {
    /// The reason, which follows the name of the provider.
    pub message: String,
    /// The command on the stack that solves it, if there is one.
    pub command: Option<&'static str>,
}

impl From<String> for NotFound {
    fn from(message: String) -> Self {
        Self { message, command: None }
    }
}

/// Decides whether a provider may be started with a configuration that a repository has.
pub trait Consent: Send + Sync {
    /// Checks the configuration (`providerMeta`) of a provider, which is not empty.
    ///
    /// # Errors
    ///
    /// The user does not trust it.
    fn check(&self, address: &ProviderAddress, config: &Map<String, Json>) -> Result<(), NotFound>;
}

/// The surroundings of providers.
#[derive(Clone)]
pub struct TerraformSettings {
    /// Finds their programs.
    pub source: Arc<dyn ProviderSource>,
    /// Their environment: credentials come from it.
    pub environment: Vec<(OsString, OsString)>,
    /// What ends them with this process.
    pub guard: Option<Guard>,
    /// Their limits.
    pub limits: Limits,
    /// Configuration of the user by provider, such as credentials; it takes precedence over
    /// `providerMeta`.
    pub configs: BTreeMap<ProviderAddress, Map<String, Json>>,
    /// Is asked before a provider is configured by a repository; `None` if the user trusts it.
    pub consent: Option<Arc<dyn Consent>>,
    /// Those that run; stacks of one command share them.
    pub pool: Arc<Pool>,
}

impl TerraformRuntime {
    /// Returns the provider and schema of a resource; starts the provider if it does not run.
    pub(super) async fn managed(&self, resource: &Resource) -> Result<Managed, RuntimeError> {
        let reference = Reference::of(resource)
            .map_err(|message| super::unusable(format!("`{}`: {message}", resource.id)))?;
        let provider = self.provider(&reference).await?;
        let schema = self.schema(&reference, &provider).await?;
        Ok(Managed { provider, schema, type_name: reference.type_name })
    }

    async fn schema(
        &self,
        reference: &Reference,
        provider: &Provider,
    ) -> Result<Arc<Schema>, RuntimeError> {
        let schema = provider.resource_schema(&reference.type_name).await.map_err(fault)?;
        let key = (reference.provider_name(), reference.type_name.clone());
        let mut schemas = self.schemas.write().unwrap_or_else(PoisonError::into_inner);
        schemas.insert(key, schema.clone());
        Ok(schema)
    }

    async fn provider(&self, reference: &Reference) -> Result<Arc<Provider>, RuntimeError> {
        let config = Json::Object(reference.config.clone());
        let digest = blake3::hash(config.to_string().as_bytes()).to_hex().to_string();
        let program = self.program(reference, &digest).await?;
        let address = reference.address.to_string();
        let key = PoolKey { address, program: program.clone(), config: digest };
        let pool = &self.settings.pool;
        let unusable = |error: ProviderError| super::unusable(error.to_string());
        let provider = pool.get(&key, self.start(reference, &program, &config)).await;
        let provider = provider.map_err(unusable)?;
        if provider.is_running() {
            return Ok(provider);
        }
        // It crashed in an earlier call.
        pool.forget(&key);
        pool.get(&key, self.start(reference, &program, &config)).await.map_err(unusable)
    }

    /// Returns the program of a provider, if it may be started with its configuration. It is looked
    /// for once.
    async fn program(&self, reference: &Reference, digest: &str) -> Result<PathBuf, RuntimeError> {
        let key = (reference.address.clone(), reference.version.clone(), digest.to_owned());
        let mut programs = self.programs.lock().await;
        if let Some(program) = programs.get(&key) {
            return Ok(program.clone());
        }
        let consent = self.settings.consent.as_ref().filter(|_| !reference.config.is_empty());
        let found = match consent.map_or(Ok(()), |it| it.check(&key.0, &reference.config)) {
            Ok(()) => self.settings.source.program(&key.0, &key.1).await,
            Err(refused) => Err(refused),
        };
        let program = found.map_err(|NotFound { message, command }| {
            let name = reference.provider_name();
            let message = format!("cannot start the provider `{name}`: {message}");
            RuntimeError::Unusable { message, command }
        })?;
        programs.insert(key, program.clone());
        Ok(program)
    }

    async fn start(
        &self,
        reference: &Reference,
        program: &Path,
        config: &Json,
    ) -> Result<Provider, ProviderError> {
        let name = reference.provider_name();
        let fail = |message: String| ProviderError::Start { provider: name.clone(), message };
        let settings = &self.settings;
        let launch = Launch {
            name: name.clone(),
            program: program.to_owned(),
            environment: settings.environment.clone(),
            guard: settings.guard.clone(),
            limits: settings.limits,
            redactor: Redactor::default(),
        };
        let provider = launch.start().await?;
        let schemas = provider.schemas().await?;
        let mut config = config.clone();
        if let Some(path) = secret_paths(&schemas.provider.block, &config).first() {
            return Err(fail(format!(
                "`providerMeta.{path}` is secret, and secrets of providers are not part of a Spec: \
                 set it in the environment as the provider documents, or as `providers.config` in \
                 your config.yaml"
            )));
        }
        if let (Some(fields), Some(own)) =
            (config.as_object_mut(), settings.configs.get(&reference.address))
        {
            fields.extend(own.clone());
        }
        let config = &config;
        let config = configuration(&schemas.provider.block, config, &[]).map_err(|problems| {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            fail(format!("invalid `providerMeta`: {}", problems.join("; ")))
        })?;
        for warning in provider.configure(&config).await? {
            tracing::warn!(target: "terraform_provider", provider = name, "{warning}");
        }
        Ok(provider)
    }
}
