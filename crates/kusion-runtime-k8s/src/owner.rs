//! Owners of objects, by the marks on them.
//!
//! Every object of a stack has an annotation that names the stack and its store. The field manager
//! is named after the stack, too, so that the server reports a conflict when two stacks apply one
//! object at the same time. Other tools are known by the marks that they leave.

use kusion_k8s_schema::OWNER;
use kusion_model::{Owner, Place, StackKey, StackOwner};
use serde_json::{Map, Value};

/// The manager of all stacks in earlier versions.
pub(crate) const FIRST_MANAGER: &str = "kusion";
/// Prefix of the managers of stacks.
const MANAGER_PREFIX: &str = "kusion/";
/// Maximum length of the name of a manager.
const MAX_MANAGER: usize = 128;

/// Marks of other tools: what they deploy, and the label or annotation that names it.
const TOOLS: &[(&str, &str)] = &[
    ("Helm release", "meta.helm.sh/release-name"),
    ("Argo CD application", "argocd.argoproj.io/tracking-id"),
    ("Argo CD application", "argocd.argoproj.io/instance"),
    ("Flux kustomization", "kustomize.toolkit.fluxcd.io/name"),
    ("Flux Helm release", "helm.toolkit.fluxcd.io/name"),
];

/// How the objects of one stack are marked.
#[derive(Debug)]
pub(crate) struct OwnMark {
    /// The stack.
    pub(crate) owner: StackOwner,
    /// The value of the annotation.
    pub(crate) text: String,
    /// The field manager.
    pub(crate) manager: String,
}

impl OwnMark {
    /// Creates the mark of a stack.
    pub(crate) fn new(owner: &StackOwner) -> Self {
        let (text, manager) = (owner.to_string(), manager(&owner.stack));
        Self { owner: owner.clone(), text, manager }
    }

    /// Returns whether an object with this owner belongs to another one.
    pub(crate) fn is_foreign(&self, owner: Option<&Owner>) -> bool {
        owner.is_some_and(|it| !it.is(&self.owner))
    }
}

/// Returns the field manager of a stack: `kusion/shop/dev`, or a hash if that is too long.
pub(crate) fn manager(stack: &StackKey) -> String {
    let path = stack.store_path();
    let mut parts = path.split('/');
    let mut next = || parts.next().unwrap_or_default();
    let mut name = format!("{MANAGER_PREFIX}{}/{}", next(), next());
    let (cell, place) = (next(), next());
    if !stack.cell.is_empty() {
        name = format!("{name}/{cell}");
    }
    if let Place::Named(_) = stack.place {
        name = format!("{name}@{place}");
    }
    if name.len() > MAX_MANAGER {
        name = format!("{MANAGER_PREFIX}{}", &blake3::hash(path.as_bytes()).to_hex()[..32]);
    }
    name
}

/// Returns whether a manager is that of a stack of any version.
pub(crate) fn is_stack_manager(manager: &str) -> bool {
    manager == FIRST_MANAGER || manager.starts_with(MANAGER_PREFIX)
}

/// Returns the owner of an object; `None` if nothing names one.
pub(crate) fn of_object(object: &Value) -> Option<Owner> {
    let metadata = object.get("metadata")?;
    let map = |name: &str| metadata.get(name).and_then(Value::as_object);
    of_marks(map("annotations"), map("labels"))
}

/// Returns the owner that annotations and labels name.
pub(crate) fn of_marks(
    annotations: Option<&Map<String, Value>>,
    labels: Option<&Map<String, Value>>,
) -> Option<Owner> {
    let maps = [annotations, labels];
    let text = |name: &str| {
        let mut found = maps.iter().flatten().filter_map(|it| it.get(name));
        found.find_map(Value::as_str).filter(|it| !it.is_empty())
    };
    if let Some(mark) = annotations.and_then(|it| it.get(OWNER)).and_then(Value::as_str) {
        return Some(Owner::of_mark(mark));
    }
    TOOLS.iter().find_map(|(tool, mark)| {
        // `app:group/Kind:namespace/name` for Argo CD, else a name.
        let name = text(mark)?.split(':').next()?.to_owned();
        Some(Owner::Tool { tool: (*tool).to_owned(), name })
    })
}

/// Removes a mark from the metadata of a shared object to apply: it has no owner, whatever a stack
/// says.
pub(crate) fn remove_mark(metadata: &mut Map<String, Value>) {
    if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
        annotations.remove(OWNER);
    }
}

/// Sets the mark of a stack in the metadata of an object to apply.
pub(crate) fn set_mark(metadata: &mut Map<String, Value>, mark: &str) {
    let annotations = metadata.entry("annotations").or_insert(Value::Null);
    if annotations.is_null() {
        *annotations = Value::Object(Map::new());
    }
    if let Value::Object(annotations) = annotations {
        annotations.insert(OWNER.to_owned(), mark.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn owner(metadata: &Value) -> Option<String> {
        of_object(&json!({"metadata": metadata})).map(|it| it.to_string())
    }

    #[test]
    fn owners_are_known_by_their_marks() {
        assert_eq!(owner(&json!({"name": "a", "labels": {"app": "x"}})), None);
        let stack = json!({"annotations": {
            OWNER: "shop/dev/%/main@s1", "meta.helm.sh/release-name": "web",
        }});
        assert_eq!(owner(&stack).as_deref(), Some("stack shop/dev"));
        let helm = json!({"annotations": {"meta.helm.sh/release-name": "web"}});
        assert_eq!(owner(&helm).as_deref(), Some("Helm release `web`"));
        let argo = "argocd.argoproj.io/tracking-id";
        let argo = json!({"annotations": {argo: "shop:apps/Deployment:default/web"}});
        assert_eq!(owner(&argo).as_deref(), Some("Argo CD application `shop`"));
        let flux = json!({"labels": {"kustomize.toolkit.fluxcd.io/name": "apps"}});
        assert_eq!(owner(&flux).as_deref(), Some("Flux kustomization `apps`"));
    }

    #[test]
    fn managers_are_short_and_different() {
        let key = |project: &str, place| StackKey::new(project, "dev", place);
        assert_eq!(manager(&key("shop", Place::Main)), "kusion/shop/dev");
        assert_eq!(manager(&key("shop", Place::Sandbox("x".into()))), "kusion/shop/dev");
        assert_eq!(manager(&key("shop", Place::Named("eu".into()))), "kusion/shop/dev@eu");
        let long = [
            manager(&key(&"a".repeat(200), Place::Main)),
            manager(&key(&"b".repeat(200), Place::Main)),
        ];
        assert!(long.iter().all(|it| it.len() == 39 && is_stack_manager(it)), "{long:?}");
        assert_ne!(long[0], long[1]);
    }
}
