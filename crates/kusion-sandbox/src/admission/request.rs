//! A request as policies and webhooks see it.

use super::authorize::UserAccess;
use crate::api::{Resource, Write};
use crate::cluster::Cluster;
use crate::object;
use crate::rbac::User;
use crate::registry::Served;
use kusion_k8s_schema::policy::{Request, Subject};
use serde_json::{Value, json};
use std::sync::Arc;

/// What is asked: may this object be stored, changed or deleted?
pub(super) struct Asked<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) served: &'a Served,
    pub(super) write: &'a Write<'a>,
    /// The object in the version of the request; null for a deletion.
    pub(super) object: Value,
    /// The stored object in the version of the request; null if it is new.
    pub(super) old: Value,
    /// Group, version and kind, if they are not those of the resource.
    pub(super) kind: Option<(&'static str, &'static str, &'static str)>,
    pub(super) user: User,
    /// The namespace of the object; null if it has none.
    pub(super) namespace: Arc<Value>,
    versions: Vec<Arc<Served>>,
    names: Vec<(String, String)>,
}

/// One form of a request: the version in which somebody wants to see the object.
pub(super) struct Form {
    pub(super) served: Arc<Served>,
    pub(super) object: Value,
    pub(super) old: Value,
    /// The `AdmissionRequest` without the objects.
    pub(super) request: Value,
}

impl<'a> Asked<'a> {
    pub(super) fn new(
        cluster: &'a Cluster,
        served: &'a Served,
        write: &'a Write<'a>,
        old: Value,
        object: Value,
    ) -> Self {
        let user = write.caller.user.cloned().unwrap_or_else(|| User::of_manager(write.manager));
        let mut versions = cluster.registry.siblings(served);
        if versions.is_empty() {
            versions.push(Arc::new(served.clone()));
        }
        let names = versions
            .iter()
            .map(|it| (it.resource.group.to_string(), it.resource.version.to_string()))
            .collect();
        let mut asked = Self {
            cluster,
            served,
            write,
            object,
            old,
            kind: None,
            user,
            namespace: Arc::new(Value::Null),
            versions,
            names,
        };
        let name = asked.namespace_name().to_owned();
        if !name.is_empty() {
            let namespaces = Resource::new("", "v1", "namespaces");
            asked.namespace = cluster.api().get(&namespaces, "", &name).unwrap_or_default();
        }
        asked
    }

    /// Returns the object, or the stored one for a deletion.
    fn either(&self) -> &Value {
        if self.object.is_null() { &self.old } else { &self.object }
    }

    /// Returns the name of the object; empty for one of a collection that is deleted.
    pub(super) fn name(&self) -> &str {
        if self.write.caller.collection { "" } else { object::name(self.either()) }
    }

    /// Returns the namespace of the object; a namespace is in itself.
    pub(super) fn namespace_name(&self) -> &str {
        if self.served.is("", "namespaces") {
            object::name(self.either())
        } else {
            object::namespace(self.either())
        }
    }

