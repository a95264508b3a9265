//! The names that every KCL program knows: system modules and built-in functions.
//!
//! Plain data, below name resolution and the standard library alike, so that neither needs the
//! other. The tables of `kcl-std` stand in the same order; a test there checks it.

/// The names of the system modules, in the reference's order.
pub const MODULES: &[&str] = &[
    "collection",
    "net",
    "manifests",
    "math",
    "datetime",
    "duration",
    "regex",
    "yaml",
    "json",
    "crypto",
    "base64",
    "units",
    "file",
    "template",
    "runtime",
    "base32",
];

/// The names of the built-in functions, in the reference's order.
pub const FUNCTIONS: &[&str] = &[
    "option",
    "print",
    "multiplyof",
    "isunique",
    "isnullish",
    "len",
    "abs",
    "all_true",
    "any_true",
    "hex",
    "bin",
    "oct",
    "ord",
    "sorted",
    "range",
    "max",
    "min",
    "sum",
    "pow",
    "round",
    "zip",
    "int",
    "float",
    "bool",
    "str",
    "list",
    "dict",
    "typeof",
    "reduce",
];

/// The number of a system module in [`MODULES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModuleId(pub u16);

/// The number of a built-in function in [`FUNCTIONS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FunctionId(pub u16);

/// The system module with a name.
pub fn module(name: &str) -> Option<ModuleId> {
    MODULES.iter().position(|known| *known == name).map(|at| ModuleId(at as u16))
}

/// The built-in function with a name.
pub fn function(name: &str) -> Option<FunctionId> {
    FUNCTIONS.iter().position(|known| *known == name).map(|at| FunctionId(at as u16))
}

impl ModuleId {
    /// The name of the module.
    pub fn name(self) -> &'static str {
        MODULES.get(usize::from(self.0)).copied().unwrap_or_default()
    }
}

impl FunctionId {
    /// The name of the function.
    pub fn name(self) -> &'static str {
        FUNCTIONS.get(usize::from(self.0)).copied().unwrap_or_default()
    }
}
