//! Names, labels and metadata: what they may look like, in the words of a server.
//!
//! Each check returns messages, empty if the value is valid; [`object_meta`] returns complete
//! causes.

mod meta;

pub use meta::{NameRule, annotations, labels, name_rule, object_meta};

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const QUALIFIED: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const QUALIFIED_TEXT: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must \
                              start and end with an alphanumeric character";

/// Checks a DNS label (`my-name`), at most 63 characters.
pub fn dns1123_label(text: &str) -> Vec<String> {
    let mut messages = too_long(text, 63, "characters");
    if !is_label(text) {
        messages.push(if is_subdomain(text) {
            "must not contain dots".to_owned()
        } else {
            regex_message(
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \
                 '-', and must start and end with an alphanumeric character",
                LABEL,
                &["my-name", "123-abc"],
            )
        });
    }
    messages
}

/// Checks a DNS name (`example.com`), at most 253 characters.
pub fn dns1123_subdomain(text: &str) -> Vec<String> {
    subdomain(text, "characters")
}

/// Checks a DNS label that starts with a letter (`abc-123`).
pub fn dns1035_label(text: &str) -> Vec<String> {
    let mut messages = too_long(text, 63, "characters");
    if !is_label(text) || !text.starts_with(|it: char| it.is_ascii_lowercase()) {
        messages.push(regex_message(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start \
             with an alphabetic character, and end with an alphanumeric character",
            "[a-z]([-a-z0-9]*[a-z0-9])?",
            &["my-name", "abc-123"],
        ));
    }
    messages
}

/// Checks a DNS name that starts with `*.`.
pub fn wildcard_subdomain(text: &str) -> Vec<String> {
    let mut messages = too_long(text, 253, "characters");
    if !text.strip_prefix("*.").is_some_and(is_subdomain) {
        messages.push(regex_message(
            "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS \
             subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and \
             end with an alphanumeric character",
            &format!(r"\*\.{SUBDOMAIN}"),
            &["*.example.com"],
        ));
    }
    messages
}

/// Checks a key of a label: a name, with or without a domain in front (`example.com/role`).
pub fn qualified_name(text: &str) -> Vec<String> {
    let examples = ["MyName", "my.name", "123-abc"];
    let mut messages = Vec::new();
    let name = match text.split_once('/') {
        None => text,
        Some((_, name)) if name.contains('/') => {
            let message = regex_message(QUALIFIED_TEXT, QUALIFIED, &examples);
            return vec![format!(
                "a valid label key {message} with an optional DNS subdomain prefix and '/' (e.g. \
                 'example.com/MyName')"
            )];
        }
        Some((prefix, name)) => {
            if prefix.is_empty() {
                messages.push("prefix part must be non-empty".to_owned());
            } else {
                let inner = subdomain(prefix, "bytes");
                messages.extend(inner.into_iter().map(|message| format!("prefix part {message}")));
            }
            name
        }
    };
    if name.is_empty() {
        messages.push("name part must be non-empty".to_owned());
    } else {
        let inner = too_long(name, 63, "bytes");
        messages.extend(inner.into_iter().map(|message| format!("name part {message}")));
    }
    if !is_qualified(name) {
        let message = regex_message(QUALIFIED_TEXT, QUALIFIED, &examples);
        messages.push(format!("name part {message}"));
    }
    messages
}

/// Checks the value of a label.
pub fn label_value(text: &str) -> Vec<String> {
    let mut messages = too_long(text, 63, "bytes");
    if !text.is_empty() && !is_qualified(text) {
        messages.push(regex_message(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', \
             '_' or '.', and must start and end with an alphanumeric character",
            &format!("({QUALIFIED})?"),
            &["MyValue", "my_value", "12345"],
        ));
    }
    messages
}

/// Checks a name that becomes a part of a path.
pub fn path_segment(text: &str) -> Vec<String> {
    if text == "." || text == ".." {
        return vec![format!("may not be '{text}'")];
    }
    let found = ["/", "%"].into_iter().filter(|part| text.contains(part));
    found.map(|part| format!("may not contain '{part}'")).collect()
}

/// Checks a key of a `ConfigMap` or Secret.
pub fn config_key(text: &str) -> Vec<String> {
    let mut messages = too_long(text, 253, "characters");
    if text.is_empty() || !text.bytes().all(|it| it.is_ascii_alphanumeric() || b"-._".contains(&it))
    {
        messages.push(regex_message(
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
            "[-._a-zA-Z0-9]+",
            &["key.name", "KEY_NAME", "key-name"],
        ));
    }
    match text {
        "." | ".." => messages.push(format!("must not be '{text}'")),
        _ if text.starts_with("..") => messages.push("must not start with '..'".to_owned()),
        _ => {}
    }
    messages
}

