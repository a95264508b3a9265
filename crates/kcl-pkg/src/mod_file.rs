//! The file `kcl.mod`.

use crate::source::{GitReference, Source};
use base_system::System;
use std::cell::RefCell;
use std::io::ErrorKind;
use std::path::Path;
use thiserror::Error;
use toml::{Table, Value};

/// The name of the file that makes a folder a module.
pub const MOD_FILE: &str = "kcl.mod";

/// What a `kcl.mod` says. Sections and keys that are not known are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModFile {
    /// `package.name`
    pub name: Option<String>,
    /// `package.version`
    pub version: Option<String>,
    /// `package.edition`
    pub edition: Option<String>,
    /// `package.description`
    pub description: Option<String>,
    /// `package.include`: patterns of the files that a package consists of; all if empty.
    pub include: Vec<String>,
    /// `package.exclude`: patterns of files that are not part of the package.
    pub exclude: Vec<String>,
    /// `[profile]`
    pub profile: Profile,
    /// `[dependencies]`, in order.
    pub dependencies: Vec<Dependency>,
    /// `[lint]`: names or codes of lints with their levels, in order.
    pub lint_levels: Vec<(String, String)>,
    /// `[plugins]`: names with commands, in order. Of a dependency they have no effect.
    pub plugins: Vec<(String, PluginCommand)>,
}

/// The command of a plugin, as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PluginCommand {
    /// A line: `"python3 plugins/cmdb.py"`.
    Line(String),
    /// A list of words: `["python3", "plugins/cmdb.py"]`; empty if it is something else.
    Words(Vec<String>),
}

/// How the module is run if nothing else is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// The files to run, relative to the folder of `kcl.mod`.
    pub entries: Vec<String>,
    /// Whether `None` is left out of the output.
    pub disable_none: Option<bool>,
    /// Whether keys are sorted.
    pub sort_keys: Option<bool>,
    /// Parts of the result to be shown.
    pub selectors: Vec<String>,
    /// Values to be changed, `path=value`.
    pub overrides: Vec<String>,
    /// Top-level arguments, `key=value`.
    pub options: Vec<String>,
}

/// One dependency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The name by which files import it.
    pub name: String,
    /// Where it comes from.
    pub source: Source,
    /// `io = true`: whether it may use files and the environment.
    pub io: bool,
}

/// Why a `kcl.mod` could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ModFileError {
    /// The file is there but can't be read.
    #[error("failed to read `{path}`: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// The file is not TOML.
    #[error("`{path}` is not valid TOML: {reason}")]
    Syntax {
        /// The file.
        path: String,
        /// What is wrong.
        reason: String,
    },
}

/// Reads the `kcl.mod` of a folder; `None` if there is none.
pub fn read_mod_file(system: &dyn System, folder: &Path) -> Result<Option<ModFile>, ModFileError> {
    let path = folder.join(MOD_FILE);
    let text = match system.read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            let (path, reason) = (path.display().to_string(), error.to_string());
            return Err(ModFileError::Unreadable { path, reason });
        }
    };
    parse_again(&text)
        .map(Some)
        .map_err(|reason| ModFileError::Syntax { path: path.display().to_string(), reason })
}

/// Reads the text of a `kcl.mod`, which most often is the one that was read last.
fn parse_again(text: &str) -> Result<ModFile, String> {
    thread_local! {
        static LAST: RefCell<Option<(String, ModFile)>> = const { RefCell::new(None) };
    }
    LAST.with_borrow_mut(|last| match last {
        Some((known, mod_file)) if known == text => Ok(mod_file.clone()),
        _ => {
            let mod_file = ModFile::parse(text)?;
            *last = Some((text.to_owned(), mod_file.clone()));
            Ok(mod_file)
        }
    })
}

impl ModFile {
    /// Reads the text of a `kcl.mod`; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        // Most modules of old say nothing at all.
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let root: Table = text.parse().map_err(|error: toml::de::Error| {
            error.message().lines().next().unwrap_or_default().to_owned()
        })?;
        let empty = Table::new();
        let section = |name: &str| root.get(name).and_then(Value::as_table).unwrap_or(&empty);
        let package = section("package");
        let profile = section("profile");
        Ok(Self {
            name: string(package, "name"),
            version: string(package, "version"),
            edition: string(package, "edition"),
            description: string(package, "description"),
            include: strings(package, "include"),
            exclude: strings(package, "exclude"),
            profile: Profile {
                entries: strings(profile, "entries"),
                disable_none: profile.get("disable_none").and_then(Value::as_bool),
                sort_keys: profile.get("sort_keys").and_then(Value::as_bool),
                selectors: strings(profile, "selectors"),
                overrides: strings(profile, "overrides"),
                options: strings(profile, "options"),
            },
            dependencies: section("dependencies")
                .iter()
                .filter_map(|(name, value)| dependency(name, value))
                .collect(),
            lint_levels: section("lint")
                .iter()
                .filter_map(|(lint, level)| Some((lint.clone(), level.as_str()?.to_owned())))
                .collect(),
            plugins: section("plugins").iter().map(plugin).collect(),
        })
    }
}

