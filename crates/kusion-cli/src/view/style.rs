//! Colours by meaning, and texts that fit a terminal.

use std::io::IsTerminal as _;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// When output has colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The meaning of a text, which selects its color.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Created, or ready.
    Good,
    /// Updated, or progressing.
    Changed,
    /// Deleted, or failed.
    Bad,
    /// Replaced.
    Replaced,
    /// Less important than the rest.
    Muted,
    /// A heading.
    Heading,
}

/// Whether texts are coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Style {
    is_coloured: bool,
}

impl Style {
    /// Decides by the option, the environment and whether the output is a terminal.
    pub(crate) fn new(color: Color) -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty());
        let is_coloured = match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => wanted && std::io::stdout().is_terminal(),
        };
        Self { is_coloured }
    }

    /// Colours a text.
    pub(crate) fn paint(self, role: Role, text: &str) -> String {
        if !self.is_coloured || text.is_empty() {
            return text.to_owned();
        }
        let code = match role {
            Role::Good => "32",
            Role::Changed => "33",
            Role::Bad => "31",
            Role::Replaced => "35",
            Role::Muted => "2",
            Role::Heading => "1",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

/// Returns a text as one line without control characters, so that values of a cluster cannot
/// control the terminal.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\n' | '\t' | '\r' => line.push(' '),
            _ => push_visible(&mut line, char),
        }
    }
    line
}

/// Returns a text of several lines without other control characters.
pub(crate) fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\n' | '\t' => out.push(char),
            _ => push_visible(&mut out, char),
        }
    }
    out
}

/// Appends a character; one that controls the terminal or the direction of text is escaped.
fn push_visible(out: &mut String, char: char) {
    let turns_text = matches!(char,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if char.is_control() || turns_text {
        out.extend(char.escape_unicode());
    } else {
        out.push(char);
    }
}

/// Cuts a text to a number of columns.
pub(crate) fn fit(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut used = 0;
    let mut cut = String::new();
    for char in text.chars() {
        let width = char.width().unwrap_or(0);
        if used + width + 1 > columns {
            break;
        }
        used += width;
        cut.push(char);
    }
    if columns > 0 {
        cut.push('…');
    }
    cut
}

/// Shortens the id of a resource to a number of columns: without the API group, as in
/// `Deployment:shop:web`, then cut at the front, so that the name stays.
pub(crate) fn short_id(id: &str, columns: Option<usize>) -> String {
    let Some(columns) = columns.filter(|it| id.width() > *it) else { return id.to_owned() };
    let short = match id.split_once(':') {
        Some((_, rest)) if rest.contains(':') => rest,
        _ => id,
    };
    if short.width() <= columns {
        return short.to_owned();
    }
    let mut used = 1;
    let tail = short.char_indices().rev().take_while(|(_, char)| {
        used += char.width().unwrap_or(0);
        used <= columns
    });
    match tail.last() {
        Some((start, _)) => format!("…{}", &short[start..]),
        None => "…".to_owned(),
    }
}

/// Fills a text with spaces up to a number of columns.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(text.width());
    format!("{text}{}", " ".repeat(missing))
}

/// Lays out rows in columns that are as wide as their widest text; the last one is not filled.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..n_columns)
        .map(|at| rows.iter().filter_map(|row| row.get(at)).map(|it| it.width()).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| pad(cell, *width)).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(fit("日本語テスト", 7), "日本語…");
        assert_eq!(fit("naïve", 5), "naïve");
        assert_eq!(fit("abc", 0), "");
        assert_eq!(pad("日本", 6), "日本  ");
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(one_line("a\u{1b}[2Jb\nc\u{9b}"), "a\\u{1b}[2Jb c\\u{9b}");
    }

    #[test]
    fn columns_are_aligned() {
        let rows = [vec!["A".to_owned(), "B".to_owned()], vec!["日本".to_owned(), "c".to_owned()]];
        assert_eq!(table(&rows), "A     B\n日本  c\n");
    }

    #[test]
    fn only_a_coloured_style_writes_escapes() {
        assert_eq!(Style::default().paint(Role::Bad, "x"), "x");
        assert_eq!(Style { is_coloured: true }.paint(Role::Bad, "x"), "\u{1b}[31mx\u{1b}[0m");
    }

    #[test]
    fn of_an_id_the_name_stays() {
        let id = "apps/v1:Deployment:shop:web";
        assert_eq!(short_id(id, None), id);
        assert_eq!(short_id(id, Some(27)), id);
        assert_eq!(short_id(id, Some(26)), "Deployment:shop:web");
        assert_eq!(short_id(id, Some(10)), "…:shop:web");
        assert_eq!(short_id("日本語", Some(5)), "…本語");
        assert_eq!(short_id("v1:x", Some(0)), "…");
    }
}
