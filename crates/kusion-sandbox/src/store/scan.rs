//! Finds parts of an object in its text without reading the rest.
//!
//! The text is what `serde_json` writes: no spaces between its parts.

/// Returns the text of the value at a path of keys; keys with escapes are not found.
pub(super) fn find<'a>(text: &'a [u8], path: &[&str]) -> Option<&'a [u8]> {
    path.iter().try_fold(text, |here, key| member(here, key.as_bytes()))
}

/// Returns where a key of an object stands with its value, from the quote of the key to the end of
/// the value.
pub(super) fn place(text: &[u8], key: &str) -> Option<std::ops::Range<usize>> {
    let value = member(text, key.as_bytes())?;
    let start = value.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    Some(start.checked_sub(key.len() + 3)?..start + value.len())
}

fn member<'a>(text: &'a [u8], wanted: &[u8]) -> Option<&'a [u8]> {
    let mut rest = text.strip_prefix(b"{")?;
    while rest.first() == Some(&b'"') {
        let key_end = string_end(rest)?;
        let key = rest.get(1..key_end - 1)?;
        let value = rest.get(key_end..)?.strip_prefix(b":")?;
        let end = value_end(value)?;
        if key == wanted {
            return value.get(..end);
        }
        rest = value.get(end..)?.strip_prefix(b",")?;
    }
    None
}

/// Returns where a string ends, behind its closing quote.
fn string_end(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Returns where a value ends.
fn value_end(text: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    loop {
        match text.get(at)? {
            b'"' => at += string_end(text.get(at..)?)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                at += 1;
            }
            _ => {
                // Numbers and words end where the object goes on or ends.
                at += 1;
                if depth > 0 || !matches!(text.get(at)?, b',' | b'}') {
                    continue;
                }
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn parts_are_found_behind_all_kinds_of_values() {
        let object = json!({
            "a": "quote \" and \\", "b": [1, {"x": "}"}], "c": 12.5, "d": true, "e": {}, "f": null,
            "g": {"h": {"labels": "no"}, "i": {"k": "v"}}, "z": 1,
        });
        let text = object.to_string();
        let part = |path: &[&str]| {
            find(text.as_bytes(), path).map(|it| String::from_utf8_lossy(it).into_owned())
        };
        assert_eq!(part(&["g", "i"]).as_deref(), Some(r#"{"k":"v"}"#));
        assert_eq!(part(&["z"]).as_deref(), Some("1"));
        assert_eq!(part(&["c"]).as_deref(), Some("12.5"));
        assert_eq!(part(&["e"]).as_deref(), Some("{}"));
        assert_eq!(part(&["g", "labels"]), None);
        assert_eq!(part(&["y"]), None);
        assert_eq!(find(b"{\"a\":", &["a"]), None);
    }
}
