//! Label and field selectors.

use crate::Status;
use crate::store::Stored;
use serde_json::{Map, Value};

/// One condition of a label selector.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Requirement {
    In(String, Vec<String>),
    NotIn(String, Vec<String>),
    Exists(String),
    Missing(String),
    Above(String, i64),
    Below(String, i64),
}

/// A parsed label selector; the empty one takes everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelSelector {
    requirements: Vec<Requirement>,
}

impl LabelSelector {
    /// Parses the text form (`app=web,tier in (a,b),!old`).
    pub fn parse(text: &str) -> Result<Self, Status> {
        parse_labels(text).map_err(Status::bad_request)
    }

    /// Makes a selector from a `matchLabels`/`matchExpressions` object; null takes nothing.
    pub fn from_object(selector: &Value) -> Option<Self> {
        let selector = selector.as_object()?;
        let mut requirements = Vec::new();
        if let Some(Value::Object(labels)) = selector.get("matchLabels") {
            for (key, value) in labels {
                requirements.push(Requirement::In(key.clone(), vec![value.as_str()?.to_owned()]));
            }
        }
        for expression in
            selector.get("matchExpressions").and_then(Value::as_array).into_iter().flatten()
        {
            let key = expression.get("key")?.as_str()?.to_owned();
            let values = expression
                .get("values")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(|value| value.as_str().map(str::to_owned))
                .collect();
            requirements.push(match expression.get("operator")?.as_str()? {
                "In" => Requirement::In(key, values),
                "NotIn" => Requirement::NotIn(key, values),
                "Exists" => Requirement::Exists(key),
                "DoesNotExist" => Requirement::Missing(key),
                _ => return None,
            });
        }
        Some(Self { requirements })
    }

    /// Makes a selector from a plain map of labels (as in Services); null takes nothing.
    pub fn from_map(labels: &Value) -> Option<Self> {
        let requirements = labels
            .as_object()?
            .iter()
            .map(|(key, value)| {
                Requirement::In(key.clone(), vec![value.as_str().unwrap_or_default().to_owned()])
            })
            .collect();
        Some(Self { requirements })
    }

    /// Returns whether it takes everything.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Returns whether it takes an object with these labels.
    pub fn matches(&self, labels: Option<&Map<String, Value>>) -> bool {
        let get = |key: &str| labels.and_then(|labels| labels.get(key)).and_then(Value::as_str);
        let number = |key: &str| get(key).and_then(|value| value.parse::<i64>().ok());
        self.requirements.iter().all(|requirement| match requirement {
            Requirement::In(key, values) => {
                get(key).is_some_and(|value| values.iter().any(|it| it == value))
            }
            Requirement::NotIn(key, values) => {
                get(key).is_none_or(|value| values.iter().all(|it| it != value))
            }
            Requirement::Exists(key) => get(key).is_some(),
            Requirement::Missing(key) => get(key).is_none(),
            Requirement::Above(key, limit) => number(key).is_some_and(|value| value > *limit),
            Requirement::Below(key, limit) => number(key).is_some_and(|value| value < *limit),
        })
    }

    /// Returns whether it takes an object.
    pub fn takes(&self, object: &Value) -> bool {
        self.is_empty()
            || self.matches(crate::object::at(object, &["metadata", "labels"]).as_object())
    }
}

fn parse_labels(text: &str) -> Result<LabelSelector, String> {
    let mut requirements = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        if rest.starts_with(',') {
            return Err("found ',', expected: !, identifier, or 'end of string'".to_owned());
        }
        let (requirement, after) =
            parse_requirement(rest).map_err(|why| format!("unable to parse requirement: {why}"))?;
        requirements.push(requirement);
        rest = after.trim_start();
        if let Some(after) = rest.strip_prefix(',') {
            rest = after.trim_start();
            if rest.is_empty() {
                return Err("found '', expected: identifier after ','".to_owned());
            }
        } else if !rest.is_empty() {
            let word = token(rest).0;
            return Err(format!("found '{word}', expected: ',' or 'end of string'"));
        }
    }
    Ok(LabelSelector { requirements })
}

