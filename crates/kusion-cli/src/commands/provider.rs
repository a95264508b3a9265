//! `kusion provider`.

mod install;
mod list;
mod lock;
mod schema;

use crate::arguments::{ProviderArgs, SourceArgs, trusts_by_environment, user_config};
use crate::failure::{Exit, Failure};
use clap::Subcommand;
use kusion_runtime_terraform::install::{Lock, ProviderRequirement, requirements};
use kusion_runtime_terraform::{LOCK_FILE, Providers, RESOURCE_TYPE, read_lock};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A command of `kusion provider`.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Install the Terraform providers that stacks need, and write their lock files
    Install(Box<install::Args>),
    /// List the Terraform providers that stacks need, with locked and installed versions
    List(Box<list::Args>),
    /// Write the versions and checksums of installed providers to lock files
    Lock(Box<lock::Args>),
    /// Print the schema of a provider, or of one of its resource types, as JSON
    Schema(Box<schema::Args>),
}

/// Runs a command.
pub(crate) fn run(command: &Command) -> Result<Exit, Failure> {
    match command {
        Command::Install(args) => install::run(args),
        Command::List(args) => list::run(args),
        Command::Lock(args) => lock::run(args),
        Command::Schema(args) => schema::run(args),
    }
    .map(|()| Exit::Success)
}

/// Stacks and providers of a command.
#[derive(Debug, clap::Args)]
struct StackProviders {
    #[command(flatten)]
    source: SourceArgs,
    #[command(flatten)]
    providers: ProviderArgs,
}

/// A lock file, and the providers that its stacks need.
struct LockedStacks {
    /// The lock file; it may not exist yet.
    path: PathBuf,
    lock: Lock,
    requirements: Vec<ProviderRequirement>,
}

impl StackProviders {
    fn providers(&self) -> Result<Providers, Failure> {
        self.providers.providers(&user_config()?)
    }

    /// Compiles the stacks, and groups those that need providers by their lock file.
    fn find(&self) -> Result<Vec<LockedStacks>, Failure> {
        let compiled = self.source.compile(trusts_by_environment())?;
        let mut groups: BTreeMap<PathBuf, (Lock, Vec<_>)> = BTreeMap::new();
        for it in &compiled {
            let resources = it.spec.resources.iter();
            let terraform = resources.filter(|it| it.resource_type.as_str() == RESOURCE_TYPE);
            let mut terraform = terraform.peekable();
            if terraform.peek().is_none() {
                continue;
            }
            let project = &it.stack.project.folder;
            let found = read_lock(&[it.stack.folder.clone(), project.clone()]);
            let (path, lock) = match found.map_err(Failure::Provider)? {
                Some(found) => found,
                None => (project.join(LOCK_FILE), Lock::default()),
            };
            groups.entry(path).or_insert_with(|| (lock, Vec::new())).1.extend(terraform);
        }
        let group = |(path, (lock, resources)): (PathBuf, (Lock, Vec<_>))| {
            let requirements = requirements(resources).map_err(Failure::Provider)?;
            Ok(LockedStacks { path, lock, requirements })
        };
        groups.into_iter().map(group).collect()
    }
}

/// Returns a path as it is typed in the working folder.
fn shown(path: &Path) -> String {
    let current = std::env::current_dir().and_then(|it| it.canonicalize()).unwrap_or_default();
    path.strip_prefix(current).unwrap_or(path).display().to_string()
}
