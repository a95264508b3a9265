//! The examples of cells compile to what their golden files say.

use base_system::OsSystem;
use kusion_generate::{CompileOptions, compile, layered_stacks, spec_yaml};
use std::fmt::Write as _;

/// Compiles all cells of an example.
fn cells(name: &str) -> String {
    let folder = testkit::repository().join("konfig/base/examples/cells").join(name);
    let options = CompileOptions { work_dir: Some(folder), ..CompileOptions::default() };
    let compiled = compile(&OsSystem, &options).expect("the example compiles");
    let mut text = String::new();
    for stack in &compiled {
        let _ = write!(text, "---\n# {}\n{}", stack.stack.full_name(), spec_yaml(&stack.spec));
    }
    let layers = layered_stacks(&OsSystem, &options, &[]).expect("the layers are valid");
    // The first layer is the program.
    let n_layers = layers[0].layers.as_ref().expect("the layers are valid").layers.len() - 1;
    assert!((1..=3).contains(&n_layers), "{name} needs {n_layers} layers");
    text
}

fn check(name: &str) {
    let golden = format!("konfig/base/examples/cells/{name}/cells.golden.yaml");
    let golden = testkit::repository().join(golden);
    testkit::golden::check(&golden, &cells(name)).expect("as the golden file says");
}

#[test]
fn accounts_regions_and_environments_need_no_overlay_each() {
    check("kustomize");
}

#[test]
fn clusters_need_no_policy_each() {
    check("vela");
}

#[test]
fn dns_has_its_own_order() {
    check("dns");
}

#[test]
fn a_sidecar_has_a_version_by_group_and_exceptions() {
    check("sidecar");
}
