//! Paths of the API.

use super::query::decode;

/// What the path of a request points at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Route {
    /// Group; empty for the core group.
    pub(crate) group: String,
    /// Version.
    pub(crate) version: String,
    /// Plural name of the resource.
    pub(crate) plural: String,
    /// Namespace; empty when the path names none.
    pub(crate) namespace: String,
    /// Name; empty for a collection.
    pub(crate) name: String,
    /// Subresource; empty for the object itself.
    pub(crate) subresource: String,
    /// What follows the subresource (paths of proxies).
    pub(crate) rest: String,
    /// Whether the path is of the old form that watches (`/api/v1/watch/pods`).
    pub(crate) watch: bool,
}

/// Parses a path below `/api/<version>` or `/apis/<group>/<version>`; none when it names no
/// resource.
pub(crate) fn parse(path: &str) -> Option<Route> {
    let mut parts = path.trim_start_matches('/').split('/').map(|part| decode(part, false));
    let group = match parts.next()?.as_str() {
        "api" => String::new(),
        "apis" => parts.next()?,
        _ => return None,
    };
    let version = parts.next()?;
    let mut rest: Vec<String> = parts.collect();
    if rest.last().is_some_and(String::is_empty) {
        rest.pop();
    }
    let watch = rest.first().is_some_and(|first| first == "watch") && rest.len() > 1;
    if watch {
        rest.remove(0);
    }
    let mut namespace = String::new();
    if rest.first().is_some_and(|first| first == "namespaces")
        && rest.len() > 2
        && !(group.is_empty() && matches!(rest[2].as_str(), "status" | "finalize"))
    {
        namespace = rest.remove(1);
        rest.remove(0);
    }
    let mut rest = rest.into_iter();
    let plural = rest.next().filter(|plural| !plural.is_empty())?;
    Some(Route {
        group,
        version,
        plural,
        namespace,
        name: rest.next().unwrap_or_default(),
        subresource: rest.next().unwrap_or_default(),
        rest: rest.collect::<Vec<_>>().join("/"),
        watch,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(path: &str) -> [String; 5] {
        let route = parse(path).expect("route");
        [route.group, route.plural, route.namespace, route.name, route.subresource]
    }

    #[test]
    fn paths_are_taken_apart() {
        assert_eq!(route("/api/v1/pods"), ["", "pods", "", "", ""]);
        assert_eq!(route("/api/v1/namespaces/a/pods/b/log"), ["", "pods", "a", "b", "log"]);
        assert_eq!(route("/api/v1/namespaces/a"), ["", "namespaces", "", "a", ""]);
        assert_eq!(route("/api/v1/namespaces/a/status"), ["", "namespaces", "", "a", "status"]);
        assert_eq!(
            route("/apis/apps/v1/namespaces/a/deployments/web/scale"),
            ["apps", "deployments", "a", "web", "scale"]
        );
        assert_eq!(parse("/apis/apps/v1"), None);
        assert!(parse("/api/v1/watch/pods").is_some_and(|route| route.watch));
    }
}
