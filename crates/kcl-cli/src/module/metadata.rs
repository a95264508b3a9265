//! `kcl mod metadata`

use super::{Key, Line, Module, Stop};
use crate::{Exit, terminal};
use kcl_pkg::{Update, import_name};
use serde_json::{Map, Value, json};

pub(super) fn run(words: &[String]) -> Result<Exit, Stop> {
    let keys = [Key::Offline, Key::Locked, Key::Vendor, Key::UpdateFirst];
    let line = Line::parse(words, &keys, 0)?;
    let module = Module::find()?;
    let resolution = module.resolve(&line.fetcher(), &Update::Nothing, true)?;
    let mut packages: Vec<(String, Value)> = resolution
        .packages
        .iter()
        .map(|it| {
            let folder = it.folder.display().to_string();
            let facts = json!({ "name": it.name, "version": it.version, "manifest_path": folder });
            (import_name(&it.name), facts)
        })
        .collect();
    packages.sort_by(|a, b| a.0.cmp(&b.0));
    let packages: Map<String, Value> = packages.into_iter().collect();
    Ok(terminal::write_out(&format!("{}\n", json!({ "packages": packages }))))
}
