//! Changes of fields as lines.

use super::content::content;
use super::style::{Role, Style, one_line, printable};
use super::words::count;
use crate::arguments::DiffForm;
use kusion_app::secrets::hide;
use kusion_model::markers::is_unknown;
use kusion_model::{FieldChange, Management, Shown};
use kusion_plan::{DiffLine, Hunk, text_differences};
use serde_json::Value;

/// Maximum length of a value that is shown completely, in characters.
const LONG: usize = 120;
/// Number of unchanged characters around a difference of two long values.
const AROUND: usize = 30;
/// Number of unchanged lines around a change.
pub(crate) const CONTEXT: usize = 2;
/// Maximum number of lines of a changed text, unless everything is shown.
const MANY_LINES: usize = 40;

/// Formats the change of a field: a line, and more lines for texts and whole values.
pub(crate) fn lines(change: &FieldChange, form: DiffForm, style: Style) -> Vec<String> {
    let label = one_line(&change.label());
    let origin = change.origin.as_ref().map(|it| format!("  {}", one_line(&it.to_string())));
    let origin = style.paint(Role::Muted, &origin.unwrap_or_default());
    if let Some((before, after)) = texts(change) {
        let hunks = text_differences(before, after, CONTEXT);
        let head = format!("{label}: {}{origin}", counted(&hunks));
        let limit = if form == DiffForm::Full { usize::MAX } else { MANY_LINES };
        return std::iter::once(head).chain(hunk_lines(&hunks, limit, style)).collect();
    }
    if form == DiffForm::Full && change.management.is_none() {
        let sides = [(&change.before, '-', Role::Bad), (&change.after, '+', Role::Good)];
        if sides.iter().any(|(side, ..)| side.as_ref().is_some_and(is_large)) {
            let mut lines = vec![format!("{label}:{origin}")];
            for (side, sign, role) in sides {
                let side = side.iter().flat_map(|it| content(&public(it), &|_| None));
                lines.extend(side.map(|it| style.paint(role, &format!("  {sign} {}", it.text))));
            }
            return lines;
        }
    }
    vec![format!("{label}: {}{origin}", value(change, form, style))]
}

/// Returns the two sides of a change of a text of several lines.
pub(crate) fn texts(change: &FieldChange) -> Option<(&str, &str)> {
    match (&change.before, &change.after) {
        (Some(Shown::Plain(Value::String(before))), Some(Shown::Plain(Value::String(after))))
            if change.management.is_none() && (before.contains('\n') || after.contains('\n')) =>
        {
            Some((before, after))
        }
        _ => None,
    }
}

/// Returns a value without secrets.
pub(crate) fn public(value: &Shown) -> Value {
    match value {
        Shown::Secret { .. } => "(secret)".into(),
        Shown::Later(reference) if reference.is_empty() => LATER.into(),
        Shown::Later(reference) => format!("(known after apply: {reference})").into(),
        Shown::Plain(value) => {
            let mut value = value.clone();
            hide(&mut value, &|_| Value::from("(secret)"));
            name_unknown(&mut value);
            value
        }
    }
}

/// Stands for a value that is known after apply.
const LATER: &str = "(known after apply)";

/// Names the values inside another one that are known after apply.
fn name_unknown(value: &mut Value) {
    match value {
        value if is_unknown(value) => *value = LATER.into(),
        Value::Object(fields) => fields.values_mut().for_each(name_unknown),
        Value::Array(items) => items.iter_mut().for_each(name_unknown),
        _ => {}
    }
}

/// Returns the line of a text with its sign. Of changed lines, spaces at the end are visible.
pub(crate) fn signed(line: &DiffLine<'_>) -> (char, String) {
    match line {
        DiffLine::Same(text) => (' ', printable(text)),
        DiffLine::Removed(text) => ('-', visible(text)),
        DiffLine::Added(text) => ('+', visible(text)),
    }
}

