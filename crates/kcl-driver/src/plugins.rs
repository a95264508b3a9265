//! Plugins: functions outside the language, imported as `kcl_plugin.name`.
//!
//! A plugin is a set of functions of the program that runs this crate, or an executable. Which
//! executable a name stands for is decided by the user: by an option, by the user's own settings, or
//! by trusting what `kcl.mod` of the main package says. What a dependency says has no effect. An
//! executable is started when it is called first, and once for all programs that have the same
//! [`Plugins`]. `docs/plugins.md` describes the protocol.

mod calls;
mod named;
mod resolve;

pub(crate) use calls::JobPlugins;
pub use named::{NamedPlugin, named_plugins};

use base_plugin::{Guard, SharedProcess, WordsError, split_words};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use thiserror::Error;

/// The name of the protocol.
pub(crate) const PROTOCOL: &str = "kcl-plugin/1";

/// The plugins that programs may import. By default there are none.
///
/// ```
/// use base_system::MemorySystem;
/// use kcl_driver::{Plugins, RunOptions, run};
///
/// let plugins = Plugins::default().with_function("text", "twice", |arguments| {
///     let text = arguments.positional.first().and_then(|it| it.as_str()).unwrap_or_default();
///     Ok(text.repeat(2).into())
/// });
/// let program = "import kcl_plugin.text\na = text.twice('ab')\n";
/// let system = MemorySystem::new().with_file("/app/main.k", program);
/// let options = RunOptions { plugins, ..RunOptions::files(["/app/main.k"]) };
/// assert_eq!(run(&system, &options).expect("the program is valid").result, "a: abab");
/// ```
#[derive(Clone, Default)]
pub struct Plugins {
    inner: Option<Arc<Inner>>,
}

struct Inner {
    config: Config,
    /// The executables that were found, by module and name. Those of options and of the user's
    /// settings belong to no module.
    processes: Mutex<Processes>,
}

type Processes = BTreeMap<(Option<PathBuf>, String), Arc<SharedProcess>>;

#[derive(Clone, Default)]
struct Config {
    functions: BTreeMap<String, BTreeMap<String, Function>>,
    /// The commands that the user named.
    commands: BTreeMap<String, Vec<String>>,
    /// What starts executables. Without it none is started.
    guard: Option<Guard>,
    /// Whether the user's own files count: settings, and what is trusted.
    uses_user_files: bool,
    trusts_all: bool,
}

/// A function of a plugin, written in Rust.
type Function = Arc<dyn Fn(&PluginArguments) -> Result<Value, String> + Send + Sync>;

/// What a function of a plugin is called with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PluginArguments {
    /// The positional arguments.
    pub positional: Vec<Value>,
    /// The named arguments.
    pub named: Map<String, Value>,
}

/// Why an option `name=command` is not valid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PluginOptionError {
    /// It has no name.
    #[error("invalid plugin '{0}': expected name=command, such as cmdb='python3 cmdb.py'")]
    Form(String),
    /// The command is not valid.
    #[error("invalid command of the plugin '{name}': {error}")]
    Command {
        /// The plugin.
        name: String,
        /// What is wrong.
        error: WordsError,
    },
}

impl Plugins {
    /// Returns the plugins of a command line: executables may be started, and the user's own
    /// settings and what the user trusts count. The running program must be able to act as a guard
    /// ([`base_plugin::guard`]).
    pub fn of_user() -> Self {
        let mut plugins = Self::default();
        plugins.edit(|config| {
            config.guard = Guard::this_program();
            config.uses_user_files = true;
        });
        plugins
    }

    /// Adds a function, written in Rust, to a plugin. It is called on the thread of the evaluation;
    /// the limits of executables do not hold for it.
    #[must_use]
    pub fn with_function(
        mut self,
        plugin: &str,
        function: &str,
        run: impl Fn(&PluginArguments) -> Result<Value, String> + Send + Sync + 'static,
    ) -> Self {
        self.edit(|config| {
            let functions = config.functions.entry(plugin.to_owned()).or_default();
            functions.insert(function.to_owned(), Arc::new(run));
        });
        self
    }

    /// Lets executables be started, by a program that can act as a guard.
    #[must_use]
    pub fn with_guard(mut self, guard: Guard) -> Self {
        self.edit(|config| config.guard = Some(guard));
        self
    }

    /// Sets the command of an executable, from an option `name=command`.
    ///
    /// # Errors
    ///
    /// If the option has another form.
    pub fn add_option(&mut self, option: &str) -> Result<(), PluginOptionError> {
        let form = || PluginOptionError::Form(option.to_owned());
        let (name, command) = option.split_once('=').ok_or_else(form)?;
        let is_name = |name: &str| {
            let starts = |c: char| c.is_ascii_alphabetic() || c == '_';
            name.starts_with(starts) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        if !is_name(name) {
            return Err(form());
        }
        let words = split_words(command)
            .map_err(|error| PluginOptionError::Command { name: name.to_owned(), error })?;
        self.edit(|config| {
            config.commands.insert(name.to_owned(), words);
        });
        Ok(())
    }

    /// Trusts the commands that the `kcl.mod` of main packages name.
    pub fn trust_all(&mut self) {
        self.edit(|config| config.trusts_all = true);
    }

    /// Ends all executables that were started.
    pub fn stop(&self) {
        let Some(inner) = &self.inner else { return };
        let processes = std::mem::take(&mut *inner.processes());
        for process in processes.values() {
            process.stop();
        }
    }

    fn edit(&mut self, edit: impl FnOnce(&mut Config)) {
        let mut config = self.inner.take().map(|it| it.config.clone()).unwrap_or_default();
        edit(&mut config);
        self.inner = Some(Arc::new(Inner { config, processes: Mutex::default() }));
    }
}

impl Inner {
    fn processes(&self) -> MutexGuard<'_, Processes> {
        // A map that is being changed is never left half done.
        self.processes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// A function that panics leaves nothing behind that a later call would rely on.
impl UnwindSafe for Plugins {}
impl RefUnwindSafe for Plugins {}

impl fmt::Debug for Plugins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(inner) = &self.inner else { return f.write_str("Plugins") };
        let names = inner.config.functions.keys().chain(inner.config.commands.keys());
        f.debug_list().entries(names).finish()
    }
}

/// Plugins are equal if they share their processes.
impl PartialEq for Plugins {
    fn eq(&self, other: &Self) -> bool {
        match (&self.inner, &other.inner) {
            (Some(own), Some(others)) => Arc::ptr_eq(own, others),
            (None, None) => true,
            _ => false,
        }
    }
}

impl Eq for Plugins {}

/// What plugins answer is never taken from an earlier run, so that they make no difference to what
/// is kept.
impl Hash for Plugins {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_name_a_plugin_and_its_command() {
        let mut plugins = Plugins::default();
        let mut add = |option: &str| plugins.add_option(option).map_err(|it| it.to_string());
        assert_eq!(add("a=sh -c 'x = 1'"), Ok(()));
        let form = "expected name=command, such as cmdb='python3 cmdb.py'";
        assert_eq!(add("a"), Err(format!("invalid plugin 'a': {form}")));
        assert_eq!(add("a.b=c"), Err(format!("invalid plugin 'a.b=c': {form}")));
        assert_eq!(
            add("a="),
            Err("invalid command of the plugin 'a': the command is empty".into())
        );
        assert_eq!(
            add("a='b"),
            Err("invalid command of the plugin 'a': a quote is not closed".into())
        );
    }
}
