//! Strings of JSON: the one escaper.

/// Appends a text as a JSON string, in quotes. Only what JSON requires is escaped.
#[inline]
pub fn push_json_string(out: &mut String, text: &str) {
    push_escaped::<false>(out, text);
}

/// Appends a text as a JSON string, in quotes, as Go's encoder writes it: safe inside HTML and
/// JavaScript, without the short forms `\b` and `\f`.
pub fn push_html_safe_json_string(out: &mut String, text: &str) {
    push_escaped::<true>(out, text);
}

#[inline]
fn push_escaped<const HTML_SAFE: bool>(out: &mut String, text: &str) {
    out.push('"');
    // Text up to here is written.
    let mut start = 0;
    for (at, byte) in text.bytes().enumerate() {
        let is_plain = byte >= b' ' && byte != b'"' && byte != b'\\';
        if is_plain && !(HTML_SAFE && matches!(byte, b'<' | b'>' | b'&' | 0xe2)) {
            continue;
        }
        if byte == 0xe2 {
            // The line separators U+2028 and U+2029 have three bytes.
            let is_separator =
                matches!(text.as_bytes().get(at + 1..at + 3), Some([0x80, 0xa8 | 0xa9]));
            if is_separator {
                out.push_str(&text[start..at]);
                out.push_str(if text.as_bytes()[at + 2] == 0xa8 { "\\u2028" } else { "\\u2029" });
                start = at + 3;
            }
            continue;
        }
        out.push_str(&text[start..at]);
        start = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x08 if !HTML_SAFE => out.push_str("\\b"),
            0x0c if !HTML_SAFE => out.push_str("\\f"),
            _ => {
                let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
                out.push_str("\\u00");
                out.extend([digit(byte >> 4), digit(byte & 15)]);
            }
        }
    }
    out.push_str(&text[start..]);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> (String, String) {
        let (mut plain, mut safe) = (String::new(), String::new());
        push_json_string(&mut plain, text);
        push_html_safe_json_string(&mut safe, text);
        (plain, safe)
    }

    #[test]
    fn what_json_requires_is_escaped() {
        let (plain, safe) = written("a\"\\\n\r\t\u{8}\u{c}\u{0}\u{1f}é€\u{7f}");
        assert_eq!(plain, "\"a\\\"\\\\\\n\\r\\t\\b\\f\\u0000\\u001fé€\u{7f}\"");
        assert_eq!(safe, "\"a\\\"\\\\\\n\\r\\t\\u0008\\u000c\\u0000\\u001fé€\u{7f}\"");
        assert_eq!(written(""), ("\"\"".to_owned(), "\"\"".to_owned()));
    }

    #[test]
    fn html_is_escaped_on_request() {
        let (plain, safe) = written("<a>&\u{2028}\u{2029}\u{2027}\u{2020}");
        assert_eq!(plain, "\"<a>&\u{2028}\u{2029}\u{2027}\u{2020}\"");
        assert_eq!(safe, "\"\\u003ca\\u003e\\u0026\\u2028\\u2029\u{2027}\u{2020}\"");
    }
}
