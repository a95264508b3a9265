//! The documents by which clients find out what is served.
//!
//! All functions take the resources of CRDs as `custom`; built-in ones are known. Versions of a
//! custom group are shown in the order of [`compare_versions`], groups by name after the
//! built-in ones.

use crate::builtin::{ResourceInfo, SubresourceInfo, builtin};
use serde_json::{Map, Value, json};
use std::cmp::Ordering;

/// The verbs of custom resources, in the order in which a server lists them.
pub const CUSTOM_VERBS: [&str; 8] =
    ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

/// The media type of an aggregated document.
pub const AGGREGATED_TYPE: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Returns the aggregated document of `/api`.
pub fn aggregated_core() -> Value {
    let groups = groups(&[]);
    aggregated_list(groups.iter().filter(|group| group.name.is_empty()))
}

/// Returns the aggregated document of `/apis`.
pub fn aggregated(custom: &[ResourceInfo]) -> Value {
    let groups = groups(custom);
    aggregated_list(groups.iter().filter(|group| !group.name.is_empty()))
}

/// Returns the document of `/api`; `address` is the server's host and port.
pub fn api_versions(address: &str) -> Value {
    json!({
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    })
}

/// Returns the document of `/apis`.
pub fn group_list(custom: &[ResourceInfo]) -> Value {
    let groups: Vec<Value> = groups(custom)
        .iter()
        .filter(|group| !group.name.is_empty())
        .map(|group| Value::Object(group_body(group)))
        .collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// Returns the document of `/apis/{group}`.
pub fn group(name: &str, custom: &[ResourceInfo]) -> Option<Value> {
    let groups = groups(custom);
    let group = groups.iter().find(|group| group.name == name && !name.is_empty())?;
    let mut body = group_body(group);
    body.insert("kind".to_owned(), "APIGroup".into());
    body.insert("apiVersion".to_owned(), "v1".into());
    Some(Value::Object(body))
}

/// Returns the document of `/apis/{group}/{version}` (`/api/v1` for the empty group).
pub fn resource_list(group: &str, version: &str, custom: &[ResourceInfo]) -> Option<Value> {
    let groups = groups(custom);
    let group = groups.iter().find(|own| own.name == group)?;
    let (_, resources) = group.versions.iter().find(|(own, _)| *own == version)?;
    let mut list = Vec::new();
    for resource in resources {
        list.push(listed_resource(resource));
        list.extend(resource.subresources.iter().map(|sub| listed_subresource(resource, sub)));
    }
    let mut document = json!({
        "kind": "APIResourceList",
        "groupVersion": group_version(group.name, version),
        "resources": list,
    });
    if !group.name.is_empty() {
        document["apiVersion"] = "v1".into();
    }
    Some(document)
}

/// Orders versions as clients prefer them: `v2`, `v1`, `v1beta2`, `v1alpha1`, then others.
pub fn compare_versions(left: &str, right: &str) -> Ordering {
    match (rank(left), rank(right)) {
        (Some(left), Some(right)) => right.cmp(&left),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => left.cmp(right),
    }
}

/// Returns stability, major and minor number of a version such as `v1beta2`.
fn rank(version: &str) -> Option<(u8, u64, u64)> {
    let rest = version.strip_prefix('v')?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (major, rest) = rest.split_at(digits);
    let major = number(major)?;
    if rest.is_empty() {
        return Some((2, major, 0));
    }
    let (stability, minor) = match rest.strip_prefix("beta") {
        Some(minor) => (1, minor),
        None => (0, rest.strip_prefix("alpha")?),
    };
    Some((stability, major, number(minor)?))
}

fn number(text: &str) -> Option<u64> {
    if text.starts_with('0') || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// Returns `group/version`, or the version alone for the core group.
pub fn group_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

struct Group<'a> {
    name: &'a str,
    versions: Vec<(&'a str, Vec<&'a ResourceInfo>)>,
}

fn groups(custom: &[ResourceInfo]) -> Vec<Group<'_>> {
    let api = builtin();
    let mut groups: Vec<Group> = api
        .groups
        .iter()
        .map(|group| Group {
            name: &group.name,
            versions: group.versions.iter().map(|version| (&**version, Vec::new())).collect(),
        })
        .collect();
    let n_builtin = groups.len();
    for resource in api.resources.iter().chain(custom) {
        let group = match groups.iter_mut().position(|group| group.name == &*resource.group) {
            Some(at) => &mut groups[at],
            None => {
                groups.push(Group { name: &resource.group, versions: Vec::new() });
                groups.last_mut().expect("just pushed")
            }
        };
        match group.versions.iter_mut().find(|(version, _)| *version == &*resource.version) {
            Some((_, resources)) => resources.push(resource),
            None => group.versions.push((&resource.version, vec![resource])),
        }
    }
    groups[n_builtin..].sort_by_key(|group| group.name);
    for group in &mut groups[n_builtin..] {
        group.versions.sort_by(|left, right| compare_versions(left.0, right.0));
        for (_, resources) in &mut group.versions {
            resources.sort_by_key(|resource| &resource.plural);
        }
    }
    groups
}

fn group_body(group: &Group) -> Map<String, Value> {
    let version =
        |name: &str| json!({"groupVersion": group_version(group.name, name), "version": name});
    let versions: Vec<Value> = group.versions.iter().map(|(name, _)| version(name)).collect();
    let mut body = Map::new();
    body.insert("name".to_owned(), group.name.into());
    body.insert("preferredVersion".to_owned(), versions.first().cloned().unwrap_or_default());
    body.insert("versions".to_owned(), versions.into());
    body
}

