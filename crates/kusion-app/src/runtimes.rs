//! The runtimes of stacks, by the type of their resources.
//!
//! Kubernetes is shared by all stacks of a cluster (`app`). The runtimes of all other types are
//! registered here, for each stack: a source is cheap, and starts its runtime when the stack has a
//! resource of its type. A new type of resources needs a source in [`sources`] and, if the user has
//! a say in it, settings in [`RuntimeSettings`].

use crate::error::AppError;
use crate::trust::ProviderConsent;
use base_plugin::Launch;
use kusion_engine::Engine;
use kusion_generate::Stack;
use kusion_runtime::RuntimeSource;
use kusion_runtime_host::{HostSettings, HostSource, Hosts, Limits, Ssh};
use kusion_runtime_program::ProgramSource;
use kusion_runtime_terraform::{Consent, Providers, TerraformSource};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// What the user says about runtimes, for all stacks. Nothing of it comes from a repository.
#[derive(Clone, Default)]
pub struct RuntimeSettings {
    /// Terraform providers.
    pub providers: Arc<Providers>,
    /// How hosts are reached.
    pub ssh: Ssh,
    /// Programs that are runtimes, by the type of their resources.
    pub programs: BTreeMap<String, Launch>,
}

/// The types of resources whose runtimes are part of kusion.
const OWN_TYPES: [&str; 3] = [
    kusion_k8s_schema::RESOURCE_TYPE,
    kusion_runtime_terraform::RESOURCE_TYPE,
    kusion_runtime_host::RESOURCE_TYPE,
];

/// Returns whether a program can be the runtime of a type of resources: of a name that is a part of
/// ids, and that is not one of kusion.
pub fn is_program_type(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !name.is_empty() && name.chars().all(is_plain) && !OWN_TYPES.contains(&name)
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
) -> Result<Engine, AppError> {
    let sources = sources(settings, files)?.into_iter();
    Ok(sources.fold(engine, |engine, (name, source)| engine.with_source(name, source)))
}

/// A type of resources, and what starts its runtime.
type Source<'s> = (&'s str, Arc<dyn RuntimeSource>);

fn sources<'s>(
    settings: &'s RuntimeSettings,
    files: Option<&StackFiles<'_>>,
) -> Result<Vec<Source<'s>>, AppError> {
    let stack = files.map(|it| it.stack);
    let folders = stack.map(|it| vec![it.folder.clone(), it.project.folder.clone()]);
    let consent = files.and_then(|it| {
        let (folder, home) = (it.stack.folder.clone(), it.home?.to_owned());
        Some(Arc::new(ProviderConsent { folder, home }) as Arc<dyn Consent>)
    });
    let providers = Arc::clone(&settings.providers);
    let terraform = TerraformSource::new(providers, folders.unwrap_or_default(), consent);
    let hosts = stack.map(hosts_of).transpose()?.unwrap_or_default();
    let (ssh, limits) = (settings.ssh.clone(), Limits::default());
    let host = HostSource(HostSettings { hosts, ssh, limits });
    let mut sources: Vec<Source<'_>> = vec![
        (kusion_runtime_terraform::RESOURCE_TYPE, Arc::new(terraform)),
        (kusion_runtime_host::RESOURCE_TYPE, Arc::new(host)),
    ];
    for (name, launch) in &settings.programs {
        sources.push((name, Arc::new(ProgramSource(launch.clone()))));
    }
    Ok(sources)
}

/// Reads the hosts of a stack.
pub(crate) fn hosts_of(stack: &Stack) -> Result<Hosts, AppError> {
    let list = &stack.file.hosts;
    if list.is_null() {
        return Ok(Hosts::default());
    }
    Hosts::parse(list).map_err(|problems| {
        let texts: Vec<String> =
            problems.iter().map(|it| format!("hosts{}: {it}", it.path)).collect();
        let file = stack.folder.join("stack.yaml");
        AppError::Hosts { file, why: texts.join("; ") }
    })
}
