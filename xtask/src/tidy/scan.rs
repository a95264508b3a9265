//! A light reading of Rust source: blanks out what is no code.

/// Returns the text with comments and the insides of literals replaced by spaces.
///
/// Lines and columns stay where they are; the quotes of literals stay too.
pub(super) fn code_only(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = match (chars[at], chars.get(at + 1)) {
            ('/', Some('/')) => line_end(&chars, at),
            ('/', Some('*')) => block_comment_end(&chars, at),
            ('"', _) => {
                let end = string_end(&chars, at);
                blank_inside(&chars[at..end], &mut out);
                at = end;
                continue;
            }
            ('r', Some('"' | '#')) if !follows_word(&chars, at) => match raw_string_end(&chars, at)
            {
                Some(end) => {
                    blank_inside(&chars[at..end], &mut out);
                    at = end;
                    continue;
                }
                None => at,
            },
            ('\'', _) => char_end(&chars, at).unwrap_or(at),
            _ => at,
        };
        if end == at {
            out.push(chars[at]);
            at += 1;
        } else {
            blank(&chars[at..end], &mut out);
            at = end;
        }
    }
    out
}

/// Returns the text with comments replaced by spaces; literals stay.
pub(super) fn without_comments(text: &str) -> String {
    let code = code_only(text);
    // Where a line comment begins, code and text differ for the first time with `//`.
    code.lines()
        .zip(text.lines())
        .map(|(code, text)| {
            let is_comment = |at: &usize| text[*at..].starts_with("//") && is_blank(code, *at);
            let ends = text.match_indices("//").map(|(at, _)| at).find(is_comment);
            &text[..ends.unwrap_or(text.len())]
        })
        .collect::<Vec<_>>()
        .join("\n")
}

/// Whether nothing but blanks follows in a line.
fn is_blank(line: &str, at: usize) -> bool {
    line.get(at..).is_none_or(|rest| rest.trim().is_empty())
}

/// Marks, line by line, what belongs to `#[cfg(test)]` items.
pub(super) fn test_lines(code: &str) -> Vec<bool> {
    let lines: Vec<&str> = code.lines().collect();
    let mut marks = vec![false; lines.len()];
    let mut idx = 0;
    while idx < lines.len() {
        if !lines[idx].trim_start().starts_with("#[cfg(test)]") {
            idx += 1;
            continue;
        }
        let end = item_end(&lines, idx);
        marks[idx..end].fill(true);
        idx = end;
    }
    marks
}

/// The line after the item that starts at or below `start`.
fn item_end(lines: &[&str], start: usize) -> usize {
    let mut depth = 0_i32;
    for (idx, line) in lines.iter().enumerate().skip(start) {
        let opened = depth + line.matches('{').count() as i32;
        depth = opened - line.matches('}').count() as i32;
        let ended = if opened > 0 { depth <= 0 } else { line.trim_end().ends_with(';') };
        if ended {
            return idx + 1;
        }
    }
    lines.len()
}

fn follows_word(chars: &[char], at: usize) -> bool {
    at > 0 && (chars[at - 1].is_alphanumeric() || chars[at - 1] == '_') && chars[at - 1] != 'b'
}

fn line_end(chars: &[char], at: usize) -> usize {
    chars[at..].iter().position(|&it| it == '\n').map_or(chars.len(), |n| at + n)
}

fn block_comment_end(chars: &[char], start: usize) -> usize {
    let (mut depth, mut at) = (0, start);
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) => {
                (depth, at) = (depth - 1, at + 2);
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    chars.len()
}

fn string_end(chars: &[char], start: usize) -> usize {
    let mut at = start + 1;
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    chars.len()
}

/// The end of `r"…"` or `r#"…"#`; `None` for a raw name such as `r#type`.
fn raw_string_end(chars: &[char], start: usize) -> Option<usize> {
    let hashes = chars[start + 1..].iter().take_while(|&&it| it == '#').count();
    if chars.get(start + 1 + hashes) != Some(&'"') {
        return None;
    }
    let mut at = start + 2 + hashes;
    while at < chars.len() {
        if chars[at] == '"'
            && chars[at + 1..].iter().take(hashes).filter(|&&it| it == '#').count() == hashes
        {
            return Some(at + 1 + hashes);
        }
        at += 1;
    }
    Some(chars.len())
}

/// The end of a character literal; `None` for a lifetime.
fn char_end(chars: &[char], start: usize) -> Option<usize> {
    if chars.get(start + 1) == Some(&'\\') {
        let close = chars[start + 3..].iter().position(|&it| it == '\'')?;
        return Some(start + 4 + close);
    }
    (chars.get(start + 2) == Some(&'\'')).then_some(start + 3)
}

fn blank(chars: &[char], out: &mut String) {
    out.extend(chars.iter().map(|&it| if it == '\n' { '\n' } else { ' ' }));
}

/// Blanks a string literal but keeps its quotes.
fn blank_inside(chars: &[char], out: &mut String) {
    out.extend(chars.iter().map(|&it| if matches!(it, '\n' | '"') { it } else { ' ' }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked() {
        let code = code_only("a('{', 'b, \"x}\\\"\", r#\"{\"#) // {\n/* {\n*/ d");
        assert_eq!(code.matches('{').count(), 0, "{code}");
        assert_eq!(code.matches('}').count(), 0, "{code}");
        assert_eq!(code.lines().count(), 3);
        assert!(code.contains("'b,") && code.ends_with(" d"));
    }

    #[test]
    fn literals_stay_without_comments() {
        let text = "a(\"b//c\"); // d\n/// e\nf";
        assert_eq!(without_comments(text), "a(\"b//c\"); \n\nf");
    }

    #[test]
    fn test_modules_are_marked() {
        let text = "fn a() {\n}\n#[cfg(test)]\nmod tests {\n  fn b() {}\n}\nfn c() {}\n#[cfg(test)]\nmod more;\nfn d() {}";
        let marks = test_lines(text);
        let expected = [false, false, true, true, true, true, false, true, true, false];
        assert_eq!(marks, expected);
    }
}
