//! The types of the tables.

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

/// What is known of a function or a method of strings without its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The name.
    pub name: &'static str,
    /// The parameters in order; those of a method without the string itself.
    pub params: &'static [Param],
    /// Whether it takes any further positional and named arguments.
    pub variadic: bool,
    /// The index of the first parameter that the reference means to be passed by name only.
    pub keyword_only: Option<usize>,
    /// The type of the result in KCL's type syntax.
    pub ret: &'static str,
    /// What it does, for users.
    pub doc: &'static str,
}

impl Signature {
    pub(crate) const fn new(
        name: &'static str,
        params: &'static [Param],
        ret: &'static str,
        doc: &'static str,
    ) -> Self {
        Self { name, params, variadic: false, keyword_only: None, ret, doc }
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

/// A named value of a system module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constant {
    /// The name.
    pub name: &'static str,
    /// The type in KCL's type syntax.
    pub ty: &'static str,
    /// What it is, for users.
    pub doc: &'static str,
}

/// A system module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Module {
    /// The name, as in `import math`.
    pub name: &'static str,
    /// What it is for, for users.
    pub doc: &'static str,
    /// The functions in order.
    pub functions: &'static [Signature],
    /// The constants in order.
    pub constants: &'static [Constant],
}

impl Module {
    /// The function with a name.
    pub fn function(&self, name: &str) -> Option<&'static Signature> {
        self.functions.iter().find(|function| function.name == name)
    }

    /// The constant with a name.
    pub fn constant(&self, name: &str) -> Option<&'static Constant> {
        self.constants.iter().find(|constant| constant.name == name)
    }
}
