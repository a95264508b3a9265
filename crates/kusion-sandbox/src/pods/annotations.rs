//! Warnings about the annotations that script pods.

use super::behaviour::PREFIX;
use kusion_k8s_schema::annotation_problems;
use serde_json::Value;

/// Returns warnings about annotations of an object, or of its pod template, that have no effect.
pub(crate) fn warnings(value: &Value) -> Vec<String> {
    annotation_problems(value)
        .into_iter()
        .filter(|it| it.key.starts_with(PREFIX))
        .map(|it| format!("{}[{}]: {}", it.place.join("."), it.key, it.problem))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn annotations_without_effect_are_told() {
        let object = json!({"metadata": {"annotations": {
            "sandbox.kusion.io/crashloop": "true", "kusion.io/color": "blue"}}});
        assert_eq!(
            warnings(&object),
            [
                "metadata.annotations[sandbox.kusion.io/crashloop]: unknown annotation; did you mean \
              `sandbox.kusion.io/crash-loop`?"
            ]
        );
    }
}