/// Returns the next word and what follows it.
fn token(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let end = text.find(|c: char| c.is_whitespace() || "=!,()<>".contains(c)).unwrap_or(text.len());
    text.split_at(end)
}

fn parse_requirement(text: &str) -> Result<(Requirement, &str), String> {
    if let Some(rest) = text.strip_prefix('!') {
        let (key, rest) = token(rest);
        check_key(key)?;
        return Ok((Requirement::Missing(key.to_owned()), rest));
    }
    let (key, rest) = token(text);
    if key.is_empty() {
        let found: String = rest.chars().take(1).collect();
        return Err(format!("found '{found}', expected: !, identifier, or 'end of string'"));
    }
    check_key(key)?;
    let key = key.to_owned();
    let rest = rest.trim_start();
    if rest.is_empty() || rest.starts_with(',') {
        return Ok((Requirement::Exists(key), rest));
    }
    for (operator, negated) in [("==", false), ("=", false), ("!=", true)] {
        if let Some(rest) = rest.strip_prefix(operator) {
            if rest.starts_with('=') {
                return Err("found '=', expected: identifier".to_owned());
            }
            let (value, rest) = token(rest);
            check_value(&key, value)?;
            let values = vec![value.to_owned()];
            let requirement = if negated {
                Requirement::NotIn(key, values)
            } else {
                Requirement::In(key, values)
            };
            return Ok((requirement, rest));
        }
    }
    if let Some(above) = rest.strip_prefix('>') {
        let (value, rest) = token(above);
        return Ok((Requirement::Above(key, limit(value)?), rest));
    }
    if let Some(below) = rest.strip_prefix('<') {
        let (value, rest) = token(below);
        return Ok((Requirement::Below(key, limit(value)?), rest));
    }
    let (word, after) = token(rest);
    if word == "in" || word == "notin" {
        let (values, after) = parse_values(&key, after)?;
        let requirement = if word == "in" {
            Requirement::In(key, values)
        } else {
            Requirement::NotIn(key, values)
        };
        return Ok((requirement, after));
    }
    Err(format!("found '{word}', expected: in, notin, =, ==, !=, gt, lt"))
}

fn limit(value: &str) -> Result<i64, String> {
    value.parse().map_err(|_| format!("values[0]: Invalid value: \"{value}\": for 'Gt', 'Lt' operators, the value must be an integer"))
}

fn parse_values<'a>(key: &str, text: &'a str) -> Result<(Vec<String>, &'a str), String> {
    let Some(mut rest) = text.trim_start().strip_prefix('(') else {
        let word = token(text).0;
        return Err(format!("found '{word}' expected: '('"));
    };
    let mut values = Vec::new();
    loop {
        let (value, after) = token(rest);
        check_value(key, value)?;
        values.push(value.to_owned());
        let after = after.trim_start();
        if let Some(after) = after.strip_prefix(')') {
            return Ok((values, after));
        }
        match after.strip_prefix(',') {
            Some(after) => rest = after,
            None => {
                let word = token(after).0;
                return Err(format!("found '{word}', expected: ',' or ')'"));
            }
        }
    }
}

fn is_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
    bytes.len() <= 63
        && first.is_ascii_alphanumeric()
        && last.is_ascii_alphanumeric()
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(b))
}

fn check_key(key: &str) -> Result<(), String> {
    let (prefix, name) = key.rsplit_once('/').unwrap_or(("a", key));
    if is_name(name) && !prefix.is_empty() && prefix.len() <= 253 {
        return Ok(());
    }
    Err(format!(
        "<nil>: Invalid value: \"{key}\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
    ))
}

fn check_value(key: &str, value: &str) -> Result<(), String> {
    if value.is_empty() || is_name(value) {
        return Ok(());
    }
    Err(format!(
        "values[0][{key}]: Invalid value: \"{value}\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
    ))
}

/// A parsed field selector; the empty one takes everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldSelector {
    /// Path, value, and whether the value must differ.
    requirements: Vec<(String, String, bool)>,
}

