//! Definitions of custom kinds: what they say becomes resources that are served.

use crate::api::{Caller, Deletion, Resource, Write};
use crate::cluster::Cluster;
use crate::lifecycle::conditions::{APPROVAL, is_protected};
use crate::registry::{Custom, ScalePaths, Served};
use crate::store::Stored;
use crate::table::custom::columns;
use crate::write::Failed;
use crate::{Cause, Status, clock, object};

use kusion_k8s_schema::{ResourceInfo, SubresourceInfo, discovery, structural};
use serde_json::{Value, json};
use std::sync::Arc;

const FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";
const MANAGER: &str = "kube-apiserver";

/// The API group of the definitions.
pub(crate) const GROUP: &str = "apiextensions.k8s.io";
/// The plural name of the definitions.
pub(crate) const PLURAL: &str = "customresourcedefinitions";

/// Returns whether a resource is that of the definitions.
pub(crate) fn is_definition(served: &Served) -> bool {
    served.is(GROUP, PLURAL)
}

/// Returns the status of a new definition.
pub(crate) fn first_status(definition: &Value) -> Value {
    let stored: Vec<&Value> =
        versions(definition).filter(|it| it["storage"] == true).map(|it| &it["name"]).collect();
    json!({
        "conditions": null,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": stored,
    })
}

/// Notes a new storage version in the status.
pub(crate) fn note_storage(definition: &mut Value) {
    let storage = storage_version(definition).to_owned();
    let status = object::child_mut(definition, "status");
    let list = status.entry("storedVersions").or_insert_with(|| json!([]));
    if let Some(list) = list.as_array_mut()
        && !list.iter().any(|it| *it == storage.as_str())
    {
        list.push(storage.into());
    }
}

fn versions(definition: &Value) -> impl Iterator<Item = &Value> {
    object::at(definition, &["spec", "versions"]).as_array().into_iter().flatten()
}

fn storage_version(definition: &Value) -> &str {
    versions(definition)
        .find(|it| it["storage"] == true)
        .map_or("", |version| object::text(version, &["name"]))
}

/// Returns what is wrong with the approval of a kind in a group of Kubernetes itself.
fn approval(definition: &Value, group: &str) -> Option<Cause> {
    const SEE: &str = "see https://github.com/kubernetes/enhancements/pull/1111";
    if !is_protected(group) {
        return None;
    }
    let field = format!("metadata.annotations[{APPROVAL}]");
    let must = format!("protected groups must have approval annotation {APPROVAL:?}");
    let value = object::text(definition, &["metadata", "annotations", APPROVAL]);
    let has_host = value
        .split_once("://")
        .is_some_and(|(scheme, rest)| !scheme.is_empty() && !rest.trim_matches('/').is_empty());
    if value.is_empty() {
        let message = format!("Required value: {must}, {SEE}");
        Some(Cause::new("FieldValueRequired", field, message))
    } else if value.starts_with("unapproved") || has_host {
        None
    } else {
        let message = format!(
            "Invalid value: {value:?}: {must} with either a URL or a reason starting with \
             \"unapproved\", {SEE}"
        );
        Some(Cause::new("FieldValueInvalid", field, message))
    }
}

/// Returns the warning about requests for a version of a definition, if it is deprecated.
fn deprecation(spec: &Value, version: &Value) -> Option<Box<str>> {
    if version["deprecated"] != true {
        return None;
    }
    Some(version["deprecationWarning"].as_str().map_or_else(
        || {
            let (group, kind) =
                (object::text(spec, &["group"]), object::text(spec, &["names", "kind"]));
            format!("{group}/{} {kind} is deprecated", object::text(version, &["name"])).into()
        },
        Into::into,
    ))
}

