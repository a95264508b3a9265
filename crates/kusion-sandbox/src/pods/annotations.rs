//! The annotations that script pods, and what is wrong with them.

use super::behaviour::{PREFIX, milliseconds};
use crate::object;
use serde_json::Value;

/// The form of the value of an annotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Duration,
    Flag,
    /// `true`, or how often it happens.
    FlagOrCount,
    Number,
    Text,
}

/// All annotations, without their prefix.
const ANNOTATIONS: [(&str, Form); 10] = [
    ("crash-after", Form::Duration),
    ("crash-loop", Form::Flag),
    ("exit-code", Form::Number),
    ("image-pull-error", Form::FlagOrCount),
    ("log", Form::Text),
    ("never-ready", Form::Flag),
    ("ready-delay", Form::Duration),
    ("run-time", Form::Duration),
    ("start-delay", Form::Duration),
    ("stop-time", Form::Duration),
];

/// Returns warnings about annotations of an object, or of its pod template, that have no effect.
pub(crate) fn warnings(value: &Value) -> Vec<String> {
    let places: [&[&str]; 3] = [
        &["metadata", "annotations"],
        &["spec", "template", "metadata", "annotations"],
        &["spec", "jobTemplate", "spec", "template", "metadata", "annotations"],
    ];
    let mut warnings = Vec::new();
    for place in places {
        for (key, text) in object::at(value, place).as_object().into_iter().flatten() {
            let Some(name) = key.strip_prefix(PREFIX) else { continue };
            let text = text.as_str().unwrap_or_default();
            if let Some(problem) = problem(name, text) {
                warnings.push(format!("{}[{key}]: {problem}", place.join(".")));
            }
        }
    }
    warnings
}

fn problem(name: &str, text: &str) -> Option<String> {
    // A container may be named after the first dot.
    let plain = name.split('.').next().unwrap_or_default();
    let Some((_, form)) = ANNOTATIONS.iter().find(|(own, _)| *own == plain) else {
        let known: Vec<&str> = ANNOTATIONS.iter().map(|(name, _)| *name).collect();
        return Some(format!("unknown annotation of the sandbox; known are {}", known.join(", ")));
    };
    let is_flag = matches!(text, "true" | "false");
    let (is_good, expected) = match form {
        Form::Duration => (milliseconds(text).is_some(), "a duration such as \"2s\""),
        Form::Flag => (is_flag, "\"true\" or \"false\""),
        Form::FlagOrCount => {
            (is_flag || text.parse::<u32>().is_ok(), "\"true\", \"false\" or a number")
        }
        Form::Number => (text.parse::<u8>().is_ok(), "a number from 0 to 255"),
        Form::Text => (true, ""),
    };
    (!is_good).then(|| format!("invalid value {text:?}: expected {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn annotations_without_effect_are_told() {
        let template = json!({"metadata": {"annotations": {
            "sandbox.kusion.io/run-time.web": "soon", "sandbox.kusion.io/log": "x",
            "sandbox.kusion.io/image-pull-error": "3", "other.io/x": "y"}}});
        let object = json!({"metadata": {"annotations": {"sandbox.kusion.io/crashloop": "true"}},
            "spec": {"template": template}});
        let told = warnings(&object);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].starts_with("metadata.annotations[sandbox.kusion.io/crashloop]: unknown"));
        assert!(told[1].ends_with("invalid value \"soon\": expected a duration such as \"2s\""));
    }
}
