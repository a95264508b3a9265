//! Dependencies that must be ready.

use crate::support::stack;
use kusion_model::{ResourceId, WAIT_FOR, wait_for};
use serde_json::json;

const FIRST: &str = r#"{
    id = "v1:ConfigMap:default:a", type = "Kubernetes"
    attributes = {apiVersion = "v1", kind = "ConfigMap", metadata.name = "a"}
}"#;

fn second(depends_on: &str) -> String {
    format!(
        r#"resources = [{FIRST}, {{
    id = "v1:ConfigMap:default:b", type = "Kubernetes"
    attributes = {{apiVersion = "v1", kind = "ConfigMap", metadata.name = "b"}}
    dependsOn = [{depends_on}]
}}]
"#
    )
}

#[test]
fn a_dependency_can_say_that_it_must_be_ready() {
    let compiled = stack(&second(r#"{id = "v1:ConfigMap:a", ready = True}"#)).expect("a Spec");
    let waiting = &compiled.spec.resources[1];
    let waits: Vec<&str> = wait_for(waiting).map(ResourceId::as_str).collect();
    assert_eq!(waits, ["v1:ConfigMap:default:a"], "with the long form of the id");
    assert_eq!(waiting.depends_on.len(), 1);
    let compiled = stack(&second(r#"{id = "v1:ConfigMap:a", ready = False}"#)).expect("a Spec");
    let waiting = &compiled.spec.resources[1];
    assert_eq!((wait_for(waiting).count(), waiting.depends_on.len()), (0, 1));
    for (wrong, found) in [
        (r#"{id = "v1:ConfigMap:a", redy = True}"#, "a map with `redy`"),
        ("{ready = True}", "a map with other values"),
        ("1", "a number"),
    ] {
        let error = stack(&second(wrong)).expect_err(wrong);
        let expected = format!("must be an id or `{{id, ready}}`, not {found}");
        assert!(error.contains(&expected), "{error}");
    }
}

#[test]
fn an_annotation_names_what_must_be_ready() {
    let program = |ids: &str| {
        format!(
            r#"a = {{apiVersion = "v1", kind = "ConfigMap", metadata.name = "a"}}
c = {{apiVersion = "v1", kind = "ConfigMap", metadata.name = "c"}}
b = {{
    apiVersion = "v1", kind = "ConfigMap", metadata.name = "b"
    metadata.annotations = {{"kusion.io/wait-for" = "{ids}"}}
}}
"#
        )
    };
    let compiled = stack(&program("v1:ConfigMap:a, v1:ConfigMap:default:c")).expect("a Spec");
    let waiting = compiled.spec.resources.iter().find(|it| it.id.as_str().ends_with(":b"));
    let ids = json!(["v1:ConfigMap:default:a", "v1:ConfigMap:default:c"]);
    assert_eq!(waiting.expect("the object").extensions[WAIT_FOR], ids);
    let error = stack(&program("v1:ConfigMap:x")).expect_err("an unknown id");
    assert!(error.contains("depends on `v1:ConfigMap:x`, which is not in the Spec"), "{error}");
}
