//! What every KCL program knows: system modules, built-in functions and methods of strings, with
//! their signatures and documentation.
//!
//! Plain data, below name resolution, type checker and standard library alike, so that none of
//! them needs another for it. `kcl-std` has the code, in tables in the same order; a test there
//! checks it.

mod functions;
mod methods;
mod modules;
mod signature;

pub use functions::FUNCTIONS;
pub use methods::METHODS;
pub use modules::MODULES;
pub use signature::{Constant, Module, Param, Signature};

/// The number of a system module in [`MODULES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModuleId(pub u16);

/// The number of a built-in function in [`FUNCTIONS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FunctionId(pub u16);

/// The system module with a name.
pub fn module(name: &str) -> Option<ModuleId> {
    MODULES.iter().position(|known| known.name == name).map(|at| ModuleId(at as u16))
}

/// The built-in function with a name.
pub fn function(name: &str) -> Option<FunctionId> {
    let first = *name.as_bytes().first()?;
    // Most names are no built-in functions.
    if name.len() >= 32 || FUNCTION_LENGTHS[usize::from(first & 31)] & (1 << name.len()) == 0 {
        return None;
    }
    FUNCTIONS.iter().position(|known| known.name == name).map(|at| FunctionId(at as u16))
}

/// The lengths of the names of built-in functions as bits, by the last five bits of their first
/// bytes.
const FUNCTION_LENGTHS: [u32; 32] = {
    let mut lengths = [0; 32];
    let mut at = 0;
    while at < FUNCTIONS.len() {
        let name = FUNCTIONS[at].name.as_bytes();
        lengths[(name[0] & 31) as usize] |= 1 << name.len();
        at += 1;
    }
    lengths
};

/// The method of strings with a name.
pub fn string_method(name: &str) -> Option<&'static Signature> {
    METHODS.iter().find(|method| method.name == name)
}

impl ModuleId {
    /// What is known of the module.
    pub fn get(self) -> Option<&'static Module> {
        MODULES.get(usize::from(self.0))
    }

    /// The name of the module.
    pub fn name(self) -> &'static str {
        self.get().map_or("", |module| module.name)
    }
}

impl FunctionId {
    /// The signature of the function.
    pub fn get(self) -> Option<&'static Signature> {
        FUNCTIONS.get(usize::from(self.0))
    }

    /// The name of the function.
    pub fn name(self) -> &'static str {
        self.get().map_or("", |function| function.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_a_name_a_type_and_a_sentence() {
        let of_modules = MODULES.iter().flat_map(|module| module.functions);
        for signature in FUNCTIONS.iter().chain(METHODS).chain(of_modules) {
            let Signature { name, params, ret, doc, .. } = *signature;
            assert!(!name.is_empty() && !ret.is_empty(), "{name}");
            assert!(doc.ends_with('.') && doc.starts_with(char::is_uppercase), "{name}: {doc}");
            let is_optional = |param: &Param| param.optional;
            let first = params.iter().position(is_optional).unwrap_or(params.len());
            assert!(params[first..].iter().all(is_optional), "{name}");
            assert!(params.iter().all(|it| !it.name.is_empty() && !it.ty.is_empty()), "{name}");
        }
    }

    #[test]
    fn names_are_unique_and_found() {
        for module in MODULES {
            for function in module.functions {
                let same = module.functions.iter().filter(|other| other.name == function.name);
                assert_eq!(same.count(), 1, "{}.{}", module.name, function.name);
            }
            assert_eq!(super::module(module.name).map(ModuleId::name), Some(module.name));
        }
        assert_eq!(function("len").map(FunctionId::name), Some("len"));
        assert_eq!(function("nope"), None);
        assert_eq!(string_method("upper").map(|method| method.ret), Some("str"));
    }
}
