//! Tests of the table of the built-in kinds.

use super::*;
use crate::model::{ListKind, Scalar, Type};

#[test]
fn the_committed_file_is_whole() {
    assert!(version().starts_with("v1.36."));
    assert!(described_table().definitions.len() > 500);
}

#[test]
fn resources_are_found_by_name() {
    let api = builtin();
    let deployments = api.resource("apps", "v1", "deployments").expect("served");
    assert_eq!(&*deployments.kind, "Deployment");
    assert_eq!(deployments.short_names, ["deploy".into()]);
    assert!(deployments.namespaced && deployments.has_verb("patch"));
    let scale = deployments.subresource("scale").expect("has it");
    assert_eq!((&*scale.group, &*scale.version, &*scale.kind), ("autoscaling", "v1", "Scale"));
    assert!(api.resource("apps", "v1", "pods").is_none());
    assert_eq!(api.type_of("apps", "v1", "Deployment"), Some(deployments.ty));
    assert!(api.resource("", "v1", "pods").expect("served").subresource("log").is_some());
}

#[test]
fn stored_versions_are_known() {
    let api = builtin();
    let stored = |group, version, plural| {
        let resource = api.resource(group, version, plural).expect("served");
        (&*resource.storage_group, &*resource.storage_version)
    };
    assert_eq!(stored("autoscaling", "v1", "horizontalpodautoscalers"), ("autoscaling", "v2"));
    assert_eq!(stored("events.k8s.io", "v1", "events"), ("", "v1"));
}

#[test]
fn every_resource_has_a_type() {
    for resource in &builtin().resources {
        assert!(
            matches!(builtin().types.get(resource.ty), Type::Struct(_)),
            "{}/{}",
            resource.group,
            resource.plural
        );
    }
}

#[test]
fn lists_know_how_they_merge() {
    let api = builtin();
    let container = api.type_named("io.k8s.api.core.v1.Container").expect("defined");
    let Type::Struct(container) = api.types.get(container) else { panic!("a struct") };
    let ports = container.field("ports").expect("a field");
    assert_eq!((&*ports.patch_strategy, &*ports.patch_merge_key), ("merge", "containerPort"));
    let Type::List(listing) = api.types.get(ports.ty) else { panic!("a list") };
    assert_eq!(listing.kind, ListKind::Map(vec!["containerPort".into(), "protocol".into()]));
    let Type::Struct(port) = api.types.get(listing.element) else { panic!("a struct") };
    assert_eq!(port.field("protocol").expect("a field").default, Some("TCP".into()));
    let number = port.field("containerPort").expect("a field");
    assert!(matches!(api.types.get(number.ty), Type::Scalar(Scalar::Int32)) && number.required);
}
