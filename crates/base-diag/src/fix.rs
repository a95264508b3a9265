//! Changes of source text that would settle a finding.

use base_text::FileSpan;

/// How far a fix can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Applicability {
    /// The program means the same afterwards: tools may apply it without asking.
    Safe,
    /// Probably what was meant: somebody should choose it.
    Suggestion,
}

/// One replaced piece of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The text that is replaced; empty where text is only added.
    pub at: FileSpan,
    /// The text that takes its place.
    pub text: String,
}

/// A change that would settle a finding. Its edits belong together and do not overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What it does, in the imperative: "replace `nam` with `name`".
    pub title: String,
    /// How far it can be trusted.
    pub applicability: Applicability,
    /// The edits, in any order.
    pub edits: Vec<Edit>,
}

impl Fix {
    /// Makes a fix that tools may apply without asking.
    pub fn safe(title: impl Into<String>) -> Self {
        Self { title: title.into(), applicability: Applicability::Safe, edits: Vec::new() }
    }

    /// Makes a fix that somebody should choose.
    pub fn suggestion(title: impl Into<String>) -> Self {
        Self { applicability: Applicability::Suggestion, ..Self::safe(title) }
    }

    /// Adds an edit.
    #[must_use]
    pub fn edit(mut self, at: FileSpan, text: impl Into<String>) -> Self {
        self.edits.push(Edit { at, text: text.into() });
        self
    }
}

/// Returns the text of a file after edits of it; `None` if they overlap or lie outside the text.
/// Of edits that add text at one place, the first in the list comes first.
pub fn apply_edits<'e>(text: &str, edits: impl IntoIterator<Item = &'e Edit>) -> Option<String> {
    let mut edits: Vec<&Edit> = edits.into_iter().collect();
    edits.sort_by_key(|edit| (edit.at.span.start, edit.at.span.end));
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    for edit in edits {
        let (start, end) = (edit.at.span.start as usize, edit.at.span.end as usize);
        result.push_str(text.get(done..start)?);
        text.get(start..end)?;
        result.push_str(&edit.text);
        done = end;
    }
    result.push_str(text.get(done..)?);
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base_text::{FileId, Span};

    fn check(edits: &[(u32, u32, &str)], want: Option<&str>) {
        let edit = |&(start, end, text): &(u32, u32, &str)| Edit {
            at: FileSpan { file: FileId(0), span: Span::new(start, end) },
            text: text.into(),
        };
        let edits: Vec<Edit> = edits.iter().map(edit).collect();
        assert_eq!(apply_edits("a = ü\n", &edits).as_deref(), want);
    }

    #[test]
    fn edits_apply_in_any_order() {
        check(&[], Some("a = ü\n"));
        check(&[(4, 6, "1"), (0, 1, "b")], Some("b = 1\n"));
        check(&[(0, 0, "x"), (0, 0, "y"), (7, 7, "z")], Some("xya = ü\nz"));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        check(&[(0, 3, ""), (2, 4, "")], None);
        check(&[(5, 6, "")], None);
        check(&[(0, 9, "")], None);
    }
}
