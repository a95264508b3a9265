//! Requests for objects and collections.

use super::body::Body;
use super::components;
use super::negotiate::Form;
use super::options::ListOptions;
use super::present;
use super::read::Request;
use super::route::Route;
use super::watch;
use crate::api::{Api, Caller, Deletion, PatchKind, Propagation, Scope, Validation, Write};
use crate::cluster::{Cluster, Filter, prefix};
use crate::rbac::User;
use crate::registry::Served;
use crate::store::{Stored, TooOld};
use crate::write::{Outcome, judge};
use crate::{Status, object, reviews};
use data_encoding::BASE64URL_NOPAD;
use hyper::{Method, Response};
use kusion_k8s_schema::{Finding, Format, parse, strict_error};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};

/// Answers a request for a resource.
pub(crate) fn handle(
    api: &Api,
    route: &Route,
    request: &Request,
    user: Option<&User>,
) -> Result<Response<Body>, Status> {
    let cluster = api.cluster();
    let served = cluster
        .registry
        .find(&route.group, &route.version, &route.plural)
        .ok_or_else(Status::no_route)?;
    check_place(&served, route, &request.method)?;
    let warnings = Mutex::default();
    let target =
        Target { api, cluster, served: &served, route, request, user, warnings: &warnings };
    let answer = target.answered();
    let mut told: Vec<String> =
        crate::warnings::deprecation(&served).map(str::to_owned).into_iter().collect();
    told.extend(warnings.into_inner().unwrap_or_else(PoisonError::into_inner));
    if told.is_empty() {
        return answer;
    }
    let response =
        answer.or_else(|status| Ok::<_, Status>(present::failure(&request.form()?, &status)))?;
    Ok(present::warn(response, &told))
}

fn check_place(served: &Served, route: &Route, method: &Method) -> Result<(), Status> {
    if !route.subresource.is_empty() && !served.has(&route.subresource) {
        return Err(Status::no_route());
    }
    if !served.namespaced && !route.namespace.is_empty() {
        return Err(Status::no_route());
    }
    if served.namespaced && route.namespace.is_empty() {
        if !route.name.is_empty() {
            return Err(Status::no_route());
        }
        if *method != Method::GET {
            return Err(Status::method_not_allowed());
        }
    }
    Ok(())
}

struct Target<'a> {
    api: &'a Api,
    cluster: &'a Arc<Cluster>,
    served: &'a Arc<Served>,
    route: &'a Route,
    request: &'a Request,
    /// Whom the client wants to be taken for; none for the user of the kubeconfig.
    user: Option<&'a User>,
    /// What policies and webhooks tell the client.
    warnings: &'a Mutex<Vec<String>>,
}