/// Checks the name of an environment variable.
pub fn env_name(text: &str) -> Vec<String> {
    if text.is_empty() {
        return vec!["environment variable name must be non-empty".to_owned()];
    }
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'=') {
        return Vec::new();
    }
    vec![
        "a valid environment variable name must consist only of printable ASCII characters other \
         than '='"
            .to_owned(),
    ]
}

/// Checks the name of a port.
pub fn port_name(text: &str) -> Vec<String> {
    let mut messages = too_long(text, 15, "characters");
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if text.is_empty() || !text.bytes().all(allowed) {
        messages.push(
            "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)".to_owned(),
        );
    }
    if !text.bytes().any(|byte| byte.is_ascii_lowercase()) {
        messages.push("must contain at least one letter (a-z)".to_owned());
    }
    if text.contains("--") {
        messages.push("must not contain consecutive hyphens".to_owned());
    }
    if text.starts_with('-') || text.ends_with('-') {
        messages.push("must not begin or end with a hyphen".to_owned());
    }
    messages
}

/// Checks the number of a port.
pub fn port_number(port: i64) -> Vec<String> {
    in_range(port, 1, 65_535)
}

/// Checks that a number is in a range.
pub fn in_range(number: i64, low: i64, high: i64) -> Vec<String> {
    if (low..=high).contains(&number) {
        return Vec::new();
    }
    vec![format!("must be between {low} and {high}, inclusive")]
}

/// Checks a share such as `25%`.
pub fn percent(text: &str) -> Vec<String> {
    let digits = text.strip_suffix('%').unwrap_or_default();
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Vec::new();
    }
    vec![regex_message(
        "a valid percent string must be a numeric string followed by an ending '%'",
        "[0-9]+%",
        &["1%", "93%"],
    )]
}

fn subdomain(text: &str, unit: &str) -> Vec<String> {
    let mut messages = too_long(text, 253, unit);
    if !is_subdomain(text) {
        messages.push(regex_message(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \
             '-' or '.', and must start and end with an alphanumeric character",
            SUBDOMAIN,
            &["example.com"],
        ));
    }
    messages
}

fn too_long(text: &str, limit: usize, unit: &str) -> Vec<String> {
    if text.len() > limit {
        vec![format!("must be no more than {limit} {unit}")]
    } else {
        Vec::new()
    }
}

fn regex_message(text: &str, regex: &str, examples: &[&str]) -> String {
    let mut message = format!("{text} (e.g. ");
    for (at, example) in examples.iter().enumerate() {
        let or = if at > 0 { " or " } else { "" };
        message.push_str(or);
        message.push('\'');
        message.push_str(example);
        message.push_str("', ");
    }
    message.push_str("regex used for validation is '");
    message.push_str(regex);
    message.push_str("')");
    message
}

fn is_label(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

fn is_qualified(text: &str) -> bool {
    let ends = |it: Option<u8>| it.is_some_and(|it| it.is_ascii_alphanumeric());
    ends(text.bytes().next())
        && ends(text.bytes().next_back())
        && text.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_.".contains(&it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_names_have_no_messages() {
        for name in ["a", "a-b", "0", "a.b-c.d", "example.com"] {
            assert_eq!(dns1123_subdomain(name), [""; 0], "{name}");
        }
        for key in ["a", "A_b.c", "example.com/Role", "a/b"] {
            assert_eq!(qualified_name(key), [""; 0], "{key}");
        }
        assert!(label_value("").is_empty() && port_name("http").is_empty());
        assert!(percent("25%").is_empty() && wildcard_subdomain("*.a.b").is_empty());
        assert!(env_name("a b").is_empty() && config_key("a.b_c-D").is_empty());
    }

    #[test]
    fn bad_names_get_the_messages_of_the_server() {
        assert_eq!(
            dns1123_label("A"),
            [
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
            ]
        );
        assert_eq!(dns1123_label("a.b"), ["must not contain dots"]);
        assert_eq!(
            dns1123_subdomain("A_"),
            [
                r"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
            ]
        );
        assert_eq!(qualified_name("/a"), ["prefix part must be non-empty"]);
        assert_eq!(
            qualified_name("a/b/c"),
            [
                "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            ]
        );
        assert_eq!(qualified_name("").len(), 2);
        assert_eq!(qualified_name(&"a".repeat(64)), ["name part must be no more than 63 bytes"]);
        assert_eq!(
            label_value("x y"),
            [
                "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
            ]
        );
        assert_eq!(path_segment("a/b%"), ["may not contain '/'", "may not contain '%'"]);
        assert_eq!(path_segment(".."), ["may not be '..'"]);
    }
}
