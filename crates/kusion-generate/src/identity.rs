//! Ids of resources, checked or derived.

use crate::scope::{Scope, Scopes};
use crate::shapes::{Draft, kind_of};
use crate::terraform::{self, TERRAFORM};
use kusion_k8s_schema::{ObjectId, RESOURCE_TYPE};
use kusion_model::markers::REFERENCE;
use kusion_model::references::{self, IdIndex, Lookup, ReferenceError, Segment};
use kusion_model::{FieldPath, Origin, Resource, ResourceId, ResourceType};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Additions of a project and a stack to all objects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Additions {
    /// The namespace of objects that name none.
    pub(crate) namespace: Option<Added>,
    pub(crate) labels: BTreeMap<String, Added>,
    pub(crate) annotations: BTreeMap<String, Added>,
}

/// A value that is added to objects, and the file that says so.
#[derive(Clone, Debug)]
pub(crate) struct Added {
    pub(crate) value: String,
    pub(crate) origin: Origin,
}

/// Resources with ids, and all spellings of these.
pub(crate) struct Identified {
    pub(crate) resources: Vec<Resource>,
    pub(crate) index: IdIndex,
    /// Notes for users.
    pub(crate) notes: Vec<String>,
}

/// Assigns an id to every draft. The drafts keep only their source locations and dependencies.
pub(crate) fn settle(drafts: &mut [Draft], additions: &Additions) -> Result<Identified, String> {
    resolve_names(drafts)?;
    let scopes = Scopes::new(drafts.iter().map(|draft| &draft.attributes));
    let mut settled =
        Identified { resources: Vec::new(), index: IdIndex::default(), notes: Vec::new() };
    settled.resources.reserve(drafts.len());
    let mut seen: FxHashMap<ResourceId, usize> = FxHashMap::default();
    let mut spellings: Vec<(String, ResourceId)> = Vec::new();
    for at in 0..drafts.len() {
        let draft = &mut drafts[at];
        let resource_type = resource_type(draft)?;
        let id = if resource_type.as_str() == RESOURCE_TYPE {
            drop_nulls(&mut draft.attributes, 0);
            spellings.extend(drop_namespace(draft, &scopes, &mut settled.notes));
            let (id, other) = kubernetes_id(draft, &scopes, additions)?;
            add_metadata(draft, additions);
            spellings.extend(other.map(|spelling| (spelling, id.clone())));
            id
        } else {
            other_id(draft, &resource_type)?
        };
        if let Some(first) = seen.insert(id.clone(), at) {
            return Err(format!(
                "duplicate resource `{id}`: at {} and at {}",
                drafts[first].place(),
                drafts[at].place()
            ));
        }
        let draft = &mut drafts[at];
        settled.resources.push(Resource {
            id,
            resource_type,
            attributes: std::mem::take(&mut draft.attributes).into(),
            depends_on: Vec::new(),
            extensions: std::mem::take(&mut draft.extensions),
        });
    }
    for resource in &settled.resources {
        settled.index.insert(resource.id.as_str(), &resource.id);
    }
    for (spelling, id) in &spellings {
        settled.index.insert(spelling, id);
    }
    Ok(settled)
}

fn resource_type(draft: &Draft) -> Result<ResourceType, String> {
    if let Some(name) = &draft.resource_type {
        return Ok(ResourceType::new(name.as_str()));
    }
    let is_text = |key: &str| draft.attributes.get(key).is_some_and(Value::is_string);
    if is_text("apiVersion") && is_text("kind") {
        return Ok(ResourceType::new(RESOURCE_TYPE));
    }
    if draft.extensions.contains_key("provider") {
        return Ok(ResourceType::new(TERRAFORM));
    }
    Err(format!("{} has no `type`", shown(draft)))
}

fn shown(draft: &Draft) -> String {
    match &draft.id {
        Some(id) => format!("resource `{id}` at {}", draft.place()),
        None => format!("the resource at {}", draft.place()),
    }
}

