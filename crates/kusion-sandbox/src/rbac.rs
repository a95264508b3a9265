//! Who may do what: roles and bindings, as a real server reads them.

use crate::Status;
use crate::api::{Resource, Scope, Selection};
use crate::cluster::Cluster;
use crate::object::{self, at, text};
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};

/// The group that may do everything.
const MASTERS: &str = "system:masters";
const GROUP: &str = "rbac.authorization.k8s.io";

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) name: String,
    pub(crate) uid: String,
    pub(crate) groups: Vec<String>,
}

impl User {
    /// The user of the kubeconfig, and of every client that is accepted without credentials.
    pub(crate) fn admin() -> Self {
        Self {
            name: "admin".to_owned(),
            uid: "1".to_owned(),
            groups: vec![MASTERS.to_owned(), "system:authenticated".to_owned()],
        }
    }

    /// The same, for as long as the program runs.
    pub(crate) fn kubeconfig() -> &'static Self {
        static ADMIN: LazyLock<User> = LazyLock::new(User::admin);
        &ADMIN
    }

    /// A user by name; an account of a namespace is in the groups of accounts if no others are
    /// given.
    pub(crate) fn named(name: &str, uid: &str, mut groups: Vec<String>) -> Self {
        if let Some(account) = name.strip_prefix("system:serviceaccount:")
            && let Some((namespace, _)) = account.split_once(':')
            && groups.is_empty()
        {
            groups.push("system:serviceaccounts".to_owned());
            groups.push(format!("system:serviceaccounts:{namespace}"));
        }
        let own = match name {
            "system:anonymous" => "system:unauthenticated",
            _ => "system:authenticated",
        };
        if !groups.iter().any(|it| it == own) {
            groups.push(own.to_owned());
        }
        Self { name: name.to_owned(), uid: uid.to_owned(), groups }
    }

    /// The user of a part of the server, by the field manager of its writes.
    pub(crate) fn of_manager(manager: &str) -> Self {
        match manager {
            "kube-controller-manager" | "kube-scheduler" => {
                Self::named(&format!("system:{manager}"), "", Vec::new())
            }
            "kubelet" => Self::named("system:node:sandbox-1", "", vec!["system:nodes".to_owned()]),
            _ => Self::named("system:apiserver", "", vec![MASTERS.to_owned()]),
        }
    }

    /// Returns the user as reviews show it.
    pub(crate) fn shown(&self) -> Value {
        let mut shown = json!({"username": self.name, "groups": self.groups});
        if !self.uid.is_empty() {
            shown["uid"] = self.uid.as_str().into();
        }
        shown
    }

    fn is(&self, subject: &Value, namespace: &str) -> bool {
        let name = text(subject, &["name"]);
        match text(subject, &["kind"]) {
            "User" => name == self.name,
            "Group" => self.groups.iter().any(|it| it == name),
            "ServiceAccount" => {
                let own = text(subject, &["namespace"]);
                let namespace = if own.is_empty() { namespace } else { own };
                self.name == format!("system:serviceaccount:{namespace}:{name}")
            }
            _ => false,
        }
    }
}

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Action<'a> {
    pub(crate) verb: &'a str,
    pub(crate) group: &'a str,
    /// The plural name; empty if a path is asked for.
    pub(crate) resource: &'a str,
    pub(crate) subresource: &'a str,
    pub(crate) namespace: &'a str,
    pub(crate) name: &'a str,
    /// The path, if no resource is asked for.
    pub(crate) path: &'a str,
}

impl Action<'_> {
    fn full_resource(&self) -> String {
        match self.subresource {
            "" => self.resource.to_owned(),
            sub => format!("{}/{sub}", self.resource),
        }
    }

    fn is_allowed_by(&self, rule: &Value) -> bool {
        let list = |key: &str| -> Vec<&str> {
            at(rule, &[key]).as_array().into_iter().flatten().filter_map(Value::as_str).collect()
        };
        let has = |key: &str, wanted: &str| list(key).iter().any(|it| *it == "*" || *it == wanted);
        if !has("verbs", self.verb) {
            return false;
        }
        if self.resource.is_empty() {
            return list("nonResourceURLs").iter().any(|it| match it.strip_suffix('*') {
                Some(start) => self.path.starts_with(start),
                None => *it == self.path,
            });
        }
        let names = list("resourceNames");
        let below = format!("*/{}", self.subresource);
        has("apiGroups", self.group)
            && (has("resources", &self.full_resource())
                || (!self.subresource.is_empty() && list("resources").contains(&&*below)))
            && (names.is_empty() || names.contains(&self.name))
    }

    /// Returns the answer to a user who may not do it.
    pub(crate) fn refusal(&self, user: &User) -> Status {
        let (who, verb) = (&user.name, self.verb);
        if self.resource.is_empty() {
            let path = self.path;
            let message = format!("forbidden: User {who:?} cannot {verb} path {path:?}");
            return Status { code: 403, reason: "Forbidden", message, details: json!({}) };
        }
        let place = match self.namespace {
            "" => "at the cluster scope".to_owned(),
            namespace => format!("in the namespace {namespace:?}"),
        };
        let why = format!(
            "User {who:?} cannot {verb} resource {:?} in API group {:?} {place}",
            self.full_resource(),
            self.group
        );
        Status::forbidden(self.group, self.resource, self.name, &why)
    }
}