impl Target<'_> {
    fn answered(&self) -> Result<Response<Body>, Status> {
        match (&self.request.method, self.route.name.is_empty(), self.route.subresource.is_empty())
        {
            (&Method::GET, true, _) => self.list(),
            (&Method::GET, false, true) => self.get(),
            (&Method::GET, false, false) => self.get_subresource(),
            (&Method::POST, true, _) => self.create(),
            (&Method::POST, false, false) => self.create_subresource(),
            (&Method::PUT, false, _) => self.update(),
            (&Method::PATCH, false, _) => self.patch(),
            (&Method::DELETE, false, true) => self.delete(),
            (&Method::DELETE, true, _) => self.delete_collection(),
            _ => Err(Status::method_not_allowed()),
        }
    }

    fn require(&self, verb: &str) -> Result<(), Status> {
        if self.served.can(verb) { Ok(()) } else { Err(Status::method_not_allowed()) }
    }

    fn write(&self) -> Result<Write<'_>, Status> {
        Ok(Write {
            manager: self.request.manager(),
            subresource: &self.route.subresource,
            dry_run: self.request.dry_run()?,
            validation: self.request.validation()?,
            force: self.request.query.flag("force"),
            caller: self.caller(),
        })
    }

    fn caller(&self) -> Caller<'_> {
        Caller {
            user: Some(match self.user {
                Some(user) => user,
                None => User::kubeconfig(),
            }),
            warnings: Some(self.warnings),
            field_manager: self.request.query.get("fieldManager"),
            field_validation: self.request.query.get("fieldValidation"),
            patches: self.request.method == Method::PATCH,
            collection: self.route.name.is_empty() && self.request.method == Method::DELETE,
            admitted: false,
        }
    }

    fn answer(&self, form: &Form, outcome: &Outcome) -> Response<Body> {
        let response = present::outcome(self.cluster, self.served, form, outcome);
        if self.request.method == Method::DELETE || !self.served.is_builtin() {
            return response;
        }
        present::warn(response, &crate::pods::script_warnings(&outcome.value))
    }

    /// Answers requests that need a process behind a pod.
    fn stream(&self) -> Status {
        match self.cluster.get(self.served, &self.route.namespace, &self.route.name) {
            Ok(_) => not_simulated(&self.route.subresource),
            Err(status) => status,
        }
    }

    fn get(&self) -> Result<Response<Body>, Status> {
        let form = self.request.form()?;
        if self.route.watch || self.request.query.flag("watch") {
            self.require("watch")?;
            let mut options = ListOptions::parse(&self.request.query, true)?;
            options.fields = format!("metadata.name={}", self.route.name);
            return watch::watch(self.cluster, self.served, form, &self.route.namespace, &options);
        }
        self.require("get")?;
        if self.served.is("", "componentstatuses") {
            let status = components::named(&self.route.name)?;
            let shown = present::shaped(self.cluster, self.served, &form, &status);
            return Ok(present::document(200, &form, &shown));
        }
        let stored = self.cluster.get(self.served, &self.route.namespace, &self.route.name)?;
        present::object(self.cluster, self.served, &form, &stored)
    }

    fn get_subresource(&self) -> Result<Response<Body>, Status> {
        let (namespace, name) = (self.route.namespace.as_str(), self.route.name.as_str());
        match self.route.subresource.as_str() {
            "scale" => {
                let scale = self.cluster.scale(self.served, namespace, name)?;
                Ok(present::document(200, &self.request.form()?, &scale))
            }
            "log" => self.log(),
            "status" | "approval" | "ephemeralcontainers" | "resize" => self.get(),
            "finalize" => Err(Status::method_not_allowed()),
            _ => Err(self.stream()),
        }
    }

    fn log(&self) -> Result<Response<Body>, Status> {
        let pod = self.cluster.get(self.served, &self.route.namespace, &self.route.name)?.value();
        super::logs::answer(&pod, &self.request.query)
    }

    fn list(&self) -> Result<Response<Body>, Status> {
        let form = self.request.form()?;
        let options = ListOptions::parse(&self.request.query, self.route.watch)?;
        if options.watch {
            self.require("watch")?;
            return watch::watch(self.cluster, self.served, form, &self.route.namespace, &options);
        }
        self.require("list")?;
        if self.served.table.is_none() {
            if self.served.is("", "componentstatuses") {
                let all = components::list(self.cluster, self.served, &form);
                return Ok(present::document(200, &form, &all));
            }
            return present::list(self.cluster, self.served, &form, &[], &json!({}));
        }
        let page = self.page(&options)?;
        let mut meta = json!({"resourceVersion": page.revision.to_string()});
        if let Some(start) = &page.next {
            meta["continue"] = token(page.revision, start).into();
            if options.labels.is_empty() && options.fields.is_empty() {
                meta["remainingItemCount"] = page.remaining.into();
            }
        }
        present::list(self.cluster, self.served, &form, &page.items, &meta)
    }

    fn page(&self, options: &ListOptions) -> Result<Page, Status> {
        let table = self.served.table()?;
        let filter = Filter::new(self.served, options.selection())?;
        let prefix = prefix(self.served, Scope::Namespace(&self.route.namespace));
        let store = &self.cluster.store;
        let (items, revision) = if !options.token.is_empty() {
            let (revision, start) = read_token(&options.token)?;
            let items = store.list_at(table, &prefix, &start, revision).map_err(|TooOld| {
                Status::expired("The provided continue parameter is too old to display a consistent list result. You must start a new list without the continue parameter.")
            })?;
            (items, revision)
        } else if let Some(revision) = options.version.filter(|it| *it > 0) {
            let current = store.revision();
            if revision > current {
                return Err(too_large(revision, current));
            }
            if options.version_match == "Exact"
                || (options.version_match.is_empty() && options.limit > 0)
            {
                let items = store.list_at(table, &prefix, "", revision).map_err(|TooOld| {
                    Status::expired("The resourceVersion for the provided list is too old.")
                })?;
                (items, revision)
            } else {
                store.list(table, &prefix, "")
            }
        } else {
            match filter.name() {
                Some(name) if !prefix.is_empty() || !self.served.namespaced => {
                    let key = format!("{prefix}{name}");
                    let revision = store.revision();
                    (store.get(table, &key).into_iter().collect(), revision)
                }
                _ => store.list(table, &prefix, ""),
            }
        };
        Ok(Page::cut(items, revision, &filter, options.limit))
    }

    fn create(&self) -> Result<Response<Body>, Status> {
        let form = match self.served.table {
            Some(_) => self.request.form()?,
            None => self.request.plain_form()?,
        };
        self.require("create")?;
        let write = self.write()?;
        let decoded = self.request.decode_object(self.served)?;
        let warnings = judge(self.served, &decoded.findings, write.validation)?;
        let object = decoded.value;
        if self.served.table.is_none() {
            let user = self.user.cloned().unwrap_or_else(User::admin);
            let answer = reviews::answer(self.cluster, self.served, &user, &write, object)?;
            return Ok(present::document(201, &form, &answer));
        }
        let namespace = &self.route.namespace;
        let mut outcome = self.cluster.create(self.served, namespace, object, &write)?;
        outcome.warnings.splice(..0, warnings);
        Ok(self.answer(&form, &outcome))
    }

    fn create_subresource(&self) -> Result<Response<Body>, Status> {
        if matches!(&*self.route.subresource, "exec" | "attach" | "portforward" | "proxy") {
            return Err(self.stream());
        }
        let form = self.request.form()?;
        let write = self.write()?;
        let object = self.request.decode(&self.route.subresource)?;
        let value = crate::subresources::create(
            self.api,
            self.served,
            &self.route.namespace,
            &self.route.name,
            &object,
            &write,
        )?;
        Ok(present::document(201, &form, &value))
    }

    fn update(&self) -> Result<Response<Body>, Status> {
        let form = self.request.form()?;
        self.require("update")?;
        let write = self.write()?;
        let (object, warnings) = if self.route.subresource == "scale" {
            (self.request.decode("Scale")?, Vec::new())
        } else {
            let decoded = self.request.decode_object(self.served)?;
            let warnings = judge(self.served, &decoded.findings, write.validation)?;
            (decoded.value, warnings)
        };
        let (namespace, name) = (&self.route.namespace, &self.route.name);
        let mut outcome = self.cluster.update(self.served, namespace, name, object, &write)?;
        outcome.warnings.splice(..0, warnings);
        Ok(self.answer(&form, &outcome))
    }

    fn patch(&self) -> Result<Response<Body>, Status> {
        let form = self.request.form()?;
        self.require("patch")?;
        let write = self.write()?;
        let kind = match self.request.content_type() {
            "application/json-patch+json" => PatchKind::Json,
            "application/merge-patch+json" => PatchKind::Merge,
            "application/strategic-merge-patch+json" if self.served.is_builtin() => {
                PatchKind::Strategic
            }
            "application/apply-patch+yaml" => PatchKind::Apply,
            "application/strategic-merge-patch+json" => {
                return Err(Status::unsupported_media(
                    "the body of the request was in an unknown format - accepted media types \
                     include: application/json-patch+json, application/merge-patch+json, \
                     application/apply-patch+yaml",
                ));
            }
            _ => {
                let mut status = Status::unsupported_media("415: Unsupported Media Type");
                status.details = json!({});
                return Err(status);
            }
        };
        let write = patch_options(self.request, kind, write)?;
        let format = if kind == PatchKind::Apply { Format::Yaml } else { Format::Json };
        let decoded = parse(&self.request.body, format).map_err(|why| {
            Status::bad_request(match format {
                Format::Yaml => format!(
                    "error decoding YAML: error converting YAML to JSON: {}",
                    without_line(&why)
                ),
                Format::Json => format!("error decoding patch: {why}"),
            })
        })?;
        let given = if kind == PatchKind::Apply { &decoded.findings[..] } else { &[] };
        if kind == PatchKind::Apply {
            check_applied(&decoded.value, given, write.validation)?;
        }
        let mut warnings = judge(self.served, given, write.validation)?;
        let patch = decoded.value;
        let (namespace, name) = (&self.route.namespace, &self.route.name);
        let mut outcome = self.cluster.patch(self.served, namespace, name, kind, &patch, &write)?;
        warnings.append(&mut outcome.warnings);
        outcome.warnings = warnings;
        Ok(self.answer(&form, &outcome))
    }

    fn deletion(&self) -> Result<Deletion, Status> {
        let query = &self.request.query;
        let body = if self.request.body.is_empty() {
            Value::Null
        } else {
            self.request.decode("DeleteOptions")?
        };
        let word = |key: &str| -> String {
            match body.get(key).and_then(Value::as_str) {
                Some(text) => text.to_owned(),
                None => query.get(key).to_owned(),
            }
        };
        let orphan = match body.get("orphanDependents").and_then(Value::as_bool) {
            Some(flag) => Some(flag),
            None => query.has("orphanDependents").then(|| query.flag("orphanDependents")),
        };
        let propagation = match (word("propagationPolicy").as_str(), orphan) {
            ("Orphan", _) | ("", Some(true)) => Some(Propagation::Orphan),
            ("Foreground", _) => Some(Propagation::Foreground),
            ("Background", _) | ("", Some(false)) => Some(Propagation::Background),
            ("", None) => None,
            (other, _) => {
                let cause = crate::Cause::new(
                    "FieldValueNotSupported",
                    "propagationPolicy",
                    format!(
                        "Unsupported value: \"{other}\": supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\""
                    ),
                );
                return Err(Status::invalid("meta.k8s.io", "DeleteOptions", "", &[cause]));
            }
        };
        let grace = body.get("gracePeriodSeconds").and_then(Value::as_i64);
        let dry = body
            .get("dryRun")
            .and_then(Value::as_array)
            .is_some_and(|list| list.iter().any(|it| it == "All"));
        let precondition = |key: &str| {
            body.get("preconditions")
                .and_then(|it| it.get(key))
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        Ok(Deletion {
            propagation,
            grace_seconds: grace.or_else(|| query.get("gracePeriodSeconds").parse().ok()),
            uid: precondition("uid"),
            resource_version: precondition("resourceVersion"),
            dry_run: dry || self.request.dry_run()?,
        })
    }

    fn delete(&self) -> Result<Response<Body>, Status> {
        let form = self.request.form()?;
        self.require("delete")?;
        let deletion = self.deletion()?;
        let (namespace, name) = (&self.route.namespace, &self.route.name);
        let outcome =
            self.cluster.delete(self.served, namespace, name, &deletion, self.caller())?;
        if outcome.removed && !returns_object(self.served) {
            return Ok(present::document(200, &form, &self.success(&outcome.value)));
        }
        Ok(self.answer(&form, &outcome))
    }

    fn success(&self, value: &Value) -> Value {
        let resource = &self.served.resource;
        let mut details = json!({
            "name": object::name(value),
            "kind": &*resource.plural,
            "uid": object::uid(value),
        });
        if !resource.group.is_empty() {
            details["group"] = (*resource.group).into();
        }
        json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Success",
            "details": details,
        })
    }

    fn delete_collection(&self) -> Result<Response<Body>, Status> {
        let form = self.request.form()?;
        self.require("deletecollection")?;
        let deletion = self.deletion()?;
        let options = ListOptions::parse(&self.request.query, false)?;
        let filter = Filter::new(self.served, options.selection())?;
        let prefix = prefix(self.served, Scope::Namespace(&self.route.namespace));
        let (items, revision) = self.cluster.store.list(self.served.table()?, &prefix, "");
        let page = Page::cut(items, revision, &filter, options.limit);
        let mut deleted = Vec::with_capacity(page.items.len());
        for stored in &page.items {
            let (namespace, name) = stored.place();
            match self.cluster.delete(self.served, namespace, name, &deletion, self.caller()) {
                Err(status) if !status.is_not_found() => return Err(status),
                _ => deleted.push(Arc::clone(stored)),
            }
        }
        let meta = json!({"resourceVersion": page.revision.to_string()});
        present::list(self.cluster, self.served, &form, &deleted, &meta)
    }
}

