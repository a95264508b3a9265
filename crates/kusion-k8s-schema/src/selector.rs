//! Label selectors: of specs (`matchLabels`, `matchExpressions`) and plain maps.

use serde_json::{Map, Value};

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns whether a `LabelSelector` of a spec matches the labels of an object. An absent selector
/// matches nothing, an empty one everything.
pub fn matches(selector: &Value, labels: &Value) -> bool {
    if !selector.is_object() {
        return false;
    }
    map_matches(&selector["matchLabels"], labels)
        && items(&selector["matchExpressions"]).iter().all(|it| expression_matches(it, labels))
}

/// Returns whether all entries of a map stand in the labels; an absent map matches everything.
pub fn map_matches(wanted: &Value, labels: &Value) -> bool {
    wanted.as_object().is_none_or(|it| {
        it.iter().all(|(key, value)| labels.get(key).is_some_and(|label| label == value))
    })
}

/// Returns whether a selector selects anything at all by choice (is not empty).
pub fn is_empty(selector: &Value) -> bool {
    selector["matchLabels"].as_object().is_none_or(Map::is_empty)
        && items(&selector["matchExpressions"]).is_empty()
}

/// Returns whether one expression (`key`, `operator`, `values`) matches; also those of node selectors.
pub fn expression_matches(expression: &Value, labels: &Value) -> bool {
    let values = items(&expression["values"]);
    let label = labels.get(text(&expression["key"]));
    let number = |value: &Value| text(value).parse::<i64>().ok();
    match text(&expression["operator"]) {
        "In" => label.is_some_and(|it| values.contains(it)),
        "NotIn" => label.is_none_or(|it| !values.contains(it)),
        "Exists" => label.is_some(),
        "DoesNotExist" => label.is_none(),
        "Gt" => label.and_then(number) > values.first().and_then(number),
        "Lt" => label.is_some() && label.and_then(number) < values.first().and_then(number),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn selectors_match_as_the_api_says() {
        let labels = json!({"app": "web", "n": "3"});
        assert!(matches(&json!({}), &labels));
        assert!(!matches(&Value::Null, &labels));
        assert!(matches(&json!({"matchLabels": {"app": "web"}}), &labels));
        let expression = |op: &str, values: Value| json!({"matchExpressions": [{"key": "n", "operator": op, "values": values}]});
        assert!(matches(&expression("In", json!(["3", "4"])), &labels));
        assert!(!matches(&expression("NotIn", json!(["3"])), &labels));
        assert!(matches(&expression("Gt", json!(["2"])), &labels));
        assert!(!matches(&expression("DoesNotExist", json!([])), &labels));
    }
}
