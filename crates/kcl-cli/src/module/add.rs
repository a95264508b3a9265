//! `kcl mod add`

use super::{Key, Line, Module, Stop, label};
use crate::Exit;
use base_system::{OsSystem, System as _};
use kcl_fetch::{Fetcher, Location};
use kcl_pkg::{
    GitReference, Repository, Source, Update, import_name, read_mod_file, set_dependency,
};
use std::path::Path;

pub(super) fn run(words: &[String]) -> Result<Exit, Stop> {
    let keys = [
        Key::Git,
        Key::Oci,
        Key::Tag,
        Key::Commit,
        Key::Branch,
        Key::Package,
        Key::Rename,
        Key::Offline,
    ];
    let line = Line::parse(words, &keys, 1)?;
    let module = Module::find()?;
    let fetcher = line.fetcher();
    let Location { mut name, mut source } = match local(&line, &module)? {
        Some(location) => location,
        None => location(&line)?,
    };
    if let Some(new) = line.value(Key::Rename) {
        new.clone_into(&mut name);
    }
    pin(&mut source, &name, &fetcher)?;
    let text = set_dependency(&module.text, &name, &source).map_err(Stop::Failed)?;
    let module = module.with_text(text)?;
    let update = Update::Names(vec![name.clone()]);
    let resolution = module.resolve(&fetcher, &update, false)?;
    let Some(package) = resolution.get(&import_name(&name)) else {
        return Err(Stop::Failed(format!("`{name}` cannot be found: {source} is not a folder")));
    };
    let version = package.version.clone();
    module.write(&resolution)?;
    Ok(line.say(&format!("added {}\n", label(&name, &version, " "))))
}

/// Returns the point of a repository that the options name.
pub(super) fn reference(line: &Line) -> Option<GitReference> {
    let value = |key| line.value(key).map(str::to_owned);
    value(Key::Commit)
        .map(GitReference::Commit)
        .or_else(|| value(Key::Tag).map(GitReference::Tag))
        .or_else(|| value(Key::Branch).map(GitReference::Branch))
}

/// Reads the package that a command line names.
pub(super) fn location(line: &Line) -> Result<Location, Stop> {
    let word = line.words.first().map(String::as_str);
    let mut location = if let Some(url) = line.value(Key::Git) {
        Location::git(url, reference(line))
    } else if let Some(url) = line.value(Key::Oci) {
        Location::oci(url, reference(line))
    } else if let Some(word) = word {
        return Location::parse(word, reference(line)).map_err(Stop::failed);
    } else {
        return Err(Stop::Usage("expected a package, such as 'k8s:1.31'".to_owned()));
    }
    .map_err(Stop::failed)?;
    // A word beside a Git repository is the name of a package in it.
    let part = line.value(Key::Package).or(word);
    if let (Some(part), Source::Git { package, .. }) = (part, &mut location.source) {
        let part = part.split(':').next().unwrap_or(part);
        *package = Some(part.to_owned());
        part.rsplit('/').next().unwrap_or(part).clone_into(&mut location.name);
    }
    Ok(location)
}

/// Reads a folder with a module; `None` if the word is not a folder.
fn local(line: &Line, module: &Module) -> Result<Option<Location>, Stop> {
    let Some(word) = line.words.first() else { return Ok(None) };
    let is_remote = line.value(Key::Git).or(line.value(Key::Oci)).is_some();
    let start = OsSystem.current_dir().map_err(Stop::failed)?;
    let folder = start.join(word);
    if is_remote || !OsSystem.is_dir(&folder) {
        return Ok(None);
    }
    let folder = OsSystem.canonicalize(&folder).map_err(Stop::failed)?;
    if folder == module.root {
        return Err(Stop::Failed("a module cannot depend on itself".to_owned()));
    }
    let own = read_mod_file(&OsSystem, &folder).map_err(Stop::failed)?;
    let name = own.and_then(|it| it.name);
    let last = folder.file_name().map(|it| it.to_string_lossy().into_owned());
    let name = name.or(last).unwrap_or_default();
    let path = relative(&module.root, &folder);
    Ok(Some(Location { name, source: Source::Path(path) }))
}

/// Returns the path from one folder to another, if they are close; otherwise the whole path.
fn relative(from: &Path, to: &Path) -> String {
    let mut up = String::new();
    for base in from.ancestors() {
        if let Ok(rest) = to.strip_prefix(base) {
            let rest = rest.to_string_lossy();
            return match (up.is_empty(), rest.is_empty()) {
                (true, _) => format!("./{rest}"),
                (false, true) => up.trim_end_matches('/').to_owned(),
                (false, false) => format!("{up}{rest}"),
            };
        }
        up.push_str("../");
    }
    to.display().to_string()
}

/// Puts the newest version in the place of none.
pub(super) fn pin(source: &mut Source, name: &str, fetcher: &Fetcher) -> Result<(), Stop> {
    let (repository, word) = match source {
        Source::Registry(word) => (Repository::by_name(&OsSystem, name), word),
        Source::Oci { url, tag } => (Repository::parse(url), tag),
        Source::Path(_) | Source::Git { .. } => return Ok(()),
    };
    if word.is_empty() {
        let repository = repository.map_err(Stop::Failed)?;
        *word = fetcher.newest(&repository, "").map_err(Stop::failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_module() {
        let show = |from: &str, to: &str| relative(Path::new(from), Path::new(to));
        assert_eq!(show("/a/b", "/a/b/c"), "./c");
        assert_eq!(show("/a/b", "/a/c/d"), "../c/d");
        assert_eq!(show("/a/b/c", "/a"), "../..");
    }
}