impl Cluster {
    /// Returns why a user may do something; `None` if the user may not.
    pub(crate) fn allows(&self, user: &User, action: &Action<'_>) -> Option<String> {
        if user.groups.iter().any(|it| it == MASTERS) {
            return Some(String::new());
        }
        self.rules(user, action.namespace)
            .into_iter()
            .find(|(_, rules)| rules.iter().any(|rule| action.is_allowed_by(rule)))
            .map(|(why, _)| format!("RBAC: allowed by {why}"))
    }

    /// Returns the rules that hold for a user in a namespace and everywhere, and what gives them.
    pub(crate) fn rules(&self, user: &User, namespace: &str) -> Vec<(String, Vec<Value>)> {
        let mut found = Vec::new();
        for binding in self.bindings("clusterrolebindings", "") {
            self.add_rules(user, &binding, "", &mut found);
        }
        if !namespace.is_empty() {
            for binding in self.bindings("rolebindings", namespace) {
                self.add_rules(user, &binding, namespace, &mut found);
            }
        }
        found
    }

    fn bindings(&self, plural: &str, namespace: &str) -> Vec<Arc<Value>> {
        let scope = if namespace.is_empty() { Scope::All } else { Scope::Namespace(namespace) };
        let resource = Resource::new(GROUP, "v1", plural);
        self.api().list(&resource, scope, Selection::default()).map(|it| it.0).unwrap_or_default()
    }

    fn add_rules(
        &self,
        user: &User,
        binding: &Value,
        namespace: &str,
        found: &mut Vec<(String, Vec<Value>)>,
    ) {
        let subjects = at(binding, &["subjects"]).as_array().into_iter().flatten();
        let Some(subject) = subjects.into_iter().find(|it| user.is(it, namespace)) else { return };
        let (kind, name) =
            (text(binding, &["roleRef", "kind"]), text(binding, &["roleRef", "name"]));
        let (plural, place) = match kind {
            "Role" => ("roles", namespace),
            _ => ("clusterroles", ""),
        };
        let Ok(role) = self.api().get(&Resource::new(GROUP, "v1", plural), place, name) else {
            return;
        };
        let own = object::name(binding);
        let binding = match namespace {
            "" => format!("ClusterRoleBinding {own:?}"),
            namespace => format!("RoleBinding {:?}", format!("{own}/{namespace}")),
        };
        let shown = match (text(subject, &["kind"]), text(subject, &["namespace"])) {
            ("ServiceAccount", namespace) => format!("{}/{namespace}", text(subject, &["name"])),
            _ => text(subject, &["name"]).to_owned(),
        };
        let why = format!("{binding} of {kind} {name:?} to {} {shown:?}", text(subject, &["kind"]));
        let rules = at(&role, &["rules"]).as_array().cloned().unwrap_or_default();
        found.push((why, rules));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_match_as_the_server_does() {
        let rule = json!({"verbs": ["get", "list"], "apiGroups": [""],
            "resources": ["pods", "*/scale", "services/status"], "resourceNames": []});
        let allows = |resource, subresource, verb| {
            Action { verb, resource, subresource, ..Action::default() }.is_allowed_by(&rule)
        };
        assert!(allows("pods", "", "get") && allows("deployments", "scale", "list"));
        assert!(allows("services", "status", "get"));
        assert!(!allows("pods", "log", "get") && !allows("pods", "", "watch"));
        let named = json!({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"],
            "resourceNames": ["a"]});
        let action = |name| Action { verb: "get", resource: "pods", name, ..Action::default() };
        assert!(action("a").is_allowed_by(&named) && !action("b").is_allowed_by(&named));
        let path = |path| Action { verb: "get", path, ..Action::default() };
        let rule = json!({"verbs": ["get"], "nonResourceURLs": ["/api/*", "/healthz"]});
        assert!(path("/api/v1").is_allowed_by(&rule) && path("/healthz").is_allowed_by(&rule));
        assert!(!path("/metrics").is_allowed_by(&rule) && !path("/api").is_allowed_by(&rule));
    }

    #[test]
    fn accounts_are_in_the_groups_of_accounts() {
        let user = User::named("system:serviceaccount:n:a", "", Vec::new());
        let wanted = ["system:serviceaccounts", "system:serviceaccounts:n", "system:authenticated"];
        assert_eq!(user.groups, wanted);
        assert!(user.is(&json!({"kind": "ServiceAccount", "name": "a", "namespace": "n"}), ""));
        assert!(user.is(&json!({"kind": "ServiceAccount", "name": "a"}), "n"));
        assert!(!user.is(&json!({"kind": "User", "name": "a"}), "n"));
    }
}
