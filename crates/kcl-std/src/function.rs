//! The types of the tables.

use crate::Host;
use kcl_value::{CallArgs, Result, Str, Value};

/// A parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// The name, for named arguments.
    pub name: &'static str,
    /// The type in KCL's type syntax.
    pub ty: &'static str,
    /// Whether it may be left out.
    pub optional: bool,
}

/// A parameter that must be given.
pub(crate) const fn required(name: &'static str, ty: &'static str) -> Param {
    Param { name, ty, optional: false }
}

/// A parameter that may be left out.
pub(crate) const fn optional(name: &'static str, ty: &'static str) -> Param {
    Param { name, ty, optional: true }
}

/// The code of a function.
pub type Run = fn(&mut dyn Host, &CallArgs) -> Result<Value>;

/// The code of a string method: the string, then the arguments.
pub type RunMethod = fn(&Str, &CallArgs) -> Result<Value>;

/// A built-in function, or a function of a system module.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// The name.
    pub name: &'static str,
    /// The parameters in order.
    pub params: &'static [Param],
    /// Whether it takes any further positional and named arguments.
    pub variadic: bool,
    /// The index of the first parameter that the reference means to be passed by name only.
    pub keyword_only: Option<usize>,
    /// The type of the result in KCL's type syntax.
    pub ret: &'static str,
    /// What it does, for users.
    pub doc: &'static str,
    /// The code.
    pub run: Run,
}

impl Function {
    pub(crate) const fn new(
        name: &'static str,
        params: &'static [Param],
        ret: &'static str,
        doc: &'static str,
        run: Run,
    ) -> Self {
        Self { name, params, variadic: false, keyword_only: None, ret, doc, run }
    }

    /// The same with any further arguments allowed.
    pub(crate) const fn variadic(mut self) -> Self {
        self.variadic = true;
        self
    }

    /// The same with parameters from `index` on meant to be named.
    pub(crate) const fn keyword_only(mut self, index: usize) -> Self {
        self.keyword_only = Some(index);
        self
    }
}

/// A method of strings.
#[derive(Clone, Copy, Debug)]
pub struct Method {
    /// The name.
    pub name: &'static str,
    /// The parameters in order, without the string itself.
    pub params: &'static [Param],
    /// Whether it takes any further positional and named arguments.
    pub variadic: bool,
    /// The type of the result in KCL's type syntax.
    pub ret: &'static str,
    /// What it does, for users.
    pub doc: &'static str,
    /// The code.
    pub run: RunMethod,
}

impl Method {
    pub(crate) const fn new(
        name: &'static str,
        params: &'static [Param],
        ret: &'static str,
        doc: &'static str,
        run: RunMethod,
    ) -> Self {
        Self { name, params, variadic: false, ret, doc, run }
    }

    /// The same with any further arguments allowed.
    pub(crate) const fn variadic(mut self) -> Self {
        self.variadic = true;
        self
    }
}

/// A named value of a system module.
#[derive(Clone, Copy, Debug)]
pub struct Constant {
    /// The name.
    pub name: &'static str,
    /// The type in KCL's type syntax.
    pub ty: &'static str,
    /// What it is, for users.
    pub doc: &'static str,
    /// Makes the value.
    pub value: fn() -> Value,
}

/// A system module.
#[derive(Clone, Copy, Debug)]
pub struct Module {
    /// The name, as in `import math`.
    pub name: &'static str,
    /// What it is for, for users.
    pub doc: &'static str,
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
