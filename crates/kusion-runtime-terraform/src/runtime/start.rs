//! Starts and configures providers.

use super::{Managed, TerraformRuntime, fault};
use crate::address::{ProviderAddress, Reference};
use crate::config::configuration;
use crate::host::guard::Guard;
use crate::host::launch::Launch;
use crate::limits::Limits;
use crate::pool::PoolKey;
use crate::provider::Provider;
use crate::{ProviderError, schema::Schema};
use async_trait::async_trait;
use kusion_model::Resource;
use kusion_runtime::RuntimeError;
use kusion_secret::Redactor;
use serde_json::Value as Json;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

/// Finds the programs of providers.
#[async_trait]
pub trait ProviderSource: Send + Sync {
    /// Returns the program of a provider.
    ///
    /// # Errors
    ///
    /// It is not installed, or not what was locked; the message says what to do.
    async fn program(&self, address: &ProviderAddress, version: &str) -> Result<PathBuf, String>;
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
}

impl TerraformRuntime {
    /// Returns the provider and schema of a resource; starts the provider if it does not run.
    pub(super) async fn managed(&self, resource: &Resource) -> Result<Managed, RuntimeError> {
        let reference = Reference::of(resource).map_err(|message| {
            RuntimeError::Unavailable(format!("`{}`: {message}", resource.id))
        })?;
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
        let key = PoolKey {
            address: reference.address.to_string(),
            version: reference.version.clone(),
            config: blake3::hash(config.to_string().as_bytes()).to_hex().to_string(),
        };
        let provider = self.pool.get(&key, self.start(reference, &config)).await;
        let provider = provider.map_err(|error| RuntimeError::Unavailable(error.to_string()))?;
        if provider.is_running() {
            return Ok(provider);
        }
        // It crashed in an earlier call.
        self.pool.forget(&key);
        let provider = self.pool.get(&key, self.start(reference, &config)).await;
        provider.map_err(|error| RuntimeError::Unavailable(error.to_string()))
    }

    async fn start(&self, reference: &Reference, config: &Json) -> Result<Provider, ProviderError> {
        let name = reference.provider_name();
        let fail = |message: String| ProviderError::Start { provider: name.clone(), message };
        let settings = &self.settings;
        let program = settings.source.program(&reference.address, &reference.version).await;
        let launch = Launch {
            name: name.clone(),
            program: program.map_err(fail)?,
            environment: settings.environment.clone(),
            guard: settings.guard.clone(),
            limits: settings.limits,
            redactor: Redactor::default(),
        };
        let provider = launch.start().await?;
        let schemas = provider.schemas().await?;
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
