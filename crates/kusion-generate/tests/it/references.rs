//! References, checked before anything runs.

use crate::support::{compile_all, files, lines, object, shown, stack};

/// A config map whose data has one entry, and a program with other objects.
fn with_reference(others: &[String], text: &str) -> String {
    let text = text.replace('"', "\\\"");
    let user = object("v1", "ConfigMap", "demo", "user", &format!("data = {{x = \"{text}\"}}"));
    shown(&format!("objects = [{user}, {}]\n", others.join(", "))).replacen(
        "error: stack .: resource `v1:ConfigMap:demo:user`, ",
        "",
        1,
    )
}

fn service() -> String {
    object(
        "v1",
        "Service",
        "demo",
        "web",
        "spec = {ports = [{port = 80}], selector = {app = \"a\"}}",
    )
}

#[test]
fn references_make_dependencies() {
    for text in [
        "$kusion_path.v1:Service:demo:web.metadata.name",
        "$kusion_path.v1:service:demo:web:metadata.name",
        "http://$kusion_path.v1:Service:demo:web.metadata.name:$kusion_path.v1:Service:demo:web.spec.ports[0].port/",
        "$kusion_path.v1:Service:demo:web.spec.ports.0.port",
        "$kusion_path.v1:Service:demo:web.spec.selector[\"app\"]",
        // Assigned by the cluster.
        "$kusion_path.v1:Service:demo:web.spec.clusterIP",
        "$kusion_path.v1:Service:demo:web.metadata.uid",
        "$kusion_path.v1:Service:demo:web.status.loadBalancer.ingress[0].ip",
        "$kusion_path.v1:Service:demo:web.metadata.annotations[\"a/b\"]",
    ] {
        assert_eq!(
            with_reference(&[service()], text),
            "v1:ConfigMap:demo:user <- v1:Service:demo:web\nv1:Service:demo:web",
            "{text}"
        );
    }
}

#[test]
fn groups_with_dots_and_names_with_colons_can_be_referred_to() {
    let ingress = object("networking.k8s.io/v1", "Ingress", "demo", "in", "");
    let found = with_reference(
        &[ingress],
        "$kusion_path.networking.k8s.io/v1:Ingress:demo:in.metadata.name",
    );
    assert!(found.starts_with("v1:ConfigMap:demo:user <- networking.k8s.io/v1:Ingress:demo:in"));
    let role = object("rbac.authorization.k8s.io/v1", "ClusterRole", "", "system:node", "");
    let found = with_reference(
        &[role],
        "$kusion_path.rbac.authorization.k8s.io/v1:ClusterRole:system:node.metadata.name",
    );
    assert!(found.starts_with(
        "v1:ConfigMap:demo:user <- rbac.authorization.k8s.io/v1:ClusterRole:system:node"
    ));
}

#[test]
fn references_that_lead_nowhere_are_refused() {
    let check = |text: &str| with_reference(&[service()], text);
    assert_eq!(
        check("$kusion_path.v1:Service:demo:wob.metadata.name"),
        "`data.x` at main.k:1: unresolved reference \
         `$kusion_path.v1:Service:demo:wob.metadata.name`: no such resource; did you mean `v1:Service:demo:web`?"
    );
    assert_eq!(
        check("$kusion_path.v1:Service:demo:web.spec.prots"),
        "`data.x` at main.k:1: `v1:Service:demo:web` has no `spec.prots`"
    );
    assert_eq!(
        check("$kusion_path.v1:Service:demo:web.spec.ports[1].port"),
        "`data.x` at main.k:1: `v1:Service:demo:web` has no `spec.ports[1]`"
    );
    assert_eq!(
        check("$kusion_path.v1:Service:demo:web.spec.selector.x"),
        "`data.x` at main.k:1: `v1:Service:demo:web` has no `spec.selector.x`"
    );
    assert_eq!(
        check("$kusion_path.v1:Service:demo:web.metadata.name.x"),
        "`data.x` at main.k:1: `v1:Service:demo:web` has no `metadata.name.x`"
    );
    assert_eq!(
        check("$kusion_path.v1:Service:demo:web.status.x"),
        "`data.x` at main.k:1: `v1:Service:demo:web` has no `status.x`"
    );
    assert_eq!(
        check("a $kusion_path.v1:Service:demo:web.spec.ports"),
        "`data.x` at main.k:1: `spec.ports` of `v1:Service:demo:web` is a list, which cannot be \
         part of a string"
    );
}

#[test]
fn the_short_form_of_an_id_is_known() {
    let program = format!(
        "objects = [{}, {}]\n",
        object("v1", "ConfigMap", "", "a", ""),
        object(
            "v1",
            "ConfigMap",
            "",
            "b",
            "data = {x = \"$kusion_path.v1:ConfigMap:a.metadata.name\"}"
        )
    );
    assert_eq!(
        shown(&program),
        "v1:ConfigMap:default:a\nv1:ConfigMap:default:b <- v1:ConfigMap:default:a"
    );
}

