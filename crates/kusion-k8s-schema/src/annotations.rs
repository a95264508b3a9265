//! Annotations of `kusion.io`: those that the engine reads, and those that script the pods of the
//! sandbox.

use crate::Quantity;
use base_text::nearest;
use serde_json::Value;

/// The prefix of annotations of the engine.
pub const ENGINE_PREFIX: &str = "kusion.io/";
/// The prefix of annotations of the sandbox.
pub const SANDBOX_PREFIX: &str = "sandbox.kusion.io/";

/// The annotation that names the stack that an object belongs to.
pub const OWNER: &str = "kusion.io/owner";

/// The form of the value of an annotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Duration,
    Flag,
    /// `true`, or how often it happens.
    FlagOrCount,
    Number,
    /// The value of a metric.
    Metric,
    /// The only value that has a meaning.
    Word(&'static str),
    /// The values that have a meaning.
    OneOf(&'static [&'static str]),
    /// A number, which may be negative.
    Wave,
    Text,
}

/// All annotations of the engine, without their prefix.
const ENGINE: [(&str, Form); 10] = [
    ("attempts", Form::Number),
    ("dependents-wait", Form::Word("ready")),
    ("hook", Form::OneOf(&["before-apply", "after-apply"])),
    ("owner", Form::Text),
    ("prevent-destroy", Form::Flag),
    ("secret-fields", Form::Text),
    ("shared", Form::Flag),
    ("timeout", Form::Duration),
    ("wait-for", Form::Text),
    ("wave", Form::Wave),
];

/// All annotations of the sandbox, without their prefix.
const SANDBOX: [(&str, Form); 12] = [
    ("crash-after", Form::Duration),
    ("crash-loop", Form::Flag),
    ("exit-code", Form::Number),
    ("image-pull-error", Form::FlagOrCount),
    ("log", Form::Text),
    ("lost", Form::Flag),
    ("metric", Form::Metric),
    ("never-ready", Form::Flag),
    ("ready-delay", Form::Duration),
    ("run-time", Form::Duration),
    ("start-delay", Form::Duration),
    ("stop-time", Form::Duration),
];

/// Where an object has annotations: its own, and those of its pods.
const PLACES: [&[&str]; 3] = [
    &["metadata", "annotations"],
    &["spec", "template", "metadata", "annotations"],
    &["spec", "jobTemplate", "spec", "template", "metadata", "annotations"],
];

/// An annotation that has no effect as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnnotationProblem<'a> {
    /// The path to the annotations.
    pub place: &'static [&'static str],
    /// The annotation.
    pub key: &'a str,
    /// The problem.
    pub problem: String,
}

/// Returns the annotations of an object, or of its pod template, that begin with `kusion.io/` or
/// `sandbox.kusion.io/` and have no effect.
pub fn annotation_problems(object: &Value) -> Vec<AnnotationProblem<'_>> {
    let mut problems = Vec::new();
    for place in PLACES {
        let annotations = place.iter().try_fold(object, |value, key| value.get(key));
        for (key, value) in annotations.and_then(Value::as_object).into_iter().flatten() {
            let text = value.as_str().unwrap_or_default();
            let problem = if key == OWNER {
                Some("set by kusion; the value of the stack has no effect".to_owned())
            } else {
                annotation_problem(key, text)
            };
            if let Some(problem) = problem {
                problems.push(AnnotationProblem { place, key, problem });
            }
        }
    }
    problems
}

/// Reads the value of a metric that an annotation scripts (`250m`, `80%`, `2 total`): the amount,
/// whether it is a percentage, and whether all pods share it.
pub fn scripted_metric(text: &str) -> Option<(Quantity, bool, bool)> {
    let (amount, is_total) = match text.trim().strip_suffix("total") {
        Some(amount) => (amount.trim_end(), true),
        None => (text.trim(), false),
    };
    let (amount, is_percent) = match amount.strip_suffix('%') {
        Some(amount) => (amount, true),
        None => (amount, false),
    };
    let amount = Quantity::parse(amount).filter(|it| !it.is_negative())?;
    Some((amount, is_percent, is_total))
}

/// Returns why an annotation of `kusion.io` or `sandbox.kusion.io` has no effect; `None` for all
/// others.
pub fn annotation_problem(key: &str, text: &str) -> Option<String> {
    if let Some(name) = key.strip_prefix(ENGINE_PREFIX) {
        return problem(ENGINE_PREFIX, &ENGINE, name, text);
    }
    // A container may be named after the first dot.
    let name = key.strip_prefix(SANDBOX_PREFIX)?.split('.').next().unwrap_or_default();
    problem(SANDBOX_PREFIX, &SANDBOX, name, text)
}

