//! The runtimes of stacks, by the type of their resources.
//!
//! Kubernetes is shared by all stacks of a cluster (`app`). The runtimes of all other types are
//! registered here, for each stack: a source is cheap, and starts its runtime when the stack has a
//! resource of its type. A new type of resources needs a source in [`sources`] and, if the user has
//! a say in it, settings in [`RuntimeSettings`].

use crate::trust::ProviderConsent;
use kusion_engine::Engine;
use kusion_generate::Stack;
use kusion_runtime::RuntimeSource;
use kusion_runtime_terraform::{Consent, Providers, RESOURCE_TYPE, TerraformSource};
use std::path::Path;
use std::sync::Arc;

/// What the user says about runtimes, for all stacks. Nothing of it comes from a repository.
#[derive(Clone, Default)]
pub struct RuntimeSettings {
    /// Terraform providers.
    pub providers: Arc<Providers>,
}

/// The files of a stack, and what the user trusts of them.
pub(crate) struct StackFiles<'a> {
    pub(crate) stack: &'a Stack,
    /// The folder for local data, with the trusted settings; `None` if everything is trusted.
    pub(crate) home: Option<&'a Path>,
}

/// Returns the engine with the runtimes of a stack; `None` for a stack without files.
pub(crate) fn with_runtimes(
    engine: Engine,
    settings: &RuntimeSettings,
    files: Option<&StackFiles<'_>>,
) -> Engine {
    sources(settings, files)
        .into_iter()
        .fold(engine, |engine, (name, source)| engine.with_source(name, source))
}

/// A type of resources, and what starts its runtime.
type Source = (&'static str, Arc<dyn RuntimeSource>);

fn sources(settings: &RuntimeSettings, files: Option<&StackFiles<'_>>) -> Vec<Source> {
    let stack = files.map(|it| it.stack);
    let folders = stack.map(|it| vec![it.folder.clone(), it.project.folder.clone()]);
    let consent = files.and_then(|it| {
        let (folder, home) = (it.stack.folder.clone(), it.home?.to_owned());
        Some(Arc::new(ProviderConsent { folder, home }) as Arc<dyn Consent>)
    });
    let providers = Arc::clone(&settings.providers);
    let terraform = TerraformSource::new(providers, folders.unwrap_or_default(), consent);
    vec![(RESOURCE_TYPE, Arc::new(terraform))]
}