fn plugin((name, value): (&String, &Value)) -> (String, PluginCommand) {
    let words = || match value {
        Value::Array(items) => items.iter().map(|it| it.as_str().map(str::to_owned)).collect(),
        _ => None,
    };
    let command = match value {
        Value::String(line) => PluginCommand::Line(line.clone()),
        _ => PluginCommand::Words(words().unwrap_or_default()),
    };
    (name.clone(), command)
}

fn string(table: &Table, key: &str) -> Option<String> {
    table.get(key).and_then(Value::as_str).map(str::to_owned)
}

fn strings(table: &Table, key: &str) -> Vec<String> {
    match table.get(key) {
        Some(Value::Array(items)) => {
            items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

fn dependency(name: &str, value: &Value) -> Option<Dependency> {
    let source = match value {
        Value::String(version) => Source::Registry(version.clone()),
        Value::Table(table) => source(table),
        _ => return None,
    };
    let io = value.get("io").and_then(Value::as_bool).unwrap_or(false);
    Some(Dependency { name: name.to_owned(), source, io })
}

/// Reads a source in the form of a table.
fn source(table: &Table) -> Source {
    let text = |key: &str| string(table, key);
    if let Some(path) = text("path") {
        return Source::Path(path);
    }
    if let Some(url) = text("git") {
        let reference = text("commit")
            .map(GitReference::Commit)
            .or_else(|| text("tag").map(GitReference::Tag))
            .or_else(|| text("branch").map(GitReference::Branch));
        return Source::Git { url, reference, package: text("package") };
    }
    let version = text("tag").or_else(|| text("version")).unwrap_or_default();
    match text("oci") {
        Some(url) => Source::Oci { url, tag: version },
        None => Source::Registry(version),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_dependency() {
        let file = ModFile::parse(
            r#"
[package]
name = "app"
version = "0.1.0"
[profile]
entries = ["../base/base.k", "main.k"]
disable_none = true
options = ["a=1"]
[dependencies]
k8s = "1.28"
helloworld = { oci = "oci://ghcr.io/kcl-lang/helloworld", tag = "0.1.1" }
konfig = { git = "https://github.com/x/konfig.git", tag = "v0.4.0" }
lib = { path = "../lib" }
"#,
        )
        .unwrap();
        assert_eq!(file.name.as_deref(), Some("app"));
        assert_eq!(file.profile.entries, ["../base/base.k", "main.k"]);
        assert_eq!(file.profile.disable_none, Some(true));
        let found: Vec<(&str, &Source)> =
            file.dependencies.iter().map(|d| (d.name.as_str(), &d.source)).collect();
        let git = Source::Git {
            url: "https://github.com/x/konfig.git".into(),
            reference: Some(GitReference::Tag("v0.4.0".into())),
            package: None,
        };
        let oci =
            Source::Oci { url: "oci://ghcr.io/kcl-lang/helloworld".into(), tag: "0.1.1".into() };
        assert_eq!(
            found,
            [
                ("k8s", &Source::Registry("1.28".into())),
                ("helloworld", &oci),
                ("konfig", &git),
                ("lib", &Source::Path("../lib".into())),
            ]
        );
    }

    #[test]
    fn plugins_have_commands() {
        let text = "[plugins]\nb = \"sh b.sh\"\na = [\"a\", \"x y\"]\nc = 1\nd = [1]\n";
        let words =
            |words: &[&str]| PluginCommand::Words(words.iter().map(ToString::to_string).collect());
        let expected = [
            ("b".to_owned(), PluginCommand::Line("sh b.sh".into())),
            ("a".to_owned(), words(&["a", "x y"])),
            ("c".to_owned(), words(&[])),
            ("d".to_owned(), words(&[])),
        ];
        assert_eq!(ModFile::parse(text).unwrap().plugins, expected);
    }

    #[test]
    fn the_form_of_2022_is_accepted() {
        let text = "[build]\nenable_pkg_cache=true\n[expected]\nkclvm_version=\"v0.4.6\"\n";
        assert_eq!(ModFile::parse(text), Ok(ModFile::default()));
        assert_eq!(ModFile::parse(""), Ok(ModFile::default()));
        assert!(ModFile::parse("= bad").is_err());
    }
}
