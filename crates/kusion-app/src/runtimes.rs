//! The runtimes of stacks, by the type of their resources.
//!
//! Kubernetes is shared by all stacks of a cluster (`app`). The runtimes of all other types are
//! registered here, for each stack: a source is cheap, and starts its runtime when the stack has a
//! resource of its type. A new type of resources needs a source in [`sources`] and, if the user has
//! a say in it, settings in [`RuntimeSettings`].

use kusion_engine::Engine;
use kusion_generate::Stack;
use kusion_runtime::RuntimeSource;
use kusion_runtime_terraform::{Providers, RESOURCE_TYPE, TerraformSource};
use std::sync::Arc;

/// What the user says about runtimes, for all stacks. Nothing of it comes from a repository.
#[derive(Clone, Default)]
pub struct RuntimeSettings {
    /// Terraform providers.
    pub providers: Arc<Providers>,
}

/// Returns the engine with the runtimes of a stack; `None` for a stack without files.
pub(crate) fn with_runtimes(
    engine: Engine,
    settings: &RuntimeSettings,
    stack: Option<&Stack>,
) -> Engine {
    sources(settings, stack)
        .into_iter()
        .fold(engine, |engine, (name, source)| engine.with_source(name, source))
}

/// A type of resources, and what starts its runtime.
type Source = (&'static str, Arc<dyn RuntimeSource>);

fn sources(settings: &RuntimeSettings, stack: Option<&Stack>) -> Vec<Source> {
    let folders = stack.map(|it| vec![it.folder.clone(), it.project.folder.clone()]);
    let terraform =
        TerraformSource::new(Arc::clone(&settings.providers), folders.unwrap_or_default());
    vec![(RESOURCE_TYPE, Arc::new(terraform))]
}
