//! `kcl mod update`

use super::{Key, Line, Module, Stop, label};
use crate::Exit;
use kcl_pkg::{LOCK_FILE, Source, Update, import_name, read_lock_file, set_dependency};
use std::fmt::Write as _;

pub(super) fn run(words: &[String]) -> Result<Exit, Stop> {
    let line = Line::parse(words, &[Key::Offline], usize::MAX)?;
    let mut module = Module::find()?;
    let mut names = Vec::new();
    for word in &line.words {
        let (name, version) = word.split_once(':').unwrap_or((word, ""));
        module = set_version(module, name, version)?;
        names.push(name.to_owned());
    }
    let update = if names.is_empty() { Update::All } else { Update::Names(names) };
    let old = read_lock_file(&base_system::OsSystem, &module.root).map_err(Stop::Failed)?;
    let old = old.unwrap_or_default();
    let resolution = module.resolve(&line.fetcher(), &update, false)?;
    if line.words.iter().any(|it| it.contains(':')) {
        module.write(&resolution)?;
    } else {
        module.write_lock(&resolution)?;
    }
    let mut text = String::new();
    for new in &resolution.lock.packages {
        let line = match old.get(&new.name) {
            Some(known) if known == new => continue,
            Some(known) if known.version == new.version => format!("{}: new content", new.name),
            Some(known) => format!("{}: {} -> {}", new.name, known.version, new.version),
            None => format!("{}: added", label(&new.name, &new.version, " ")),
        };
        let _ = writeln!(text, "{line}");
    }
    let gone = old.packages.iter().filter(|it| resolution.lock.get(&it.name).is_none());
    for package in gone {
        let _ = writeln!(text, "{}: removed", package.name);
    }
    if text.is_empty() {
        text = format!("{LOCK_FILE} is up to date\n");
    }
    Ok(line.say(&text))
}

/// Checks that a dependency exists, and sets its version in the text of `kcl.mod`, if one is given.
fn set_version(module: Module, name: &str, version: &str) -> Result<Module, Stop> {
    let dependencies = &module.mod_file.dependencies;
    let known = dependencies.iter().find(|it| import_name(&it.name) == import_name(name));
    let Some(known) = known else {
        return Err(Stop::Failed(format!(
            "kcl.mod has no dependency `{name}`: run `kcl mod add {name}` to add it"
        )));
    };
    if version.is_empty() {
        return Ok(module);
    }
    let source = match &known.source {
        Source::Registry(_) => Source::Registry(version.to_owned()),
        Source::Oci { url, .. } => Source::Oci { url: url.clone(), tag: version.to_owned() },
        Source::Git { .. } | Source::Path(_) => {
            return Err(Stop::Failed(format!(
                "`{name}` is not from a registry: run `kcl mod add` with its new source"
            )));
        }
    };
    let text = set_dependency(&module.text, &known.name, &source).map_err(Stop::Failed)?;
    module.with_text(text)
}