fn other_id(draft: &mut Draft, resource_type: &ResourceType) -> Result<ResourceId, String> {
    let Some(id) = draft.id.clone() else {
        return Err(format!("{} has no `id`", shown(draft)));
    };
    match resource_type.as_str() {
        TERRAFORM => {
            terraform::check(draft).map_err(|message| format!("{}: {message}", shown(draft)))
        }
        _ => Ok(ResourceId::new(id)),
    }
}

/// Returns the id of an object and another spelling of it. The object gets the namespace that
/// its id says.
fn kubernetes_id(
    draft: &mut Draft,
    scopes: &Scopes,
    additions: &Additions,
) -> Result<(ResourceId, Option<String>), String> {
    check_metadata(draft)?;
    let Some(mut own) = ObjectId::of_object(&draft.attributes) else {
        return Err(format!(
            "{} must have `apiVersion`, `kind` and `metadata.name`{}",
            shown(draft),
            missing(&draft.attributes)
        ));
    };
    let scope = scopes.of(&own.api_version, &own.kind);
    let short = ObjectId { namespace: None, ..own.clone() }.resource_id();
    let is_bare = own.namespace.is_none();
    let given = draft.id.clone();
    if is_bare && scope != Some(Scope::Cluster) {
        let namespace = additions.namespace.clone().unwrap_or_else(default_namespace);
        let long = ObjectId { namespace: Some(namespace.value.clone()), ..own.clone() };
        let is_meant = scope == Some(Scope::Namespaced)
            || additions.namespace.is_some()
            || given.as_deref().is_some_and(|it| is_same(it, &long.resource_id()));
        if is_meant {
            if let Some(metadata) = draft.attributes["metadata"].as_object_mut() {
                metadata.insert("namespace".to_owned(), Value::from(namespace.value));
                let path = FieldPath::default().key("metadata").key("namespace");
                draft.added.push((path, namespace.origin));
            }
            own = long;
        }
    }
    let id = ResourceId::new(own.resource_id());
    // An object of the namespace `default` is also found without it.
    let is_default = own.namespace.as_deref() == Some("default");
    let spelling = (is_default || is_bare && own.namespace.is_some()).then_some(short);
    if let Some(given) = &given {
        let fits = is_same(given, id.as_str())
            || spelling.as_deref().is_some_and(|spelling| is_same(given, spelling));
        if !fits {
            return Err(format!("{} does not match its object, whose id is `{id}`", shown(draft)));
        }
    }
    Ok((id, spelling))
}

/// Drops the namespace of a cluster-scoped object, as kubectl does, with a note. Returns the id with
/// the namespace, by which others may name the object.
fn drop_namespace(
    draft: &mut Draft,
    scopes: &Scopes,
    notes: &mut Vec<String>,
) -> Option<(String, ResourceId)> {
    let own = ObjectId::of_object(&draft.attributes)?;
    let namespace = own.namespace.as_deref()?;
    if scopes.of(&own.api_version, &own.kind) != Some(Scope::Cluster) {
        return None;
    }
    let (place, kind) = (shown(draft), &own.kind);
    notes.push(format!(
        "{place}: the namespace `{namespace}` is ignored, because a {kind} is cluster-scoped"
    ));
    draft.attributes["metadata"].as_object_mut()?.remove("namespace");
    let short = ResourceId::new(ObjectId { namespace: None, ..own.clone() }.resource_id());
    let long = own.resource_id();
    if draft.id.as_deref().is_some_and(|given| is_same(given, &long)) {
        draft.id = Some(short.as_str().to_owned());
    }
    Some((long, short))
}

/// Whether two ids are the same but for upper and lower case of the kind.
fn is_same(a: &str, b: &str) -> bool {
    let split = |id: &str| {
        let (version, rest) = id.split_once(':')?;
        let (kind, rest) = rest.split_once(':')?;
        Some((version.to_owned(), kind.to_ascii_lowercase(), rest.to_owned()))
    };
    a == b || split(a).is_some_and(|a| Some(a) == split(b))
}

