//! `kcl mod tree`

use super::{Key, Line, Module, Stop, label};
use crate::{Exit, terminal};
use kcl_pkg::{Resolution, Update, import_name};
use std::fmt::Write as _;

pub(super) fn run(words: &[String]) -> Result<Exit, Stop> {
    let line = Line::parse(words, &[Key::Offline, Key::Locked], 0)?;
    let module = Module::find()?;
    let resolution = module.resolve(&line.fetcher(), &Update::Nothing, true)?;
    let mut printer = Printer { resolution: &resolution, text: String::new(), shown: Vec::new() };
    printer.text = format!("{}\n", module.label(" "));
    let names: Vec<String> =
        module.mod_file.dependencies.iter().map(|it| import_name(&it.name)).collect();
    printer.children(&names, "");
    Ok(terminal::write_out(&printer.text))
}

struct Printer<'p> {
    resolution: &'p Resolution,
    text: String,
    shown: Vec<String>,
}

impl Printer<'_> {
    fn children(&mut self, names: &[String], indent: &str) {
        for (idx, name) in names.iter().enumerate() {
            let is_last = idx + 1 == names.len();
            let (branch, below) =
                if is_last { ("└── ", "    ") } else { ("├── ", "│   ") };
            let Some(package) = self.resolution.get(name) else {
                let _ = writeln!(self.text, "{indent}{branch}{name} (missing)");
                continue;
            };
            let known = self.shown.contains(name) && !package.dependencies.is_empty();
            let mark = if known { " (*)" } else { "" };
            let shown = label(&package.name, &package.version, " ");
            let _ = writeln!(self.text, "{indent}{branch}{shown}{mark}");
            if !known {
                self.shown.push(name.clone());
                let dependencies = package.dependencies.clone();
                self.children(&dependencies, &format!("{indent}{below}"));
            }
        }
    }
}
