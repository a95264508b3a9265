//! Top-level arguments in their text form, `key=value`.

use kcl_value::{Value, json};
use thiserror::Error;

/// An argument that is not `key=value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("Invalid value for top level arguments")]
pub struct ArgumentError;

/// Splits `key=value` into a name and a value in JSON.
///
/// A value is JSON, or one of `True`, `False`, `None` and `Undefined`; all else is text, and
/// so are numbers with an exponent, which may be identifiers such as `12e1`.
pub fn parse_argument(spec: &str) -> Result<(String, String), ArgumentError> {
    let (key, value) = spec.split_once('=').ok_or(ArgumentError)?;
    if key.trim().is_empty() || value.trim().is_empty() || value.contains('=') {
        return Err(ArgumentError);
    }
    Ok((key.to_owned(), to_json(value)))
}

fn to_json(value: &str) -> String {
    match value.trim() {
        "True" => return "true".to_owned(),
        "False" => return "false".to_owned(),
        "None" | "Undefined" => return "null".to_owned(),
        _ => {}
    }
    match json::parse(value) {
        Ok(Value::Int(_) | Value::Float(_)) if value.contains(['e', 'E']) => {
            json::write(&Value::str(value))
        }
        Ok(_) => value.to_owned(),
        Err(_) => json::write(&Value::str(value)),
    }
}

/// The values of arguments; the last one of a name wins.
pub(crate) fn values(arguments: &[(String, String)]) -> Vec<(String, Value)> {
    let mut values: Vec<(String, Value)> = Vec::with_capacity(arguments.len());
    for (name, text) in arguments {
        let value = json::parse(text).unwrap_or_else(|_| Value::str(text.as_str()));
        match values.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = value,
            None => values.push((name.clone(), value)),
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_constants_and_text() {
        let parse = |spec| parse_argument(spec).map(|(_, value)| value);
        assert_eq!(parse("a=1"), Ok("1".into()));
        assert_eq!(parse("a=[1,2]"), Ok("[1,2]".into()));
        assert_eq!(parse("a=\"x\""), Ok("\"x\"".into()));
        assert_eq!(parse("a='x'"), Ok("\"'x'\"".into()));
        assert_eq!(parse("a=True"), Ok("true".into()));
        assert_eq!(parse("a=Undefined"), Ok("null".into()));
        assert_eq!(parse("a=1e3"), Ok("\"1e3\"".into()));
        assert_eq!(parse("a=text"), Ok("\"text\"".into()));
        assert_eq!(parse("a=b=c"), Err(ArgumentError));
        assert_eq!(parse("=1"), Err(ArgumentError));
        assert_eq!(parse("a="), Err(ArgumentError));
        assert_eq!(parse("a"), Err(ArgumentError));
    }

    #[test]
    fn the_last_of_a_name_wins() {
        let argument = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let values = values(&[argument("a", "1"), argument("b", "2"), argument("a", "3")]);
        let names: Vec<&str> = values.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(matches!(values[0].1, Value::Int(3)));
    }
}