fn listed_resource(resource: &ResourceInfo) -> Value {
    let mut entry = json!({
        "name": &*resource.plural,
        "singularName": &*resource.singular,
        "namespaced": resource.namespaced,
        "kind": &*resource.kind,
        "verbs": texts(&resource.verbs),
    });
    for (key, names) in
        [("shortNames", &resource.short_names), ("categories", &resource.categories)]
    {
        if !names.is_empty() {
            entry[key] = texts(names);
        }
    }
    if !resource.storage_hash.is_empty() {
        entry["storageVersionHash"] = (&*resource.storage_hash).into();
    }
    entry
}

fn listed_subresource(resource: &ResourceInfo, sub: &SubresourceInfo) -> Value {
    let mut entry = json!({
        "name": format!("{}/{}", resource.plural, sub.name),
        "singularName": "",
        "namespaced": resource.namespaced,
        "kind": &*sub.kind,
        "verbs": texts(&sub.verbs),
    });
    if (&sub.group, &sub.version) != (&resource.group, &resource.version) {
        entry["group"] = (&*sub.group).into();
        entry["version"] = (&*sub.version).into();
    }
    entry
}

fn aggregated_list<'a>(groups: impl Iterator<Item = &'a Group<'a>>) -> Value {
    let items: Vec<Value> = groups
        .map(|group| {
            let versions: Vec<Value> = group
                .versions
                .iter()
                .map(|(version, resources)| {
                    let resources: Vec<Value> =
                        resources.iter().map(|resource| aggregated_resource(resource)).collect();
                    json!({"version": version, "resources": resources, "freshness": "Current"})
                })
                .collect();
            let metadata =
                if group.name.is_empty() { json!({}) } else { json!({"name": group.name}) };
            json!({"metadata": metadata, "versions": versions})
        })
        .collect();
    json!({
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    })
}

fn aggregated_resource(resource: &ResourceInfo) -> Value {
    let kind = |group: &str, version: &str, kind: &str| json!({"group": group, "version": version, "kind": kind});
    let mut entry = json!({
        "resource": &*resource.plural,
        "responseKind": kind(&resource.group, &resource.version, &resource.kind),
        "scope": if resource.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": &*resource.singular,
        "verbs": texts(&resource.verbs),
    });
    for (key, names) in
        [("shortNames", &resource.short_names), ("categories", &resource.categories)]
    {
        if !names.is_empty() {
            entry[key] = texts(names);
        }
    }
    if !resource.subresources.is_empty() {
        let subresources: Vec<Value> = resource
            .subresources
            .iter()
            .map(|sub| {
                json!({
                    "subresource": &*sub.name,
                    "responseKind": kind(&sub.group, &sub.version, &sub.kind),
                    "verbs": texts(&sub.verbs),
                })
            })
            .collect();
        entry["subresources"] = subresources.into();
    }
    entry
}

fn texts(names: &[Box<str>]) -> Value {
    names.iter().map(|name| &**name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widget(version: &str) -> ResourceInfo {
        ResourceInfo {
            group: "example.com".into(),
            version: version.into(),
            kind: "Widget".into(),
            plural: "widgets".into(),
            singular: "widget".into(),
            namespaced: true,
            verbs: CUSTOM_VERBS.map(Into::into).to_vec(),
            ..ResourceInfo::default()
        }
    }

    #[test]
    fn versions_are_ordered_by_stability() {
        let mut versions =
            ["foo1", "v1alpha1", "v10", "v1beta2", "v2", "v11beta2", "v1", "v10beta3", "v01"];
        versions.sort_by(|left, right| compare_versions(left, right));
        let expected =
            ["v10", "v2", "v1", "v11beta2", "v10beta3", "v1beta2", "v1alpha1", "foo1", "v01"];
        assert_eq!(versions, expected);
    }

    #[test]
    fn custom_groups_come_after_the_built_in_ones() {
        let custom = [widget("v1beta1"), widget("v1")];
        let list = aggregated(&custom);
        let items = list["items"].as_array().expect("a list");
        let last = items.last().expect("not empty");
        assert_eq!(last["metadata"]["name"], "example.com");
        assert_eq!(last["versions"][0]["version"], "v1");
        assert_eq!(last["versions"][0]["resources"][0]["responseKind"]["group"], "example.com");
        assert_eq!(items.len(), builtin().groups.len());
        assert_eq!(
            group("example.com", &custom).expect("there")["preferredVersion"]["groupVersion"],
            "example.com/v1"
        );
        assert_eq!(group("example.com", &[]), None);
        assert_eq!(group("", &[]), None);
    }

    #[test]
    fn resource_lists_name_subresources() {
        let list = resource_list("apps", "v1", &[]).expect("served");
        let scale = list["resources"]
            .as_array()
            .and_then(|all| all.iter().find(|one| one["name"] == "deployments/scale"))
            .expect("listed");
        assert_eq!(scale["group"], "autoscaling");
        assert_eq!(scale["kind"], "Scale");
        assert_eq!(resource_list("apps", "v9", &[]), None);
        assert!(resource_list("", "v1", &[]).expect("served").get("apiVersion").is_none());
    }
}
