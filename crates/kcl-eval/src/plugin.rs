//! Calls of functions outside the language.

use crate::error::{Eval, Failure};
use crate::evaluator::Evaluator;
use base_system::System;
use base_text::Name;
use kcl_std::Host as _;
use kcl_value::{CallArgs, Func, Origin, Value};
use std::fmt::Debug;
use std::rc::Rc;
use std::time::Duration;

/// Calls functions of plugins.
pub trait Plugins: Debug {
    /// Calls a function.
    ///
    /// # Errors
    ///
    /// With a message that names the plugin.
    fn call(&self, call: &PluginCall<'_>) -> Result<PluginResult, String>;
}

/// A call of a function of a plugin.
#[derive(Clone, Copy)]
pub struct PluginCall<'c> {
    /// Files, environment and clock.
    pub system: &'c dyn System,
    /// The name of the plugin: `hello` of `kcl_plugin.hello`.
    pub plugin: &'c str,
    /// The name of the function.
    pub function: &'c str,
    /// The arguments.
    pub arguments: &'c CallArgs,
    /// How much time the evaluation has left, if that is limited.
    pub time: Option<Duration>,
    /// How many bytes the result may take.
    pub room: usize,
}

/// What a function of a plugin gave.
#[derive(Debug)]
pub struct PluginResult {
    /// The value.
    pub value: Value,
    /// How many bytes it takes.
    pub n_bytes: usize,
}

/// A function of a plugin, as a value.
struct PluginFunction {
    plugin: Name,
    function: Name,
    /// Where it is called, if it is called where it is named; else 0.
    at: Origin,
}

/// Makes a value of a function of a plugin, which is called at a place, or later (0). Whether there
/// is such a function, a call tells.
#[cold]
pub(crate) fn function_value(plugin: Name, function: Name, at: Origin) -> Value {
    let body = Box::new(PluginFunction { plugin, function, at });
    Value::Func(Rc::new(Func { name: function.as_str().into(), is_type: false, body }))
}

impl Evaluator<'_> {
    /// Calls a function value if it is one of a plugin.
    pub(crate) fn call_if_plugin(&mut self, func: &Func, args: &CallArgs) -> Option<Eval<Value>> {
        let &PluginFunction { plugin, function, at } = func.body.downcast_ref()?;
        let at = if at.0 == 0 { self.at } else { at };
        Some(self.call_plugin(plugin, function, args, at))
    }

    /// Calls a function of a plugin at a place.
    #[cold]
    fn call_plugin(
        &mut self,
        plugin: Name,
        function: Name,
        args: &CallArgs,
        at: Origin,
    ) -> Eval<Value> {
        let failed = |message: String| Failure::at(message, at);
        self.check_io(&format!("{plugin}.{function}")).map_err(|fault| failed(fault.message))?;
        let Some(plugins) = self.request.plugins.clone() else {
            return Err(failed(format!("the plugin `{plugin}` cannot be called here")));
        };
        // What it answers may be another thing the next time. To ask for the time tells so to
        // those who keep results.
        let now = self.system().now();
        let time = self.ends_at.map(|end| end.saturating_sub(now));
        if time.is_some_and(|time| time.is_zero()) {
            return Err(self.timed_out());
        }
        let (plugin, function) = (plugin.as_str(), function.as_str());
        let room = self.room();
        let system = self.system;
        let call = PluginCall { system, plugin, function, arguments: args, time, room };
        let PluginResult { value, n_bytes } = plugins.call(&call).map_err(failed)?;
        self.charge(n_bytes)?;
        Ok(value)
    }
}
