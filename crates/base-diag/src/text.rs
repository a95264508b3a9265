//! The text form of diagnostics, for terminals and logs.

use crate::{Diagnostic, Label, Severity, SourceMap};
use base_text::{FileId, FileSpan, LineIndex};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Whether text carries colour codes of a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colour {
    /// Plain text.
    #[default]
    Never,
    /// Text with ANSI codes.
    Always,
}

const RED: &str = "\x1b[1;31m";
const YELLOW: &str = "\x1b[1;33m";
const BLUE: &str = "\x1b[1;34m";
const GREEN: &str = "\x1b[1;32m";
const BOLD: &str = "\x1b[1m";
const RESET: &str = "\x1b[0m";

/// Renders diagnostics as text, one after the other.
pub fn render_text(diagnostics: &[Diagnostic], sources: &dyn SourceMap, colour: Colour) -> String {
    let mut out = String::new();
    let mut view = View { sources, paint: Paint(colour), lines: BTreeMap::new() };
    for diagnostic in diagnostics.iter().take(MAX_SHOWN) {
        write_diagnostic(&mut out, diagnostic, &mut view);
    }
    if let Some(n_more @ 1..) = diagnostics.len().checked_sub(MAX_SHOWN) {
        line(&mut out, format_args!("and {n_more} more findings of {}", diagnostics.len()));
    }
    out
}

/// More findings than this are counted, not shown.
const MAX_SHOWN: usize = 1000;

/// Longer source lines are cut to this many characters on either side of the place.
const MAX_SIDE: usize = 200;

/// What all findings of one text share.
struct View<'s> {
    sources: &'s dyn SourceMap,
    paint: Paint,
    lines: BTreeMap<FileId, LineIndex>,
}

#[derive(Clone, Copy)]
struct Paint(Colour);

impl Paint {
    fn code(self, code: &'static str) -> &'static str {
        match self.0 {
            Colour::Never => "",
            Colour::Always => code,
        }
    }
}

fn write_diagnostic(out: &mut String, diagnostic: &Diagnostic, view: &mut View<'_>) {
    let paint = view.paint;
    let (word, colour) = match diagnostic.severity {
        Severity::Error => ("error", RED),
        Severity::Warning => ("warning", YELLOW),
    };
    let Diagnostic { code, kind, .. } = diagnostic;
    let (on, bold, off) = (paint.code(colour), paint.code(BOLD), paint.code(RESET));
    line(out, format_args!("{on}{word}[{code}]{off}{bold}: {kind}{off}"));
    for (i, label) in diagnostic.labels.iter().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        match label.at {
            Some(at) => write_place(out, label, at, view, colour),
            None => line(out, format_args!("{}", label.message)),
        }
        if let Some(note) = &label.note {
            line(out, format_args!("{bold}note{off}: {note}"));
        }
    }
    if let Some(help) = &diagnostic.help {
        let on = paint.code(GREEN);
        line(out, format_args!("{on}help{off}: {help}"));
    }
    out.push_str("\n\n");
    for suggestion in diagnostic.labels.iter().flat_map(|label| &label.suggestions) {
        let on = paint.code(GREEN);
        line(out, format_args!("{on}suggestion{off}: {suggestion}"));
        out.push_str("\n\n");
    }
}

fn write_place(
    out: &mut String,
    label: &Label,
    at: FileSpan,
    view: &mut View<'_>,
    colour: &'static str,
) {
    let View { sources, paint, lines } = view;
    let text = sources.text(at.file);
    let lines = lines.entry(at.file).or_insert_with(|| LineIndex::new(text));
    let place = lines.line_col(text, at.span.start);
    let source = lines.line_text(text, place.line);
    let number = place.line.to_string();
    let gutter = " ".repeat(number.len());
    let (blue, on, off) = (paint.code(BLUE), paint.code(colour), paint.code(RESET));
    let path = sources.path(at.file);
    // An error at a line end is shown at the last character.
    let col = (place.col as usize).min(source.chars().count().max(1));
    line(out, format_args!("{gutter}{blue}-->{off} {path}:{number}:{col}"));
    line(out, format_args!("{gutter} {blue}|{off}"));
    let (source, col) = match excerpt(source, col) {
        Some((excerpt, col)) => (Cow::Owned(excerpt), col),
        None => (Cow::Borrowed(source), col),
    };
    let source = printable(&source);
    line(out, format_args!("{blue}{number} |{off} {source}"));
    let message = printable(&label.message);
    // Tabs stay tabs, so that the caret stands below its character.
    let pad: String =
        source.chars().take(col - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    line(out, format_args!("{gutter} {blue}|{off} {pad}{on}^ {message}{off}"));
    line(out, format_args!("{gutter} {blue}|{off}"));
}

/// A text without characters that would control a terminal; each has a picture in its place, so
/// that columns stay the same.
fn printable(text: &str) -> Cow<'_, str> {
    let is_harmless = |c: char| !c.is_control() || matches!(c, '\n' | '\r' | '\t');
    if text.chars().all(is_harmless) {
        return Cow::Borrowed(text);
    }
    let picture = |c: char| match c {
        _ if is_harmless(c) => c,
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        _ => '\u{fffd}',
    };
    Cow::Owned(text.chars().map(picture).collect())
}

