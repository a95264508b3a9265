//! Options of the state store.

use super::user_config;
use crate::failure::Failure;
use kusion_model::Place;

/// Options of the state store.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct BackendArgs {
    /// State store: `sqlite:PATH`, `postgres://…` or `s3://BUCKET/PREFIX` [default: the backend of
    /// `stack.yaml` or `project.yaml`, else a file in `KUSION_HOME`]
    #[arg(long, value_name = "URL", env = "KUSION_BACKEND", hide_env_values = true)]
    pub(crate) backend: Option<String>,
    /// Name of a second place of the stack, with its own state; for a stack on several clusters
    #[arg(long, value_name = "NAME", value_parser = place, conflicts_with = "sandbox")]
    pub(crate) place: Option<Place>,
}

/// The option of commands on a whole state store.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct StoreArgs {
    /// State store: `sqlite:PATH`, `postgres://…` or `s3://BUCKET/PREFIX` [default: the files in
    /// `KUSION_HOME`]
    #[arg(long, value_name = "URL", env = "KUSION_BACKEND", hide_env_values = true)]
    backend: Option<String>,
}

impl StoreArgs {
    /// Returns the URL of the store; `None` means the files in `KUSION_HOME`.
    pub(crate) fn url(&self) -> Result<Option<String>, Failure> {
        Ok(self.backend.clone().or(user_config()?.backend))
    }
}

/// Parses the name of a place. Places of sandboxes are rejected.
fn place(text: &str) -> Result<Place, String> {
    match text.parse() {
        Ok(Place::Sandbox(name)) => Err(format!("use `--sandbox={name}`")),
        Ok(place) => Ok(place),
        Err(error) => Err(error.to_string()),
    }
}
