//! Messages of the server about invalid objects, in plain words and field by field.

use crate::failure::field_path;
use crate::types::{invalid_quantity, located, similar_field};
use base_text::nearest;
use kusion_model::{FieldPath, Problem};
use serde_json::Value;

/// The start of a message about a body that does not fit its type.
const TYPED: &str = "failed to create typed patch object";

/// The problem of a quantity; the server does not say which one.
const QUANTITY: &str =
    "a quantity is invalid: expected a number and a unit, such as `100m` or `1Gi`";

/// Returns whether a message is about an invalid object, although the server calls it an internal
/// error.
pub(crate) fn is_invalid_object(message: &str) -> bool {
    message.starts_with(TYPED) || message.contains("unable to convert unstructured object")
}

/// Adds the place of a problem in an object, and a similar name if a field is unknown.
pub(crate) fn placed(object: &Value, mut problem: Problem) -> Problem {
    problem.path = located(object, &problem.path);
    if problem.message == QUANTITY
        && let Some((path, text)) = invalid_quantity(object)
    {
        let wrong = format!("{path}: invalid quantity {text:?}");
        problem.message = format!("{wrong}: expected a number and a unit, such as `100m` or `1Gi`");
        problem.path = path;
    }
    if problem.suggestion.is_none() && problem.message.starts_with("unknown field") {
        problem.suggestion = similar_field(object, &problem.path);
    }
    problem
}

/// Returns the problem of a field that the server names as a cause.
pub(crate) fn of_cause(field: &str, message: &str) -> Problem {
    let (message, suggestion) = plain_cause(message);
    let path = field_path(field);
    let message = if field.is_empty() { message } else { format!("{field}: {message}") };
    Problem { suggestion, ..Problem::new(path, message) }
}

/// Returns the problems that a message without causes names; empty if it has another form.
pub(crate) fn of_message(message: &str) -> Vec<Problem> {
    if let Some(rest) = message.strip_prefix(TYPED) {
        let details = rest.split_once("): ").map_or(rest, |(_, details)| details);
        let details = details.strip_prefix("errors:").unwrap_or(details);
        return details.lines().filter_map(of_typed).collect();
    }
    if let Some((_, findings)) = message.split_once("strict decoding error: ") {
        return findings.split(", ").filter_map(of_strict).collect();
    }
    of_decoding(message).into_iter().collect()
}

/// Reads `.spec.replica: field not declared in schema`.
fn of_typed(line: &str) -> Option<Problem> {
    let (field, message) = line.trim().split_once(": ")?;
    let field = field.trim_start_matches('.');
    Some(match message {
        "field not declared in schema" => unknown(field),
        _ => Problem::new(field_path(field), format!("{field}: {}", plain_type(message))),
    })
}

/// Reads `unknown field "spec.replica"`.
fn of_strict(finding: &str) -> Option<Problem> {
    let (message, field) = finding.trim().split_once(" field \"")?;
    let field = field.strip_suffix('"')?;
    Some(match message {
        "unknown" => unknown(field),
        _ => Problem::new(field_path(field), format!("{message} field `{field}`")),
    })
}

/// Returns the problem of a field that its type does not have.
pub(crate) fn unknown(field: &str) -> Problem {
    Problem::new(field_path(field), format!("unknown field `{field}`"))
}

/// Reads `… json: cannot unmarshal string into Go struct field Spec.spec.replicas of type int32`.
pub(crate) fn of_decoding(message: &str) -> Option<Problem> {
    if message.contains("quantities must match the regular expression") {
        return Some(Problem::new(FieldPath::default(), QUANTITY));
    }
    let (_, rest) = message.split_once("json: cannot unmarshal ")?;
    let (found, rest) = rest.split_once(" into Go ")?;
    let (place, expected) = rest.split_once(" of type ")?;
    // The first part of the place is the name of a type.
    let field = place.strip_prefix("struct field ").and_then(|it| it.split_once('.'));
    let field = field.map(|(_, field)| field).unwrap_or_default();
    let text = format!("expected {}, got {}", of_go_type(expected), of_json_type(found));
    let text = if field.is_empty() { text } else { format!("{field}: {text}") };
    Some(Problem::new(field_path(field), text))
}

