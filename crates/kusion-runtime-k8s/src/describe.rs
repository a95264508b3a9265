//! Static properties of objects.

use crate::requires;
use kusion_k8s_schema::milliseconds;
use kusion_model::{Description, HookTime, Protection, Resource};
use serde_json::Value;
use std::time::Duration;

/// Protected kinds: they contain data, or objects of others.
const PROTECTED: &[&str] =
    &["CustomResourceDefinition", "PersistentVolume", "PersistentVolumeClaim"];

/// The mark of an object that must not be deleted.
const PREVENT_DESTROY: &str = "kusion.io/prevent-destroy";
/// The mark of an object whose dependents wait until it is ready.
const DEPENDENTS_WAIT: &str = "kusion.io/dependents-wait";

/// The mark of an object that several stacks contain.
const SHARED: &str = "kusion.io/shared";

/// The mark of the wave of an object.
const WAVE: &str = "kusion.io/wave";
/// The mark of the timeout of the step of an object.
const TIMEOUT: &str = "kusion.io/timeout";
/// The mark of the number of attempts of the calls for an object.
const ATTEMPTS: &str = "kusion.io/attempts";
/// The mark of a hook.
const HOOK: &str = "kusion.io/hook";

/// Returns the static properties of an object.
pub(crate) fn describe(resource: &Resource) -> Description {
    let text = |path: &str| resource.attributes.pointer(path).and_then(Value::as_str);
    let kind = text("/kind").unwrap_or_default();
    let provides = match kind {
        "Namespace" => text("/metadata/name").map(requires::namespace),
        "CustomResourceDefinition" => {
            let group = text("/spec/group").unwrap_or_default();
            text("/spec/names/kind").map(|kind| requires::kind_of_group(group, kind))
        }
        _ => None,
    };
    let api_version = text("/apiVersion").unwrap_or_default();
    let mut requirements = vec![requires::kind(api_version, kind)];
    requirements.extend(text("/metadata/namespace").map(requires::namespace));
    let is_definition = kind == "CustomResourceDefinition";
    let waits = mark(resource, DEPENDENTS_WAIT).is_some_and(|it| it == "ready");
    Description {
        kind: kind.to_owned(),
        provides: provides.into_iter().collect(),
        requires: requirements,
        protection: if is_marked(resource, PREVENT_DESTROY) {
            Protection::Marked
        } else if PROTECTED.contains(&kind) {
            Protection::Kind
        } else {
            Protection::None
        },
        is_shared: is_shared(resource),
        is_container: kind == "Namespace",
        // The server rejects objects of a kind until it has established the definition.
        dependents_wait: waits || is_definition,
        wave: text_mark(resource, WAVE).and_then(|it| it.parse().ok()).unwrap_or(0),
        hook: hook(resource, kind),
        timeout: text_mark(resource, TIMEOUT)
            .and_then(|it| milliseconds(&it))
            .and_then(|it| u64::try_from(it).ok())
            .map(Duration::from_millis),
        attempts: text_mark(resource, ATTEMPTS).and_then(|it| it.parse().ok()),
        ..Description::default()
    }
}

/// Returns when an object runs as a hook. Only jobs end, so that others can wait for it.
fn hook(resource: &Resource, kind: &str) -> Option<HookTime> {
    match text_mark(resource, HOOK).filter(|_| kind == "Job")?.as_str() {
        "before-apply" => Some(HookTime::Before),
        "after-apply" => Some(HookTime::After),
        _ => None,
    }
}

/// Reads a mark as text.
fn text_mark(resource: &Resource, name: &str) -> Option<String> {
    Some(match mark(resource, name)? {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    })
}

/// Returns whether several stacks contain an object.
pub fn is_shared(resource: &Resource) -> bool {
    is_marked(resource, SHARED)
}

fn is_marked(resource: &Resource, name: &str) -> bool {
    mark(resource, name).is_some_and(|it| *it == Value::Bool(true) || it == "true")
}

/// Reads a mark from the extensions of a resource or the annotations of its object.
fn mark<'a>(resource: &'a Resource, name: &str) -> Option<&'a Value> {
    let annotations = resource.attributes.pointer("/metadata/annotations");
    resource.extensions.get(name).or_else(|| annotations?.get(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kusion_model::{ResourceId, ResourceType};
    use serde_json::json;

    fn described(object: Value) -> Description {
        describe(&Resource {
            id: ResourceId::new("a"),
            resource_type: ResourceType::new(kusion_k8s_schema::RESOURCE_TYPE),
            attributes: object.into(),
            depends_on: Vec::new(),
            extensions: serde_json::Map::new(),
        })
    }

    #[test]
    fn namespaces_and_definitions_provide_what_objects_require() {
        let namespace = described(json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"},
        }));
        let definition = described(json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "spec": {"group": "example.com", "names": {"kind": "Widget"}},
        }));
        let widget = described(json!({
            "apiVersion": "example.com/v1", "kind": "Widget",
            "metadata": {"name": "w", "namespace": "shop"},
        }));
        assert!(namespace.is_container && definition.dependents_wait);
        let provided = [&definition.provides[..], &namespace.provides].concat();
        assert_eq!(widget.requires, provided);
    }

    #[test]
    fn marks_say_when_something_runs() {
        let marked = |kind: &str| {
            described(json!({
                "kind": kind,
                "metadata": {"annotations": {
                    "kusion.io/hook": "before-apply", "kusion.io/wave": "-2",
                    "kusion.io/timeout": "1m30s", "kusion.io/attempts": "3",
                }},
            }))
        };
        let job = marked("Job");
        assert_eq!((job.hook, job.wave), (Some(HookTime::Before), -2));
        assert_eq!((job.timeout, job.attempts), (Some(Duration::from_secs(90)), Some(3)));
        assert_eq!(marked("Deployment").hook, None, "it never ends");
    }

    #[test]
    fn marks_and_kinds_protect() {
        let marked = json!({
            "kind": "ConfigMap",
            "metadata": {"annotations": {"kusion.io/prevent-destroy": "true"}},
        });
        assert_eq!(described(marked).protection, Protection::Marked);
        let claim = json!({"kind": "PersistentVolumeClaim"});
        assert_eq!(described(claim).protection, Protection::Kind);
        assert_eq!(described(json!({"kind": "Pod"})).protection, Protection::None);
    }
}
