//! The types of built-in functions, string methods, system modules and decorators.
//!
//! `kcl-names` gives signatures as text; they are read when a program first uses them.

use crate::ty::{FunctionType, Param, Type};
use base_text::Name;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Signatures read so far, by name.
#[derive(Default)]
pub(crate) struct Builtins {
    functions: FxHashMap<Name, Option<Type>>,
    methods: FxHashMap<Name, Option<Type>>,
    members: FxHashMap<(Name, Name), Option<Type>>,
}

impl Builtins {
    /// The type of a built-in function.
    pub(crate) fn function(&mut self, name: Name) -> Option<Type> {
        let read = || kcl_names::function(name.as_str())?.get().map(function_type);
        self.functions.entry(name).or_insert_with(read).clone()
    }

    /// The type of a string method.
    pub(crate) fn method(&mut self, name: Name) -> Option<Type> {
        let read = || kcl_names::string_method(name.as_str()).map(function_type);
        self.methods.entry(name).or_insert_with(read).clone()
    }

    /// The type of a member of a system module.
    pub(crate) fn member(&mut self, module: &str, name: Name) -> Option<Type> {
        let read = || {
            let module = kcl_names::module(module).and_then(kcl_names::ModuleId::get);
            let Some(module) = module else { return Some(Type::Any) };
            if module.name == "units" && name.as_str() == "NumberMultiplier" {
                return Some(Type::Multiplier(None));
            }
            if let Some(function) = module.function(name.as_str()) {
                return Some(function_type(function));
            }
            module.constant(name.as_str()).map(|constant| read_type(constant.ty))
        };
        self.members.entry((Name::new(module), name)).or_insert_with(read).clone()
    }

    /// The names of built-in functions in order.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        kcl_names::FUNCTIONS.iter().map(|function| function.name)
    }
}

/// The type of a decorator.
pub(crate) fn decorator(name: &str) -> Option<FunctionType> {
    let param = |name: &str, ty| Param { name: Name::new(name), ty, has_default: true, at: None };
    let (params, is_variadic) = match name {
        "deprecated" => {
            let strict = param("strict", Type::Bool);
            (vec![param("version", Type::Str), param("reason", Type::Str), strict], false)
        }
        "info" => (Vec::new(), true),
        _ => return None,
    };
    Some(FunctionType { params, ret: Type::Any, is_variadic })
}

/// The type of `Schema.instances`.
pub(crate) fn instances() -> Type {
    let has_default = true;
    let param = Param { name: Name::new("full_pkg"), ty: Type::Bool, has_default, at: None };
    let ret = Type::list(Type::Any);
    Type::Function(Arc::new(FunctionType { params: vec![param], ret, is_variadic: false }))
}

fn function_type(signature: &kcl_names::Signature) -> Type {
    let params = signature.params.iter().map(|param| Param {
        name: Name::new(param.name),
        ty: read_type(param.ty),
        has_default: param.optional,
        at: None,
    });
    let params = params.collect();
    let (ret, is_variadic) = (read_type(signature.ret), signature.variadic);
    Type::Function(Arc::new(FunctionType { params, ret, is_variadic }))
}

/// Reads a type of the tables of `kcl-names`. What it does not know is `any`.
fn read_type(text: &str) -> Type {
    let mut reader = TypeReader { rest: text };
    reader.union()
}

struct TypeReader<'t> {
    rest: &'t str,
}

impl TypeReader<'_> {
    fn eat(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn union(&mut self) -> Type {
        let mut types = vec![self.single()];
        while self.eat("|") {
            types.push(self.single());
        }
        if types.len() == 1 { types.swap_remove(0) } else { Type::union(types) }
    }

    fn single(&mut self) -> Type {
        if self.eat("[") {
            let item = if self.eat("]") { return Type::list(Type::Any) } else { self.union() };
            self.eat("]");
            return Type::list(item);
        }
        if self.eat("{") {
            let key = if self.eat(":") { Type::Any } else { self.union() };
            self.eat(":");
            let value =
                if self.eat("}") { return Type::dict(key, Type::Any) } else { self.union() };
            self.eat("}");
            return Type::dict(key, value);
        }
        if self.eat("(") {
            return self.function();
        }
        self.named()
    }

    fn function(&mut self) -> Type {
        let mut params = Vec::new();
        while !self.eat(")") && !self.rest.is_empty() {
            let ty = self.union();
            params.push(Param { name: Name::new(""), ty, has_default: false, at: None });
            self.eat(",");
        }
        let ret = if self.eat("->") { self.union() } else { Type::Any };
        Type::Function(Arc::new(FunctionType { params, ret, is_variadic: false }))
    }

    fn named(&mut self) -> Type {
        self.rest = self.rest.trim_start();
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        // An unknown character must not be met again.
        self.rest = if end == 0 { rest.get(1..).unwrap_or("") } else { rest };
        match word {
            "bool" => Type::Bool,
            "int" => Type::Int,
            "float" => Type::Float,
            "str" => Type::Str,
            "NoneType" | "None" => Type::None,
            "units.NumberMultiplier" | "number_multiplier" => Type::Multiplier(None),
            _ => Type::Any,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_read_as_written() {
        for text in ["int", "str | {any:any} | [any]", "(any, int) -> bool", "{str:[int]}", "any"] {
            assert_eq!(read_type(text).to_string(), text);
        }
        assert_eq!(read_type("NoneType"), Type::None);
        assert_eq!(read_type("{str:}").to_string(), "{str:any}");
    }
}
