//! Tests of the `OpenAPI` documents.

use super::*;

fn parsed(path: &str, customs: &[CustomKind]) -> Value {
    let document = document(path, customs).expect("served");
    serde_json::from_slice(&document.body).expect("JSON")
}

#[test]
fn every_reference_leads_somewhere() {
    let index = index(&[]);
    let paths = index["paths"].as_object().expect("paths");
    assert!(paths.len() > 40);
    for (path, entry) in paths {
        let document = parsed(path, &[]);
        let text = document.to_string();
        let schemas = document["components"]["schemas"].as_object().expect("schemas");
        for part in text.split("\"#/components/schemas/").skip(1) {
            let name = part.split('"').next().expect("a name");
            assert!(schemas.contains_key(name), "{path}: {name}");
        }
        assert!(entry["serverRelativeURL"].as_str().is_some_and(|url| url.contains("?hash=")));
    }
}

#[test]
fn writes_say_that_they_check_fields() {
    let document = parsed("apis/apps/v1", &[]);
    let item = &document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"];
    let patch = &item["patch"];
    assert_eq!(patch["x-kubernetes-group-version-kind"]["kind"], "Deployment");
    assert_eq!(patch["operationId"], "patchAppsV1NamespacedDeployment");
    let names: Vec<&str> = patch["parameters"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|it| it["name"].as_str())
        .collect();
    assert_eq!(names, PATCH);
    let containers = &document["components"]["schemas"]["io.k8s.api.core.v1.PodSpec"]["properties"]
        ["containers"];
    assert_eq!(containers["x-kubernetes-patch-merge-key"], "name");
    assert_eq!(containers["x-kubernetes-list-map-keys"], json!(["name"]));
    assert!(containers["description"].as_str().is_some_and(|text| text.starts_with("List of")));
}

const PATCH: [&str; 4] = ["dryRun", "fieldManager", "fieldValidation", "force"];

#[test]
fn custom_kinds_have_documents_of_their_own() {
    let resource = ResourceInfo {
        group: "example.com".into(),
        version: "v1".into(),
        kind: "Widget".into(),
        plural: "widgets".into(),
        singular: "widget".into(),
        namespaced: true,
        verbs: crate::discovery::CUSTOM_VERBS.map(Into::into).to_vec(),
        ..ResourceInfo::default()
    };
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "port": {"x-kubernetes-int-or-string": true},
        "color": {"type": "string", "default": "red", "nullable": true},
    }}}});
    let customs = [CustomKind {
        resource: &resource,
        list_kind: "WidgetList",
        schema: &schema,
        selectable_fields: vec![".spec.color"],
    }];
    assert!(index(&customs)["paths"].get("apis/example.com/v1").is_some());
    assert!(document("apis/example.com/v1", &[]).is_none());
    let document = parsed("apis/example.com/v1", &customs);
    let widget = &document["components"]["schemas"]["com.example.v1.Widget"];
    assert_eq!(widget["properties"]["spec"]["properties"]["port"]["anyOf"][0]["type"], "integer");
    assert_eq!(widget["x-kubernetes-group-version-kind"][0]["kind"], "Widget");
    assert_eq!(widget["x-kubernetes-selectable-fields"], json!([{"fieldPath": "spec.color"}]));
    let path = "/apis/example.com/v1/namespaces/{namespace}/widgets";
    assert_eq!(
        document["paths"][path]["post"]["operationId"],
        "createExampleComV1NamespacedWidget"
    );

    let old: Value = serde_json::from_slice(&v2(&customs).body).expect("JSON");
    let widget = &old["definitions"]["com.example.v1.Widget"];
    assert_eq!(widget["properties"]["spec"]["properties"]["color"], json!({}));
    assert!(old["definitions"]["io.k8s.api.core.v1.Pod"]["properties"]["spec"]["$ref"].is_string());
}
