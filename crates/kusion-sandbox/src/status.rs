//! The answer when a request cannot be served.

use kusion_k8s_schema::Cause;
use serde_json::{Map, Value, json};

/// A failure as Kubernetes reports it; becomes a `Status` object on the wire.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct Status {
    /// HTTP status code.
    pub code: u16,
    /// One word for programs (`NotFound`, `Conflict`, `Invalid` …).
    pub reason: &'static str,
    /// A sentence for people.
    pub message: String,
    /// The `details` object (name, group, kind, uid, causes, retryAfterSeconds); null when none.
    pub details: Value,
}

/// The name under which a resource appears in messages: `pods`, `deployments.apps`.
pub(crate) fn qualified(group: &str, plural: &str) -> String {
    if group.is_empty() { plural.to_owned() } else { format!("{plural}.{group}") }
}

fn details(group: &str, kind: &str, name: &str) -> Map<String, Value> {
    let mut map = Map::new();
    for (key, value) in [("group", group), ("kind", kind), ("name", name)] {
        if !value.is_empty() {
            map.insert(key.to_owned(), Value::from(value));
        }
    }
    map
}

impl Status {
    fn new(code: u16, reason: &'static str, message: String, details: Value) -> Self {
        Self { code, reason, message, details }
    }

    /// There is no such object.
    pub fn not_found(group: &str, plural: &str, name: &str) -> Self {
        let message = format!("{} \"{name}\" not found", qualified(group, plural));
        Self::new(404, "NotFound", message, Value::Object(details(group, plural, name)))
    }

    /// The path leads nowhere.
    pub fn no_route() -> Self {
        let message = "the server could not find the requested resource".to_owned();
        Self::new(404, "NotFound", message, json!({}))
    }

    /// An object of this name is there already.
    pub fn already_exists(group: &str, plural: &str, name: &str) -> Self {
        let message = format!("{} \"{name}\" already exists", qualified(group, plural));
        Self::new(409, "AlreadyExists", message, Value::Object(details(group, plural, name)))
    }

    /// The write cannot be done in the present state of the object; `why` says why.
    pub fn conflict(group: &str, plural: &str, name: &str, why: &str) -> Self {
        let message = format!(
            "Operation cannot be fulfilled on {} \"{name}\": {why}",
            qualified(group, plural)
        );
        Self::new(409, "Conflict", message, Value::Object(details(group, plural, name)))
    }

    /// The object has changed since the writer read it.
    pub fn modified(group: &str, plural: &str, name: &str) -> Self {
        Self::conflict(
            group,
            plural,
            name,
            "the object has been modified; please apply your changes to the latest version and try again",
        )
    }

    /// The write is not allowed; `why` says why.
    pub fn forbidden(group: &str, plural: &str, name: &str, why: &str) -> Self {
        let message = if name.is_empty() {
            format!("{} is forbidden: {why}", qualified(group, plural))
        } else {
            format!("{} \"{name}\" is forbidden: {why}", qualified(group, plural))
        };
        Self::new(403, "Forbidden", message, Value::Object(details(group, plural, name)))
    }

    /// The object breaks the rules of its kind.
    pub fn invalid(group: &str, kind: &str, name: &str, causes: &[Cause]) -> Self {
        let qualified_kind = qualified(group, kind);
        let mut texts: Vec<String> = Vec::new();
        for cause in causes {
            let text = format!("{}: {}", cause.field, cause.message);
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        let text = match texts.len() {
            1 => texts.remove(0),
            _ => format!("[{}]", texts.join(", ")),
        };
        let message = format!("{qualified_kind} \"{name}\" is invalid: {text}");
        let mut map = details(group, kind, name);
        let causes: Vec<Value> = causes.iter().map(Cause::to_json).collect();
        map.insert("causes".to_owned(), Value::Array(causes));
        Self::new(422, "Invalid", message, Value::Object(map))
    }

    /// The request makes no sense.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message.into(), Value::Null)
    }

    /// The revision that was asked for is no longer kept.
    pub fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message.into(), Value::Null)
    }

    /// The resource exists, but this verb is not served on it.
    pub fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource".to_owned();
        Self::new(405, "MethodNotAllowed", message, json!({}))
    }

    /// The format of the body is not understood.
    pub fn unsupported_media(message: impl Into<String>) -> Self {
        Self::new(415, "UnsupportedMediaType", message.into(), Value::Null)
    }

    /// None of the formats that the client takes is served.
    pub fn not_acceptable(message: impl Into<String>) -> Self {
        Self::new(406, "NotAcceptable", message.into(), Value::Null)
    }

    /// The client is not known.
    pub fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized".to_owned(), Value::Null)
    }

    /// The request did not arrive in time.
    pub(crate) fn timed_out() -> Self {
        let message = "Timeout: request did not complete within the allotted timeout";
        Self::new(504, "Timeout", message.to_owned(), json!({}))
    }

    /// The object is larger than what the server can store.
    pub(crate) fn too_large_to_store() -> Self {
        Self::unnamed("etcdserver: request is too large")
    }

    /// All objects take more than what the server can store.
    pub(crate) fn store_is_full() -> Self {
        Self::unnamed("etcdserver: mvcc: database space exceeded")
    }

    /// The change cannot be written to the data folder.
    pub(crate) fn not_written(why: std::io::ErrorKind) -> Self {
        Self::internal(&format!("the sandbox cannot write to its data folder: {why}"))
    }

    /// Too much at the moment; try again later.
    pub fn too_many_requests(message: impl Into<String>, details: Value) -> Self {
        Self::new(429, "TooManyRequests", message.into(), details)
    }

    /// Something went wrong in the server.
    pub fn internal(message: &str) -> Self {
        let details = json!({"causes": [{"message": message}]});
        Self::new(500, "InternalError", format!("Internal error occurred: {message}"), details)
    }

    /// Something went wrong that has no name of its own.
    pub fn unnamed(message: impl Into<String>) -> Self {
        Self::new(500, "", message.into(), Value::Null)
    }

    /// Returns whether the object does not exist.
    pub fn is_not_found(&self) -> bool {
        self.reason == "NotFound"
    }

    /// Returns whether the write came too late.
    pub fn is_conflict(&self) -> bool {
        self.reason == "Conflict"
    }

    /// Returns whether an object of this name is there already.
    pub fn is_already_exists(&self) -> bool {
        self.reason == "AlreadyExists"
    }

    /// Returns the `Status` object.
    pub fn to_value(&self) -> Value {
        let mut value = json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "code": self.code,
        });
        if !self.reason.is_empty() {
            value["reason"] = self.reason.into();
        }
        if !self.details.is_null() {
            value["details"] = self.details.clone();
        }
        value
    }
}
