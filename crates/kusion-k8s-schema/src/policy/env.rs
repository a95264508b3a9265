//! The names that expressions of policies can use, and their types.

use crate::cel::{Fields, Ty};
use serde_json::Value;
use std::rc::Rc;

/// The fields of `request`, with those of its records behind a dot.
const REQUEST: [&str; 23] = [
    "kind.group",
    "kind.version",
    "kind.kind",
    "resource.group",
    "resource.version",
    "resource.resource",
    "subResource",
    "requestKind.group",
    "requestKind.version",
    "requestKind.kind",
    "requestResource.group",
    "requestResource.version",
    "requestResource.resource",
    "requestSubResource",
    "name",
    "namespace",
    "operation",
    "userInfo.username",
    "userInfo.uid",
    "userInfo.groups",
    "userInfo.extra",
    "dryRun",
    "options",
];

/// The fields of `namespaceObject`.
const NAMESPACE: [&str; 14] = [
    "metadata.name",
    "metadata.generateName",
    "metadata.namespace",
    "metadata.labels",
    "metadata.annotations",
    "metadata.UID",
    "metadata.creationTimestamp",
    "metadata.deletionGracePeriodSeconds",
    "metadata.deletionTimestamp",
    "metadata.generation",
    "metadata.resourceVersion",
    "metadata.finalizers",
    "spec.finalizers",
    "status.phase",
];

fn leaf<'t>(name: &str) -> Ty<'t> {
    let texts = || Ty::List(Box::new(Ty::String));
    match name {
        "groups" | "finalizers" => texts(),
        "extra" => Ty::Map(Box::new(Ty::String), Box::new(texts())),
        "labels" | "annotations" => Ty::Map(Box::new(Ty::String), Box::new(Ty::String)),
        "creationTimestamp" | "deletionTimestamp" => Ty::Opaque("timestamp"),
        "deletionGracePeriodSeconds" | "generation" => Ty::Int,
        "dryRun" => Ty::Bool,
        "options" => Ty::Dyn,
        _ => Ty::String,
    }
}

/// Builds a record from the paths of its fields.
fn record<'t>(name: &'static str, paths: &[&'static str]) -> Ty<'t> {
    let mut fields: Vec<(String, Ty<'t>)> = Vec::new();
    for path in paths {
        let Some((group, _)) = path.split_once('.') else {
            fields.push(((*path).to_owned(), leaf(path)));
            continue;
        };
        if fields.iter().any(|(own, _)| own == group) {
            continue;
        }
        let inner = paths.iter().filter_map(|it| it.strip_prefix(group)?.strip_prefix('.'));
        let inner = inner.map(|it| (it.to_owned(), leaf(it))).collect();
        let inner = Ty::Record(Rc::new(Fields { name: group_name(group), fields: inner }));
        fields.push((group.to_owned(), inner));
    }
    Ty::Record(Rc::new(Fields { name, fields }))
}

fn group_name(group: &str) -> &'static str {
    match group {
        "kind" | "requestKind" => "kubernetes.GroupVersionKind",
        "resource" | "requestResource" => "kubernetes.GroupVersionResource",
        "userInfo" => "kubernetes.UserInfo",
        "metadata" => "kubernetes.NamespaceMetadata",
        "spec" => "kubernetes.NamespaceSpec",
        _ => "kubernetes.NamespaceStatus",
    }
}

/// The names of a policy.
pub(super) struct Env<'t> {
    names: Vec<(&'static str, Ty<'t>)>,
    variables: Vec<(String, Ty<'t>)>,
}

impl<'t> Env<'t> {
    /// Makes the names of a policy; `object` is the type of its objects.
    pub(super) fn new(spec: &Value, object: Ty<'t>) -> Self {
        let mut names = vec![
            ("object", object.clone()),
            ("oldObject", object),
            ("request", record("kubernetes.AdmissionRequest", &REQUEST)),
            ("namespaceObject", record("kubernetes.Namespace", &NAMESPACE)),
            ("authorizer", Ty::Opaque("authorizer")),
        ];
        if spec.get("paramKind").is_some_and(|it| !it.is_null()) {
            names.push(("params", Ty::Dyn));
        }
        Self { names, variables: Vec::new() }
    }

    /// Adds the messages that mutations create.
    pub(super) fn with_messages(mut self) -> Self {
        for name in ["Object", "JSONPatch"] {
            self.names.push((name, Ty::Message(name.to_owned())));
        }
        self
    }

    /// Removes a name.
    pub(super) fn without(&self, name: &str) -> Self {
        let names = self.names.iter().filter(|(own, _)| *own != name).cloned().collect();
        Self { names, variables: self.variables.clone() }
    }

    /// Adds a variable.
    pub(super) fn declare(&mut self, name: &str, ty: Ty<'t>) {
        self.variables.push((name.to_owned(), ty.decided()));
    }

    /// Returns all names; `variables` is one of them if there are any.
    pub(super) fn names(&self, with_variables: bool) -> Vec<(&'static str, Ty<'t>)> {
        let mut names = self.names.clone();
        if with_variables {
            let fields = Fields { name: "kubernetes.variables", fields: self.variables.clone() };
            names.push(("variables", Ty::Record(Rc::new(fields))));
        }
        names
    }
}