#[test]
fn attributes_of_providers_come_later() {
    let program = r#"resources = [
    {
        id = "hashicorp:random:random_password:db", type = "Terraform", attributes = {length = 16}
        extensions = {provider = "hashicorp/random/3.0.0"}
    }
    {id = "v1:Secret:default:db", type = "Kubernetes", attributes = {
        apiVersion = "v1", kind = "Secret", metadata = {name = "db"}
        stringData = {password = "$kusion_path.hashicorp:random:random_password:db.result"}
    }}
]
"#;
    assert_eq!(
        shown(program),
        "hashicorp:random:random_password:db\n\
         v1:Secret:default:db <- hashicorp:random:random_password:db"
    );
}

#[test]
fn circles_of_references_are_refused() {
    let map = |name: &str, other: &str| {
        object(
            "v1",
            "ConfigMap",
            "demo",
            name,
            &format!("data = {{x = \"$kusion_path.v1:ConfigMap:demo:{other}.metadata.name\"}}"),
        )
    };
    let found = shown(&format!("objects = [{}, {}]\n", map("a", "b"), map("b", "a")));
    assert!(found.contains("v1:ConfigMap:demo:a -> v1:ConfigMap:demo:b"), "{found}");
    // A reference to oneself needs nothing.
    let own = shown(&format!("objects = [{}]\n", map("a", "a")));
    assert_eq!(own, "v1:ConfigMap:demo:a");
}

#[test]
fn what_is_stated_wins_over_what_is_inferred() {
    let program = format!(
        "resources = [
    {{id = \"v1:Namespace:demo\", type = \"Kubernetes\", attributes = {}, dependsOn = [\"v1:ConfigMap:demo:a\"]}}
    {{id = \"v1:ConfigMap:demo:a\", type = \"Kubernetes\", attributes = {}}}
]
",
        object("v1", "Namespace", "", "demo", ""),
        object("v1", "ConfigMap", "demo", "a", "")
    );
    let compiled = stack(&program).expect("it compiles");
    assert_eq!(
        lines(&compiled.spec.resources),
        "v1:Namespace:demo <- v1:ConfigMap:demo:a\nv1:ConfigMap:demo:a"
    );
    assert_eq!(
        compiled.notes,
        ["`v1:ConfigMap:demo:a` uses `v1:Namespace:demo`, which depends on it; the explicit \
         dependency is kept"]
    );
}

#[test]
fn the_short_form_means_the_namespace_of_the_extension() {
    let system = files(
        r#"
#- /shop/project.yaml
name: shop
extensions:
- kind: kubernetesNamespace
  kubernetesNamespace: {namespace: shop}
#- /shop/dev/stack.yaml
name: dev
#- /shop/dev/main.k
a = {apiVersion = "v1", kind = "ConfigMap", metadata.name = "a", data.x = "1"}
b = {
    apiVersion = "v1", kind = "ConfigMap", metadata.name = "b"
    data.x = "is $kusion_path.v1:ConfigMap:a.data.x, $kusion_path.v1:configmap:a:data.x"
}
"#,
    );
    let compiled = compile_all(&system, "/shop/dev").expect("it compiles").remove(0);
    assert_eq!(
        lines(&compiled.spec.resources),
        "v1:ConfigMap:shop:a\nv1:ConfigMap:shop:b <- v1:ConfigMap:shop:a"
    );
    // The Spec holds the long one, so that whoever reads it need not know of the extension.
    assert_eq!(
        compiled.spec.resources[1].attributes["data"]["x"],
        "is $kusion_path.v1:ConfigMap:shop:a.data.x, $kusion_path.v1:ConfigMap:shop:a:data.x"
    );
}

#[test]
fn references_to_stores_of_secrets_never_reach_a_cluster() {
    for (text, is_refused) in [
        ("ref://db/password?version=1", true),
        ("ref+vault://secret/db#/password", true),
        ("ref://", false),
        ("referee", false),
        ("see ref://db", false),
    ] {
        let secret = object(
            "v1",
            "Secret",
            "demo",
            "s",
            &format!("stringData = {{a = [], x = \"{text}\"}}"),
        );
        let found = shown(&format!("objects = [{secret}]\n"));
        let refused = format!(
            "error: stack .: resource `v1:Secret:demo:s`, `stringData.x` at main.k:1: `{text}` \
             refers to a secret store, and secret stores are not supported: the text itself would \
             be used as the secret"
        );
        let expected = if is_refused { refused.as_str() } else { "v1:Secret:demo:s" };
        assert_eq!(found, expected);
    }
}