fn visible(text: &str) -> String {
    let text = printable(text);
    let end = text.trim_end_matches([' ', '\t']).len();
    format!("{}{}", &text[..end], "·".repeat(text.len() - end))
}

fn is_large(value: &Shown) -> bool {
    match value {
        Shown::Plain(Value::Object(map)) => !map.is_empty(),
        Shown::Plain(Value::Array(items)) => !items.is_empty(),
        Shown::Plain(Value::String(text)) => text.contains('\n'),
        _ => false,
    }
}

/// Counts the changed lines: `1 line removed, 2 lines added`.
fn counted(hunks: &[Hunk<'_>]) -> String {
    let lines = || hunks.iter().flat_map(|it| &it.lines);
    let removed = lines().filter(|it| matches!(it, DiffLine::Removed(_))).count();
    let added = lines().filter(|it| matches!(it, DiffLine::Added(_))).count();
    let parts = [(removed, "removed"), (added, "added")].into_iter().filter(|it| it.0 > 0);
    let parts: Vec<String> =
        parts.map(|(n, word)| format!("{} {word}", count(n, "line"))).collect();
    parts.join(", ")
}

fn hunk_lines(hunks: &[Hunk<'_>], limit: usize, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for hunk in hunks {
        lines.push(style.paint(Role::Muted, &format!("  @@ {} @@", hunk.position())));
        for line in &hunk.lines {
            let (sign, text) = signed(line);
            let text = format!("  {sign} {text}");
            let text = text.trim_end();
            lines.push(match line {
                DiffLine::Same(_) => text.to_owned(),
                DiffLine::Removed(_) => style.paint(Role::Bad, text),
                DiffLine::Added(_) => style.paint(Role::Good, text),
            });
        }
    }
    if lines.len() > limit {
        let more = lines.len() - limit;
        lines.truncate(limit);
        let more = format!("  … {more} more lines; pass `--full` to show all");
        lines.push(style.paint(Role::Muted, &more));
    }
    lines
}

/// Formats both sides of a change in one line.
fn value(change: &FieldChange, form: DiffForm, style: Style) -> String {
    let is_secret = |it: &Option<Shown>| matches!(it, Some(Shown::Secret { .. }));
    let limit = if form == DiffForm::Full { usize::MAX } else { LONG };
    let one = |value: &Shown| cut(&text(value), limit);
    match (&change.before, &change.after) {
        (before, after) if change.management.is_some() => {
            let value = after.as_ref().or(before.as_ref()).map(one).unwrap_or_default();
            let what = match change.management {
                Some(Management::Ended) => "no longer set by this stack; the live value stays",
                _ => "now set by this stack; the live value stays",
            };
            format!("{value}  {}", style.paint(Role::Muted, &format!("({what})")))
        }
        (before, after) if is_secret(before) && is_secret(after) => {
            let word = if before == after { "(secret)" } else { "(secret, changed)" };
            word.to_owned()
        }
        (None, Some(after)) => style.paint(Role::Good, &one(after)),
        (Some(before), None) => format!("{} → {}", one(before), style.paint(Role::Bad, "(none)")),
        (Some(before), Some(after)) => {
            let (before, after) = excerpts(&text(before), &text(after), limit);
            format!("{before} → {}", style.paint(Role::Changed, &after))
        }
        (None, None) => String::new(),
    }
}

/// Returns a value in one line.
fn text(value: &Shown) -> String {
    match value {
        Shown::Plain(_) => one_line(&public(value).to_string()),
        // Not a value of the resource, so without quotes.
        _ => one_line(public(value).as_str().unwrap_or_default()),
    }
}

fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}

