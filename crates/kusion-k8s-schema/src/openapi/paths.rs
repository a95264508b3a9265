//! The operations of resources.

use super::{Components, CustomKind, custom, schema};
use crate::builtin::{ResourceInfo, SubresourceInfo, builtin};
use serde_json::{Map, Value, json};

const META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.";
const LIST_QUERY: [&str; 11] = [
    "allowWatchBookmarks",
    "continue",
    "fieldSelector",
    "labelSelector",
    "limit",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "shardSelector",
    "timeoutSeconds",
    "watch",
];
const WRITE_QUERY: [&str; 3] = ["dryRun", "fieldManager", "fieldValidation"];
const PATCH_QUERY: [&str; 4] = ["dryRun", "fieldManager", "fieldValidation", "force"];
const DELETE_QUERY: [&str; 5] = [
    "dryRun",
    "gracePeriodSeconds",
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "orphanDependents",
    "propagationPolicy",
];
const DELETE_MANY_QUERY: [&str; 14] = [
    "continue",
    "dryRun",
    "fieldSelector",
    "gracePeriodSeconds",
    "ignoreStoreReadErrorWithClusterBreakingPotential",
    "labelSelector",
    "limit",
    "orphanDependents",
    "propagationPolicy",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "shardSelector",
    "timeoutSeconds",
];
const LOG_QUERY: [&str; 9] = [
    "container",
    "follow",
    "insecureSkipTLSVerifyBackend",
    "limitBytes",
    "previous",
    "sinceSeconds",
    "stream",
    "tailLines",
    "timestamps",
];

/// Returns `api/v1` or `apis/{group}/{version}`.
pub(super) fn root(group: &str, version: &str) -> String {
    if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") }
}

/// Returns the operations of a built-in group-version.
pub(super) fn of_version(
    group: &str,
    version: &str,
    components: &mut Components,
) -> Map<String, Value> {
    let mut paths = Map::new();
    let root = root(group, version);
    let list = components.need_named(&format!("{META}APIResourceList"));
    let id = format!("get{}APIResources", id_part(group, version));
    let get = simple_get("get available resources", &id, &list);
    paths.insert(format!("/{root}/"), json!({"get": get}));
    let own =
        builtin().resources.iter().filter(|it| *it.group == *group && *it.version == *version);
    for resource in own {
        let object = components.need_kind(group, version, &resource.kind);
        let list_kind = format!("{}List", resource.kind);
        let list = components.need_kind(group, version, &list_kind);
        add_resource(resource, &object, &list, &mut paths, components);
    }
    paths
}

/// Returns the operations of documents that are not about one group-version.
pub(super) fn of_root(path: &str, components: &mut Components) -> Map<String, Value> {
    let (description, id, name) = match path {
        "api" => ("get available API versions", "getCoreAPIVersions".to_owned(), "APIVersions"),
        "apis" => ("get available API versions", "getAPIVersions".to_owned(), "APIGroupList"),
        "version" => (
            "get the version information for this server",
            "getCodeVersion".to_owned(),
            "version.Info",
        ),
        _ => {
            let group = path.trim_start_matches("apis/");
            ("get information of a group", format!("get{}APIGroup", camel(group)), "APIGroup")
        }
    };
    let name = match name.strip_prefix("version.") {
        Some(name) => format!("io.k8s.apimachinery.pkg.version.{name}"),
        None => format!("{META}{name}"),
    };
    let get = simple_get(description, &id, &components.need_named(&name));
    Map::from_iter([(format!("/{path}/"), json!({"get": get}))])
}

/// Adds the operations of a custom kind.
pub(super) fn of_custom(
    kind: &CustomKind,
    paths: &mut Map<String, Value>,
    components: &mut Components,
) {
    let (object, list) = custom::names(kind);
    let object = schema::reference(&object, schema::V3);
    let list = schema::reference(&list, schema::V3);
    add_resource(kind.resource, &object, &list, paths, components);
}

fn add_resource(
    resource: &ResourceInfo,
    object: &Value,
    list: &Value,
    paths: &mut Map<String, Value>,
    components: &mut Components,
) {
    let maker = OperationBuilder {
        resource,
        status: components.need_named(&format!("{META}Status")),
        options: components.need_named(&format!("{META}DeleteOptions")),
        patch: components.need_named(&format!("{META}Patch")),
        tag: tag(&resource.group, &resource.version),
        id: id_part(&resource.group, &resource.version),
        scope: if resource.namespaced { "Namespaced" } else { "" },
    };
    let root = format!("/{}", root(&resource.group, &resource.version));
    let base = if resource.namespaced {
        format!("{root}/namespaces/{{namespace}}/{}", resource.plural)
    } else {
        format!("{root}/{}", resource.plural)
    };
    maker.put(paths, &base, maker.collection(object, list), false);
    maker.put(paths, &format!("{base}/{{name}}"), maker.item(object), true);
    if resource.namespaced && resource.has_verb("list") {
        let id = format!("list{}{}ForAllNamespaces", maker.id, resource.kind);
        let mut item = Map::new();
        let get = maker.operation("list", &id, &maker.gvk(), &LIST_QUERY, None, &["200"], list);
        item.insert("get".to_owned(), get);
        item.insert("parameters".to_owned(), json!([parameter("pretty")]));
        paths.insert(format!("{root}/{}", resource.plural), Value::Object(item));
    }
    for sub in &resource.subresources {
        let body = components.need_kind(&sub.group, &sub.version, &sub.kind);
        let body = if *sub.kind == *resource.kind { object.clone() } else { body };
        let path = format!("{base}/{{name}}/{}", sub.name);
        maker.put(paths, &path, maker.subresource(sub, &body), true);
    }
}

