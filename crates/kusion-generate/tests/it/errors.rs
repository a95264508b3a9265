//! Every kind of wrong output, and what is said about it.

use crate::support::{compile_all, files, object, shown, stack};
use kusion_generate::{CompileOptions, compile, compile_each};
use serde_json::json;

#[test]
fn ids_must_fit_their_objects() {
    let with_id = |id: &str, object: &str| {
        shown(&format!(
            "resources = [{{id = \"{id}\", type = \"Kubernetes\", attributes = {object}}}]\n"
        ))
    };
    let map = object("v1", "ConfigMap", "", "a", "");
    // A namespaced object without a namespace: both forms are the same.
    assert_eq!(with_id("v1:ConfigMap:a", &map), "v1:ConfigMap:default:a");
    assert_eq!(with_id("v1:ConfigMap:default:a", &map), "v1:ConfigMap:default:a");
    assert_eq!(with_id("v1:configmap:a", &map), "v1:ConfigMap:default:a");
    assert_eq!(
        with_id("v1:ConfigMap:b", &map),
        "error: stack .: resource `v1:ConfigMap:b` at main.k:1 does not match its object, whose id \
         is `v1:ConfigMap:default:a`"
    );
    assert_eq!(
        with_id("apps/v1:ConfigMap:a", &map),
        "error: stack .: resource `apps/v1:ConfigMap:a` at main.k:1 does not match its object, whose id is `v1:ConfigMap:default:a`"
    );
    let map = object("v1", "ConfigMap", "demo", "a", "");
    assert_eq!(
        with_id("v1:ConfigMap:a", &map),
        "error: stack .: resource `v1:ConfigMap:a` at main.k:1 does not match its object, whose id \
         is `v1:ConfigMap:demo:a`"
    );
    let role = object("rbac.authorization.k8s.io/v1", "ClusterRole", "", "system:node", "");
    let id = "rbac.authorization.k8s.io/v1:ClusterRole:system:node";
    assert_eq!(with_id(id, &role), id);
    let namespace = object("v1", "Namespace", "demo", "a", "");
    assert_eq!(with_id("v1:Namespace:a", &namespace), "v1:Namespace:a");
    assert_eq!(with_id("v1:Namespace:demo:a", &namespace), "v1:Namespace:a");
}

#[test]
fn the_namespace_of_a_cluster_scoped_object_is_dropped_with_a_note() {
    let role = object("rbac.authorization.k8s.io/v1", "ClusterRole", "demo", "reader", "");
    let compiled = stack(&format!("role = {role}\n")).expect("it compiles");
    assert_eq!(
        compiled.spec.resources[0].id.as_str(),
        "rbac.authorization.k8s.io/v1:ClusterRole:reader"
    );
    assert_eq!(compiled.spec.resources[0].attributes["metadata"], json!({"name": "reader"}));
    assert_eq!(
        compiled.notes,
        ["the resource at main.k:1: the namespace `demo` is ignored, because a ClusterRole is \
          cluster-scoped"]
    );
}

#[test]
fn unknown_annotations_are_noted_with_file_and_line() {
    let program = r#"a = {
    apiVersion = "v1"
    kind = "Pod"
    metadata = {
        name = "a"
        annotations = {
            "kusion.io/prevent-destory" = "true"
            "sandbox.kusion.io/run-time" = "soon"
            "sandbox.kusion.io/log" = "$kusion_path.v1:Pod:a.metadata.name"
            "example.com/x" = "y"
        }
    }
}
"#;
    let compiled = stack(program).expect("it compiles");
    assert_eq!(
        compiled.notes,
        [
            "resource `v1:Pod:default:a`, `metadata.annotations[\"kusion.io/prevent-destory\"]` at \
             main.k:7: unknown annotation; did you mean `kusion.io/prevent-destroy`?",
            "resource `v1:Pod:default:a`, `metadata.annotations[\"sandbox.kusion.io/run-time\"]` \
             at main.k:8: invalid value \"soon\": expected a duration such as \"2s\"",
        ]
    );
}