    pub(super) fn operation(&self) -> &'static str {
        match (self.object.is_null(), self.old.is_null()) {
            (true, _) => "DELETE",
            (false, true) => "CREATE",
            (false, false) => "UPDATE",
        }
    }

    /// Decides whether somebody is meant; returns the request in the wanted form.
    pub(super) fn selected(&self, constraints: &Value, key: &str) -> Option<(String, String)> {
        let is_namespace = self.served.is("", "namespaces");
        let own = object::at(self.either(), &["metadata", "labels"]);
        let labels = match (is_namespace, self.served.namespaced) {
            (true, _) if self.operation() == "CREATE" => Some(own),
            (true, _) | (_, true) => Some(object::at(&self.namespace, &["metadata", "labels"])),
            _ => None,
        };
        let request = Request {
            group: &self.served.resource.group,
            version: &self.served.resource.version,
            resource: &self.served.resource.plural,
            subresource: self.write.subresource,
            operation: self.operation(),
            namespaced: self.served.namespaced,
            name: self.name(),
            namespace_labels: labels,
            object: &self.object,
            old_object: &self.old,
            versions: &self.names,
        };
        let (group, version) = kusion_k8s_schema::policy::matches(constraints, key, &request)?;
        Some((group.to_owned(), version.to_owned()))
    }

    /// Returns the request with the object in a version.
    pub(super) fn form(&self, (group, version): &(String, String)) -> Form {
        let found = self
            .versions
            .iter()
            .find(|it| *it.resource.group == **group && *it.resource.version == **version);
        let served = found.map_or_else(|| Arc::new(self.served.clone()), Arc::clone);
        let other = served.resource != self.served.resource && self.kind.is_none();
        let convert = |value: &Value| {
            let mut value = value.clone();
            if other && !value.is_null() {
                crate::convert::to_storage(self.served, &mut value);
                value = self.cluster.to_served(&served, value);
            }
            value
        };
        let (object, old) = (convert(&self.object), convert(&self.old));
        Form { request: self.request(&served), served, object, old }
    }

    fn request(&self, served: &Served) -> Value {
        let kind = |served: &Served| match self.kind {
            Some((group, version, kind)) => {
                json!({"group": group, "version": version, "kind": kind})
            }
            None => json!({"group": &*served.resource.group, "version": &*served.resource.version,
                "kind": &*served.kind}),
        };
        let resource = |served: &Served| {
            let Resource { group, version, plural } = &served.resource;
            json!({"group": &**group, "version": &**version, "resource": &**plural})
        };
        let mut request = json!({
            "uid": crate::write::new_uid(),
            "kind": kind(served),
            "resource": resource(served),
            "requestKind": kind(self.served),
            "requestResource": resource(self.served),
            "operation": self.operation(),
            "userInfo": self.user.shown(),
            "dryRun": self.write.dry_run,
            "options": self.options(),
        });
        let below = self.write.subresource;
        let texts = [
            ("name", self.name()),
            ("namespace", self.namespace_name()),
            ("subResource", below),
            ("requestSubResource", below),
        ];
        for (key, text) in texts {
            if !text.is_empty() {
                request[key] = text.into();
            }
        }
        request
    }

    /// Returns the options of the request, as far as the client gave them.
    fn options(&self) -> Value {
        let caller = &self.write.caller;
        let kind = match self.operation() {
            "DELETE" => "DeleteOptions",
            _ if caller.patches => "PatchOptions",
            "CREATE" => "CreateOptions",
            _ => "UpdateOptions",
        };
        let mut options = json!({"kind": kind, "apiVersion": "meta.k8s.io/v1"});
        if self.write.dry_run {
            options["dryRun"] = json!(["All"]);
        }
        for (key, text) in
            [("fieldManager", caller.field_manager), ("fieldValidation", caller.field_validation)]
        {
            if !text.is_empty() {
                options[key] = text.into();
            }
        }
        options
    }

    /// Takes over the object of a form that was changed.
    pub(super) fn take(&mut self, form: Form) {
        let mut made = form.object;
        if form.served.resource != self.served.resource && self.kind.is_none() {
            crate::convert::to_storage(&form.served, &mut made);
            made = self.cluster.to_served(self.served, made);
        }
        self.object = made;
    }

    /// Returns who answers questions about access.
    pub(super) fn access(&self) -> UserAccess<'_> {
        UserAccess { cluster: self.cluster, asked: self }
    }
}

impl Form {
    /// Returns what an expression is evaluated with.
    pub(super) fn subject<'s>(
        &'s self,
        asked: &'s Asked<'_>,
        params: &'s Value,
        access: &'s UserAccess<'_>,
    ) -> Subject<'s> {
        Subject {
            object: &self.object,
            old_object: &self.old,
            request: &self.request,
            namespace: &asked.namespace,
            params,
            authorizer: Some(access),
        }
    }
}