/// Returns the plain words for a type of the server's language.
fn of_go_type(name: &str) -> &'static str {
    match name.trim() {
        "string" => "a string",
        "bool" => "true or false",
        "[]uint8" => "a string in base64",
        it if it.starts_with("[]") => "a list",
        it if it.starts_with("map[") => "a map",
        it if it.starts_with("int") || it.starts_with("uint") => "a whole number",
        it if it.starts_with("float") => "a number",
        // A type with a name is an object, or a string with few values.
        it if it.ends_with("Type") || it.ends_with("Policy") || it.ends_with("UID") => "a string",
        _ => "an object",
    }
}

fn of_json_type(found: &str) -> String {
    match found {
        "string" => "a string".to_owned(),
        "number" => "a number".to_owned(),
        "bool" => "true or false".to_owned(),
        "array" => "a list".to_owned(),
        "object" => "an object".to_owned(),
        _ => match found.strip_prefix("number ") {
            Some(number) => number.to_owned(),
            None => found.to_owned(),
        },
    }
}

/// Returns the plain words for `expected string, got &value.valueUnstructured{Value:1}`.
fn plain_type(message: &str) -> String {
    let Some((expected, found)) = message.split_once(", got ") else { return message.to_owned() };
    let expected = match expected.trim_start_matches("expected ") {
        "numeric (int or float)" => "a number",
        "string" => "a string",
        "boolean" => "true or false",
        "map" => "a map",
        "list" => "a list",
        other => other,
    };
    let value = found.strip_prefix("&value.valueUnstructured{Value:");
    let found = match value.and_then(|it| it.strip_suffix('}')) {
        Some(it) if it.starts_with("map[") => "a map".to_owned(),
        Some(it) if it.starts_with("[]") => "a list".to_owned(),
        Some(value) => value.to_owned(),
        None => match found {
            "int" | "int64" | "float64" => "a number".to_owned(),
            "[]interface {}" => "a list".to_owned(),
            "map[string]interface {}" => "a map".to_owned(),
            "<nil>" => "null".to_owned(),
            _ => of_json_type(found),
        },
    };
    format!("expected {expected}, got {found}")
}

/// Returns the plain words for the message of a cause, and a value that may have been meant.
fn plain_cause(message: &str) -> (String, Option<String>) {
    if let Some(rest) = message.strip_prefix("Required value") {
        return (format!("a value is required{rest}"), None);
    }
    if let Some(rest) = message.strip_prefix("Invalid value: ") {
        let text = match without_go_literal(rest) {
            Some(detail) => format!("invalid value: {detail}"),
            None => format!("invalid value {rest}"),
        };
        return (text, None);
    }
    if let Some(rest) = message.strip_prefix("Unsupported value: ") {
        return unsupported(rest);
    }
    if let Some(rest) = message.strip_prefix("Forbidden: ") {
        return (format!("not allowed: {rest}"), None);
    }
    let mut chars = message.chars();
    let first = chars.next().map(|it| it.to_lowercase().to_string()).unwrap_or_default();
    (format!("{first}{}", chars.as_str()), None)
}

/// Reads `"x": supported values: "a", "b"`.
fn unsupported(rest: &str) -> (String, Option<String>) {
    let Some((value, choices)) = rest.split_once(": supported values: ") else {
        return (format!("unsupported value {rest}"), None);
    };
    let names: Vec<&str> = choices.split(", ").map(|it| it.trim_matches('"')).collect();
    let suggestion = nearest(value.trim_matches('"'), names).map(str::to_owned);
    (format!("unsupported value {value}; expected one of {choices}"), suggestion)
}