#[test]
fn unknown_keys_of_files_are_noted() {
    let system = files(
        "
#- /p/project.yaml
name: p
lables: {a: b}
#- /p/a/stack.yaml
name: a
contxt: prod
#- /p/a/main.k
resources = []
#- /p/b/kcl.yaml
kcl_cli_configs: {file: [main.k], disable_nones: true}
#- /p/b/main.k
resources = []
",
    );
    let compiled = compile_all(&system, "/p").expect("it compiles");
    assert_eq!(
        compiled[0].notes,
        [
            "project.yaml: unknown key `lables`; did you mean `labels`?",
            "a/stack.yaml: unknown key `contxt`; did you mean `context`?",
        ]
    );
    // The project is noted once.
    assert!(compiled[1].notes.is_empty(), "{:?}", compiled[1].notes);
    let warnings = compiled[1].warnings_json();
    assert_eq!(
        warnings[0]["message"],
        "/p/b/kcl.yaml: unknown key 'kcl_cli_configs.disable_nones'; did you mean \
         'kcl_cli_configs.disable_none'?"
    );
}

#[test]
fn two_resources_of_one_id_are_named_with_both_places() {
    let map = object("v1", "ConfigMap", "demo", "a", "");
    assert_eq!(
        shown(&format!("x = {map}\ny = 1\nz = [{map}]\n")),
        "error: stack .: duplicate resource `v1:ConfigMap:demo:a`: at main.k:1 and at main.k:3"
    );
}

#[test]
fn what_is_no_resource_is_named() {
    let error = |program: &str| shown(program).replacen("error: stack .: ", "", 1);
    assert_eq!(
        error("resources = [{id = \"a\", type = \"Kubernetes\"}]\n"),
        "resource `a` has no `attributes`"
    );
    assert_eq!(
        error("resources = [{id = 1, type = \"Kubernetes\", attributes = {}}]\n"),
        "`resources[0].id` of the output must be a string, not a number"
    );
    assert_eq!(
        error("resources = [{id = \"a:b:c\", attributes = {x = 1}}]\n"),
        "resource `a:b:c` at main.k:1 has no `type`"
    );
    assert_eq!(
        error("resources = [{id = \"a\", type = \"Terraform\", attributes = {x = 1}}]\n"),
        "resource `a` at main.k:1: invalid id of a Terraform resource: expected \
         `providerNamespace:provider:type:name`"
    );
    let terraform = |extensions: &str| {
        let head = "resources = [{id = \"a:b:b_c:d\", type = \"Terraform\"";
        let found = error(&format!("{head}, attributes = {{}}, extensions = {extensions}}}]\n"));
        found.replacen("resource `a:b:b_c:d` at main.k:1: ", "", 1)
    };
    assert_eq!(
        terraform("{}"),
        "`extensions.provider` is missing; it names the provider and its version, such as \
         `a/b/1.0.0`"
    );
    assert_eq!(
        terraform("{provider = \"a/b\"}"),
        "invalid `extensions.provider` `a/b`: expected `namespace/name/version`, perhaps with a \
         registry before it, such as `a/b/1.0.0`"
    );
    assert_eq!(
        terraform("{provider = \"a/b/latest\"}"),
        "invalid version `latest` in `extensions.provider` `a/b/latest`: expected a version or a \
         constraint, such as `1.0.0`, `~> 1.0` or `>= 1.0, < 2.0`"
    );
    assert_eq!(
        terraform("{provider = \"a/b/1\", resourceType = \"b_x\"}"),
        "its id names the type `b_c`, and `extensions.resourceType` is `b_x`"
    );
    assert_eq!(
        terraform("{provider = \"a/b/1\", providerMeta = 1}"),
        "`extensions.providerMeta` must be a map, not a number"
    );
    assert_eq!(
        error("resources = [{type = \"Other\", attributes = {x = 1}}]\n"),
        "the resource at main.k:1 has no `id`"
    );
    assert_eq!(
        error("resources = [1]\n"),
        "`resources[0]` of the output must be a map, not a number"
    );
    assert_eq!(
        error("a = {apiVersion = \"v1\", kind = \"Pod\", metadata = {generateName = \"x-\"}}\n"),
        "the resource at main.k:1 must have `apiVersion`, `kind` and `metadata.name`; \
         `generateName` is not enough, since the next run could not find the object"
    );
    assert_eq!(
        error("a = {apiVersion = \"v1\", kind = \"Pod\", metadata = {name = 1}}\n"),
        "the resource at main.k:1: `metadata.name` must be a string, not a number"
    );
    assert_eq!(
        error("a = 1\n"),
        "the output has no resources: print Kubernetes objects, a list of records with `id`, \
         `type` and `attributes`, or a map with `resources`"
    );
    assert_eq!(
        error(
            "import manifests\nmanifests.yaml_stream([{apiVersion = \"v1\", kind = \"List\", items = [{x = 1}]}])\n"
        ),
        "`[0].items[0]` of the output at main.k:2 is not a valid resource: it has neither `apiVersion` and \
         `kind` nor `attributes`"
    );
}

