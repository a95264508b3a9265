//! Tests of reading and checking bodies.

use super::*;

fn expected(group: &'static str, version: &'static str, kind: &'static str) -> Expected<'static> {
    Expected { group, version, kind }
}

fn config_map(body: &str) -> Result<Decoded, String> {
    decode(&expected("", "v1", "ConfigMap"), body.as_bytes(), Format::Json)
}

fn deployment(body: &str) -> Result<Decoded, String> {
    decode(&expected("apps", "v1", "Deployment"), body.as_bytes(), Format::Json)
}

/// Bodies and the messages with which a real server refuses them.
#[test]
fn misfits_are_refused_in_the_words_of_the_server() {
    let prefix = "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: ";
    for (body, message) in [
        (
            r#"{"data":{"a":1}}"#,
            "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
        ),
        (
            r#"{"data":[]}"#,
            "json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string",
        ),
        (
            r#"{"metadata":{"name":1}}"#,
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string",
        ),
        (
            r#"{"metadata":[]}"#,
            "json: cannot unmarshal array into Go struct field ConfigMap.metadata of type v1.ObjectMeta",
        ),
        (
            r#"{"immutable":"yes"}"#,
            "json: cannot unmarshal string into Go struct field ConfigMap.immutable of type bool",
        ),
        (r#"{"binaryData":{"a":"%%%"}}"#, "illegal base64 data at input byte 0"),
        (
            r#"{"binaryData":{"a":1}}"#,
            "json: cannot unmarshal number into Go struct field ConfigMap.binaryData of type []uint8",
        ),
        (
            r#"{"metadata":{"labels":{"a":1}}}"#,
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        (
            r#"{"metadata":{"creationTimestamp":1}}"#,
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of type string",
        ),
        (
            r#"{"metadata":{"generation":1.5}}"#,
            "json: cannot unmarshal number 1.5 into Go struct field ObjectMeta.metadata.generation of type int64",
        ),
        (
            r#"{"metadata":{"uid":1}}"#,
            "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.uid of type types.UID",
        ),
    ] {
        assert_eq!(config_map(body).expect_err(body), format!("{prefix}{message}"), "{body}");
    }
    let prefix = "Deployment in version \"v1\" cannot be handled as a Deployment: ";
    for (body, message) in [
        (
            r#"{"spec":{"replicas":"3","paused":1}}"#,
            "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            r#"{"spec":{"replicas":99999999999}}"#,
            "json: cannot unmarshal number 99999999999 into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            r#"{"spec":{"replicas":1e1}}"#,
            "json: cannot unmarshal number 1e1 into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            r#"{"spec":{"foo":1,"template":{"spec":{"containers":[{"ports":[{"containerPort":"80"}]}]}}}}"#,
            "json: cannot unmarshal string into Go struct field ContainerPort.spec.template.spec.containers.ports.containerPort of type int32",
        ),
        (
            r#"{"spec":{"strategy":{"rollingUpdate":{"maxSurge":true}}}}"#,
            "json: cannot unmarshal bool into Go struct field RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32",
        ),
        (
            r#"{"spec":{"strategy":{"type":1}}}"#,
            "json: cannot unmarshal number into Go struct field DeploymentStrategy.spec.strategy.type of type v1.DeploymentStrategyType",
        ),
        (
            r#"{"spec":{"template":{"spec":{"containers":[{"resources":{"limits":{"cpu":true}}}]}}}}"#,
            crate::QUANTITY_MESSAGE,
        ),
        (
            r#"{"spec":{"template":{"spec":{"containers":{}}}}}"#,
            "json: cannot unmarshal object into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container",
        ),
        (
            r#"{"spec":{"template":{"spec":{"containers":["x"]}}}}"#,
            "json: cannot unmarshal string into Go struct field PodSpec.spec.template.spec.containers of type v1.Container",
        ),
        (
            r#"{"spec":"x","status":"y"}"#,
            "json: cannot unmarshal string into Go struct field Deployment.spec of type v1.DeploymentSpec",
        ),
    ] {
        assert_eq!(deployment(body).expect_err(body), format!("{prefix}{message}"), "{body}");
    }
}

#[test]
fn bodies_of_another_kind_are_refused() {
    for (body, message) in [
        (
            r#"{"apiVersion":"v1","kind":"Pod"}"#,
            "Pod in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Pod) to (core.ConfigMap): unknown conversion",
        ),
        (
            r#"{"apiVersion":"v2","kind":"ConfigMap"}"#,
            "ConfigMap in version \"v2\" cannot be handled as a ConfigMap: no kind \"ConfigMap\" is registered for version \"v2\" in scheme \"pkg/runtime/scheme.go:111\"",
        ),
        (
            r#"{"apiVersion":"apps/v1","kind":"ConfigMap"}"#,
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: no kind \"ConfigMap\" is registered for version \"apps/v1\" in scheme \"pkg/runtime/scheme.go:111\"",
        ),
        (
            r#"{"apiVersion":1,"kind":"Foo","metadata":{"name":"a"}}"#,
            "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .apiVersion of type string ({\"apiVersion\":1,\"kind\":\"Foo\",\" ...)",
        ),
        (
            "[]",
            "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" } (5b5d)",
        ),
        (
            "",
            "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)",
        ),
    ] {
        assert_eq!(config_map(body).expect_err(body), message);
    }
}

#[test]
fn findings_come_in_the_order_of_the_text() {
    let body = r#"{"spec":{"foo":1,"template":{"spec":{"containers":[{"name":"a","foo":1,"name":"b","ports":[{"containerPort":80,"x":1},{"containerPort":80,"containerPort":81,"x":1}]}],"containers":[]}}}}"#;
    let decoded = deployment(body).expect("typed");
    assert_eq!(
        strict_error(&decoded.findings).as_deref(),
        Some(
            "strict decoding error: unknown field \"spec.foo\", \
             unknown field \"spec.template.spec.containers[0].foo\", \
             duplicate field \"spec.template.spec.containers[0].name\", \
             unknown field \"spec.template.spec.containers[0].ports[0].x\", \
             duplicate field \"spec.template.spec.containers[0].ports[1].containerPort\", \
             unknown field \"spec.template.spec.containers[0].ports[1].x\", \
             duplicate field \"spec.template.spec.containers\""
        )
    );
    let decoded = config_map(r#"{"foo":1,"data":{"a":"b","a":"c"}}"#).expect("typed");
    assert_eq!(decoded.value["data"]["a"], "c");
    assert!(decoded.value.get("foo").is_none());
    assert_eq!(decoded.findings.len(), 2);
}

#[test]
fn yaml_bodies_name_lines() {
    let body = "metadata:\n  name: a\n  foo: 1\ndata:\n  a: b\n  a: c\n";
    let decoded =
        decode(&expected("", "v1", "ConfigMap"), body.as_bytes(), Format::Yaml).expect("typed");
    assert_eq!(
        strict_error(&decoded.findings).as_deref(),
        Some(
            "strict decoding error: yaml: unmarshal errors:\n  line 6: key \"a\" already set in \
             map, unknown field \"metadata.foo\""
        )
    );
}

#[test]
fn objects_get_the_form_in_which_a_server_holds_them() {
    let body = r#"{"metadata":{"name":"a","labels":{},"annotations":null,"creationTimestamp":null},
        "spec":{"paused":false,"replicas":0,"selector":{},"template":{"spec":{
            "hostNetwork":false,"nodeSelector":{"a":null},
            "containers":[{"name":"c","command":[],"resources":{"limits":{"cpu":"1000m","memory":1024}}},null]}}}}"#;
    let decoded = deployment(body).expect("typed");
    assert_eq!(
        decoded.value,
        serde_json::json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "a"},
            "spec": {
                "replicas": 0, "selector": {}, "strategy": {},
                "template": {
                    "metadata": {},
                    "spec": {
                        "nodeSelector": {"a": ""},
                        "containers": [
                            {"name": "c", "resources": {"limits": {"cpu": "1", "memory": "1024"}}},
                            {"name": "", "resources": {}},
                        ],
                    },
                },
            },
            "status": {},
        })
    );
    let again = normalize(
        &builtin().types,
        builtin().type_of("apps", "v1", "Deployment").expect("known"),
        decoded.value.clone(),
    );
    assert_eq!(again.expect("typed").value, decoded.value);
}

#[test]
fn plain_documents_name_duplicates() {
    let decoded = parse(br#"{"a":[{"b":1,"b":2}],"a":1}"#, Format::Json).expect("JSON");
    let texts: Vec<String> = decoded.findings.iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["duplicate field \"a[0].b\"", "duplicate field \"a\""]);
    assert_eq!(decoded.value, serde_json::json!({"a": 1}));
}

#[test]
fn no_value_makes_it_panic() {
    let values = [
        serde_json::json!(null),
        serde_json::json!(1),
        serde_json::json!("x"),
        serde_json::json!([]),
        serde_json::json!({"metadata": {"a": [1]}}),
        serde_json::json!(1e300),
    ];
    for resource in &builtin().resources {
        for value in &values {
            let _ = check(&builtin().types, resource.ty, value);
            for field in ["metadata", "spec", "status", "data", "items", "rules"] {
                let _ = check(&builtin().types, resource.ty, &serde_json::json!({field: value}));
            }
        }
        assert!(zero_value(&builtin().types, resource.ty).is_object());
    }
}
