//! From the documents of a server to records.

use super::fetch::Server;
use anyhow::{Context as _, bail, ensure};
use kusion_k8s_schema::table::{
    Definition, FieldRecord, GroupRecord, Node, ResourceRecord, Shape, VersionRecord,
};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

const REF: &str = "#/components/schemas/";

/// Returns the groups that CRDs of the server define; they are not built in.
pub(super) fn custom_groups(server: &Server) -> anyhow::Result<Vec<String>> {
    let list = server.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")?;
    Ok(items(&list, "items").iter().map(|item| text(&item["spec"], "group")).collect())
}

/// Reads the groups with all that they serve.
pub(super) fn groups(server: &Server, custom: &[String]) -> anyhow::Result<Vec<GroupRecord>> {
    let core = VersionRecord { name: "v1".to_owned(), resources: resources(server, "/api/v1")? };
    let mut groups = vec![GroupRecord { name: String::new(), versions: vec![core] }];
    for group in items(&server.get("/apis")?, "groups") {
        let name = text(group, "name");
        if custom.contains(&name) {
            continue;
        }
        let mut versions = Vec::new();
        for version in items(group, "versions") {
            let version = text(version, "version");
            let resources = resources(server, &format!("/apis/{name}/{version}"))?;
            versions.push(VersionRecord { name: version, resources });
        }
        groups.push(GroupRecord { name, versions });
    }
    name_storage(&mut groups);
    Ok(groups)
}

fn resources(server: &Server, path: &str) -> anyhow::Result<Vec<ResourceRecord>> {
    let list = server.get(path)?;
    Ok(items(&list, "resources")
        .iter()
        .map(|resource| ResourceRecord {
            name: text(resource, "name"),
            singular: text(resource, "singularName"),
            namespaced: resource["namespaced"] == true,
            kind_group: text(resource, "group"),
            kind_version: text(resource, "version"),
            kind: text(resource, "kind"),
            verbs: texts(resource, "verbs"),
            short_names: texts(resource, "shortNames"),
            categories: texts(resource, "categories"),
            storage_hash: text(resource, "storageVersionHash"),
            ..ResourceRecord::default()
        })
        .collect())
}

/// Finds out which version each resource is stored in: its mark is a hash of the answer.
fn name_storage(groups: &mut [GroupRecord]) {
    let names: Vec<(String, String)> = groups
        .iter()
        .flat_map(|group| {
            group.versions.iter().map(|version| (group.name.clone(), version.name.clone()))
        })
        .collect();
    for group in groups {
        for version in &mut group.versions {
            for resource in &mut version.resources {
                (resource.storage_group, resource.storage_version) =
                    (group.name.clone(), version.name.clone());
                if resource.storage_hash.is_empty() {
                    continue;
                }
                let stored = names.iter().find(|(group, version)| {
                    storage_hash(group, version, &resource.kind) == resource.storage_hash
                });
                // A few are stored in a version that is not served; their own does as well.
                if let Some(stored) = stored {
                    (resource.storage_group, resource.storage_version) = stored.clone();
                }
            }
        }
    }
}

fn storage_hash(group: &str, version: &str, kind: &str) -> String {
    let hash = Sha256::digest(format!("{group}/{version}/{kind}"));
    data_encoding::BASE64.encode(&hash[..8])
}