/// A stream of a good object and another document.
fn streamed(document: &str) -> String {
    let map = object("v1", "ConfigMap", "demo", "a", "");
    let program =
        format!("import manifests\nmanifests.yaml_stream([\n    {map}\n    {document}\n])\n");
    shown(&program).replacen("error: stack .: ", "", 1)
}

#[test]
fn documents_of_a_stream_must_be_resources() {
    let metadata = "metadata = {name = \"b\"}";
    assert_eq!(
        streamed(&format!("{{apiVersoin = \"v1\", kind = \"ConfigMap\", {metadata}}}")),
        "document 2 of the output at main.k:4 is not a valid resource: it has `kind`, but no \
         `apiVersion`; did you mean `apiVersion` instead of `apiVersoin`?"
    );
    assert_eq!(
        streamed(&format!("{{apiVersion = \"v1\", knd = \"ConfigMap\", {metadata}}}")),
        "document 2 of the output at main.k:4 is not a valid resource: it has `apiVersion`, but no \
         `kind`; did you mean `kind` instead of `knd`?"
    );
    assert_eq!(
        streamed("{data = {a = \"b\"}}"),
        "document 2 of the output at main.k:4 is not a valid resource: it has neither `apiVersion` \
         and `kind` nor `attributes`"
    );
    assert_eq!(
        streamed("3"),
        "document 2 of the output at main.k:4 is not a valid resource: it is a number"
    );
    assert_eq!(
        streamed("{apiVersion = 1, kind = \"ConfigMap\", metadata = {name = \"b\"}}"),
        "document 2 of the output at main.k:4 is not a valid resource: `apiVersion` must be a \
         string, not a number"
    );
    // Documents without content, lists of resources, and maps with resources stay allowed.
    for allowed in ["None", "{}", "[]", "resources = []"] {
        let document =
            if allowed.contains('=') { format!("{{{allowed}}}") } else { allowed.into() };
        assert_eq!(streamed(&document), "v1:ConfigMap:demo:a", "{allowed}");
    }
    let other = object("v1", "ConfigMap", "demo", "b", "");
    assert_eq!(streamed(&format!("[{other}]")), "v1:ConfigMap:demo:a\nv1:ConfigMap:demo:b");
    assert_eq!(
        streamed(&format!("{{n = 1, x = {other}}}")),
        "v1:ConfigMap:demo:a\nv1:ConfigMap:demo:b"
    );
}

