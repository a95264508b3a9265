//! The stacks of `konfig/` compile to what their golden files say.

#![expect(clippy::disallowed_methods, reason = "tests read files of the repository")]

use crate::support::{files, leaves};
use base_system::{OsSystem, System as _};
use kusion_generate::{CompileOptions, compile};
use kusion_model::FieldPath;
use serde_json::{Value, json};
use std::path::Path;

#[test]
fn every_stack_compiles_to_its_golden_file() {
    let folder = testkit::repository().join("konfig/appops");
    let options = CompileOptions { work_dir: Some(folder), ..CompileOptions::default() };
    let compiled = compile(&OsSystem, &options).expect("all stacks compile");
    assert!(compiled.len() >= 4, "only {}", compiled.len());
    for stack in compiled {
        let golden = stack.stack.folder.join("ci-test/stdout.golden.yaml");
        let text = std::fs::read_to_string(&golden).expect("there is a golden file");
        let golden: Value = yaml_serde::from_str(&text).expect("it is YAML");
        let own: Vec<Value> = stack
            .spec
            .resources
            .iter()
            .map(|it| json!({"id": it.id, "type": it.resource_type, "attributes": it.attributes}))
            .collect();
        assert_eq!(json!({"resources": own}), golden, "{}", stack.stack.folder.display());
        let namespaced =
            stack.spec.resources.iter().filter(|it| it.id.as_str().matches(':').count() > 2);
        for resource in namespaced {
            assert!(!resource.depends_on.is_empty(), "{} needs its namespace", resource.id);
            let path = kusion_model::FieldPath::default().key("metadata").key("name");
            let origin = stack.origins.find(&resource.id, &path).expect("the origin is known");
            assert!(origin.file.ends_with(".k"), "{origin}");
        }
    }
}

#[test]
fn what_a_back_end_passes_on_is_from_the_stack() {
    let folder = testkit::repository().join("konfig/appops/guestbook/dev");
    let options = CompileOptions { work_dir: Some(folder), ..CompileOptions::default() };
    let compiled = compile(&OsSystem, &options).expect("the stack compiles");
    let find = |id: &str, path: kusion_model::FieldPath| {
        let id = kusion_model::ResourceId::new(id);
        compiled[0].origins.find(&id, &path).expect("the origin is known").to_string()
    };
    let ui = "apps/v1:Deployment:guestbook-dev:guestbook";
    let spec = kusion_model::FieldPath::default().key("spec");
    assert_eq!(find(ui, spec.clone().key("replicas")), "main.k:4");
    let container = spec.key("template").key("spec").key("containers").index(0);
    let image = find(ui, container.key("image"));
    assert!(image.ends_with("guestbook/base/base.k:6"), "{image}");
}

#[test]
fn stacks_that_share_packages_compile_to_the_same() {
    let folder = testkit::repository().join("konfig/appops");
    let options =
        CompileOptions { work_dir: Some(folder), threads: 1, ..CompileOptions::default() };
    let together = compile(&OsSystem, &options).expect("all stacks compile");
    assert!(together.len() >= 4, "only {}", together.len());
    for together in &together {
        let folders = vec![together.stack.folder.clone()];
        let options = CompileOptions { folders, ..options.clone() };
        let alone = compile(&OsSystem, &options).expect("the stack compiles").remove(0);
        assert_eq!(alone.spec, together.spec);
        assert_eq!((&alone.printed, &alone.notes), (&together.printed, &together.notes));
        assert_eq!(alone.warnings, together.warnings);
        for resource in &alone.spec.resources {
            for path in leaves(resource) {
                let origins = [&alone.origins, &together.origins];
                let [a, b] = origins.map(|origins| origins.find(&resource.id, &path));
                assert_eq!(a, b, "{} {path}", resource.id);
                assert!(a.is_some(), "{} {path}", resource.id);
            }
        }
    }
}

#[test]
fn origins_are_those_of_the_text_that_was_compiled() {
    let system = files(
        "
#- /p/dev/stack.yaml
name: dev
#- /p/dev/main.k
_name = \"a\"
resources = [{
    apiVersion = \"v1\"
    kind = \"ConfigMap\"
    metadata.name = _name
    data = {
        x = \"1\"
    }
}]
",
    );
    let options = CompileOptions { work_dir: Some("/p/dev".into()), ..CompileOptions::default() };
    let compiled = compile(&system, &options).expect("it compiles").remove(0);
    // Nothing is read or compiled again when somebody asks.
    system.remove(Path::new("/p")).expect("it can be removed");
    let find = |path: FieldPath| {
        let id = &compiled.spec.resources[0].id;
        compiled.origins.find(id, &path).map(|origin| origin.to_string())
    };
    let root = FieldPath::default();
    assert_eq!(find(root.key("metadata").key("name")).as_deref(), Some("main.k:1"));
    assert_eq!(find(root.key("data").key("x")).as_deref(), Some("main.k:7"));
    assert_eq!(find(root.key("data")).as_deref(), Some("main.k:7"));
    assert_eq!(find(root.key("data").key("y")), None);
    // What nobody wrote comes from no file.
    let namespace = find(root.key("metadata").key("namespace"));
    assert_eq!(namespace.as_deref(), Some("the default namespace"));
}
