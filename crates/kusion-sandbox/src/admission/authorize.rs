//! Answers of the roles and bindings of the sandbox to questions of policies.

use super::request::Asked;
use crate::cluster::Cluster;
use crate::rbac::{Action, User};
use kusion_k8s_schema::{AccessQuery, Authorizer};

/// What the user of a request may do.
pub(super) struct UserAccess<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) asked: &'a Asked<'a>,
}

impl std::fmt::Debug for UserAccess<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("UserAccess")
    }
}

impl Authorizer for UserAccess<'_> {
    fn check(&self, query: &AccessQuery) -> Result<(bool, String), String> {
        let user = match &query.service_account {
            Some((namespace, name)) => {
                User::named(&format!("system:serviceaccount:{namespace}:{name}"), "", Vec::new())
            }
            None => self.asked.user.clone(),
        };
        let action = Action {
            verb: &query.verb,
            group: &query.group,
            resource: &query.resource,
            subresource: &query.subresource,
            namespace: &query.namespace,
            name: &query.name,
            path: &query.path,
        };
        let allowed = self.cluster.allows(&user, &action);
        Ok((allowed.is_some(), allowed.unwrap_or_default()))
    }

    fn request_resource(&self) -> AccessQuery {
        let resource = &self.asked.served.resource;
        let place = (self.asked.namespace_name(), self.asked.name());
        let below = self.asked.write.subresource;
        AccessQuery::of(&resource.group, (&resource.plural, below), place)
    }
}
