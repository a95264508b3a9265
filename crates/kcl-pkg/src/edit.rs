//! Changes to the dependencies of a `kcl.mod`; all other lines stay as they are.
//!
//! Lines are changed as text, and the result is read again: if it does not say exactly what it must
//! say, the change is refused.

use crate::lock_file::{key, quote};
use crate::mod_file::ModFile;
use crate::source::{GitReference, Source};

const SECTION: &str = "[dependencies]";

/// Returns the line of a dependency, such as `k8s = "1.31"`.
pub fn dependency_line(name: &str, source: &Source) -> String {
    let table = |fields: &[(&str, Option<&str>)]| {
        let given = fields.iter().filter_map(|(name, value)| Some((name, (*value)?)));
        let given: Vec<String> =
            given.map(|(name, value)| format!("{name} = {}", quote(value))).collect();
        format!("{{ {} }}", given.join(", "))
    };
    let value = match source {
        Source::Path(path) => table(&[("path", Some(path))]),
        Source::Registry(version) => quote(version),
        Source::Oci { url, tag } => {
            table(&[("oci", Some(url)), ("tag", Some(tag.as_str()).filter(|it| !it.is_empty()))])
        }
        Source::Git { url, reference, package } => {
            let (name, word) = match reference {
                Some(GitReference::Tag(word)) => ("tag", Some(word.as_str())),
                Some(GitReference::Commit(word)) => ("commit", Some(word.as_str())),
                Some(GitReference::Branch(word)) => ("branch", Some(word.as_str())),
                None => ("tag", None),
            };
            table(&[("git", Some(url)), (name, word), ("package", package.as_deref())])
        }
    };
    format!("{} = {value}", key(name))
}

/// Adds a dependency to the text of a `kcl.mod`, or replaces the one of its name; the error is a
/// message.
pub fn set_dependency(text: &str, name: &str, source: &Source) -> Result<String, String> {
    let before = ModFile::parse(text)?;
    let line = dependency_line(name, source);
    let mut lines = Lines::new(text);
    match lines.entry(name) {
        Some(at) => lines.list.splice(at, [line]).for_each(drop),
        None => lines.add(line),
    }
    let changed = lines.text();
    let mut after = ModFile::parse(&changed)?;
    let found = after.dependencies.iter().position(|it| it.name == name);
    let is_set = found.is_some_and(|at| after.dependencies[at].source == *source);
    after.dependencies.retain(|it| it.name != name);
    same_but(before, &after, name, is_set).map(|()| changed)
}

/// Removes a dependency from the text of a `kcl.mod`; the error is a message.
pub fn remove_dependency(text: &str, name: &str) -> Result<String, String> {
    let before = ModFile::parse(text)?;
    let mut lines = Lines::new(text);
    let Some(at) = lines.entry(name) else {
        return Err(format!("kcl.mod has no dependency `{name}`"));
    };
    lines.list.drain(at);
    let changed = lines.text();
    let after = ModFile::parse(&changed)?;
    let is_gone = after.dependencies.iter().all(|it| it.name != name);
    same_but(before, &after, name, is_gone).map(|()| changed)
}

/// Checks that nothing but one dependency has changed.
fn same_but(mut before: ModFile, after: &ModFile, name: &str, is_done: bool) -> Result<(), String> {
    before.dependencies.retain(|it| it.name != name);
    if is_done && before == *after {
        return Ok(());
    }
    Err(format!("cannot change `{name}` in kcl.mod: its form is not known; change it by hand"))
}

struct Lines {
    list: Vec<String>,
}

impl Lines {
    fn new(text: &str) -> Self {
        Self { list: text.lines().map(str::to_owned).collect() }
    }

    fn text(&self) -> String {
        let mut text = self.list.join("\n");
        text.push('\n');
        text
    }

