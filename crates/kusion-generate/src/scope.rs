//! Scope of a kind: namespaced or cluster-scoped.

use kusion_k8s_schema::builtin;
use rustc_hash::FxHashMap;
use serde_json::Value;
use std::cell::RefCell;

/// Scope of a kind: namespaced or cluster-scoped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Namespaced.
    Namespaced,
    /// Cluster-scoped.
    Cluster,
}

/// The scopes of kinds: built-in ones and those that are defined in the Spec.
pub(crate) struct Scopes {
    /// By group and kind.
    defined: FxHashMap<(String, String), Scope>,
    /// Answers given before, by `apiVersion` and kind.
    known: RefCell<FxHashMap<(String, String), Option<Scope>>>,
}

impl Scopes {
    /// Adds the kinds of custom resource definitions.
    pub(crate) fn new<'a>(objects: impl Iterator<Item = &'a Value>) -> Self {
        let mut defined = FxHashMap::default();
        for object in objects.filter(|object| object["kind"] == "CustomResourceDefinition") {
            let spec = &object["spec"];
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let scope = if spec["scope"] == "Cluster" { Scope::Cluster } else { Scope::Namespaced };
            defined.insert((text(&spec["group"]), text(&spec["names"]["kind"])), scope);
        }
        Self { defined, known: RefCell::default() }
    }

    /// Returns the scope of a kind; `None` if it is unknown.
    pub(crate) fn of(&self, api_version: &str, kind: &str) -> Option<Scope> {
        let key = (api_version.to_owned(), kind.to_owned());
        if let Some(known) = self.known.borrow().get(&key) {
            return *known;
        }
        let found = self.find(api_version, kind);
        self.known.borrow_mut().insert(key, found);
        found
    }

    fn find(&self, api_version: &str, kind: &str) -> Option<Scope> {
        let (group, _) = split(api_version);
        if let Some(scope) = self.defined.get(&(group.to_owned(), kind.to_owned())) {
            return Some(*scope);
        }
        // Versions and groups that are no longer served (`extensions/v1beta1`) had the scope
        // of today.
        let resources = || builtin().resources.iter().filter(|it| *it.kind == *kind);
        let is_old = |group: &str| group == "extensions" || !group.contains('.');
        let found = resources()
            .find(|it| *it.group == *group)
            .or_else(|| if is_old(group) { resources().next() } else { None })?;
        Some(if found.namespaced { Scope::Namespaced } else { Scope::Cluster })
    }
}

/// Splits an `apiVersion` into group and version; the core group is empty.
pub(crate) fn split(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}