/// Reads the definitions of all `OpenAPI` documents.
pub(super) fn definitions(server: &Server, custom: &[String]) -> anyhow::Result<Vec<Definition>> {
    let index = server.get("/openapi/v3")?;
    let mut schemas = BTreeMap::new();
    let mut kinds: BTreeMap<String, Vec<[String; 3]>> = BTreeMap::new();
    for (path, entry) in index["paths"].as_object().context("the index has no paths")? {
        if path.split('/').nth(1).is_some_and(|group| custom.iter().any(|own| own == group)) {
            continue;
        }
        let mut document = server.get(&text(entry, "serverRelativeURL"))?;
        let Value::Object(found) = document["components"]["schemas"].take() else { continue };
        for (name, mut schema) in found {
            let own = kinds.entry(name.clone()).or_default();
            for kind in items(&schema, "x-kubernetes-group-version-kind") {
                let kind = [text(kind, "group"), text(kind, "version"), text(kind, "kind")];
                if !own.contains(&kind) {
                    own.push(kind);
                }
            }
            if let Value::Object(schema) = &mut schema {
                schema.remove("x-kubernetes-group-version-kind");
            }
            let before = schemas.insert(name.clone(), schema.clone());
            ensure!(
                before.is_none_or(|before| before == schema),
                "{name} differs between documents"
            );
        }
    }
    let names: Vec<&String> = schemas.keys().collect();
    let numbers: BTreeMap<&str, u32> = names.iter().map(|name| name.as_str()).zip(0..).collect();
    schemas
        .iter()
        .map(|(name, schema)| {
            let mut kinds = kinds.remove(name).unwrap_or_default();
            kinds.sort();
            let node = node(schema, &numbers).with_context(|| format!("reading {name}"))?;
            Ok(Definition { name: name.clone(), kinds, node })
        })
        .collect()
}

fn node(schema: &Value, numbers: &BTreeMap<&str, u32>) -> anyhow::Result<Node> {
    let mut rest = schema.as_object().context("a schema is no object")?.clone();
    let mut take_text = |key: &str| match rest.remove(key) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    let mut node = Node {
        format: take_text("format"),
        list_type: take_text("x-kubernetes-list-type"),
        map_type: take_text("x-kubernetes-map-type"),
        patch_strategy: take_text("x-kubernetes-patch-strategy"),
        patch_merge_key: take_text("x-kubernetes-patch-merge-key"),
        description: take_text("description"),
        ..Node::default()
    };
    node.choices = texts(schema, "enum");
    node.list_keys = texts(schema, "x-kubernetes-list-map-keys");
    rest.remove("enum");
    rest.remove("x-kubernetes-list-map-keys");
    if let Some(default) = rest.remove("default") {
        node.default = default.to_string();
    }
    node.shape = shape(&mut rest, numbers)?;
    if !rest.is_empty() {
        node.extra = Value::Object(rest).to_string();
    }
    Ok(node)
}

fn shape(rest: &mut Map<String, Value>, numbers: &BTreeMap<&str, u32>) -> anyhow::Result<Shape> {
    let direct = rest.remove("$ref");
    let wrapped = rest.remove("allOf");
    let target = direct.as_ref().or_else(|| wrapped.as_ref().map(|all| &all[0]["$ref"]));
    if let Some(target) = target {
        let name = target.as_str().and_then(|target| target.strip_prefix(REF));
        let number = name.and_then(|name| numbers.get(name));
        return Ok(Shape::Ref(*number.with_context(|| format!("{target} leads nowhere"))?));
    }
    let ty = rest.remove("type");
    Ok(match ty.as_ref().and_then(Value::as_str) {
        None => Shape::Any,
        Some("string") => Shape::String,
        Some("integer") => Shape::Integer,
        Some("number") => Shape::Number,
        Some("boolean") => Shape::Boolean,
        Some("array") => {
            Shape::List(Box::new(node(&rest.remove("items").unwrap_or_default(), numbers)?))
        }
        Some("object") => {
            if let Some(item) = rest.remove("additionalProperties") {
                return Ok(Shape::Map(Box::new(node(&item, numbers)?)));
            }
            let Some(Value::Object(properties)) = rest.remove("properties") else {
                return Ok(Shape::Object);
            };
            let required = rest.remove("required").unwrap_or_default();
            let is_required = |name: &str| {
                required.as_array().is_some_and(|all| all.iter().any(|one| one == name))
            };
            let fields = properties.iter().map(|(name, schema)| {
                let required = is_required(name);
                let node = node(schema, numbers)?;
                Ok(FieldRecord { name: name.clone(), required, node, ..FieldRecord::default() })
            });
            Shape::Struct(fields.collect::<anyhow::Result<_>>()?)
        }
        Some(other) => bail!("unknown type {other}"),
    })
}

fn items<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

fn texts(value: &Value, key: &str) -> Vec<String> {
    items(value, key).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_stored_versions_are_hashes() {
        assert_eq!(storage_hash("autoscaling", "v2", "HorizontalPodAutoscaler"), "qwQve8ut294=");
    }
}