/// Part of a list.
struct Page {
    items: Vec<Arc<Stored>>,
    revision: u64,
    /// The key of the last item, when there are more.
    next: Option<String>,
    remaining: usize,
}

impl Page {
    fn cut(items: Vec<Arc<Stored>>, revision: u64, filter: &Filter, limit: usize) -> Self {
        let mut items = items;
        if !filter.is_empty() {
            items.retain(|stored| filter.takes(stored));
        }
        if limit == 0 || items.len() <= limit {
            return Self { items, revision, next: None, remaining: 0 };
        }
        let remaining = items.len() - limit;
        items.truncate(limit);
        let next = items.last().map(|stored| stored.key.to_string());
        Self { items, revision, next, remaining }
    }
}

fn token(revision: u64, start: &str) -> String {
    let text = json!({"v": "meta.k8s.io/v1", "rv": revision, "start": format!("{start}\0")});
    BASE64URL_NOPAD.encode(text.to_string().as_bytes())
}

fn read_token(token: &str) -> Result<(u64, String), Status> {
    let bad = |why: &str| {
        Status::bad_request(format!("invalid continue token: continue key is not valid: {why}"))
    };
    let bytes = BASE64URL_NOPAD
        .decode(token.trim_end_matches('=').as_bytes())
        .map_err(|error| bad(&error.to_string()))?;
    let value: Value = serde_json::from_slice(&bytes)
        .map_err(|_| bad("invalid character looking for beginning of value"))?;
    let revision = value["rv"]
        .as_u64()
        .ok_or_else(|| bad("incorrect encoded start resourceVersion (version meta.k8s.io/v1)"))?;
    let start = value["start"].as_str().unwrap_or_default().trim_end_matches('\0').to_owned();
    Ok((revision, start))
}

