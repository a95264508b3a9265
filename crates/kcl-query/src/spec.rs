//! The text form of an override.

use kcl_syntax::ast::ConfigOp;
use std::str::FromStr;
use thiserror::Error;

/// One change: `path=value`, `path:value`, `path+=value` or `path-`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// The variable and the way into it; at least one part.
    pub path: Vec<String>,
    /// What is done there.
    pub action: Action,
}

/// What an override does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Puts a value, given as text, in place of the old one, or merges it.
    Set(ConfigOp, String),
    /// Removes the value.
    Delete,
}

/// Why a spec is not understood.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SpecError {
    /// The spec has none of the four forms.
    #[error(
        "Invalid spec format '{0}', expected <field_path>=<filed_value>, \
         <field_path>:<filed_value>, <field_path>+=<filed_value> or <field_path>-"
    )]
    Form(String),
    /// The path has a bracket in the wrong place.
    #[error("{0}")]
    Path(&'static str),
}

impl FromStr for Override {
    type Err = SpecError;

    fn from_str(spec: &str) -> Result<Self, SpecError> {
        let invalid = || SpecError::Form(spec.to_owned());
        let (path, action) = match split_operator(spec) {
            Some((path, op, value)) => {
                let value = value.trim();
                if value.is_empty() {
                    return Err(invalid());
                }
                (path, Action::Set(op, value.to_owned()))
            }
            None => (spec.strip_suffix('-').ok_or_else(invalid)?, Action::Delete),
        };
        if path.trim().is_empty() {
            return Err(invalid());
        }
        let path = split_path(path.trim())?;
        if path.is_empty() {
            return Err(invalid());
        }
        Ok(Self { path, action })
    }
}

/// Splits at the first operator that stands outside of brackets and strings.
fn split_operator(spec: &str) -> Option<(&str, ConfigOp, &str)> {
    let bytes = spec.as_bytes();
    let mut depth = 0usize;
    let mut i = 0;
    while i < bytes.len() {
        let at = |op, width: usize| Some((&spec[..i], op, &spec[i + width..]));
        match bytes[i] {
            b'=' if depth == 0 => return at(ConfigOp::Override, 1),
            b':' if depth == 0 => return at(ConfigOp::Union, 1),
            b'+' if depth == 0 && bytes.get(i + 1) == Some(&b'=') => {
                return at(ConfigOp::Insert, 2);
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            quote @ (b'"' | b'\'') => {
                if let Some(end) = end_of_string(bytes, i, quote) {
                    i = end;
                }
            }
            _ => {}
        }
        i += 1;
    }
    None
}

/// The place of the closing quote.
fn end_of_string(bytes: &[u8], start: usize, quote: u8) -> Option<usize> {
    let mut i = start + 1;
    while i < bytes.len() {
        match bytes[i] {
            b'\\' => i += 2,
            c if c == quote => return Some(i),
            _ => i += 1,
        }
    }
    None
}

/// Splits a path: `a.b.c`, `a["b"].c` and `a.['b'].c` all have three parts.
pub fn split_path(path: &str) -> Result<Vec<String>, SpecError> {
    let mut parts = Vec::new();
    let mut current = String::new();
    let mut chars = path.chars().peekable();
    let mut quoted = false;
    while let Some(c) = chars.next() {
        match c {
            '"' | '\'' if quoted => {
                if chars.next() != Some(']') {
                    return Err(SpecError::Path("Expected closing bracket"));
                }
                quoted = false;
            }
            c if quoted => current.push(c),
            '.' | '[' => {
                if !current.is_empty() {
                    parts.push(std::mem::take(&mut current));
                }
                if c == '[' {
                    if chars.next().is_some_and(|next| next != '"' && next != '\'') {
                        return Err(SpecError::Path("Expected opening quote after '['"));
                    }
                    quoted = true;
                }
            }
            ']' => return Err(SpecError::Path("Unmatched closing bracket")),
            c => current.push(c),
        }
    }
    if !current.is_empty() {
        parts.push(current);
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(path: &[&str], op: ConfigOp, value: &str) -> Override {
        let path = path.iter().map(|part| (*part).to_owned()).collect();
        Override { path, action: Action::Set(op, value.to_owned()) }
    }

    #[test]
    fn the_four_forms() {
        assert_eq!("a.b=1".parse(), Ok(set(&["a", "b"], ConfigOp::Override, "1")));
        assert_eq!("a : {b = 1}".parse(), Ok(set(&["a"], ConfigOp::Union, "{b = 1}")));
        assert_eq!("a.b+=[1]".parse(), Ok(set(&["a", "b"], ConfigOp::Insert, "[1]")));
        let path = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!("a.b-".parse(), Ok(Override { path, action: Action::Delete }));
    }

    #[test]
    fn operators_inside_brackets_and_strings_do_not_count() {
        assert_eq!(
            "a[\"x=:y\"].b='c=d'".parse(),
            Ok(set(&["a", "x=:y", "b"], ConfigOp::Override, "'c=d'"))
        );
    }

    #[test]
    fn what_is_refused() {
        let refused = |spec: &str| spec.parse::<Override>().unwrap_err().to_string();
        assert!(refused("a").starts_with("Invalid spec format 'a', expected"));
        assert!(refused("=1").starts_with("Invalid spec format '=1'"));
        assert!(refused("a=").starts_with("Invalid spec format 'a='"));
        assert_eq!(refused("a[0]=1"), "Expected opening quote after '['");
        assert_eq!(refused("a['b'c]=1"), "Expected closing bracket");
        assert_eq!(refused("a]=1"), "Unmatched closing bracket");
    }
}
