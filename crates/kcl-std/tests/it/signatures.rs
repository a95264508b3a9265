//! What all entries of the tables have in common.

use kcl_std::{Param, builtins, modules, string_methods};

#[test]
fn every_entry_has_a_name_a_type_and_a_sentence() {
    let of_modules = modules().iter().flat_map(|module| module.functions);
    for function in builtins().iter().chain(of_modules) {
        check(function.name, function.params, function.ret, function.doc);
    }
    for method in string_methods() {
        check(method.name, method.params, method.ret, method.doc);
    }
}

fn check(name: &str, params: &[Param], ret: &str, doc: &str) {
    assert!(!name.is_empty() && !ret.is_empty(), "{name}");
    assert!(doc.ends_with('.') && doc.starts_with(char::is_uppercase), "{name}: {doc}");
    let first_optional = params.iter().position(|param| param.optional).unwrap_or(params.len());
    assert!(params[first_optional..].iter().all(|param| param.optional), "{name}");
    assert!(params.iter().all(|param| !param.name.is_empty() && !param.ty.is_empty()), "{name}");
}

#[test]
fn names_are_unique_and_found() {
    for module in modules() {
        for function in module.functions {
            let count = module.functions.iter().filter(|other| other.name == function.name).count();
            assert_eq!(count, 1, "{}.{}", module.name, function.name);
        }
        assert!(kcl_std::module(module.name).is_some());
    }
    let names: Vec<_> = modules().iter().map(|module| module.name).collect();
    assert_eq!(names, kcl_names::MODULES);
    let names: Vec<_> = builtins().iter().map(|function| function.name).collect();
    assert_eq!(names, kcl_names::FUNCTIONS);
    assert!(kcl_std::builtin("len").is_some() && kcl_std::builtin("nope").is_none());
    assert!(kcl_std::string_method("upper").is_some());
}
