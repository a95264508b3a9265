//! `OpenAPI` documents, rebuilt from the table and from the schemas of CRDs.
//!
//! The documents of built-in group-versions are built on first use and kept. Hashes are
//! computed from the inputs of a document, so the index does not need the document.

mod custom;
mod paths;
mod schema;
#[cfg(test)]
mod tests;
mod wire;

use crate::builtin::{ResourceInfo, builtin, described_table, version};
use crate::discovery::compare_versions;
use crate::table::{Definition, Shape, Table};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha512};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// A kind that a CRD defines, in one version.
#[derive(Debug, Clone)]
pub struct CustomKind<'a> {
    /// How it is served.
    pub resource: &'a ResourceInfo,
    /// The kind of its lists.
    pub list_kind: &'a str,
    /// `openAPIV3Schema` of the version; `null` when there is none.
    pub schema: &'a Value,
    /// Paths of selectable fields (`.spec.color`).
    pub selectable_fields: Vec<&'a str>,
}

/// A document and its mark.
#[derive(Debug, Clone)]
pub struct Document {
    /// JSON text.
    pub body: Arc<Vec<u8>>,
    /// Changes when the document changes; also its `ETag`.
    pub hash: String,
}

/// Returns the document of `/openapi/v3`.
pub fn index(customs: &[CustomKind]) -> Value {
    let mut entries = Map::new();
    let mut add = |path: String, hash: String| {
        let url = format!("/openapi/v3/{path}?hash={hash}");
        entries.insert(path, json!({"serverRelativeURL": url}));
    };
    for path in builtin_paths() {
        let hash = builtin_hash(&path);
        add(path, hash);
    }
    for path in custom_paths(customs) {
        let hash = custom_hash(&path, customs);
        add(path, hash);
    }
    json!({"paths": entries})
}

/// Returns the document of `/openapi/v3/{path}`, for example `apis/apps/v1`.
pub fn document(path: &str, customs: &[CustomKind]) -> Option<Document> {
    static BUILT: LazyLock<Mutex<FxHashMap<String, Arc<Vec<u8>>>>> = LazyLock::new(Mutex::default);
    if builtin_paths().iter().any(|own| own == path) {
        let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
        let body = built
            .entry(path.to_owned())
            .or_insert_with(|| Arc::new(bytes(&builtin_document(path))))
            .clone();
        return Some(Document { body, hash: builtin_hash(path) });
    }
    let own: Vec<&CustomKind> = customs.iter().filter(|kind| custom_path(kind) == path).collect();
    if own.is_empty() {
        return None;
    }
    let body = Arc::new(bytes(&custom_document(&own)));
    Some(Document { body, hash: custom_hash(path, customs) })
}

/// Returns the document of `/openapi/v2`: the definitions, without operations.
pub fn v2(customs: &[CustomKind]) -> Document {
    static LAST: Mutex<Option<Document>> = Mutex::new(None);
    let mut hash = Sha512::new();
    hash.update(builtin_hash("v2"));
    for path in custom_paths(customs) {
        hash.update(custom_hash(&path, customs));
    }
    let hash = hex(&hash.finalize());
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    match &*last {
        Some(document) if document.hash == hash => document.clone(),
        _ => {
            let body = Arc::new(bytes(&v2_document(customs)));
            last.insert(Document { body, hash }).clone()
        }
    }
}

/// The media type of [`v2_binary`].
pub const V2_BINARY_TYPE: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/// Returns the document of `/openapi/v2` in its binary form.
pub fn v2_binary(customs: &[CustomKind]) -> Document {
    static LAST: Mutex<Option<Document>> = Mutex::new(None);
    let text = v2(customs);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    match &*last {
        Some(document) if document.hash == text.hash => document.clone(),
        _ => {
            let body = Arc::new(wire::write(&v2_document(customs)));
            last.insert(Document { body, hash: text.hash }).clone()
        }
    }
}

fn v2_document(customs: &[CustomKind]) -> Value {
    let table = described_table();
    let mut definitions: Map<String, Value> = table
        .definitions
        .iter()
        .map(|definition| {
            (definition.name.clone(), schema::definition(&table, definition, None, schema::V2))
        })
        .collect();
    for kind in customs {
        let (name, list) = custom::names(kind);
        definitions.insert(name, custom::v2(kind));
        definitions.insert(list, custom::list(kind, schema::V2));
    }
    json!({
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": short_version()},
        "paths": {},
        "definitions": definitions,
    })
}

fn bytes(document: &Value) -> Vec<u8> {
    serde_json::to_vec(document).expect("plain JSON can always be written")
}

/// Returns `1.36` for `v1.36.3`.
fn short_version() -> &'static str {
    let full = version().trim_start_matches('v');
    full.rsplit_once('.').map_or(full, |(short, _)| short)
}