fn too_large(revision: u64, current: u64) -> Status {
    Status {
        code: 504,
        reason: "Timeout",
        message: format!("Timeout: Too large resource version: {revision}, current: {current}"),
        details: json!({
            "causes": [{
                "reason": "ResourceVersionTooLarge",
                "message": "Too large resource version",
            }],
            "retryAfterSeconds": 1,
        }),
    }
}

/// Returns whether the answer to a deletion is the object and not a success `Status`.
fn returns_object(served: &Served) -> bool {
    served.is_builtin()
        && matches!(
            &*served.kind,
            "Pod"
                | "PodTemplate"
                | "PersistentVolume"
                | "PersistentVolumeClaim"
                | "ResourceQuota"
                | "ServiceAccount"
                | "Service"
                | "ResourceClaim"
                | "ResourceClaimTemplate"
                | "ResourceSlice"
                | "DeviceClass"
                | "CSIDriver"
                | "CSINode"
                | "StorageClass"
                | "VolumeAttachment"
                | "VolumeAttributesClass"
        )
}

/// There is no process behind a pod of the sandbox.
pub(crate) fn not_simulated(what: &str) -> Status {
    Status {
        code: 501,
        reason: "NotImplemented",
        message: format!(
            "the sandbox runs no processes: {what} is not available; logs show what the annotation \
             sandbox.kusion.io/log says"
        ),
        details: Value::Null,
    }
}

