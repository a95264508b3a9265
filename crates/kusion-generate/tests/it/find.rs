//! Which stacks are found.

use crate::support::{compile_all, files};
use base_system::MemorySystem;

const REPO: &str = "
#- /r/kcl.mod
#- /r/apps/shop/project.yaml
name: shop
tenant: t
#- /r/apps/shop/base/base.k
_x = 1
#- /r/apps/shop/dev/stack.yaml
name: dev
#- /r/apps/shop/dev/main.k
resources = []
#- /r/apps/shop/dev/ci-test/settings.yaml
kcl_options: [{key: a, value: 1}]
#- /r/apps/shop/prod/stack.yaml
name: production
labels: {tier: gold}
#- /r/apps/shop/prod/main.k
resources = []
#- /r/apps/blog/only/kcl.yaml
kcl_cli_configs: {file: [x.k]}
#- /r/apps/blog/only/x.k
resources = []
#- /r/plain/main.k
resources = []
";

fn found(system: &MemorySystem, folder: &str) -> Vec<String> {
    match compile_all(system, folder) {
        Ok(compiled) => compiled
            .iter()
            .map(|it| format!("{}/{}", it.stack.project.name, it.stack.name))
            .collect(),
        Err(error) => vec![format!("error: {error}")],
    }
}

#[test]
fn a_stack_a_project_and_any_folder() {
    let system = files(REPO);
    assert_eq!(found(&system, "/r/apps/shop/dev"), ["shop/dev"]);
    assert_eq!(found(&system, "/r/apps/shop"), ["shop/dev", "shop/production"]);
    assert_eq!(found(&system, "/r"), ["blog/only", "shop/dev", "shop/production"]);
    assert_eq!(found(&system, "/r/plain"), ["r/plain"]);
    assert_eq!(
        found(&system, "/r/apps/shop/base"),
        ["error: there is no stack in /r/apps/shop/base: a stack is a folder with a stack.yaml, \
          a kcl.yaml or a main.k"]
    );
}

#[test]
fn a_broken_sibling_is_named() {
    let system = files(REPO).with_file("/r/apps/shop/test/stack.yaml", "name: x\nlabels: [1]\n");
    let error = &found(&system, "/r/apps/shop")[0];
    assert!(error.starts_with("error: /r/apps/shop/test/stack.yaml:2: "), "{error}");
    // The stack beside it is not concerned.
    assert_eq!(found(&system, "/r/apps/shop/dev"), ["shop/dev"]);
}

#[test]
fn a_broken_project_is_named() {
    let system = files(REPO).with_file("/r/apps/shop/project.yaml", "tenant: t\n");
    let error = &found(&system, "/r/apps/shop/dev")[0];
    assert!(error.contains("/r/apps/shop/project.yaml:1: missing field `name`"), "{error}");
}

#[test]
fn two_stacks_of_one_name_are_refused() {
    let system = files(REPO).with_file("/r/apps/shop/test/stack.yaml", "name: dev\n");
    assert_eq!(
        found(&system, "/r/apps/shop"),
        ["error: project `shop` has two stacks `dev`: /r/apps/shop/dev and /r/apps/shop/test"]
    );
}

#[test]
fn settings_of_tests_are_for_tests_only() {
    let program = "resources = [{apiVersion = \"v1\", kind = \"ConfigMap\", metadata = {name = option(\"n\") or \"none\"}}]";
    let system = MemorySystem::new()
        .with_file("/p/project.yaml", "name: p")
        .with_file("/p/dev/stack.yaml", "name: dev")
        .with_file("/p/dev/main.k", program)
        .with_file("/p/dev/ci-test/settings.yaml", "kcl_options: [{key: n, value: test}]")
        .with_file("/p/dev/kcl.yaml", "kcl_cli_configs: {file: [main.k]}\n");
    let run = |settings: &[&str], arguments: &[&str], overrides: &[&str]| {
        let texts = |texts: &[&str]| texts.iter().map(|it| (*it).to_owned()).collect();
        let options = kusion_generate::CompileOptions {
            work_dir: Some("/p/dev".into()),
            settings: settings.iter().map(Into::into).collect(),
            arguments: texts(arguments),
            overrides: texts(overrides),
            ..kusion_generate::CompileOptions::default()
        };
        let compiled = kusion_generate::compile(&system, &options).expect("it compiles");
        compiled[0].spec.resources[0].id.to_string()
    };
    assert_eq!(run(&[], &[], &[]), "v1:ConfigMap:default:none");
    assert_eq!(run(&["kcl.yaml", "ci-test/settings.yaml"], &[], &[]), "v1:ConfigMap:default:test");
    assert_eq!(run(&[], &["n=own"], &[]), "v1:ConfigMap:default:own");
}