impl FieldSelector {
    /// Parses the text form (`metadata.name=web,status.phase!=Running`).
    pub fn parse(text: &str) -> Result<Self, Status> {
        let mut requirements = Vec::new();
        for part in split_unescaped(text) {
            if part.is_empty() {
                continue;
            }
            let (path, value, differs) = if let Some((path, value)) = part.split_once("!=") {
                (path, value, true)
            } else if let Some((path, value)) = part.split_once("==") {
                (path, value, false)
            } else if let Some((path, value)) = part.split_once('=') {
                (path, value, false)
            } else {
                return Err(Status::bad_request(format!(
                    "invalid selector: '{text}'; can't understand '{part}'"
                )));
            };
            requirements.push((path.to_owned(), unescape(value), differs));
        }
        Ok(Self { requirements })
    }

    /// Returns whether it takes everything.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Returns the paths it looks at.
    pub(crate) fn paths_mut(&mut self) -> impl Iterator<Item = &mut String> {
        self.requirements.iter_mut().map(|(path, _, _)| path)
    }

    /// Returns the value that a path must have, when one is asked for.
    pub(crate) fn exact(&self, path: &str) -> Option<&str> {
        self.requirements
            .iter()
            .find(|(it, _, differs)| it == path && !differs)
            .map(|(_, value, _)| value.as_str())
    }

    /// Returns whether it takes a stored object.
    pub(crate) fn takes_stored(&self, stored: &Stored) -> bool {
        // Where an object lies says its key; for anything else the object must be read.
        let by_place = |path: &str| match path {
            "metadata.name" => Some(stored.place().1),
            "metadata.namespace" => Some(stored.place().0),
            _ => None,
        };
        let mut others = false;
        let fits = self.requirements.iter().all(|(path, value, differs)| match by_place(path) {
            Some(text) => (text == value) != *differs,
            None => {
                others = true;
                true
            }
        });
        fits && (!others || self.takes(&stored.value()))
    }

    /// Returns whether it takes an object.
    pub fn takes(&self, object: &Value) -> bool {
        self.requirements
            .iter()
            .all(|(path, value, differs)| (field_text(object, path) == *value) != *differs)
    }
}

/// Returns a field as selectors see it: text, or empty when it is missing.
fn field_text<'a>(object: &'a Value, path: &str) -> std::borrow::Cow<'a, str> {
    // Events of the new form have no source; who reports them stands for it.
    if path == "source.component"
        && object["source"]["component"].as_str().is_none_or(str::is_empty)
    {
        return field_text(object, "reportingComponent");
    }
    let mut here = object;
    for key in path.split('.') {
        match here.get(key) {
            Some(next) => here = next,
            None => return default_text(path).into(),
        }
    }
    match here {
        Value::String(text) => text.as_str().into(),
        Value::Null => default_text(path).into(),
        other => other.to_string().into(),
    }
}

fn default_text(path: &str) -> &'static str {
    match path {
        "spec.unschedulable" | "spec.hostNetwork" => "false",
        "status.successful" | "status.replicas" => "0",
        _ => "",
    }
}

fn split_unescaped(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ',' => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\\' {
            out.extend(chars.next());
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn takes(selector: &str, labels: &Value) -> bool {
        LabelSelector::parse(selector).expect("selector").matches(labels.as_object())
    }

    #[test]
    fn label_selectors_know_all_operators() {
        let labels = json!({"app": "web", "tier": "front", "n": "5"});
        assert!(takes("", &labels));
        assert!(takes("app=web,tier in (front, back)", &labels));
        assert!(takes("app==web,!old,tier notin (x),other!=1,n>4,n<6", &labels));
        assert!(!takes("app!=web", &labels));
        assert!(!takes("app,!tier", &labels));
        assert!(LabelSelector::parse("a in").is_err());
        assert!(LabelSelector::parse("a=b,").is_err());
    }

    #[test]
    fn field_selectors_compare_text() {
        let object = json!({"metadata": {"name": "a"}, "spec": {"n": 3}});
        let takes = |text: &str| FieldSelector::parse(text).expect("selector").takes(&object);
        assert!(takes("metadata.name=a,spec.n==3,spec.other="));
        assert!(!takes("metadata.name!=a"));
        assert!(FieldSelector::parse("metadata.name").is_err());
    }
}
