//! `kcl mod pull`

use super::add::location;
use super::vendor::copy_tree;
use super::{Key, Line, Module, Stop, label};
use crate::Exit;
use base_system::{OsSystem, System as _};
use kcl_pkg::Update;
use std::fmt::Write as _;

pub(super) fn run(words: &[String]) -> Result<Exit, Stop> {
    let keys = [
        Key::Git,
        Key::Oci,
        Key::Tag,
        Key::Commit,
        Key::Branch,
        Key::Package,
        Key::Offline,
        Key::Locked,
    ];
    let line = Line::parse(words, &keys, 2)?;
    if line.words.is_empty() && line.value(Key::Git).or(line.value(Key::Oci)).is_none() {
        return pull_dependencies(&line);
    }
    let location = location(&line)?;
    let fetcher = line.fetcher();
    let (fetched, version) = fetcher.get_location(&location).map_err(Stop::failed)?;
    let start = OsSystem.current_dir().map_err(Stop::failed)?;
    let parent = line.words.get(1).map_or_else(|| start.clone(), |it| start.join(it));
    let target = parent.join(label(&location.name, &version, "_").replace('/', "_"));
    if OsSystem.exists(&target) {
        return Err(Stop::Failed(format!("`{}` already exists", target.display())));
    }
    let temporary = parent.join(format!(".kcl-{:016x}", OsSystem.random() as u64));
    let made =
        copy_tree(&fetched.folder, &temporary).and_then(|()| OsSystem.rename(&temporary, &target));
    if made.is_err() && OsSystem.exists(&temporary) {
        // The first error is the one that counts.
        let _ = OsSystem.remove(&temporary);
    }
    made.map_err(|error| Stop::Failed(format!("cannot write `{}`: {error}", target.display())))?;
    Ok(line.say(&format!(
        "pulled {} to {}\nsum {}\n",
        label(&location.name, &version, " "),
        target.display(),
        fetched.sums.sum
    )))
}

/// Downloads what the module depends on.
fn pull_dependencies(line: &Line) -> Result<Exit, Stop> {
    let module = Module::find()?;
    let resolution = module.resolve(&line.fetcher(), &Update::Nothing, true)?;
    module.write_lock(&resolution)?;
    let mut text = String::new();
    for package in &resolution.packages {
        let shown = label(&package.name, &package.version, " ");
        let _ = writeln!(text, "{shown}  {}", package.folder.display());
    }
    Ok(line.say(&text))
}
