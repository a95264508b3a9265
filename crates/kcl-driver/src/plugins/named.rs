//! Plugins that a module names.

use base_plugin::split_words;
use base_system::System;
use base_trust::{RepositoryCommand, inspect_command};
use kcl_hir::entry::module_root;
use kcl_pkg::{PluginCommand, read_mod_file};
use std::path::{Path, PathBuf};

/// A plugin that `kcl.mod` names, with a command that is only started if the user trusts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPlugin {
    /// The folder of `kcl.mod`.
    pub folder: PathBuf,
    /// The name.
    pub name: String,
    /// The command, as it is written.
    pub command: String,
    /// The name of the setting in records of trust.
    pub setting: String,
    /// A fingerprint of what would be started.
    pub digest: String,
}

/// Returns the plugins that the module of a folder names; none if it is in no module.
///
/// # Errors
///
/// If `kcl.mod` cannot be read, or it cannot be said what a command would start.
pub fn named_plugins(system: &dyn System, folder: &Path) -> Result<Vec<NamedPlugin>, String> {
    let Some(root) = module_root(system, folder) else { return Ok(Vec::new()) };
    let mod_file = read_mod_file(system, &root).map_err(|error| error.to_string())?;
    let plugins = mod_file.map(|it| it.plugins).unwrap_or_default();
    let describe = |(name, command): &(String, PluginCommand)| {
        let digest = inspect(system, &root, name, command)?.digest;
        let (name, setting) = (name.clone(), setting(name));
        Ok(NamedPlugin { folder: root.clone(), name, command: shown(command), setting, digest })
    };
    plugins.iter().map(describe).collect()
}

pub(super) fn setting(name: &str) -> String {
    format!("plugins.{name}")
}

/// A command, for display.
pub(super) fn shown(command: &PluginCommand) -> String {
    match command {
        PluginCommand::Line(line) => line.clone(),
        PluginCommand::Words(words) => words.join(" "),
    }
}

/// The words of a command.
fn words(command: &PluginCommand) -> Result<Vec<String>, String> {
    match command {
        PluginCommand::Line(line) => split_words(line).map_err(|error| error.to_string()),
        PluginCommand::Words(words) if words.first().is_none_or(String::is_empty) => {
            Err("expected a command as a string or a list of strings".to_owned())
        }
        PluginCommand::Words(words) => Ok(words.clone()),
    }
}

fn unusable(root: &Path, name: &str, why: &str) -> String {
    format!("cannot use the plugin `{name}` of `{}`: {why}", root.join("kcl.mod").display())
}

/// Reads the command of a plugin that a module names.
pub(super) fn inspect(
    system: &dyn System,
    root: &Path,
    name: &str,
    command: &PluginCommand,
) -> Result<RepositoryCommand, String> {
    let found = words(command)
        .and_then(|words| inspect_command(system, root, &words).map_err(|error| error.to_string()));
    found.map_err(|why| unusable(root, name, &why))
}
