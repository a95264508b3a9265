//! The built-in functions, string methods and system modules of KCL.
//!
//! Everything is a table entry with name and code, in the order of the signatures in `kcl-names`,
//! which the type checker reads. Functions reach the evaluator and the outside only through
//! [`Host`]. Start reading at [`function`].

#![expect(clippy::unnecessary_wraps, reason = "all functions of a table have one signature")]

mod args;
mod builtins;
pub mod function;
mod host;
mod modules;
mod shared_faults;
mod strings;

pub use builtins::builtins;
pub use function::{Constant, Function, Method, Module};
pub use host::{Host, too_much_memory};
pub use modules::{fill_template, modules};
pub use strings::string_methods;

/// The built-in function with a name.
pub fn builtin(name: &str) -> Option<&'static Function> {
    kcl_names::function(name).and_then(builtin_by_id)
}

/// The built-in function with a number.
pub fn builtin_by_id(id: kcl_names::FunctionId) -> Option<&'static Function> {
    builtins().get(usize::from(id.0))
}

/// The string method with a name.
pub fn string_method(name: &str) -> Option<&'static Method> {
    string_methods().iter().find(|method| method.name == name)
}

/// The system module with a name.
pub fn module(name: &str) -> Option<&'static Module> {
    kcl_names::module(name).and_then(module_by_id)
}

/// The system module with a number.
pub fn module_by_id(id: kcl_names::ModuleId) -> Option<&'static Module> {
    modules().get(usize::from(id.0))
}