    /// Returns the lines of a dependency: one of the section, or a section of its own.
    fn entry(&self, name: &str) -> Option<std::ops::Range<usize>> {
        let keys = [name.to_owned(), quote(name), format!("'{name}'")];
        let mut in_section = false;
        for (idx, line) in self.list.iter().enumerate() {
            let line = line.trim();
            if let Some(header) = header(line) {
                let is_own = keys.iter().any(|key| header == format!("dependencies.{key}"));
                if is_own {
                    let rest = &self.list[idx + 1..];
                    let next = rest.iter().position(|it| self::header(it.trim()).is_some());
                    return Some(idx..next.map_or(self.list.len(), |n| idx + 1 + n));
                }
                in_section = header == "dependencies";
                continue;
            }
            let is_key =
                line.split_once('=').is_some_and(|(key, _)| keys.iter().any(|it| it == key.trim()));
            if in_section && is_key {
                return Some(idx..idx + 1);
            }
        }
        None
    }

    /// Adds a line to the end of the section, which is made if it is missing.
    fn add(&mut self, line: String) {
        let is_section = |it: &String| header(it.trim()) == Some("dependencies");
        let Some(start) = self.list.iter().position(is_section) else {
            if self.list.last().is_some_and(|it| !it.trim().is_empty()) {
                self.list.push(String::new());
            }
            self.list.extend([SECTION.to_owned(), line]);
            return;
        };
        let rest = &self.list[start + 1..];
        let next = rest.iter().position(|it| header(it.trim()).is_some());
        let mut end = next.map_or(self.list.len(), |n| start + 1 + n);
        while end > start + 1 && self.list[end - 1].trim().is_empty() {
            end -= 1;
        }
        self.list.insert(end, line);
    }
}

/// Returns the name of a section, if a line starts one.
fn header(line: &str) -> Option<&str> {
    let line = line.split('#').next().unwrap_or(line).trim();
    Some(line.strip_prefix('[')?.strip_suffix(']')?.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# mine\n[package]\nname = \"app\" # name\n\n[dependencies]\n# the API\nk8s = \
                        \"1.28\"\n\n[profile]\nentries = [\"main.k\"]\n";

    #[test]
    fn dependencies_are_added_replaced_and_removed() {
        let lib = Source::Path("../lib".into());
        let added = set_dependency(TEXT, "lib", &lib).unwrap();
        assert_eq!(added, TEXT.replace("\"1.28\"\n", "\"1.28\"\nlib = { path = \"../lib\" }\n"));
        let raised = set_dependency(TEXT, "k8s", &Source::Registry("1.31".into())).unwrap();
        assert_eq!(raised, TEXT.replace("1.28", "1.31"));
        assert_eq!(remove_dependency(&added, "lib").unwrap(), TEXT);
        assert_eq!(remove_dependency(TEXT, "x").unwrap_err(), "kcl.mod has no dependency `x`");
    }

    #[test]
    fn the_section_is_made_and_sections_of_one_dependency_are_known() {
        let git = Source::Git {
            url: "https://x/y.git".into(),
            reference: Some(GitReference::Tag("v1".into())),
            package: Some("sub".into()),
        };
        let made = set_dependency("[package]\nname = \"a\"\n", "y", &git).unwrap();
        assert_eq!(
            made,
            "[package]\nname = \"a\"\n\n[dependencies]\ny = { git = \"https://x/y.git\", tag = \
             \"v1\", package = \"sub\" }\n"
        );
        let own = "[dependencies.y]\ngit = \"https://x\"\n[profile]\n";
        let registry = Source::Registry("2".into());
        assert!(set_dependency(own, "y", &registry).is_err());
        assert_eq!(remove_dependency(own, "y").unwrap(), "[profile]\n");
    }

    #[test]
    fn what_cannot_be_changed_safely_is_refused() {
        let inline = "dependencies = { a = \"1\" }\n";
        assert!(set_dependency(inline, "b", &Source::Registry("1".into())).is_err());
        assert!(remove_dependency(inline, "a").is_err());
    }
}
