//! The content of values as lines, in the form of YAML.

use super::style::one_line;
use kusion_model::markers::REFERENCE;
use kusion_model::{FieldPath, Origin};
use serde_json::Value;

/// A line of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ContentLine {
    /// The text, with its indentation; without control characters.
    pub(crate) text: String,
    /// The source location of the value.
    pub(crate) origin: Option<Origin>,
}

/// Looks up the source location of the value at a path.
pub(crate) type FindOrigin<'a> = &'a dyn Fn(&FieldPath) -> Option<Origin>;

/// Returns a value as lines.
pub(crate) fn content(value: &Value, origins: FindOrigin<'_>) -> Vec<ContentLine> {
    lines(value, &FieldPath::default(), origins)
}

fn lines(value: &Value, path: &FieldPath, origins: FindOrigin<'_>) -> Vec<ContentLine> {
    let line = |text: String| ContentLine { text, origin: None };
    match value {
        Value::Object(map) if !map.is_empty() => {
            let mut all = Vec::new();
            for (key, value) in map {
                let below = lines(value, &path.key(key), origins);
                let key = scalar(key);
                match block_sign(value) {
                    None => {
                        all.extend(below.into_iter().map(|it| prefixed(&format!("{key}: "), it)));
                    }
                    Some(sign) => {
                        all.push(line(format!("{key}:{sign}")));
                        all.extend(below.into_iter().map(|it| prefixed("  ", it)));
                    }
                }
            }
            all
        }
        Value::Array(items) if !items.is_empty() => {
            let mut all = Vec::new();
            for (place, item) in items.iter().enumerate() {
                let below = lines(item, &path.index(place), origins);
                let is_text = matches!(item, Value::String(text) if text.contains('\n'));
                if is_text {
                    all.push(line("- |".to_owned()));
                }
                for (number, it) in below.into_iter().enumerate() {
                    all.push(prefixed(if number == 0 && !is_text { "- " } else { "  " }, it));
                }
            }
            all
        }
        Value::String(text) if text.contains('\n') => {
            text.trim_end_matches('\n').split('\n').map(|it| line(one_line(it))).collect()
        }
        value => {
            let text = match value {
                // A reference that could not be resolved before apply.
                Value::String(text) if text.contains(REFERENCE) => {
                    format!("(known after apply: {})", one_line(text))
                }
                Value::String(text) => scalar(text),
                other => other.to_string(),
            };
            vec![ContentLine { text, origin: origins(path) }]
        }
    }
}

/// Returns what follows the key of a value that needs lines below its key; `None` if it is in the
/// line of its key.
fn block_sign(value: &Value) -> Option<&'static str> {
    match value {
        Value::Object(map) if !map.is_empty() => Some(""),
        Value::Array(items) if !items.is_empty() => Some(""),
        Value::String(text) if text.contains('\n') => Some(" |"),
        _ => None,
    }
}

fn prefixed(prefix: &str, line: ContentLine) -> ContentLine {
    ContentLine { text: format!("{prefix}{}", line.text), ..line }
}

/// Writes a text as a plain scalar if it is clear, and otherwise in quotes.
fn scalar(text: &str) -> String {
    let is_clear = |c: char| c.is_ascii_alphanumeric() || "_./-:@()".contains(c);
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '(')
        && text.chars().all(is_clear)
        && !text.ends_with(':')
        && !matches!(text, "true" | "false" | "null" | "yes" | "no" | "on" | "off");
    if is_plain { text.to_owned() } else { one_line(&Value::from(text).to_string()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text(value: &Value) -> String {
        let lines = content(value, &|_| None);
        lines.into_iter().map(|it| it.text + "\n").collect()
    }

    #[test]
    fn values_are_written_as_yaml() {
        let value = json!({
            "kind": "Pod",
            "spec": {"containers": [
                {"name": "a", "ports": [{"containerPort": 80}], "args": ["x y", "true"]},
            ]},
            "data": {"app.conf": "one\ntwo\n", "empty": {}},
        });
        let expected = "\
data:
  app.conf: |
    one
    two
  empty: {}
kind: Pod
spec:
  containers:
    - args:
        - \"x y\"
        - \"true\"
      name: a
      ports:
        - containerPort: 80
";
        assert_eq!(text(&value), expected);
        assert_eq!(text(&json!(["a\nb", []])), "- |\n  a\n  b\n- []\n");
        let later = json!({"address": "db://$kusion_path.a:b:c:d.id"});
        assert_eq!(text(&later), "address: (known after apply: db://$kusion_path.a:b:c:d.id)\n");
    }

    #[test]
    fn values_have_their_source_lines_and_no_control_characters() {
        let value = json!({"a": {"b": "\u{1b}[2J"}, "c": "x\n\u{1b}"});
        let origin = |path: &FieldPath| {
            let file = path.to_string();
            Some(Origin::new(file, 1, 1))
        };
        let lines = content(&value, &origin);
        let shown: Vec<String> = lines
            .iter()
            .map(|it| {
                let origin = it.origin.as_ref().map(ToString::to_string).unwrap_or_default();
                format!("{} {origin}", it.text)
            })
            .collect();
        assert_eq!(shown, ["a: ", "  b: \"\\u001b[2J\" a.b:1", "c: | ", "  x ", "  \\u{1b} "]);
    }
}
