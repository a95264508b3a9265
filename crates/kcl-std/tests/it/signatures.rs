//! The tables of code and those of signatures agree.

use kcl_std::{builtins, modules, string_methods};

#[test]
fn every_signature_has_its_code() {
    let names = |it: &[kcl_names::Signature]| it.iter().map(|it| it.name).collect::<Vec<_>>();
    let functions: Vec<_> = builtins().iter().map(|it| it.name).collect();
    assert_eq!(functions, names(kcl_names::FUNCTIONS));
    let methods: Vec<_> = string_methods().iter().map(|it| it.name).collect();
    assert_eq!(methods, names(kcl_names::METHODS));
    assert_eq!(modules().len(), kcl_names::MODULES.len());
    for (module, known) in modules().iter().zip(kcl_names::MODULES) {
        assert_eq!(module.name, known.name);
        let functions: Vec<_> = module.functions.iter().map(|it| it.name).collect();
        assert_eq!(functions, names(known.functions), "{}", module.name);
        let constants: Vec<_> = module.constants.iter().map(|it| it.name).collect();
        let known: Vec<_> = known.constants.iter().map(|it| it.name).collect();
        assert_eq!(constants, known, "{}", module.name);
    }
}

#[test]
fn entries_are_found_by_name() {
    assert!(modules().iter().all(|module| kcl_std::module(module.name).is_some()));
    assert!(kcl_std::builtin("len").is_some() && kcl_std::builtin("nope").is_none());
    assert!(kcl_std::string_method("upper").is_some());
}
