//! From the name of a plugin to what is called.

use super::named::{inspect, setting, shown};
use super::{Config, Function, PROTOCOL};
use base_plugin::{Guard, Launch, Limits, split_words};
use base_system::System;
use base_trust::{RepositoryCommand, Standing, TrustFile, config_file, data_folder, trust_file};
use kcl_hir::NoPlugin;
use kcl_pkg::PluginCommand;
use kcl_value::{Value, yaml};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The variables that executables get, beside `PATH` and `HOME`: the locale.
const LOCALE: &[&str] = &[
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NUMERIC",
    "LC_TIME",
];

/// The most bytes of the user's settings.
const MAX_SETTINGS: u64 = 1 << 20;

/// The module of a program: its folder, and the plugins that its `kcl.mod` names.
#[derive(Clone, Debug)]
pub(super) struct Module {
    pub(super) folder: PathBuf,
    pub(super) plugins: Vec<(String, PluginCommand)>,
}

/// What a name stands for.
pub(super) enum Target<'c> {
    /// Functions of this process.
    Functions(&'c BTreeMap<String, Function>),
    /// An executable, whoever names it.
    Executable(Launch),
    /// An executable that the module of a program names.
    OfModule(Launch, PathBuf),
}

/// Finds out what a name stands for.
pub(super) fn resolve<'c>(
    system: &dyn System,
    config: &'c Config,
    module: Option<&Module>,
    name: &str,
) -> Result<Target<'c>, NoPlugin> {
    if let Some(functions) = config.functions.get(name) {
        return Ok(Target::Functions(functions));
    }
    let Some(guard) = &config.guard else { return Err(NoPlugin::default()) };
    if let Some(words) = config.commands.get(name) {
        let folder = system.current_dir().map_err(|error| refused(error.to_string()))?;
        let found = RepositoryCommand { words: words.clone(), folder, digest: String::new() };
        return Ok(Target::Executable(launch(system, guard, name, found)));
    }
    if config.uses_user_files
        && let Some(words) = user_command(system, name).map_err(refused)?
    {
        // Whatever is in the working folder, it has no influence.
        let found = RepositoryCommand { words, folder: "/".into(), digest: String::new() };
        return Ok(Target::Executable(launch(system, guard, name, found)));
    }
    let named = module.and_then(|module| {
        let command = module.plugins.iter().find(|(known, _)| known == name);
        command.map(|(_, command)| (module.folder.as_path(), command))
    });
    let Some((folder, command)) = named else {
        return Err(NoPlugin { message: String::new(), suggestions: vec![how_to_name(name)] });
    };
    let found = inspect(system, folder, name, command).map_err(refused)?;
    if !config.trusts_all {
        check_trust(system, folder, name, command, &found.digest)?;
    }
    let folder = folder.to_owned();
    Ok(Target::OfModule(launch(system, guard, name, found), folder))
}

fn refused(message: String) -> NoPlugin {
    NoPlugin { message, suggestions: Vec::new() }
}

fn how_to_name(name: &str) -> String {
    format!("pass '--plugin {name}=COMMAND', or name its command in [plugins] of kcl.mod")
}

fn check_trust(
    system: &dyn System,
    folder: &Path,
    name: &str,
    command: &PluginCommand,
    digest: &str,
) -> Result<(), NoPlugin> {
    let standing = match data_folder(&|name| system.env(name).map(OsString::from)) {
        Some(home) => TrustFile::open(system, &trust_file(&home))
            .map_err(|error| refused(error.to_string()))?
            .standing(system, folder, &setting(name), digest),
        None => Standing::Unknown,
    };
    let problem = match standing {
        Standing::Trusted => return Ok(()),
        Standing::Changed => "has changed since you trusted it",
        Standing::Unknown => "is not trusted",
    };
    let (shown, folder) = (shown(command), folder.display());
    Err(NoPlugin {
        message: format!("the plugin `{name}` {problem}: kcl.mod says that it starts `{shown}`"),
        suggestions: vec![format!(
            "if you trust the authors of this repository, run 'kusion trust {folder}', or pass \
             '--plugin {name}=COMMAND'"
        )],
    })
}

/// What is started for a command.
fn launch(system: &dyn System, guard: &Guard, name: &str, found: RepositoryCommand) -> Launch {
    let RepositoryCommand { mut words, folder, .. } = found;
    if let Some(program) = words.first_mut()
        && program.contains('/')
    {
        *program = folder.join(&*program).display().to_string();
    }
    let kept = ["PATH", "HOME"].iter().chain(LOCALE);
    let kept = kept.filter_map(|name| Some(((*name).to_owned(), system.env(name)?)));
    // Files that Python would leave beside a program would be a change of the program.
    let fixed = [("PYTHONDONTWRITEBYTECODE".to_owned(), "1".to_owned())];
    Launch {
        title: format!("the plugin `{name}`"),
        words,
        folder,
        environment: kept.chain(fixed).collect(),
        protocol: PROTOCOL.to_owned(),
        limits: Limits::default(),
        guard: guard.clone(),
    }
}

/// Returns the command of a plugin in the user's own settings.
fn user_command(system: &dyn System, name: &str) -> Result<Option<Vec<String>>, String> {
    let env = |name: &str| system.env(name).map(OsString::from);
    let Some(path) = config_file(&env).filter(|path| system.is_file(path)) else { return Ok(None) };
    let unusable = |why: &dyn std::fmt::Display| format!("cannot use {}: {why}", path.display());
    let facts = system.metadata(&path).map_err(|error| unusable(&error))?;
    if facts.len > MAX_SETTINGS {
        return Err(unusable(&format!("it has more than {MAX_SETTINGS} bytes")));
    }
    let text = system.read_to_string(&path).map_err(|error| unusable(&error))?;
    let settings = yaml::parse(&text).map_err(|fault| unusable(&fault.message))?;
    let entry = |value: &Value, key: &str| value.as_config()?.entry(key).map(|it| it.value.clone());
    let Some(command) = entry(&settings, "plugins").and_then(|plugins| entry(&plugins, name))
    else {
        return Ok(None);
    };
    let invalid = |why: &dyn std::fmt::Display| unusable(&format!("`plugins.{name}`: {why}"));
    let mut words = match &command {
        Value::Str(line) => split_words(line).map_err(|error| invalid(&error))?,
        Value::List(list) => list.items.iter().map_while(text_of).collect(),
        _ => Vec::new(),
    };
    let program = words.first_mut().filter(|it| !it.is_empty());
    let program =
        program.ok_or_else(|| invalid(&"expected a command as a string or a list of strings"))?;
    if let (Some(rest), Some(home)) = (program.strip_prefix("~/"), system.env("HOME")) {
        *program = Path::new(&home).join(rest).display().to_string();
    }
    if program.contains('/') && !Path::new(program.as_str()).is_absolute() {
        return Err(invalid(&"expected an absolute path, or the name of a program in PATH"));
    }
    Ok(Some(words))
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Str(text) => Some(text.to_string()),
        _ => None,
    }
}