#[test]
fn a_top_level_value_that_is_nearly_an_object_is_an_error() {
    let map = object("v1", "ConfigMap", "demo", "a", "");
    let with = |value: &str| {
        shown(&format!("good = {map}\nother = {value}\n")).replacen("error: stack .: ", "", 1)
    };
    let nearly = "{apiVersion = \"v1\", knid = \"ConfigMap\", metadata = {name = \"b\"}}";
    assert_eq!(
        with(nearly),
        "`other` of the output at main.k:2 is not a valid resource: it has `apiVersion`, but no \
         `kind`; did you mean `kind` instead of `knid`?"
    );
    assert_eq!(
        with(&format!("[{}, {nearly}]", object("v1", "Secret", "demo", "s", ""))),
        "`other[1]` of the output at main.k:2 is not a valid resource: it has `apiVersion`, but no \
         `kind`; did you mean `kind` instead of `knid`?"
    );
    assert_eq!(
        with("{kind = \"ConfigMap\", metadata = {name = \"b\"}}"),
        "`other` of the output at main.k:2 is not a valid resource: it has `kind`, but no \
         `apiVersion`"
    );
    // Other values stay allowed.
    for allowed in
        ["{kind = \"x\"}", "{metadata = {name = \"b\"}}", "{kind = \"x\", metadata = 1}", "[1]"]
    {
        assert_eq!(with(allowed), "v1:ConfigMap:demo:a", "{allowed}");
    }
    let program = "apiVersion = \"v1\"\nkin = \"ConfigMap\"\nmetadata = {name = \"b\"}\n";
    assert_eq!(
        shown(program),
        "error: stack .: the output at main.k:2 is not a valid resource: it has `apiVersion`, but \
         no `kind`; did you mean `kind` instead of `kin`?"
    );
}

#[test]
fn a_list_of_resources_and_other_values_is_ignored_with_a_note() {
    let map = object("v1", "ConfigMap", "demo", "a", "");
    let compiled = stack(&format!("y = {map}\nx = [{map}, 1]\n")).expect("it compiles");
    assert_eq!(
        compiled.notes,
        ["`x` of the output is ignored: it contains resources and other values"]
    );
}

#[test]
fn unknown_dependencies_are_named_with_a_near_id() {
    let map = object("v1", "ConfigMap", "demo", "a", "");
    let program = format!(
        "resources = [{{id = \"v1:ConfigMap:demo:a\", type = \"Kubernetes\", attributes = {map}, \
         dependsOn = [\"v1:ConfigMap:demo:b\"]}}]\n"
    );
    assert_eq!(
        shown(&program),
        "error: stack .: resource `v1:ConfigMap:demo:a` at main.k:1 depends on \
         `v1:ConfigMap:demo:b`, which is not in the Spec; did you mean `v1:ConfigMap:demo:a`?"
    );
}

#[test]
fn a_circle_is_shown_with_its_path() {
    let record = |name: &str, needs: &str| {
        format!(
            "{{id = \"v1:ConfigMap:demo:{name}\", type = \"Kubernetes\", dependsOn = [{needs}], \
             attributes = {}}}",
            object("v1", "ConfigMap", "demo", name, "")
        )
    };
    let program = format!(
        "resources = [{}, {}]\n",
        record("a", "\"v1:ConfigMap:demo:b\""),
        record("b", "\"v1:ConfigMap:demo:a\"")
    );
    assert_eq!(
        shown(&program),
        "error: stack .: dependency cycle: v1:ConfigMap:demo:a -> \
         v1:ConfigMap:demo:b -> v1:ConfigMap:demo:a"
    );
}

#[test]
fn failures_of_programs_have_file_and_line() {
    let error = shown("a = 1\nb = c\n");
    assert!(error.contains("main.k:2:5"), "{error}");
    assert!(error.contains("name 'c' is not defined"), "{error}");
}

#[test]
fn all_stacks_that_fail_are_named() {
    let system = files(
        "
#- /p/project.yaml
name: p
#- /p/a/stack.yaml
name: a
#- /p/a/main.k
x = 1
#- /p/b/stack.yaml
name: b
#- /p/b/main.k
x = 2
",
    );
    let error = compile_all(&system, "/p").expect_err("both fail");
    assert!(
        error.starts_with("2 of 2 stacks failed to compile\nstack a: the output has no"),
        "{error}"
    );
    assert!(error.contains("\nstack b: "), "{error}");
}

