//! The types of the tables.

use crate::Host;
use kcl_value::{CallArgs, Result, Str, Value};

/// The code of a function.
pub type Run = fn(&mut dyn Host, &CallArgs) -> Result<Value>;

/// The code of a string method: the string, the arguments, and how many bytes the result may take.
pub type RunMethod = fn(&Str, &CallArgs, usize) -> Result<Value>;

/// A built-in function, or a function of a system module. Its signature is in `kcl-names`.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// The name.
    pub name: &'static str,
    /// The code.
    pub run: Run,
}

impl Function {
    pub(crate) const fn new(name: &'static str, run: Run) -> Self {
        Self { name, run }
    }
}

/// A method of strings. Its signature is in `kcl-names`.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// The name.
    pub name: &'static str,
    /// The code.
    pub run: RunMethod,
}

impl Method {
    pub(crate) const fn new(name: &'static str, run: RunMethod) -> Self {
        Self { name, run }
    }
}

/// A named value of a system module.
#[derive(Clone, Copy, Debug)]
pub struct Constant {
    /// The name.
    pub name: &'static str,
    /// Makes the value.
    pub value: fn() -> Value,
}

impl Constant {
    pub(crate) const fn new(name: &'static str, value: fn() -> Value) -> Self {
        Self { name, value }
    }
}

/// A system module.
#[derive(Clone, Copy, Debug)]
pub struct Module {
    /// The name, as in `import math`.
    pub name: &'static str,
    /// The functions in order.
    pub functions: &'static [Function],
    /// The constants in order.
    pub constants: &'static [Constant],
}

impl Module {
    /// The function with a name.
    pub fn function(&self, name: &str) -> Option<&'static Function> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// The constant with a name.
    pub fn constant(&self, name: &str) -> Option<&'static Constant> {
        self.constants.iter().find(|constant| constant.name == name)
    }
}