/// Returns what is wrong with a definition.
pub(crate) fn validate(definition: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let (group, plural) = (
        object::text(definition, &["spec", "group"]),
        object::text(definition, &["spec", "names", "plural"]),
    );
    let name = object::name(definition);
    if name != format!("{plural}.{group}") {
        causes.push(Cause::new(
            "FieldValueInvalid",
            "metadata.name",
            format!("Invalid value: \"{name}\": must be spec.names.plural+\".\"+spec.group"),
        ));
    }
    causes.extend(approval(definition, group));
    for key in ["plural", "singular", "kind", "listKind"] {
        if object::text(definition, &["spec", "names", key]).is_empty() {
            causes.push(Cause::new(
                "FieldValueRequired",
                format!("spec.names.{key}"),
                "Required value",
            ));
        }
    }
    if versions(definition).filter(|it| it["storage"] == true).count() != 1 {
        causes.push(Cause::new(
            "FieldValueInvalid",
            "spec.versions",
            format!(
                "Invalid value: {}: must have exactly one version marked as storage version",
                object::at(definition, &["spec", "versions"])
            ),
        ));
    }
    let scope = object::at(definition, &["spec", "scope"]);
    if !matches!(scope.as_str(), Some("Cluster" | "Namespaced")) {
        let message =
            format!("Unsupported value: {scope}: supported values: \"Cluster\", \"Namespaced\"");
        causes.push(Cause::new("FieldValueNotSupported", "spec.scope", message));
    }
    if versions(definition).count() == 0 {
        let message = "Invalid value: null: must have at least one stored version";
        causes.push(Cause::new("FieldValueInvalid", "status.storedVersions", message));
    }
    for (at, version) in versions(definition).enumerate() {
        let name = version["name"].as_str().unwrap_or_default();
        for field in [format!("spec.versions[{at}].name"), "spec.version".to_owned()] {
            causes.extend(kusion_k8s_schema::names::dns1035_label(name).into_iter().map(|why| {
                let message = format!("Invalid value: {}: {why}", version["name"]);
                Cause::new("FieldValueInvalid", field.clone(), message)
            }));
        }
        let single = versions(definition).count() == 1;
        let path = format!("spec.versions[{at}].schema.openAPIV3Schema");
        match object::at(version, &["schema", "openAPIV3Schema"]) {
            Value::Null => {
                causes.push(Cause::new("FieldValueRequired", path, "Required value"));
            }
            schema => {
                // A schema that all versions share is looked at in its old place.
                let path = if single { "spec.validation.openAPIV3Schema".to_owned() } else { path };
                if let Err(found) = structural(schema, &path) {
                    causes.extend(found);
                }
            }
        }
    }
    causes
}

impl Cluster {
    /// Serves what a definition says, or ends it; then accepts its names.
    pub(crate) fn definition_changed(&self, stored: &Stored, removed: bool) {
        let definition = stored.value();
        let group = object::text(&definition, &["spec", "group"]);
        let plural = object::text(&definition, &["spec", "names", "plural"]);
        if removed {
            self.registry.replace_custom(group, plural, Vec::new());
            return;
        }
        let known = object::at(&definition, &["status", "conditions"]).is_array();
        if !self.has_changed(&definition) && known {
            return;
        }
        let served = self.served_by(&definition, stored.revision);
        self.registry.replace_custom(group, plural, served);
        if !known {
            self.accept_names(object::name(&definition));
        }
    }

    /// Returns whether a definition differs from the one that is served.
    fn has_changed(&self, definition: &Value) -> bool {
        let generation = object::at(definition, &["metadata", "generation"]).as_i64();
        let group = object::text(definition, &["spec", "group"]);
        let plural = object::text(definition, &["spec", "names", "plural"]);
        self.registry.custom_generation(group, plural) != generation
    }

    fn served_by(&self, definition: &Value, revision: u64) -> Vec<Served> {
        let spec = &definition["spec"];
        let names = &spec["names"];
        let group = object::text(spec, &["group"]);
        let plural = object::text(names, &["plural"]);
        let storage = Resource::new(group, storage_version(definition), plural);
        let table = self.store.table(&storage);
        let generation = object::at(definition, &["metadata", "generation"]).as_i64();
        let mut all = Vec::new();
        for version in versions(definition).filter(|it| it["served"] == true) {
            let schema = object::at(version, &["schema", "openAPIV3Schema"]);
            let Ok(structural) = structural(schema, "") else { continue };
            let info = info(spec, version);
            let strings = |list: &[Box<str>]| list.iter().map(|it| Arc::from(&**it)).collect();
            all.push(Served {
                resource: Resource::new(group, object::text(version, &["name"]), plural),
                kind: object::text(names, &["kind"]).into(),
                list_kind: object::text(names, &["listKind"]).into(),
                namespaced: object::text(spec, &["scope"]) == "Namespaced",
                verbs: strings(&info.verbs),
                subresources: info.subresources.iter().map(|sub| Arc::from(&*sub.name)).collect(),
                storage: storage.clone(),
                table: Some(table),
                info: None,
                custom: Some(Arc::new(Custom {
                    info,
                    schema: schema.clone(),
                    structural,
                    columns: columns(&version["additionalPrinterColumns"]),
                    scale: scale_paths(version),
                    selectable: selectable(version),
                    since: revision,
                    deprecation: deprecation(spec, version),
                    generation,
                    definition: object::name(definition).into(),
                })),
            });
        }
        all
    }

