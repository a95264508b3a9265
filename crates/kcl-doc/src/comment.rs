//! Docstrings: a description, then sections whose titles are underlined.
//!
//! ```text
//! What it is.
//!
//! Attributes
//! ----------
//! name : str, required
//!     What the name is for.
//!
//! Examples
//! --------
//! app = App {name = "x"}
//! ```

/// A docstring in its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Comment {
    /// The text before the first section.
    pub(crate) description: String,
    /// The attributes with their descriptions, in order.
    pub(crate) attributes: Vec<(String, String)>,
    /// The text of the examples.
    pub(crate) examples: String,
}

impl Comment {
    /// The description of an attribute.
    pub(crate) fn attribute(&self, name: &str) -> &str {
        self.attributes.iter().find(|(it, _)| it == name).map_or("", |(_, text)| text)
    }

    /// Reads a docstring as it stands in the source, quotes included.
    pub(crate) fn read(literal: &str) -> Self {
        let text = inner(literal);
        let lines: Vec<&str> = text.lines().collect();
        let mut comment = Self::default();
        let mut section = ("", 0);
        let titles = lines.windows(2).enumerate().filter(|(_, pair)| is_title(pair[0], pair[1]));
        for (at, pair) in titles {
            comment.add(section.0, lines.get(section.1..at).unwrap_or_default());
            section = (pair[0].trim(), at + 2);
        }
        comment.add(section.0, lines.get(section.1..).unwrap_or_default());
        comment
    }

    fn add(&mut self, title: &str, lines: &[&str]) {
        match title.to_ascii_lowercase().as_str() {
            "" => self.description = trimmed(lines),
            "attributes" => self.attributes = attributes(lines),
            "examples" | "example" => self.examples = dedented(lines),
            _ => {}
        }
    }
}

/// The text of a string literal, without its quotes.
fn inner(literal: &str) -> &str {
    let text = literal.trim_start_matches(['r', 'R']);
    for quote in ["\"\"\"", "'''", "\"", "'"] {
        if let Some(text) = text.strip_prefix(quote) {
            return text.strip_suffix(quote).unwrap_or(text);
        }
    }
    text
}

fn is_title(title: &str, line: &str) -> bool {
    let (title, line) = (title.trim(), line.trim());
    let is_word = !title.is_empty() && title.chars().all(|it| it.is_alphabetic() || it == ' ');
    is_word && line.len() >= 3 && line.chars().all(|it| it == '-')
}

/// Lines without indentation, and without empty lines at both ends.
fn trimmed(lines: &[&str]) -> String {
    let lines: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Lines without the indentation that all of them have; blanks at their ends stay.
fn dedented(lines: &[&str]) -> String {
    let used = lines.iter().filter(|line| !line.trim().is_empty());
    let margin = used.map(|line| indentation(line)).min().unwrap_or(0);
    let shown = lines.iter().map(|line| match line.get(margin..) {
        Some(shown) if !shown.trim().is_empty() => shown,
        _ => "",
    });
    let lines: Vec<&str> = shown.collect();
    lines.join("\n").trim_start_matches('\n').trim_end().to_owned()
}

/// Entries start at the lowest indentation: `name : type, …`. Deeper lines describe them.
fn attributes(lines: &[&str]) -> Vec<(String, String)> {
    let used = lines.iter().filter(|line| !line.trim().is_empty());
    let Some(margin) = used.map(|line| indentation(line)).min() else { return Vec::new() };
    let is_entry = |line: &&str| !line.trim().is_empty() && indentation(line) == margin;
    let starts: Vec<usize> =
        lines.iter().enumerate().filter(|(_, line)| is_entry(line)).map(|(at, _)| at).collect();
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(start, end)| {
            let head = lines[*start].trim();
            let name = head.split(':').next().unwrap_or(head).trim();
            let name = name.trim_matches(['"', '\'', '$', '?']);
            (name.to_owned(), trimmed(&lines[start + 1..end]))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections() {
        let comment = Comment::read(
            "r\"\"\" What it is,\n    on two lines.\n\n    Attributes\n    ----------\n    a : int, \
             default is 1\n        The a.\n\n          More.\n    b: str\n    'c-d' : str\n        \
             C\n\n    Examples\n    --------\n    x = S {\n        a = 2\n    }\n    \"\"\"",
        );
        assert_eq!(comment.description, "What it is,\non two lines.");
        assert_eq!(comment.attribute("a"), "The a.\n\nMore.");
        assert_eq!(comment.attribute("b"), "");
        assert_eq!(comment.attribute("c-d"), "C");
        assert_eq!(comment.examples, "x = S {\n    a = 2\n}");
    }

    #[test]
    fn odd_texts() {
        assert_eq!(Comment::read("'one'").description, "one");
        assert_eq!(Comment::read("").description, "");
        assert_eq!(Comment::read("\"\"\"---\n---\"\"\"").description, "---\n---");
        assert_eq!(Comment::read("\"\"\"A\n---\"\"\""), Comment::default());
    }
}
