//! The built-in functions, string methods and system modules of KCL.
//!
//! Everything is a table entry with name, signature, documentation and code together; the
//! type checker reads the signatures, the evaluator runs the code. Functions reach the
//! evaluator and the outside only through [`Host`]. Start reading at [`function`].

#![expect(clippy::unnecessary_wraps, reason = "all functions of a table have one signature")]

mod args;
mod builtins;
pub mod function;
mod host;
mod modules;
mod strings;

pub use builtins::builtins;
pub use function::{Constant, Function, Method, Module, Param};
pub use host::Host;
pub use modules::{MODULE_NAMES, modules};
pub use strings::string_methods;

/// The built-in function with a name.
pub fn builtin(name: &str) -> Option<&'static Function> {
    builtins().iter().find(|function| function.name == name)
}

/// The string method with a name.
pub fn string_method(name: &str) -> Option<&'static Method> {
    string_methods().iter().find(|method| method.name == name)
}

/// The system module with a name.
pub fn module(name: &str) -> Option<&'static Module> {
    modules().iter().find(|module| module.name == name)
}
