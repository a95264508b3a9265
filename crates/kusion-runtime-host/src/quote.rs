//! Values as words of a shell script.

use std::fmt::Write as _;

/// The longest run of bytes in one `printf`.
const CHUNK: usize = 4096;

/// Returns a text as one word, whatever it contains. The text has no null byte, which no word can
/// have: callers reject it when they read resources.
pub(crate) fn word(text: &str) -> String {
    format!("'{}'", text.replace('\0', "").replace('\'', r"'\''"))
}

/// Returns commands of a function that prints bytes, and fails if it cannot.
pub(crate) fn printed(bytes: &[u8]) -> String {
    let mut out = String::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let text = &rest[..text_len(rest)];
        if let Ok(text) = std::str::from_utf8(text)
            && !text.is_empty()
        {
            let _ = writeln!(out, "printf %s {} || return 1", word(text));
            rest = &rest[text.len()..];
            continue;
        }
        let end = rest.len().min(CHUNK);
        let n_bytes = (1..end).find(|&at| text_len(&rest[at..]) >= 16).unwrap_or(end);
        out.push_str("printf '");
        for byte in &rest[..n_bytes] {
            // All octal, so that nothing is a format.
            let _ = write!(out, "\\{byte:03o}");
        }
        out.push_str("' || return 1\n");
        rest = &rest[n_bytes..];
    }
    if out.is_empty() { ":\n".to_owned() } else { out }
}

/// Returns the length of the text at the start: UTF-8 without control characters but line ends and
/// tabs, at most a chunk.
fn text_len(bytes: &[u8]) -> usize {
    let bytes = &bytes[..bytes.len().min(CHUNK)];
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    };
    let is_plain = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    text.find(|c| !is_plain(c)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    /// Runs a script, and returns what it prints.
    fn run(script: &str) -> Vec<u8> {
        let mut child = Command::new("sh")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        child.stdin.take().expect("a pipe").write_all(script.as_bytes()).expect("it reads");
        child.wait_with_output().expect("it ends").stdout
    }

    #[test]
    fn hostile_words_are_only_text() {
        for text in [
            "",
            "a b",
            "'",
            "'; touch /tmp/x; '",
            "$(id)",
            "`id`",
            "\\",
            "\\'",
            "-n",
            "%s",
            "*",
            "~",
            "a\nb",
            "\"$HOME\"",
            "ü✓",
            "&& exit 1",
            "'\\''",
            "\u{1b}[31m",
            "!x",
            "#",
        ] {
            let printed = run(&format!("printf %s {}\n", word(text)));
            assert_eq!(String::from_utf8_lossy(&printed), text);
        }
    }

    #[test]
    fn bytes_are_printed_as_they_are() {
        let all: Vec<u8> = (0..=255).collect();
        let mut long = vec![b'x'; 10_000];
        long.extend("ü'\n".repeat(5_000).as_bytes());
        long.extend(&all);
        for bytes in [b"".as_slice(), b"a", b"it's\n", b"%s\\n", &all, &long, &[0; 9000]] {
            assert_eq!(run(&printed(bytes)), bytes);
        }
    }
}