/// Cuts two different texts so that their difference is visible.
fn excerpts(before: &str, after: &str, limit: usize) -> (String, String) {
    let is_short = |it: &str| it.char_indices().nth(limit).is_none();
    if is_short(before) && is_short(after) {
        return (before.to_owned(), after.to_owned());
    }
    let same = before.chars().zip(after.chars()).take_while(|(a, b)| a == b).count();
    let start = same.saturating_sub(AROUND);
    let part = |text: &str| {
        let head = if start > 0 { "…" } else { "" };
        let shown: String = text.chars().skip(start).take(limit).collect();
        let is_cut = text.chars().nth(start + limit).is_some();
        let tail = if is_cut { format!("… ({} bytes)", text.len()) } else { String::new() };
        format!("{head}{shown}{tail}")
    };
    (part(before), part(after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kusion_model::FieldPath;
    use serde_json::json;

    fn change(before: Option<Value>, after: Option<Value>) -> FieldChange {
        FieldChange {
            path: FieldPath::default().key("a"),
            before: before.map(Shown::Plain),
            after: after.map(Shown::Plain),
            ..FieldChange::default()
        }
    }

    fn shown(change: &FieldChange, form: DiffForm) -> String {
        lines(change, form, Style::default()).join("\n")
    }

    #[test]
    fn a_changed_word_in_a_long_text_is_found() {
        let text = |word: &str| -> String {
            let lines =
                (1..=60).map(|it| format!("line {it} {}", if it == 30 { word } else { "" }));
            lines.map(|it| it.trim_end().to_owned() + "\n").collect()
        };
        let change = change(Some(text("old").into()), Some(text("new").into()));
        let expected = "\
a: 1 line removed, 1 line added
  @@ -28,5 +28,5 @@
    line 28
    line 29
  - line 30 old
  + line 30 new
    line 31
    line 32";
        assert_eq!(shown(&change, DiffForm::Fields), expected);
    }

    #[test]
    fn changes_of_white_space_are_visible() {
        let change = change(Some("a\n b\nc".into()), Some("a \r\n\tb\nc\u{1b}".into()));
        let expected = "\
a: 3 lines removed, 3 lines added
  @@ -1,3 +1,3 @@
  - a
  -  b
  - c
  + a \\u{d}
  + \tb
  + c\\u{1b}";
        assert_eq!(shown(&change, DiffForm::Fields), expected);
        assert_eq!(signed(&DiffLine::Added("x  ")), ('+', "x··".to_owned()));
    }

    #[test]
    fn a_changed_word_in_a_long_line_is_found() {
        let text = |word: &str| format!("{}{word}{}", "x".repeat(500), "y".repeat(500));
        let change = change(Some(text("OLD").into()), Some(text("NEW").into()));
        let line = shown(&change, DiffForm::Fields);
        assert!(line.contains("xxxOLDyyy") && line.contains("xxxNEWyyy"), "{line}");
        assert!(line.chars().count() < 300, "{line}");
    }

    #[test]
    fn many_changed_lines_are_cut_unless_all_are_requested() {
        let text = |word: &str| {
            let lines: Vec<String> = (0..100).map(|it| format!("{word} {it}")).collect();
            lines.join("\n") + "\n"
        };
        let change = change(Some(text("a").into()), Some(text("b").into()));
        let short = shown(&change, DiffForm::Fields);
        assert!(short.ends_with("  … 162 more lines; pass `--full` to show all"), "{short}");
        assert_eq!(shown(&change, DiffForm::Full).lines().count(), 202);
    }

    #[test]
    fn whole_values_are_shown_if_requested() {
        let change = change(None, Some(json!({"name": "x", "token": {"$secret": "h"}})));
        assert_eq!(shown(&change, DiffForm::Fields), r#"a: {"name":"x","token":"(secret)"}"#);
        assert_eq!(shown(&change, DiffForm::Full), "a:\n  + name: x\n  + token: (secret)");
    }

    #[test]
    fn a_field_that_is_no_longer_set_is_said_to_stay() {
        let mut change = change(Some(json!(1)), Some(json!(1)));
        change.management = Some(Management::Ended);
        let expected = "a: 1  (no longer set by this stack; the live value stays)";
        assert_eq!(shown(&change, DiffForm::Fields), expected);
    }
}