#[test]
fn a_stack_that_fails_is_named_and_does_not_keep_others_from_compiling() {
    let system = files(
        "
#- /p/project.yaml
name: p
#- /p/a/stack.yaml
name: a
#- /p/a/main.k
x = nowhere
#- /p/b/stack.yaml
name: b
#- /p/b/main.k
resources = []
#- /p/c/stack.yaml
name: [1]
#- /p/c/main.k
resources = []
",
    );
    let folders = vec!["a".into(), "b".into()];
    let options =
        CompileOptions { work_dir: Some("/p".into()), folders, ..CompileOptions::default() };
    let error = compile(&system, &options).expect_err("one fails").to_string();
    assert!(error.starts_with("1 of 2 stacks failed to compile\nstack a:\n"), "{error}");
    let options = CompileOptions { work_dir: Some("/p".into()), ..CompileOptions::default() };
    let outcome = compile_each(&system, &options).expect("one compiles");
    let names: Vec<&str> = outcome.compiled.iter().map(|it| it.stack.name.as_str()).collect();
    assert_eq!((names, outcome.n_stacks), (vec!["b"], 3));
    let broken: Vec<String> =
        outcome.errors.iter().map(|it| it.stack.display().to_string()).collect();
    assert_eq!(broken, ["a", "c"]);
    let text = outcome.errors[1].error.to_string();
    assert!(text.starts_with("/p/c/stack.yaml:1: "), "{text}");
}

#[test]
fn definitions_that_cannot_be_read_have_file_and_line() {
    let system = files(
        "
#- /p/project.yaml
name: p
#- /p/crd/x.yaml
apiVersion: v1
kind: {
#- /p/a/stack.yaml
name: a
#- /p/a/main.k
resources = []
",
    );
    let error = compile_all(&system, "/p").expect_err("it fails");
    assert!(error.starts_with("crd/x.yaml:"), "{error}");
}

#[test]
fn errors_are_data_for_programs() {
    let system = files(
        "
#- /p/project.yaml
name: p
#- /p/a/stack.yaml
name: a
#- /p/a/main.k
b = 1
a = nowhere
#- /p/b/stack.yaml
name: b
#- /p/b/main.k
resources = 1
",
    );
    let options = CompileOptions { work_dir: Some("/p".into()), ..CompileOptions::default() };
    let error = compile(&system, &options).expect_err("both fail");
    let found = error.to_json();
    assert_eq!(
        found[0],
        json!({
            "severity": "error", "code": "E2L23", "kind": "CompileError",
            "message": "name 'nowhere' is not defined", "stack": "a",
            "file": "/p/a/main.k", "line": 2, "column": 5, "help": null,
        })
    );
    assert_eq!(
        (found.len(), &found[1]["stack"], &found[1]["code"]),
        (2, &json!("b"), &json!(null))
    );
    let message = found[1]["message"].as_str().expect("it is a text");
    assert!(message.starts_with("the output has no resources"), "{message}");
}

#[test]
fn warnings_are_data_for_programs() {
    let system = files(
        "
#- /p/project.yaml
name: p
#- /p/a/stack.yaml
name: a
#- /p/kcl.mod
[package
#- /p/a/main.k
_a = 1
",
    );
    let options = CompileOptions { work_dir: Some("/p".into()), ..CompileOptions::default() };
    let compiled = compile(&system, &options).expect("it compiles");
    let found = compiled[0].warnings_json();
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!((&found[0]["severity"], &found[0]["code"]), (&json!("warning"), &json!("W0001")));
    let note = "the output is empty: the stack has no resources";
    assert_eq!((&found[1]["message"], &found[1]["stack"]), (&json!(note), &json!("a")));
}
