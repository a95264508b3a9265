//! Every form of output that is accepted.

use crate::support::{compile_all, files, lines, shown, stack};
use serde_json::json;

const NAMESPACE: &str = r#"{apiVersion = "v1", kind = "Namespace", metadata = {name = "demo"}}"#;
const MAP: &str =
    r#"{apiVersion = "v1", kind = "ConfigMap", metadata = {name = "a", namespace = "demo"}}"#;
const BOTH: &str = "v1:Namespace:demo\nv1:ConfigMap:demo:a <- v1:Namespace:demo";

#[test]
fn a_spec() {
    let program = format!(
        "resources = [
    {{id = \"v1:Namespace:demo\", type = \"Kubernetes\", attributes = {NAMESPACE}}}
    {{id = \"v1:ConfigMap:demo:a\", type = \"Kubernetes\", attributes = {MAP}, extensions = {{x = 1}}}}
]
secretStore = {{provider = {{fake = {{}}}}}}
context = {{region = \"x\"}}
"
    );
    let compiled = stack(&program).expect("it compiles");
    assert_eq!(lines(&compiled.spec.resources), BOTH);
    assert_eq!(compiled.spec.secret_store, Some(json!({"provider": {"fake": {}}})));
    assert_eq!(compiled.spec.context, Some(json!({"region": "x"})));
    assert_eq!(compiled.spec.resources[1].extensions["x"], json!(1));
}

#[test]
fn a_spec_in_a_stream() {
    let program = format!(
        "import manifests
manifests.yaml_stream([{{resources = [{{id = \"v1:Namespace:demo\", type = \"Kubernetes\", attributes = {NAMESPACE}}}, {{id = \"v1:ConfigMap:demo:a\", type = \"Kubernetes\", attributes = {MAP}}}]}}])
"
    );
    assert_eq!(shown(&program), BOTH);
}

#[test]
fn a_list_of_records() {
    let program = format!(
        "items = [{{id = \"v1:Namespace:demo\", type = \"Kubernetes\", attributes = {NAMESPACE}}}, {{id = \"v1:ConfigMap:demo:a\", type = \"Kubernetes\", attributes = {MAP}, dependsOn = [\"v1:Namespace:demo\"]}}]
"
    );
    assert_eq!(shown(&program), BOTH);
}

#[test]
fn a_stream_of_records() {
    let program = format!(
        "import manifests
manifests.yaml_stream([{{id = \"v1:Namespace:demo\", type = \"Kubernetes\", attributes = {NAMESPACE}}}, {{id = \"v1:ConfigMap:demo:a\", type = \"Kubernetes\", attributes = {MAP}, dependsOn = []}}])
"
    );
    assert_eq!(shown(&program), BOTH);
}

#[test]
fn the_instances_of_the_founding_documents() {
    let program = format!(
        "instances = [
    {{attributes = {NAMESPACE}, mode = \"managed\", id = \"v1:namespace:demo\"}}
    {{attributes = {{apiVersion = \"v1\", kind = \"ConfigMap\", metadata = {{name = \"a\", \
     namespace = \"$kusion_path.v1:namespace:demo:metadata.name\"}}}}, mode = \"drifted\", id = \"v1:configmap:demo:a\"}}
]
"
    );
    let compiled = stack(&program).expect("it compiles");
    assert_eq!(lines(&compiled.spec.resources), BOTH);
    assert_eq!(compiled.spec.resources[1].attributes["metadata"]["namespace"], json!("demo"));
    assert_eq!(compiled.spec.resources[1].extensions["mode"], json!("drifted"));
    assert!(compiled.spec.resources[0].extensions.is_empty());
}

#[test]
fn a_stream_of_objects() {
    let program = format!("import manifests\nmanifests.yaml_stream([{NAMESPACE}, {MAP}])\n");
    assert_eq!(shown(&program), BOTH);
}

#[test]
fn a_list_object() {
    let program = format!(
        "objects = {{apiVersion = \"v1\", kind = \"List\", items = [{NAMESPACE}, {MAP}]}}\n"
    );
    assert_eq!(shown(&program), BOTH);
}

#[test]
fn attributes_at_the_top() {
    let program =
        format!("count = 2\nnamespace = {NAMESPACE}\nmaps = [{MAP}]\nother = {{x = 1}}\n");
    let program = program.replace("namespace = {api", "ns = {api");
    assert_eq!(shown(&program), BOTH.split('\n').rev().collect::<Vec<_>>().join("\n"));
}

#[test]
fn other_resources() {
    let program = r#"resources = [{
    id = "hashicorp:random:random_password:db"
    type = "Terraform"
    attributes = {length = 16}
    extensions = {provider = "registry.terraform.io/hashicorp/random/3.0.0", resourceType = "random_password"}
}]
"#;
    let compiled = stack(program).expect("it compiles");
    assert_eq!(compiled.spec.resources[0].resource_type.as_str(), "Terraform");
    let short = program.replace(", resourceType = \"random_password\"", "");
    let compiled = stack(&short).expect("it compiles");
    assert_eq!(compiled.spec.resources[0].extensions["resourceType"], "random_password");
}

#[test]
fn definitions_of_the_project_are_appended() {
    let system = files(
        r#"
#- /shop/project.yaml
name: shop
#- /shop/crd/widget.yaml
# A comment.
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec: {group: example.com, scope: Cluster, names: {kind: Widget, plural: widgets}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec: {group: example.com, scope: Namespaced, names: {kind: Gadget, plural: gadgets}}
#- /shop/dev/stack.yaml
name: dev
#- /shop/dev/main.k
w = {apiVersion = "example.com/v1", kind = "Widget", metadata = {name = "w"}}
g = {apiVersion = "example.com/v1", kind = "Gadget", metadata = {name = "g"}}
"#,
    );
    let compiled = compile_all(&system, "/shop").expect("it compiles").remove(0);
    let crd = |name: &str| format!("apiextensions.k8s.io/v1:CustomResourceDefinition:{name}");
    assert_eq!(
        lines(&compiled.spec.resources),
        format!(
            "example.com/v1:Gadget:default:g <- {gadgets}\nexample.com/v1:Widget:w <- \
             {widgets}\n{widgets}\n{gadgets}",
            gadgets = crd("gadgets.example.com"),
            widgets = crd("widgets.example.com"),
        )
    );
}

#[test]
fn null_fields_of_objects_are_left_out() {
    let program = r#"a = {apiVersion = "v1", kind = "ConfigMap", metadata = {name = "a", labels = None}, data = {x = "1", y = None}}"#;
    let compiled = stack(program).expect("it compiles");
    assert_eq!(
        compiled.spec.resources[0].attributes,
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": {"x": "1"},
            "metadata": {"name": "a", "namespace": "default"},
        })
    );
}

#[test]
fn extensions_of_project_and_stack_are_added() {
    let system = files(
        r#"
#- /shop/project.yaml
name: shop
extensions:
- kind: kubernetesNamespace
  kubernetesNamespace: {namespace: shop}
- kind: kubernetesMetadata
  kubernetesMetadata: {labels: {team: a, tier: x}, annotations: {note: hi}}
#- /shop/dev/stack.yaml
name: dev
extensions:
- kind: kubernetesMetadata
  kubernetesMetadata: {labels: {tier: y}}
#- /shop/dev/main.k
a = {apiVersion = "v1", kind = "ConfigMap", metadata = {name = "a", labels = {team = "own"}}}
b = {apiVersion = "v1", kind = "Namespace", metadata = {name = "b"}}
"#,
    );
    let compiled = compile_all(&system, "/shop/dev").expect("it compiles").remove(0);
    assert_eq!(lines(&compiled.spec.resources), "v1:ConfigMap:shop:a\nv1:Namespace:b");
    assert_eq!(
        compiled.spec.resources[0].attributes["metadata"],
        json!({
            "name": "a", "namespace": "shop", "labels": {"team": "own", "tier": "y"},
            "annotations": {"note": "hi"},
        })
    );
}

#[test]
fn origins_lead_to_the_source() {
    let program = "_labels = {
    app = \"x\"
}
a = {
    apiVersion = \"v1\"
    kind = \"ConfigMap\"
    metadata = {name = \"a\", labels = _labels}
}
";
    let compiled = stack(program).expect("it compiles");
    let id = &compiled.spec.resources[0].id;
    let path = kusion_model::FieldPath::default().key("metadata").key("labels").key("app");
    let origin = compiled.origins.find(id, &path).expect("the origin is known");
    assert_eq!(origin.to_string(), "main.k:2");
}

#[test]
fn an_empty_output_wants_nothing_and_says_so() {
    let compiled = stack("_a = 1\n").expect("it compiles");
    assert!(compiled.spec.resources.is_empty());
    assert_eq!(compiled.notes, ["the output is empty: the stack has no resources"]);
    let compiled = stack("resources = []\n").expect("it compiles");
    assert!(compiled.spec.resources.is_empty());
}