/// Checks the options of a patch that hold for one kind of patches only.
fn patch_options<'a>(
    request: &Request,
    kind: PatchKind,
    mut write: Write<'a>,
) -> Result<Write<'a>, Status> {
    if kind == PatchKind::Apply {
        // Who applies must say so; the name of the program does not count.
        if request.query.get("fieldManager").is_empty() {
            write.manager = "";
        }
    } else if request.query.has("force") {
        let cause = crate::Cause::new(
            "FieldValueForbidden",
            "force",
            "Forbidden: may not be specified for non-apply patch",
        );
        return Err(Status::invalid("meta.k8s.io", "PatchOptions", "", &[cause]));
    }
    Ok(write)
}

/// Checks that an applied body is an object, and written once.
fn check_applied(
    value: &Value,
    findings: &[Finding],
    validation: Validation,
) -> Result<(), Status> {
    if value.is_array() {
        return Err(Status::bad_request(
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot \
             unmarshal array into Go value of type map[string]interface {}",
        ));
    }
    match strict_error(findings) {
        Some(error) if validation == Validation::Strict => {
            let error = error.trim_start_matches("strict decoding error: ");
            Err(Status::bad_request(format!(
                "error strict decoding YAML: error converting YAML to JSON: {error}"
            )))
        }
        _ => Ok(()),
    }
}

/// Leaves out the line of a YAML error on the first line, as the real server does.
fn without_line(why: &str) -> String {
    why.replacen("yaml: line 1: ", "yaml: ", 1)
}
