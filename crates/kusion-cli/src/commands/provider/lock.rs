//! `kusion provider lock`.

use super::{LockedStacks, StackProviders, shown};
use crate::failure::Failure;
use crate::view;
use crate::view::style::one_line;
use kusion_runtime_terraform::install::{Lock, LockPolicy, lock_installed};
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

/// Arguments of `kusion provider lock`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    stacks: StackProviders,
    /// Lock the newest installed version, even if an older one is locked
    #[arg(long)]
    upgrade: bool,
    /// Accept checksums that are not in the lock file yet, such as those of another platform
    #[arg(long)]
    accept: bool,
}

/// Writes the lock files of stacks.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let providers = args.stacks.providers()?;
    let options = LockPolicy { upgrade: args.upgrade, accept: args.accept };
    let mut groups = args.stacks.find()?;
    let mut text = String::new();
    for LockedStacks { path, lock, requirements } in &mut groups {
        let _ = writeln!(text, "{}", one_line(&shown(path)));
        let mut is_changed = false;
        for requirement in requirements.iter() {
            let address = &requirement.address;
            if providers.overrides.contains_key(address) {
                let _ =
                    writeln!(text, "  {address}: not locked, because of a development override");
                continue;
            }
            let (mirrors, verified) = (&providers.mirrors, &providers.verified);
            let changed = lock_installed(lock, requirement, mirrors, verified, options);
            let changed = changed.map_err(Failure::Provider)?;
            let version = lock.get(address).map(|it| it.version.as_str()).unwrap_or_default();
            let word = if changed { "locked" } else { "unchanged" };
            let _ = writeln!(text, "  {address} {version}: {word}");
            is_changed |= changed;
        }
        if is_changed {
            write(path, lock)?;
        }
    }
    if groups.is_empty() {
        text.push_str("no stack needs a Terraform provider\n");
    }
    view::result(&text)
}

/// Replaces a lock file. What is at its place, such as a link, is not followed.
pub(super) fn write(path: &Path, lock: &Lock) -> Result<(), Failure> {
    let new = path.with_extension(format!("hcl.{}", std::process::id()));
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&new)
        .and_then(|mut file| file.write_all(lock.to_string().as_bytes()))
        .and_then(|()| std::fs::rename(&new, path));
    written.map_err(|error| {
        // The error counts; the other file may not exist.
        let _ = std::fs::remove_file(&new);
        Failure::file("write", path)(error)
    })
}