fn problem(prefix: &str, all: &[(&str, Form)], name: &str, text: &str) -> Option<String> {
    let Some((_, form)) = all.iter().find(|(own, _)| *own == name) else {
        // Dashes are forgotten more often than letters.
        let plain = |name: &str| name.replace('-', "");
        let names = || all.iter().map(|(name, _)| *name);
        let similar = names().find(|own| plain(own) == plain(name));
        return Some(match similar.or_else(|| nearest(name, names())) {
            Some(meant) => format!("unknown annotation; did you mean `{prefix}{meant}`?"),
            None => {
                let known: Vec<&str> = names().collect();
                format!("unknown annotation; expected one of {}", known.join(", "))
            }
        });
    };
    let is_flag = matches!(text, "true" | "false");
    let (is_good, expected) = match form {
        Form::Duration => (milliseconds(text).is_some(), "a duration such as \"2s\"".to_owned()),
        Form::Flag => (is_flag, "\"true\" or \"false\"".to_owned()),
        Form::Metric => (
            scripted_metric(text).is_some(),
            "an amount of each pod such as \"250m\" or \"80%\", or of all such as \"2 total\""
                .to_owned(),
        ),
        Form::FlagOrCount => {
            (is_flag || text.parse::<u32>().is_ok(), "\"true\", \"false\" or a number".to_owned())
        }
        Form::Number => (text.parse::<u8>().is_ok(), "a number from 0 to 255".to_owned()),
        Form::Word(word) => (text == *word, format!("{word:?}")),
        Form::OneOf(words) => {
            let shown: Vec<String> = words.iter().map(|it| format!("{it:?}")).collect();
            (words.contains(&text), shown.join(" or "))
        }
        Form::Wave => (text.parse::<i32>().is_ok(), "a number such as \"1\" or \"-1\"".to_owned()),
        Form::Text => (true, String::new()),
    };
    (!is_good).then(|| format!("invalid value {text:?}: expected {expected}"))
}

/// Reads `2s`, `150ms`, `1m30s` or a plain number of seconds.
pub fn milliseconds(text: &str) -> Option<i64> {
    if let Ok(seconds) = text.parse::<f64>() {
        return (seconds >= 0.0).then_some((seconds * 1000.0) as i64);
    }
    let mut total = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|it: char| !it.is_ascii_digit() && it != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let letters = rest.find(|it: char| it.is_ascii_digit()).unwrap_or(rest.len());
        total += number
            * match &rest[..letters] {
                "ms" => 1.0,
                "s" => 1000.0,
                "m" => 60_000.0,
                "h" => 3_600_000.0,
                "d" => 86_400_000.0,
                _ => return None,
            };
        rest = &rest[letters..];
    }
    Some(total as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn annotations_without_effect_are_found() {
        let template = json!({"metadata": {"annotations": {
            "sandbox.kusion.io/run-time.web": "soon", "sandbox.kusion.io/log": "x",
            "sandbox.kusion.io/image-pull-error": "3", "other.io/x": "y"}}});
        let object = json!({
            "metadata": {"annotations": {
                OWNER: "a/b/%/main@c", "kusion.io/prevent-destory": "true", "kusion.io/shared": "yes",
                "kusion.io/dependents-wait": "ready", "sandbox.kusion.io/crashloop": "true"}},
            "spec": {"template": template}});
        let found = annotation_problems(&object);
        let mut shown: Vec<String> =
            found.iter().map(|it| format!("{}: {}", it.key, it.problem)).collect();
        shown.sort();
        assert_eq!(
            shown,
            [
                "kusion.io/owner: set by kusion; the value of the stack has no effect",
                "kusion.io/prevent-destory: unknown annotation; did you mean \
                 `kusion.io/prevent-destroy`?",
                "kusion.io/shared: invalid value \"yes\": expected \"true\" or \"false\"",
                "sandbox.kusion.io/crashloop: unknown annotation; did you mean \
                 `sandbox.kusion.io/crash-loop`?",
                "sandbox.kusion.io/run-time.web: invalid value \"soon\": expected a duration \
                 such as \"2s\"",
            ]
        );
        let problem = annotation_problem("kusion.io/color", "blue");
        assert_eq!(
            problem.as_deref(),
            Some(
                "unknown annotation; expected one of attempts, dependents-wait, hook, owner, \
                 prevent-destroy, secret-fields, shared, timeout, wait-for, wave"
            )
        );
        assert_eq!(annotation_problem("app.kusion.io/color", "blue"), None);
    }
}
