//! Asks an installed provider what it offers.

use crate::address::ProviderAddress;
use crate::host::launch::Launch;
use crate::install::{
    Constraints, Installed, ProviderRequirement, find_installed, newest, program_in,
};
use crate::schema::Schemas;
use crate::source::Providers;
use kusion_secret::Redactor;
use std::path::PathBuf;

impl Providers {
    /// Starts the newest installed version of a provider that constraints allow, and returns its
    /// schemas. It is not configured, and needs no lock: the user names it.
    ///
    /// # Errors
    ///
    /// It is not installed, or does not answer.
    pub async fn schemas(
        &self,
        address: &ProviderAddress,
        constraints: Option<&str>,
    ) -> Result<Schemas, String> {
        let program = self.program(address, constraints)?;
        let launch = Launch {
            name: format!("{}/{}", address.namespace, address.name),
            program,
            environment: self.environment.clone(),
            guard: self.guard.clone(),
            limits: self.limits,
            redactor: Redactor::default(),
        };
        let provider = launch.start().await.map_err(|error| error.to_string())?;
        let schemas = provider.schemas().await.map(|it| (**it).clone());
        provider.shut_down().await;
        schemas.map_err(|error| error.to_string())
    }

    fn program(
        &self,
        address: &ProviderAddress,
        constraints: Option<&str>,
    ) -> Result<PathBuf, String> {
        if let Some(folder) = self.overrides.get(address) {
            return program_in(folder, &address.name)
                .map_err(|it| format!("in the development override {}: {it}", folder.display()));
        }
        let constraints = Constraints::parse(constraints.unwrap_or(">= 0"))?;
        let requirement = ProviderRequirement { address: address.clone(), constraints };
        let missing = || {
            let folders = self.mirrors.iter().map(|it| it.0.display().to_string());
            let folders = folders.collect::<Vec<_>>().join(", ");
            format!("`{address}` is not installed (looked in {folders})")
        };
        let version = newest(&self.mirrors, &requirement).ok_or_else(missing)?;
        let found = find_installed(&self.mirrors, address, &version.to_string())?;
        found.map(|Installed { program, .. }| program).ok_or_else(missing)
    }
}
