//! Calls of plugins by a program.

use super::resolve::{Module, Target, resolve};
use super::{Function, Inner, PluginArguments, Plugins};
use base_plugin::{Failure, Problem, SharedProcess};
use base_system::System;
use base_text::push_json_string;
use kcl_eval::{PluginCall, PluginResult};
use kcl_hir::{NoPlugin, PluginFinder};
use kcl_pkg::PluginCommand;
use kcl_value::{CallArgs, Value, json, output, text_size};
use std::path::PathBuf;
use std::sync::Arc;

/// How many bytes a value takes for each byte of its text.
const EXPANSION: usize = 4;

/// The most bytes of the arguments of a call.
const MAX_ARGUMENTS: usize = 16 << 20;

/// The plugins of one program.
#[derive(Clone, Debug)]
pub(crate) struct JobPlugins {
    plugins: Plugins,
    module: Option<Module>,
}

impl JobPlugins {
    /// Puts together what the options of a program and its module say; `None` if there is nothing.
    pub(crate) fn new(
        plugins: &Plugins,
        module: Option<(PathBuf, Vec<(String, PluginCommand)>)>,
    ) -> Option<Arc<Self>> {
        let module = module.filter(|(_, plugins)| !plugins.is_empty());
        let module = module.map(|(folder, plugins)| Module { folder, plugins });
        if plugins.inner.is_none() && module.is_none() {
            return None;
        }
        Some(Arc::new(Self { plugins: plugins.clone(), module }))
    }

    fn is_named(&self, name: &str) -> bool {
        let plugins = self.module.iter().flat_map(|module| &module.plugins);
        plugins.into_iter().any(|(known, _)| known == name)
    }

    /// Returns what a name stands for, as found now or before.
    fn find_target<'s>(
        &self,
        system: &dyn System,
        inner: &'s Inner,
        name: &str,
    ) -> Result<Found<'s>, NoPlugin> {
        let folder = self.module.as_ref().map(|module| module.folder.clone());
        for owner in [None, folder] {
            if let Some(known) = inner.processes().get(&(owner, name.to_owned())) {
                return Ok(Found::Process(Arc::clone(known)));
            }
        }
        let (launch, owner) = match resolve(system, &inner.config, self.module.as_ref(), name)? {
            Target::Functions(functions) => return Ok(Found::Functions(functions)),
            Target::Executable(launch) => (launch, None),
            Target::OfModule(launch, folder) => (launch, Some(folder)),
        };
        let process = Arc::new(SharedProcess::new(launch));
        // Another thread may have found it at the same time.
        let mut processes = inner.processes();
        let process = processes.entry((owner, name.to_owned())).or_insert(process);
        Ok(Found::Process(Arc::clone(process)))
    }
}

/// What is called.
enum Found<'s> {
    Functions(&'s std::collections::BTreeMap<String, Function>),
    Process(Arc<SharedProcess>),
}

impl PluginFinder for JobPlugins {
    fn find(&self, system: &dyn System, name: &str) -> Result<(), NoPlugin> {
        match &self.plugins.inner {
            Some(inner) => self.find_target(system, inner, name).map(drop),
            // Nothing can be called, and a program that is only looked at calls nothing.
            None if self.is_named(name) => Ok(()),
            None => Err(NoPlugin::default()),
        }
    }
}

impl kcl_eval::Plugins for JobPlugins {
    fn call(&self, call: &PluginCall<'_>) -> Result<PluginResult, String> {
        let name = call.plugin;
        let Some(inner) = &self.plugins.inner else {
            return Err(format!("the plugin `{name}` cannot be called here"));
        };
        let found = self.find_target(call.system, inner, name).map_err(|missing| {
            let message = format!("the plugin `{name}` has no command");
            if missing.message.is_empty() { message } else { missing.message }
        })?;
        let arguments = Arguments::of(call)?;
        let text = match found {
            Found::Functions(functions) => call_function(functions, call, &arguments)?,
            Found::Process(process) => {
                let params = arguments.params(call.function);
                process.ask("call", &params, call.time).map_err(|it| failure(&it, call))?
            }
        };
        let n_bytes = text.len().saturating_mul(EXPANSION);
        if n_bytes > call.room {
            return Err(format!("the result of the plugin `{name}` takes too much memory"));
        }
        let value = json::parse(&text).map_err(|fault| {
            format!("the plugin `{name}` gave a result that is not valid: {}", fault.message)
        })?;
        Ok(PluginResult { value, n_bytes })
    }
}

fn call_function(
    functions: &std::collections::BTreeMap<String, Function>,
    call: &PluginCall<'_>,
    arguments: &Arguments,
) -> Result<String, String> {
    let PluginCall { plugin, function, .. } = call;
    let missing = || format!("the plugin `{plugin}` has no function `{function}`");
    let run = functions.get(*function).ok_or_else(missing)?;
    let invalid = |error: serde_json::Error| error.to_string();
    let arguments = PluginArguments {
        positional: serde_json::from_str(&arguments.positional).map_err(invalid)?,
        named: serde_json::from_str(&arguments.named).map_err(invalid)?,
    };
    let result = run(&arguments).map_err(|why| format!("the plugin `{plugin}` failed: {why}"))?;
    Ok(result.to_string())
}

fn failure(failure: &Failure, call: &PluginCall<'_>) -> String {
    match (&failure.problem, call.time) {
        (Problem::TimedOut(limit), Some(time)) if *limit >= time => {
            let title = &failure.title;
            let last = failure.last_line.as_ref();
            let last = last.map(|it| format!("; its last line on standard error: `{it}`"));
            let last = last.unwrap_or_default();
            format!("{title} was stopped: the time limit of the program was reached{last}")
        }
        _ => failure.to_string(),
    }
}

/// The arguments of a call, as JSON.
struct Arguments {
    /// A list.
    positional: String,
    /// An object.
    named: String,
}

impl Arguments {
    fn of(call: &PluginCall<'_>) -> Result<Self, String> {
        let CallArgs { positional, named } = call.arguments;
        let values = || positional.iter().chain(named.iter().map(|(_, value)| value));
        let name = call.plugin;
        if values().any(|value| matches!(value, Value::Func(_))) {
            return Err(format!("the plugin `{name}` cannot be given a function"));
        }
        let mut left = MAX_ARGUMENTS;
        for value in values() {
            let size = text_size(value, output::Filter::default(), 0, left);
            left -= size.ok_or_else(|| {
                format!("the plugin `{name}` cannot be given more than {MAX_ARGUMENTS} bytes")
            })?;
        }
        let texts: Vec<String> = positional.iter().map(json::write).collect();
        let mut pairs = String::from("{");
        for (at, (name, value)) in named.iter().enumerate() {
            if at > 0 {
                pairs.push(',');
            }
            push_json_string(&mut pairs, name);
            pairs.push(':');
            pairs.push_str(&json::write(value));
        }
        pairs.push('}');
        Ok(Self { positional: format!("[{}]", texts.join(",")), named: pairs })
    }

    /// The parameters of a request.
    fn params(&self, function: &str) -> String {
        let mut text = String::from("{\"function\":");
        push_json_string(&mut text, function);
        let Self { positional, named } = self;
        for part in [",\"args\":", positional, ",\"kwargs\":", named, "}"] {
            text.push_str(part);
        }
        text
    }
}
