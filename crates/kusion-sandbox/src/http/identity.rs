//! Who a request comes from, and whether it may be answered.

use super::read::Request;
use super::route::Route;
use crate::Status;
use crate::cluster::Cluster;
use crate::rbac::{Action, User};
use hyper::Method;

/// Returns the user that a client wants to be taken for; `None` for the user of the kubeconfig.
pub(crate) fn impersonated(request: &Request) -> Result<Option<User>, Status> {
    let header = |name: &str| -> Vec<String> {
        let values = request.headers.get_all(name).iter();
        values.filter_map(|it| it.to_str().ok()).map(str::to_owned).collect()
    };
    let (name, uid) = (header("impersonate-user"), header("impersonate-uid"));
    let groups = header("impersonate-group");
    match name.first() {
        Some(name) if !name.is_empty() => {
            let uid = uid.first().map_or("", String::as_str);
            Ok(Some(User::named(name, uid, groups)))
        }
        _ if groups.is_empty() && uid.is_empty() => Ok(None),
        _ => Err(Status::internal("requested groups or a uid without impersonating a user")),
    }
}

/// Refuses what a user may not do.
pub(crate) fn authorize(
    cluster: &Cluster,
    user: &User,
    request: &Request,
    route: Option<&Route>,
) -> Result<(), Status> {
    let lower = request.method.as_str().to_lowercase();
    let action = match route {
        Some(route) => Action {
            verb: verb(request, route),
            group: &route.group,
            resource: &route.plural,
            subresource: &route.subresource,
            // A namespace is in itself.
            namespace: match (&*route.group, &*route.plural) {
                ("", "namespaces") => &route.name,
                _ => &route.namespace,
            },
            name: &route.name,
            path: "",
        },
        None => Action { verb: &lower, path: &request.path, ..Action::default() },
    };
    match cluster.allows(user, &action) {
        Some(_) => Ok(()),
        None => Err(action.refusal(user)),
    }
}

/// Returns what a request does, in the words of roles.
fn verb(request: &Request, route: &Route) -> &'static str {
    let watches = route.watch || request.query.flag("watch");
    match (&request.method, route.name.is_empty()) {
        (&Method::GET | &Method::HEAD, _) if watches => "watch",
        (&Method::GET | &Method::HEAD, true) => "list",
        (&Method::GET | &Method::HEAD, false) => "get",
        (&Method::POST, _) => "create",
        (&Method::PUT, _) => "update",
        (&Method::PATCH, _) => "patch",
        (&Method::DELETE, true) => "deletecollection",
        (&Method::DELETE, false) => "delete",
        _ => "",
    }
}