/// Returns what follows a value in the syntax of the server's language, such as
/// `v1.LabelSelector{…}: detail`; `None` if there is no such value.
fn without_go_literal(text: &str) -> Option<&str> {
    let start = text.trim_start_matches(['&', '*', '[', ']', '(']);
    let name_end = start.find(['{', ' ', ':', '"'])?;
    let is_literal =
        start[name_end..].starts_with('{') && start[..name_end].contains(['.', '[', ']']);
    if !is_literal {
        return None;
    }
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    for (at, char) in start.char_indices() {
        match char {
            _ if is_escaped => is_escaped = false,
            '\\' if in_string => is_escaped = true,
            '"' => in_string = !in_string,
            '{' if !in_string => depth += 1,
            '}' if !in_string => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(start[at + 1..].trim_start_matches([')', ':', ' ']));
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(message: &str) -> Vec<String> {
        of_message(message).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn bodies_that_do_not_fit_are_explained_by_field() {
        let one = "failed to create typed patch object (shop/web; apps/v1, Kind=Deployment): \
                   .spec.replica: field not declared in schema";
        assert_eq!(messages(one), ["unknown field `spec.replica`"]);
        let two = "failed to create typed patch object (a/b; v1, Kind=Pod): errors:\n  \
                   .spec.hostNetwok: field not declared in schema\n  \
                   .spec.containers[name=\"c\"].env[name=\"A\"].value: expected string, got \
                   &value.valueUnstructured{Value:1}";
        assert_eq!(
            messages(two),
            [
                "unknown field `spec.hostNetwok`",
                "spec.containers[name=\"c\"].env[name=\"A\"].value: expected a string, got 1",
            ]
        );
        let map = "failed to create typed patch object (a/b; /v1, Kind=ConfigMap): .data.x: expected \
                   string, got &value.valueUnstructured{Value:map[string]interface {}{\"a\":\"b\"}}";
        assert_eq!(messages(map), ["data.x: expected a string, got a map"]);
        let number = "failed to create typed patch object (a/b; apps/v1, Kind=Deployment): \
                      .spec.replicas: expected numeric (int or float), got string";
        assert_eq!(messages(number), ["spec.replicas: expected a number, got a string"]);
    }

    #[test]
    fn decoding_errors_name_no_types_of_the_server() {
        let wrong = "Deployment in version \"v1\" cannot be handled as a Deployment: json: cannot \
                     unmarshal string into Go struct field DeploymentSpec.spec.replicas of type \
                     int32";
        assert_eq!(messages(wrong), ["spec.replicas: expected a whole number, got a string"]);
        let strict = "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict \
                      decoding error: unknown field \"dat\", duplicate field \"data\"";
        assert_eq!(messages(strict), ["unknown field `dat`", "duplicate field `data`"]);
        assert_eq!(messages("something else"), [] as [&str; 0]);
    }

    #[test]
    fn an_invalid_quantity_gets_its_place() {
        let pod = serde_json::json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},
            "spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": "1x"}}}]}});
        let message = "failed to convert new object: unable to convert unstructured object to v1, \
                       Kind=Pod: quantities must match the regular expression '^x$'";
        assert!(is_invalid_object(message));
        let found = placed(&pod, of_message(message).remove(0));
        let expected = "spec.containers[0].resources.limits.cpu: invalid quantity \"1x\": expected a \
                        number and a unit, such as `100m` or `1Gi`";
        assert_eq!(found.to_string(), expected);
    }

    #[test]
    fn causes_are_plain() {
        let text = |field: &str, message: &str| of_cause(field, message).to_string();
        assert_eq!(
            text("spec.template", "Required value: must have a name"),
            "spec.template: a value is required: must have a name"
        );
        let selector = "Invalid value: v1.LabelSelector{MatchLabels:map[string]string{\"a\":\"}\"}, \
                        MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: does not match";
        assert_eq!(text("spec.selector", selector), "spec.selector: invalid value: does not match");
        let labels = "Invalid value: map[string]string{\"a\":\"b\"}: `selector` does not match";
        assert_eq!(text("metadata", labels), "metadata: invalid value: `selector` does not match");
        assert_eq!(
            text("metadata.name", "Invalid value: \"A_b\": must be lower case"),
            "metadata.name: invalid value \"A_b\": must be lower case"
        );
        assert_eq!(
            text(
                "spec.type",
                "Unsupported value: \"NodPort\": supported values: \"ClusterIP\", \
                  \"NodePort\""
            ),
            "spec.type: unsupported value \"NodPort\"; expected one of \"ClusterIP\", \"NodePort\" \
             (did you mean `NodePort`?)"
        );
        assert_eq!(text("spec", "Forbidden: no"), "spec: not allowed: no");
        assert_eq!(text("a", "Too long: may"), "a: too long: may");
    }
}
