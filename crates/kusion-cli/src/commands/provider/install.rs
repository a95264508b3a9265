//! `kusion provider install`.

use super::lock::write;
use super::{LockedStacks, StackProviders, shown};
use crate::arguments::installed;
use crate::failure::Failure;
use crate::view::style::one_line;
use crate::{interrupt, view};
use kusion_runtime_terraform::install::{Installer, LockPolicy, Mirror, Remote};
use std::fmt::Write as _;

/// Arguments of `kusion provider install`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    stacks: StackProviders,
    /// URL of a network mirror, which is asked instead of registries [default: `providers.mirror`
    /// of the user's `config.yaml`]
    #[arg(long, value_name = "URL", conflicts_with = "offline")]
    mirror: Option<String>,
    /// Install only from folders; ask no server
    #[arg(long)]
    offline: bool,
    /// Install the newest version, even if an older one is locked
    #[arg(long)]
    upgrade: bool,
    /// Accept checksums that are not in the lock file yet, such as those of another platform
    #[arg(long)]
    accept: bool,
}

/// Installs the providers of stacks, and writes their lock files.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let providers = args.stacks.providers()?;
    let mut remote = providers.remote.clone();
    if let Some(url) = &args.mirror {
        remote = Remote { mirror: Some(url.clone()), ..remote };
    }
    let target = Mirror(installed()?);
    let installer = Installer {
        mirrors: &providers.mirrors,
        remote: (!args.offline).then_some(&remote),
        target: &target,
        verified: &providers.verified,
    };
    let policy = LockPolicy { upgrade: args.upgrade, accept: args.accept };
    let mut groups = args.stacks.find()?;
    let mut text = String::new();
    for LockedStacks { path, lock, requirements } in &mut groups {
        let _ = writeln!(text, "{}", one_line(&shown(path)));
        let before = lock.clone();
        for requirement in requirements.iter() {
            let address = &requirement.address;
            if providers.overrides.contains_key(address) {
                let _ =
                    writeln!(text, "  {address}: not installed, because of a development override");
                continue;
            }
            let done = interrupt::read(async {
                let done = installer.install(lock, requirement, policy).await;
                done.map_err(Failure::Provider)
            })?;
            let words = match &done.source {
                None => "already installed".to_owned(),
                Some(source) => format!("installed from {source}"),
            };
            let _ = writeln!(text, "  {address} {}: {}", done.version, one_line(&words));
        }
        if *lock != before {
            write(path, lock)?;
        }
    }
    if groups.is_empty() {
        text.push_str("no stack needs a Terraform provider\n");
    }
    view::result(&text)
}