fn builtin_paths() -> Vec<String> {
    let mut paths = vec!["api".to_owned(), "apis".to_owned(), "version".to_owned()];
    for group in &builtin().groups {
        if !group.name.is_empty() {
            paths.push(format!("apis/{}", group.name));
        }
        paths.extend(group.versions.iter().map(|version| paths::root(&group.name, version)));
    }
    paths
}

fn custom_path(kind: &CustomKind) -> String {
    paths::root(&kind.resource.group, &kind.resource.version)
}

fn custom_paths(customs: &[CustomKind]) -> Vec<String> {
    let mut paths: Vec<String> = customs.iter().map(custom_path).collect();
    paths.sort_by(|left, right| compare_versions(left, right));
    paths.dedup();
    paths
}

fn builtin_hash(path: &str) -> String {
    let text = format!("{} {} {path}", version(), env!("CARGO_PKG_VERSION"));
    hex(&Sha512::digest(text))
}

fn custom_hash(path: &str, customs: &[CustomKind]) -> String {
    let mut hash = Sha512::new();
    hash.update(path);
    for kind in customs.iter().filter(|kind| custom_path(kind) == path) {
        hash.update(format!("{:?}", kind.resource));
        hash.update(kind.list_kind);
        hash.update(kind.selectable_fields.join(","));
        hash.update(kind.schema.to_string());
    }
    hex(&hash.finalize())
}

fn hex(hash: &[u8]) -> String {
    data_encoding::HEXUPPER.encode(hash)
}

fn builtin_document(path: &str) -> Value {
    let table = described_table();
    let mut components = Components::new(&table);
    let words: Vec<&str> = path.split('/').collect();
    let (paths, group) = match words[..] {
        ["api", version] => (paths::of_version("", version, &mut components), ""),
        ["apis", group, version] => (paths::of_version(group, version, &mut components), group),
        _ => (paths::of_root(path, &mut components), ""),
    };
    envelope("Kubernetes", short_version(), paths, components.schemas(group))
}

fn custom_document(kinds: &[&CustomKind]) -> Value {
    let table = described_table();
    let mut components = Components::new(&table);
    let mut paths = Map::new();
    let mut own = Map::new();
    let mut group = "";
    for kind in kinds {
        group = &kind.resource.group;
        paths::of_custom(kind, &mut paths, &mut components);
        let (name, list) = custom::names(kind);
        own.insert(name, custom::v3(kind));
        own.insert(list, custom::list(kind, schema::V3));
    }
    components.need_named("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
    components.need_named("io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta");
    own.extend(components.schemas(group));
    envelope("Kubernetes CRD Swagger", "v0.1.0", paths, own)
}

fn envelope(
    title: &str,
    version: &str,
    paths: Map<String, Value>,
    schemas: Map<String, Value>,
) -> Value {
    let (paths, schemas) = (Value::Object(paths), Value::Object(schemas));
    json!({
        "openapi": "3.0.0",
        "info": {"title": title, "version": version},
        "paths": paths,
        "components": {"schemas": schemas},
    })
}

/// The definitions that a document refers to.
struct Components<'t> {
    table: &'t Table,
    needed: Vec<bool>,
}

impl<'t> Components<'t> {
    fn new(table: &'t Table) -> Self {
        Self { table, needed: vec![false; table.definitions.len()] }
    }

    /// Notes that a definition is referred to, with all that it refers to.
    fn need(&mut self, at: usize) {
        let mut open = vec![at];
        while let Some(at) = open.pop() {
            if std::mem::replace(&mut self.needed[at], true) {
                continue;
            }
            self.table.definitions[at].node.visit(&mut |node| {
                if let Shape::Ref(to) = node.shape {
                    open.push(to as usize);
                }
            });
        }
    }

    /// Notes a definition by its name and returns the reference to it.
    fn need_named(&mut self, name: &str) -> Value {
        let by_name = |definition: &Definition| (*definition.name).cmp(name);
        if let Ok(at) = self.table.definitions.binary_search_by(by_name) {
            self.need(at);
        }
        schema::reference(name, schema::V3)
    }

    /// Notes the definition of a kind and returns the reference to it.
    fn need_kind(&mut self, group: &str, version: &str, kind: &str) -> Value {
        let wanted = [group, version, kind];
        let at = self
            .table
            .definitions
            .iter()
            .position(|definition| definition.kinds.iter().any(|own| *own == wanted));
        match at {
            Some(at) => {
                self.need(at);
                schema::reference(&self.table.definitions[at].name, schema::V3)
            }
            None => json!({}),
        }
    }

    fn schemas(&self, group: &str) -> Map<String, Value> {
        self.table
            .definitions
            .iter()
            .zip(&self.needed)
            .filter(|(_, needed)| **needed)
            .map(|(definition, _)| {
                let schema = schema::definition(self.table, definition, Some(group), schema::V3);
                (definition.name.clone(), schema)
            })
            .collect()
    }
}