/// Creates the operations of one resource.
struct OperationBuilder<'a> {
    resource: &'a ResourceInfo,
    status: Value,
    options: Value,
    patch: Value,
    tag: String,
    id: String,
    scope: &'static str,
}

impl OperationBuilder<'_> {
    fn gvk(&self) -> Value {
        let resource = self.resource;
        json!({"group": &*resource.group, "version": &*resource.version, "kind": &*resource.kind})
    }

    fn put(
        &self,
        paths: &mut Map<String, Value>,
        path: &str,
        mut item: Map<String, Value>,
        named: bool,
    ) {
        if item.is_empty() {
            return;
        }
        let mut parameters = Vec::new();
        if named {
            parameters.push(path_parameter("name", &format!("name of the {}", self.resource.kind)));
        }
        if self.resource.namespaced {
            let what = "object name and auth scope, such as for teams and projects";
            parameters.push(path_parameter("namespace", what));
        }
        parameters.push(parameter("pretty"));
        item.insert("parameters".to_owned(), parameters.into());
        paths.insert(path.to_owned(), Value::Object(item));
    }

    fn collection(&self, object: &Value, list: &Value) -> Map<String, Value> {
        let (id, scope, kind) = (&self.id, self.scope, &self.resource.kind);
        let mut item = Map::new();
        if self.resource.has_verb("list") {
            let id = format!("list{id}{scope}{kind}");
            let get = self.operation("list", &id, &self.gvk(), &LIST_QUERY, None, &["200"], list);
            item.insert("get".to_owned(), get);
        }
        if self.resource.has_verb("create") {
            let id = format!("create{id}{scope}{kind}");
            let codes = ["200", "201", "202"];
            let body = Some(any_body(object, true));
            let post = self.operation("post", &id, &self.gvk(), &WRITE_QUERY, body, &codes, object);
            item.insert("post".to_owned(), post);
        }
        if self.resource.has_verb("deletecollection") {
            let id = format!("delete{id}Collection{scope}{kind}");
            let body = Some(any_body(&self.options, false));
            let query = &DELETE_MANY_QUERY;
            let status = &self.status;
            let delete =
                self.operation("deletecollection", &id, &self.gvk(), query, body, &["200"], status);
            item.insert("delete".to_owned(), delete);
        }
        item
    }

    fn item(&self, object: &Value) -> Map<String, Value> {
        let mut item = Map::new();
        self.read_and_write(&mut item, "", &self.resource.verbs, &self.gvk(), object);
        if self.resource.has_verb("delete") {
            let id = format!("delete{}{}{}", self.id, self.scope, self.resource.kind);
            let body = Some(any_body(&self.options, false));
            let codes = ["200", "202"];
            let delete = self.operation(
                "delete",
                &id,
                &self.gvk(),
                &DELETE_QUERY,
                body,
                &codes,
                &self.status,
            );
            item.insert("delete".to_owned(), delete);
        }
        item
    }

    fn subresource(&self, sub: &SubresourceInfo, body: &Value) -> Map<String, Value> {
        let gvk = json!({"group": &*sub.group, "version": &*sub.version, "kind": &*sub.kind});
        let suffix = camel(&sub.name);
        let mut item = Map::new();
        if &*sub.name == "log" {
            let id = format!("read{}{}{}{suffix}", self.id, self.scope, self.resource.kind);
            let text = json!({"type": "string"});
            let get = self.operation("get", &id, &gvk, &LOG_QUERY, None, &["200"], &text);
            item.insert("get".to_owned(), get);
            return item;
        }
        self.read_and_write(&mut item, &suffix, &sub.verbs, &gvk, body);
        if sub.verbs.iter().any(|verb| &**verb == "create") && !item.contains_key("get") {
            let id = format!("create{}{}{}{suffix}", self.id, self.scope, self.resource.kind);
            let codes = ["200", "201", "202"];
            let request = Some(any_body(body, true));
            let post = self.operation("post", &id, &gvk, &WRITE_QUERY, request, &codes, body);
            item.insert("post".to_owned(), post);
        }
        item
    }

    fn read_and_write(
        &self,
        item: &mut Map<String, Value>,
        suffix: &str,
        verbs: &[Box<str>],
        gvk: &Value,
        object: &Value,
    ) {
        let has = |verb: &str| verbs.iter().any(|own| **own == *verb);
        let id = format!("{}{}{}{suffix}", self.id, self.scope, self.resource.kind);
        if has("get") {
            let get = self.operation("get", &format!("read{id}"), gvk, &[], None, &["200"], object);
            item.insert("get".to_owned(), get);
        }
        if has("update") {
            let id = format!("replace{id}");
            let body = Some(any_body(object, true));
            let codes = ["200", "201"];
            let put = self.operation("put", &id, gvk, &WRITE_QUERY, body, &codes, object);
            item.insert("put".to_owned(), put);
        }
        if has("patch") {
            let id = format!("patch{id}");
            let content: Map<String, Value> = [
                "application/apply-patch+yaml",
                "application/json-patch+json",
                "application/merge-patch+json",
                "application/strategic-merge-patch+json",
            ]
            .into_iter()
            .map(|media| (media.to_owned(), json!({"schema": self.patch})))
            .collect();
            let body = Some(json!({"content": content, "required": true}));
            let codes = ["200", "201"];
            let patch = self.operation("patch", &id, gvk, &PATCH_QUERY, body, &codes, object);
            item.insert("patch".to_owned(), patch);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one operation has this many parts")]
    fn operation(
        &self,
        action: &str,
        id: &str,
        gvk: &Value,
        query: &[&str],
        body: Option<Value>,
        codes: &[&str],
        answer: &Value,
    ) -> Value {
        let mut responses: Map<String, Value> = codes
            .iter()
            .map(|code| {
                let description = match *code {
                    "201" => "Created",
                    "202" => "Accepted",
                    _ => "OK",
                };
                (
                    (*code).to_owned(),
                    json!({"description": description, "content": content(answer)}),
                )
            })
            .collect();
        responses.insert("401".to_owned(), json!({"description": "Unauthorized"}));
        let mut operation = json!({
            "tags": [self.tag],
            "description": describe(action, &self.resource.kind),
            "operationId": id,
            "responses": responses,
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": gvk,
        });
        if !query.is_empty() {
            operation["parameters"] = query.iter().map(|name| parameter(name)).collect();
        }
        if let Some(body) = body {
            operation["requestBody"] = body;
        }
        operation
    }
}

fn describe(action: &str, kind: &str) -> String {
    match action {
        "list" => format!("list or watch objects of kind {kind}"),
        "post" => format!("create a {kind}"),
        "deletecollection" => format!("delete collection of {kind}"),
        "get" => format!("read the specified {kind}"),
        "put" => format!("replace the specified {kind}"),
        "patch" => format!("partially update the specified {kind}"),
        _ => format!("{action} a {kind}"),
    }
}

fn simple_get(description: &str, id: &str, answer: &Value) -> Value {
    json!({
        "description": description,
        "operationId": id,
        "responses": {
            "200": {"description": "OK", "content": content(answer)},
            "401": {"description": "Unauthorized"},
        },
    })
}

fn content(schema: &Value) -> Value {
    json!({"application/json": {"schema": schema}, "application/yaml": {"schema": schema}})
}

fn any_body(schema: &Value, required: bool) -> Value {
    let mut body = json!({"content": {"*/*": {"schema": schema}}});
    if required {
        body["required"] = true.into();
    }
    body
}

fn path_parameter(name: &str, description: &str) -> Value {
    json!({
        "name": name,
        "in": "path",
        "description": description,
        "required": true,
        "schema": {"type": "string", "uniqueItems": true},
    })
}

fn parameter(name: &str) -> Value {
    let ty = match name {
        "allowWatchBookmarks"
        | "watch"
        | "sendInitialEvents"
        | "force"
        | "orphanDependents"
        | "ignoreStoreReadErrorWithClusterBreakingPotential"
        | "follow"
        | "insecureSkipTLSVerifyBackend"
        | "previous"
        | "timestamps" => "boolean",
        "limit" | "timeoutSeconds" | "gracePeriodSeconds" | "limitBytes" | "sinceSeconds"
        | "tailLines" => "integer",
        _ => "string",
    };
    json!({"name": name, "in": "query", "schema": {"type": ty, "uniqueItems": true}})
}

/// Returns `core_v1` or `apps_v1`.
fn tag(group: &str, version: &str) -> String {
    if group.is_empty() {
        return format!("core_{version}");
    }
    let name = camel(group.trim_end_matches(".k8s.io"));
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    let name: String = first.into_iter().chain(letters).collect();
    format!("{name}_{version}")
}

/// Returns the part of operation names for the group-version (`CoreV1`).
fn id_part(group: &str, version: &str) -> String {
    let group = if group.is_empty() { "core" } else { group.trim_end_matches(".k8s.io") };
    format!("{}{}", camel(group), camel(version))
}

fn camel(text: &str) -> String {
    text.split(['.', '-', '/'])
        .flat_map(|word| {
            let mut letters = word.chars();
            letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters)
        })
        .collect()
}
