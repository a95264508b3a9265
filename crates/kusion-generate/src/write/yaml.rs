//! YAML in block style.

use super::Ordered;
use serde_json::json;
use std::fmt::Write as _;

/// Words that some YAML readers read as a boolean or as null.
const WORDS: [&str; 9] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];

/// Writes fields, each on a line that is indented by `indent` columns.
pub(super) fn write_fields(out: &mut String, fields: &[(&str, Ordered<'_>)], indent: usize) {
    for (position, (key, value)) in fields.iter().enumerate() {
        // The first one may follow the dash of an item.
        if position > 0 || out.is_empty() || out.ends_with('\n') {
            spaces(out, indent);
        }
        write_text(out, key, None);
        out.push(':');
        match value {
            Ordered::Fields(fields) if !fields.is_empty() => {
                out.push('\n');
                write_fields(out, fields, indent + 2);
            }
            Ordered::Items(items) if !items.is_empty() => {
                out.push('\n');
                write_items(out, items, indent);
            }
            value => {
                out.push(' ');
                write_scalar(out, value, indent);
            }
        }
    }
}

fn write_items(out: &mut String, items: &[Ordered<'_>], indent: usize) {
    for item in items {
        if out.is_empty() || out.ends_with('\n') {
            spaces(out, indent);
        }
        out.push_str("- ");
        match item {
            Ordered::Fields(fields) if !fields.is_empty() => write_fields(out, fields, indent + 2),
            Ordered::Items(items) if !items.is_empty() => write_items(out, items, indent + 2),
            item => write_scalar(out, item, indent),
        }
    }
}

fn write_scalar(out: &mut String, value: &Ordered<'_>, indent: usize) {
    match value {
        Ordered::Fields(_) => out.push_str("{}"),
        Ordered::Items(_) => out.push_str("[]"),
        Ordered::Text(text) => return write_text(out, text, Some(indent)),
        Ordered::Other(value) => out.push_str(&value.to_string()),
    }
    out.push('\n');
}

/// Writes a text; with an indent it is a value, and may be a block of lines.
fn write_text(out: &mut String, text: &str, indent: Option<usize>) {
    match indent {
        Some(indent) if is_block(text) => return write_block(out, text, indent),
        _ if is_plain(text) => out.push_str(text),
        _ if text.chars().all(is_printable) => {
            out.push('\'');
            out.push_str(&text.replace('\'', "\'\'"));
            out.push('\'');
        }
        // Characters that JSON escapes are escaped in YAML, too; the others are escaped here.
        _ => {
            for c in json!(text).to_string().chars() {
                if is_printable(c) {
                    out.push(c);
                } else {
                    let mut units = [0; 2];
                    for unit in c.encode_utf16(&mut units) {
                        // Writing to a string does not fail.
                        let _ = write!(out, "\\u{unit:04x}");
                    }
                }
            }
        }
    }
    if indent.is_some() {
        out.push('\n');
    }
}

fn write_block(out: &mut String, text: &str, indent: usize) {
    let lines = text.trim_end_matches('\n');
    out.push_str(match text.len() - lines.len() {
        0 => "|-\n",
        1 => "|\n",
        _ => "|+\n",
    });
    let end = if text.ends_with('\n') { text.len() - 1 } else { text.len() };
    for line in text[..end].split('\n') {
        if !line.is_empty() {
            spaces(out, indent + 2);
            out.push_str(line);
        }
        out.push('\n');
    }
}

/// Whether a text is written as a block: several lines, the first of which is not blank.
fn is_block(text: &str) -> bool {
    let has_lines = text.trim_end_matches('\n').contains('\n') || text.ends_with('\n');
    has_lines
        && !text.starts_with([' ', '\n', '\t'])
        && text.chars().all(|c| c == '\n' || is_printable(c))
}

/// Whether a text is itself without quotes, for every reader.
fn is_plain(text: &str) -> bool {
    let Some(first) = text.bytes().next() else { return false };
    let is_safe = |b: u8| b.is_ascii_alphanumeric() || b"_-./:@+,=$%()<>;~^*&!?| ".contains(&b);
    (first.is_ascii_alphabetic() || first == b'_' || first == b'/')
        && text.bytes().all(is_safe)
        && !text.contains(": ")
        && !text.ends_with([' ', ':'])
        && !WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

fn is_printable(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn spaces(out: &mut String, count: usize) {
    out.extend(std::iter::repeat_n(' ', count));
}
