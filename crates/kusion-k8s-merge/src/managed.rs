//! Who manages which fields: `metadata.managedFields`, kept by every write.
//!
//! [`apply`] merges a configuration and records its fields; [`update`] records what any other write
//! changed. Both expect objects as the server has them at that point: decoded and with defaults,
//! before admission and before the strategy of the kind resets anything. What a strategy resets
//! is given by [`Versions::reset_fields`].

mod apply;
mod cap;
mod conflict;
mod entries;
mod last_applied;
mod prune;
mod reset;
mod scale;
mod times;
mod update;

use std::sync::LazyLock;

use serde_json::Value;

pub use apply::{Applied, ApplyError, apply};
pub use conflict::{Conflict, Conflicts};
pub use reset::{custom_reset_fields, reset_fields};
pub use scale::{ReplicasPath, scale_to_parent, scale_to_subresource};
pub use times::keep_times;
pub use update::{is_reset, update};

use crate::set::Set;
use crate::typed::Typed;

/// The versions of one kind, as far as field managers need them.
pub trait Versions {
    /// Returns the type of the object in a version; none when it is not served.
    fn typed(&self, api_version: &str) -> Option<Typed<'_>>;

    /// Converts an object to a version; none when it cannot be.
    fn convert(&self, object: &Value, api_version: &str) -> Option<Value>;

    /// Returns the fields that writes to this resource never change, in a version.
    fn reset_fields(&self, api_version: &str) -> Option<&Set<'static>>;

    /// Returns the object that a create starts from, in a version: fields that are always
    /// written, with nothing in them.
    fn empty_object(&self, _api_version: &str) -> Value {
        Value::Object(serde_json::Map::new())
    }
}

/// A kind that has one version.
#[derive(Debug, Clone, Copy)]
pub struct OneVersion<'a> {
    /// The version (`apps/v1`).
    pub api_version: &'a str,
    /// The type of its objects.
    pub typed: Typed<'a>,
    /// The fields that writes never change.
    pub reset: Option<&'a Set<'static>>,
}

impl Versions for OneVersion<'_> {
    fn typed(&self, api_version: &str) -> Option<Typed<'_>> {
        (api_version == self.api_version).then_some(self.typed)
    }

    fn convert(&self, object: &Value, api_version: &str) -> Option<Value> {
        (api_version == self.api_version).then(|| object.clone())
    }

    fn reset_fields(&self, api_version: &str) -> Option<&Set<'static>> {
        self.reset.filter(|_| api_version == self.api_version)
    }
}

/// What a request writes to, and as whom.
#[derive(Clone, Copy)]
pub struct Writer<'a> {
    /// The versions of the kind.
    pub versions: &'a dyn Versions,
    /// The version of the request.
    pub api_version: &'a str,
    /// The subresource that is written; empty for the object itself.
    pub subresource: &'a str,
    /// The name of the manager; empty means unknown.
    pub manager: &'a str,
    /// The time of the request (`2026-01-02T03:04:05Z`).
    pub now: &'a str,
}

/// Fields that are never part of a manager's set.
static STRIPPED: LazyLock<Set<'static>> = LazyLock::new(|| {
    Set::of_fields(&[
        &["apiVersion"],
        &["kind"],
        &["metadata"],
        &["metadata", "name"],
        &["metadata", "namespace"],
        &["metadata", "creationTimestamp"],
        &["metadata", "selfLink"],
        &["metadata", "uid"],
        &["metadata", "clusterName"],
        &["metadata", "generation"],
        &["metadata", "managedFields"],
        &["metadata", "resourceVersion"],
    ])
});
