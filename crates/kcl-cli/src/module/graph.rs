//! `kcl mod graph`

use super::{Key, Line, Module, Stop, label};
use crate::{Exit, terminal};
use kcl_pkg::{Update, import_name};
use std::fmt::Write as _;

pub(super) fn run(words: &[String]) -> Result<Exit, Stop> {
    let line = Line::parse(words, &[Key::Offline, Key::Locked], 0)?;
    let module = Module::find()?;
    let resolution = module.resolve(&line.fetcher(), &Update::Nothing, true)?;
    let mut text = String::new();
    let mut edges = |from: &str, names: &[String]| {
        for package in names.iter().filter_map(|name| resolution.get(name)) {
            let to = label(&package.name, &package.version, "@");
            let _ = writeln!(text, "{from} {to}");
        }
    };
    let names = module.mod_file.dependencies.iter().map(|it| import_name(&it.name));
    edges(&module.label("@"), &names.collect::<Vec<_>>());
    for package in &resolution.packages {
        edges(&label(&package.name, &package.version, "@"), &package.dependencies);
    }
    Ok(terminal::write_out(&text))
}