fn check_metadata(draft: &Draft) -> Result<(), String> {
    let metadata = &draft.attributes["metadata"];
    for (key, value) in
        [("metadata.name", &metadata["name"]), ("metadata.namespace", &metadata["namespace"])]
    {
        if !value.is_null() && !value.is_string() {
            let found = kind_of(value);
            return Err(format!("{}: `{key}` must be a string, not {found}", shown(draft)));
        }
    }
    Ok(())
}

fn missing(object: &Value) -> &'static str {
    let metadata = &object["metadata"];
    if metadata["name"].is_null() && metadata["generateName"].is_string() {
        return "; `generateName` is not enough, since the next run could not find the object";
    }
    ""
}

/// The namespace of objects for which nobody names one.
fn default_namespace() -> Added {
    Added { value: "default".to_owned(), origin: Origin::new("the default namespace", 0, 0) }
}

fn add_metadata(draft: &mut Draft, additions: &Additions) {
    let object = &mut draft.attributes;
    for (key, added) in [("labels", &additions.labels), ("annotations", &additions.annotations)] {
        if added.is_empty() {
            continue;
        }
        let Some(metadata) = object["metadata"].as_object_mut() else { continue };
        let own = metadata.entry(key).or_insert_with(|| Value::Object(Map::new()));
        let Some(own) = own.as_object_mut() else { continue };
        for (name, added) in added {
            if !own.contains_key(name) {
                own.insert(name.clone(), Value::from(added.value.as_str()));
                let path = FieldPath::default().key("metadata").key(key).key(name);
                draft.added.push((path, added.origin.clone()));
            }
        }
    }
}

/// Drops fields that are null: to a cluster they mean the same as missing ones.
fn drop_nulls(value: &mut Value, depth: usize) {
    if depth > 128 {
        return;
    }
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(|value| drop_nulls(value, depth + 1));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| drop_nulls(item, depth + 1)),
        _ => {}
    }
}

/// Replaces references in names and namespaces, which are parts of ids, by their values. The
/// referenced resources become dependencies.
fn resolve_names(drafts: &mut [Draft]) -> Result<(), String> {
    let has_reference = |draft: &Draft, key: &str| {
        draft.attributes["metadata"][key].as_str().is_some_and(|it| it.contains(REFERENCE))
    };
    let keys = ["name", "namespace"];
    let waiting: Vec<usize> = (0..drafts.len())
        .filter(|&at| keys.iter().any(|key| has_reference(&drafts[at], key)))
        .collect();
    if waiting.is_empty() {
        return Ok(());
    }
    let mut index = IdIndex::default();
    let mut places: FxHashMap<ResourceId, usize> = FxHashMap::default();
    for (at, draft) in drafts.iter().enumerate() {
        let derived = ObjectId::of_object(&draft.attributes);
        let derived = derived.map(|it| ResourceId::new(it.resource_id()));
        for id in draft.id.as_deref().map(ResourceId::from).into_iter().chain(derived) {
            index.insert(id.as_str(), &id);
            places.entry(id).or_insert(at);
        }
    }
    for at in waiting {
        for key in keys {
            let text = drafts[at].attributes["metadata"][key].clone();
            let mut needs = Vec::new();
            let resolved = references::resolve(&text, &index, |reference| {
                let target = places.get(&reference.id).map(|&at| &drafts[at].attributes);
                needs.push(reference.id.as_str().to_owned());
                let found = target.and_then(|target| reference.find(target));
                let is_plain = |it: &&Value| {
                    it.as_str().is_some_and(|text| {
                        matches!(references::find(text, &index).as_deref(), Ok([Segment::Text(_)]))
                    })
                };
                match found.filter(is_plain) {
                    Some(value) => Ok(Lookup::Known(value.clone())),
                    None => Err(ReferenceError::NoValue {
                        id: reference.id.clone(),
                        path: reference.path.clone(),
                    }),
                }
            });
            let resolved = resolved
                .map_err(|error| format!("{}: `metadata.{key}`: {error}", shown(&drafts[at])))?;
            if !needs.is_empty() {
                drafts[at].attributes["metadata"][key] = resolved.value;
                drafts[at].depends_on.append(&mut needs);
            }
        }
    }
    Ok(())
}