/// The part of a very long line around a column, and the column in it.
fn excerpt(source: &str, col: usize) -> Option<(String, usize)> {
    if source.len() <= 2 * MAX_SIDE {
        return None;
    }
    let start = (col - 1).saturating_sub(MAX_SIDE);
    let mut rest = source.chars().skip(start);
    let mut shown: String = rest.by_ref().take(2 * MAX_SIDE).collect();
    if start > 0 {
        shown.insert_str(0, "...");
    }
    if rest.next().is_some() {
        shown.push_str("...");
    }
    Some((shown, if start > 0 { col - start + 3 } else { col }))
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = out.write_fmt(text);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use base_text::Span;

    struct One(&'static str);

    impl SourceMap for One {
        fn path(&self, _: FileId) -> &'static str {
            "/w/main.k"
        }
        fn text(&self, _: FileId) -> &str {
            self.0
        }
    }

    fn at(start: u32, end: u32) -> FileSpan {
        FileSpan { file: FileId(0), span: Span::new(start, end) }
    }

    #[test]
    fn a_very_long_line_is_cut_around_the_place() {
        let text: &'static str =
            Box::leak(format!("{}x{}", "a".repeat(1000), "b".repeat(1000)).into());
        let found = Diagnostic::error("E1001", "InvalidSyntax", at(1000, 1001), "here");
        let shown = render_text(&[found], &One(text), Colour::Never);
        let lines: Vec<&str> = shown.lines().collect();
        let (source, caret) = (lines[3], lines[4]);
        assert!(source.len() < 420, "{source}");
        assert_eq!(caret.find('^'), source.find('x'));
    }

    #[test]
    fn control_characters_are_shown_as_pictures() {
        let found = Diagnostic::error("E1001", "InvalidSyntax", at(5, 6), "got \u{1b}[2J");
        let text = render_text(&[found], &One("\u{1b}[31m =\n"), Colour::Never);
        assert!(text.contains("1 | \u{241b}[31m =\n  |      ^ got \u{241b}[2J"), "{text}");
    }

    #[test]
    fn a_line_end_is_shown_at_the_last_character() {
        let found = Diagnostic::error("E1001", "InvalidSyntax", at(7, 8), "got newline");
        let text = render_text(&[found], &One("a = 1 +\n"), Colour::Never);
        assert!(text.contains("main.k:1:7\n  |\n1 | a = 1 +\n  |       ^ got newline"), "{text}");
    }

    #[test]
    fn an_error_with_two_places_and_a_note() {
        let found = Diagnostic::error("E1001", "ImmutableError", at(6, 7), "Can not change 'a'")
            .label(at(0, 1), "The variable 'a' is declared here")
            .note("change the name");
        let text = render_text(&[found], &One("a = 1\na = 2\n"), Colour::Never);
        assert_eq!(
            text,
            "error[E1001]: ImmutableError
 --> /w/main.k:2:1
  |
2 | a = 2
  | ^ Can not change 'a'
  |

 --> /w/main.k:1:1
  |
1 | a = 1
  | ^ The variable 'a' is declared here
  |
note: change the name


"
        );
    }

    #[test]
    fn an_error_without_a_place_and_suggestions() {
        let found = Diagnostic::new(Severity::Error, "E1001", "RecursiveLoad", None, "cycle\n- a")
            .suggest(vec!["try this".into()]);
        let text = render_text(&[found], &One(""), Colour::Never);
        assert_eq!(text, "error[E1001]: RecursiveLoad\ncycle\n- a\n\n\nsuggestion: try this\n\n\n");
    }

    #[test]
    fn colours_only_when_asked() {
        let found = Diagnostic::warning("E0413", "Unused", at(0, 1), "m");
        let text = render_text(&[found], &One("\ta"), Colour::Always);
        assert!(text.starts_with("\x1b[1;33mwarning[E0413]\x1b[0m"));
    }
}