    /// Writes to the status of a definition that its names are accepted and it is established.
    fn accept_names(&self, name: &str) {
        for (established, reason) in [("False", "Installing"), ("True", "InitialNamesAccepted")] {
            self.change_status(name, |definition| {
                let names = definition["spec"]["names"].clone();
                let status = object::child_mut(definition, "status");
                status.insert("acceptedNames".to_owned(), names);
                let now = clock::now();
                status.insert(
                    "conditions".to_owned(),
                    json!([
                        {
                            "type": "NamesAccepted",
                            "status": "True",
                            "lastTransitionTime": now,
                            "reason": "NoConflicts",
                            "message": "no conflicts found",
                        },
                        {
                            "type": "Established",
                            "status": established,
                            "lastTransitionTime": now,
                            "reason": reason,
                            "message": "the initial names have been accepted",
                        },
                    ]),
                );
            });
        }
    }

    fn change_status(&self, name: &str, change: impl Fn(&mut Value)) {
        let resource = Resource::new("apiextensions.k8s.io", "v1", "customresourcedefinitions");
        let Ok(served) = self.served(&resource) else { return };
        let write = Write { manager: MANAGER, subresource: "status", ..Write::default() };
        loop {
            let Ok(old) = self.get(&served, "", name) else { return };
            let mut new = (*old.value()).clone();
            change(&mut new);
            match self.replace(&served, &old, new, &write, crate::write::Origin::Written) {
                Err(Failed::Race) => {}
                _ => return,
            }
        }
    }

    /// Marks a definition that is to be deleted.
    pub(crate) fn mark_definition(definition: &mut Value) {
        let mut list: Vec<Value> = object::finalizers(definition).map(Value::from).collect();
        if !object::has_finalizer(definition, FINALIZER) && !object::is_terminating(definition) {
            list.push(FINALIZER.into());
            object::meta_mut(definition).insert("finalizers".to_owned(), list.into());
            let conditions = object::child_mut(definition, "status")
                .entry("conditions")
                .or_insert_with(|| json!([]));
            if !conditions.is_array() {
                *conditions = json!([]);
            }
            if let Some(conditions) = conditions.as_array_mut() {
                conditions.push(json!({
                    "type": "Terminating",
                    "status": "True",
                    "lastTransitionTime": clock::now(),
                    "reason": "InstanceDeletionPending",
                    "message": "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
                }));
            }
        }
    }

    /// Deletes the objects of a definition that is being deleted.
    pub(crate) fn delete_instances(&self, definition: &Value) {
        let group = object::text(definition, &["spec", "group"]);
        let plural = object::text(definition, &["spec", "names", "plural"]);
        if let Some(served) = self.registry.any_custom(group, plural)
            && let Some(table) = served.table
        {
            for stored in self.store.list(table, "", "").0 {
                let (namespace, name) = stored.place();
                // What is gone already needs no deletion.
                let _ =
                    self.delete(&served, namespace, name, &Deletion::default(), Caller::default());
            }
        }
        self.finish_definition(definition);
    }

