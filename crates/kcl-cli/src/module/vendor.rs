//! `kcl mod vendor`

use super::{Key, Line, Module, Stop};
use crate::Exit;
use base_system::{OsSystem, System as _};
use kcl_pkg::{Origin, Package, Update};
use std::path::Path;

pub(super) fn run(words: &[String]) -> Result<Exit, Stop> {
    let line = Line::parse(words, &[Key::Offline, Key::Locked], 0)?;
    let module = Module::find()?;
    let resolution = module.resolve(&line.fetcher(), &Update::Nothing, false)?;
    let remote: Vec<&Package> =
        resolution.packages.iter().filter(|it| it.origin != Origin::Path).collect();
    let folder = module.root.join("vendor");
    for package in &remote {
        copy_package(package, &folder)?;
    }
    module.write_lock(&resolution)?;
    let n = remote.len();
    let noun = if n == 1 { "package" } else { "packages" };
    Ok(line.say(&format!("copied {n} {noun} to {}\n", folder.display())))
}

/// Puts a copy of a package in the place of the one in `vendor`, if there is one.
fn copy_package(package: &Package, vendor: &Path) -> Result<(), Stop> {
    let target = vendor.join(package.full_name());
    let failed = |error| Stop::Failed(format!("cannot write `{}`: {error}", target.display()));
    let temporary = vendor.join(format!(".{:016x}", OsSystem.random() as u64));
    let made = copy_tree(package.whole(), &temporary).and_then(|()| {
        if OsSystem.exists(&target) {
            OsSystem.remove(&target)?;
        }
        OsSystem.rename(&temporary, &target)
    });
    if made.is_err() && OsSystem.exists(&temporary) {
        // The first error is the one that counts.
        let _ = OsSystem.remove(&temporary);
    }
    made.map_err(failed)
}

/// Copies a folder; links stay links.
pub(super) fn copy_tree(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_tree(&source, &target)?;
        } else if kind.is_symlink() {
            #[cfg(unix)]
            std::os::unix::fs::symlink(std::fs::read_link(&source)?, &target)?;
        } else {
            std::fs::copy(&source, &target)?;
        }
    }
    Ok(())
}
