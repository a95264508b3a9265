//! Where states are kept.

use kusion_model::Place;

/// Where states are kept, and under which name.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct BackendArgs {
    /// Store of states: `sqlite:PATH`, `postgres://…` or `s3://BUCKET/PREFIX`; without one, the
    /// backend of `stack.yaml` or `project.yaml`, else a file under `KUSION_HOME`
    #[arg(long, value_name = "URL", env = "KUSION_BACKEND", hide_env_values = true)]
    pub(crate) backend: Option<String>,
    /// Second place of a stack, with a state of its own; for a stack that is on several clusters
    #[arg(long, value_name = "NAME", value_parser = place, conflicts_with = "sandbox")]
    pub(crate) place: Option<Place>,
    /// Cell of the stack
    #[arg(long, value_name = "NAME", default_value = "", hide = true)]
    pub(crate) cell: String,
}

/// Reads the name of a place. Those of sandboxes are not named here.
fn place(text: &str) -> Result<Place, String> {
    match text.parse() {
        Ok(Place::Sandbox(name)) => Err(format!("use `--sandbox={name}`")),
        Ok(place) => Ok(place),
        Err(error) => Err(error.to_string()),
    }
}