    /// Lets a definition go when it is being deleted and has no objects any more.
    pub(crate) fn finish_definition(&self, definition: &Value) {
        let group = object::text(definition, &["spec", "group"]);
        let plural = object::text(definition, &["spec", "names", "plural"]);
        let left = self
            .registry
            .any_custom(group, plural)
            .and_then(|served| served.table)
            .is_some_and(|table| self.store.len(table) > 0);
        let resource = Resource::new("apiextensions.k8s.io", "v1", "customresourcedefinitions");
        let Ok(served) = self.served(&resource) else { return };
        if left {
            return;
        }
        loop {
            let Ok(old) = self.get(&served, "", object::name(definition)) else { return };
            let mut new = (*old.value()).clone();
            if !object::is_terminating(&new) || !object::has_finalizer(&new, FINALIZER) {
                return;
            }
            let list: Vec<Value> =
                object::finalizers(&new).filter(|it| *it != FINALIZER).map(Value::from).collect();
            object::meta_mut(&mut new).insert("finalizers".to_owned(), list.into());
            match self.commit_update(&served, &old, new) {
                Err(Failed::Race) => {}
                _ => return,
            }
        }
    }

    /// Lets the definition of a removed object go when that was what it waited for.
    pub(crate) fn instance_removed(&self, custom: &Custom) {
        let resource = Resource::new("apiextensions.k8s.io", "v1", "customresourcedefinitions");
        let Ok(served) = self.served(&resource) else { return };
        if let Ok(stored) = self.get(&served, "", &custom.definition)
            && object::is_terminating(&stored.value())
        {
            self.finish_definition(&stored.value());
        }
    }

    /// Refuses new objects of a kind whose definition is being deleted.
    pub(crate) fn check_definition_alive(&self, served: &Served) -> Result<(), Status> {
        let Some(custom) = &served.custom else { return Ok(()) };
        let resource = Resource::new("apiextensions.k8s.io", "v1", "customresourcedefinitions");
        let stored = self.get(&*self.served(&resource)?, "", &custom.definition)?;
        if object::is_terminating(&stored.value()) {
            let mut status = Status::method_not_allowed();
            "create not allowed while custom resource definition is terminating"
                .clone_into(&mut status.message);
            return Err(status);
        }
        Ok(())
    }
}

fn scale_paths(version: &Value) -> Option<ScalePaths> {
    let scale = object::at(version, &["subresources", "scale"]);
    let path = |key: &str| -> Vec<String> {
        let text = object::text(scale, &[key]).trim_start_matches('.');
        text.split('.').filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    scale.is_object().then(|| ScalePaths {
        spec: path("specReplicasPath"),
        status: path("statusReplicasPath"),
        selector: path("labelSelectorPath"),
    })
}

fn selectable(version: &Value) -> Vec<String> {
    version["selectableFields"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|it| object::text(it, &["jsonPath"]).to_owned())
        .collect()
}

fn info(spec: &Value, version: &Value) -> ResourceInfo {
    let names = &spec["names"];
    let boxed = |value: &Value| -> Box<str> { value.as_str().unwrap_or_default().into() };
    let list = |value: &Value| -> Vec<Box<str>> {
        value.as_array().into_iter().flatten().map(boxed).collect()
    };
    let (group, name) = (boxed(&spec["group"]), boxed(&version["name"]));
    let mut info = ResourceInfo {
        group: group.clone(),
        version: name.clone(),
        kind: boxed(&names["kind"]),
        plural: boxed(&names["plural"]),
        singular: boxed(&names["singular"]),
        short_names: list(&names["shortNames"]),
        categories: list(&names["categories"]),
        namespaced: spec["scope"] == "Namespaced",
        verbs: discovery::CUSTOM_VERBS.iter().map(|verb| Box::from(*verb)).collect(),
        ..ResourceInfo::default()
    };
    let verbs: Vec<Box<str>> = ["get", "patch", "update"].map(Box::from).to_vec();
    if version["subresources"]["status"].is_object() {
        info.subresources.push(SubresourceInfo {
            name: "status".into(),
            group,
            version: name,
            kind: boxed(&names["kind"]),
            verbs: verbs.clone(),
            ..SubresourceInfo::default()
        });
    }
    if version["subresources"]["scale"].is_object() {
        info.subresources.push(SubresourceInfo {
            name: "scale".into(),
            group: "autoscaling".into(),
            version: "v1".into(),
            kind: "Scale".into(),
            verbs,
            ..SubresourceInfo::default()
        });
    }
    info
}
