//! Differences between two texts, line by line.

use crate::align::align;

/// A line of a comparison of two texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffLine<'a> {
    /// In both texts.
    Same(&'a str),
    /// Only in the old text.
    Removed(&'a str),
    /// Only in the new text.
    Added(&'a str),
}

/// A part of a comparison: changed lines with some unchanged lines around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk<'a> {
    /// The number of the first line in the old text, from 1.
    pub old_start: usize,
    /// The number of the first line in the new text, from 1.
    pub new_start: usize,
    /// The lines.
    pub lines: Vec<DiffLine<'a>>,
}

impl Hunk<'_> {
    /// Returns the position of the hunk, as unified diffs write it: `-3,2 +3,4`.
    pub fn position(&self) -> String {
        let old = self.lines.iter().filter(|it| !matches!(it, DiffLine::Added(_))).count();
        let new = self.lines.iter().filter(|it| !matches!(it, DiffLine::Removed(_))).count();
        // A side without lines is named by the line before it.
        let start = |start: usize, n: usize| start - usize::from(n == 0);
        format!("-{},{old} +{},{new}", start(self.old_start, old), start(self.new_start, new))
    }
}

/// Compares two texts line by line; each hunk has up to `context` unchanged lines before and after
/// its changes. The cost is O(n log n).
pub fn text_differences<'a>(before: &'a str, after: &'a str, context: usize) -> Vec<Hunk<'a>> {
    let old: Vec<&str> = before.split('\n').collect();
    let new: Vec<&str> = after.split('\n').collect();
    hunks(&old, &new, context)
}

fn hunks<'a>(old: &[&'a str], new: &[&'a str], context: usize) -> Vec<Hunk<'a>> {
    let mut hunks: Vec<Hunk<'a>> = Vec::new();
    let (mut at_old, mut at_new) = (0, 0);
    let end = (old.len(), new.len());
    // The end of the last hunk: its number of unchanged lines at the end, if it is still open.
    let mut n_same = context;
    for (x, y) in align(old, new).into_iter().chain([end]) {
        if at_old < x || at_new < y {
            let n_before = if hunks.is_empty() { at_old.min(at_new) } else { n_same };
            // Unchanged lines up to twice the context keep two changes in one hunk.
            let is_near = !hunks.is_empty() && n_same <= 2 * context;
            let lines = match hunks.last_mut().filter(|_| is_near) {
                Some(hunk) => {
                    let shown = n_same.min(context);
                    let rest = at_old - (n_same - shown)..at_old;
                    hunk.lines.extend(old[rest].iter().map(|it| DiffLine::Same(it)));
                    &mut hunk.lines
                }
                None => {
                    let shown = n_before.min(context);
                    let lines = old[at_old - shown..at_old].iter().map(|it| DiffLine::Same(it));
                    let (old_start, new_start) = (at_old - shown + 1, at_new - shown + 1);
                    hunks.push(Hunk { old_start, new_start, lines: lines.collect() });
                    match hunks.last_mut() {
                        Some(hunk) => &mut hunk.lines,
                        None => break,
                    }
                }
            };
            lines.extend(old[at_old..x].iter().map(|it| DiffLine::Removed(it)));
            lines.extend(new[at_new..y].iter().map(|it| DiffLine::Added(it)));
            n_same = 0;
        }
        if x < old.len() {
            if let Some(hunk) = hunks.last_mut().filter(|_| n_same < context) {
                hunk.lines.push(DiffLine::Same(old[x]));
            }
            n_same += 1;
        }
        (at_old, at_new) = (x + 1, y + 1);
    }
    hunks
}

/// Writes the differences of a file as a unified diff, as `patch` and git read it; empty if there
/// are none.
pub fn unified_diff(path: &str, before: &str, after: &str) -> String {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let mut out = String::new();
    for hunk in hunks(&old, &new, 3) {
        if out.is_empty() {
            out = format!("--- a/{path}\n+++ b/{path}\n");
        }
        out.push_str("@@ ");
        out.push_str(&hunk.position());
        out.push_str(" @@\n");
        for line in &hunk.lines {
            let (sign, line) = match line {
                DiffLine::Same(line) => (' ', line),
                DiffLine::Removed(line) => ('-', line),
                DiffLine::Added(line) => ('+', line),
            };
            out.push(sign);
            out.push_str(line);
            if !line.ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    fn text(before: &str, after: &str, context: usize) -> String {
        let mut text = String::new();
        for hunk in text_differences(before, after, context) {
            let _ = writeln!(text, "@@ {} @@", hunk.position());
            for line in hunk.lines {
                let (sign, line) = match line {
                    DiffLine::Same(line) => (' ', line),
                    DiffLine::Removed(line) => ('-', line),
                    DiffLine::Added(line) => ('+', line),
                };
                let _ = writeln!(text, "{sign}{line}");
            }
        }
        text
    }

    #[test]
    fn a_changed_line_is_shown_with_its_neighbours() {
        let before: Vec<String> = (1..=60).map(|it| format!("line {it}")).collect();
        let mut after = before.clone();
        after[29] = "changed".to_owned();
        let expected = "@@ -29,3 +29,3 @@\n line 29\n-line 30\n+changed\n line 31\n";
        assert_eq!(text(&before.join("\n"), &after.join("\n"), 1), expected);
    }

    #[test]
    fn near_changes_share_a_hunk_and_far_ones_do_not() {
        let near = "@@ -1,4 +1,4 @@\n-a\n+x\n b\n c\n-d\n+y\n";
        assert_eq!(text("a\nb\nc\nd", "x\nb\nc\ny", 1), near);
        let far = "@@ -1,2 +1,2 @@\n-a\n+x\n b\n@@ -4,2 +4,2 @@\n d\n-e\n+y\n";
        assert_eq!(text("a\nb\nc\nd\ne", "x\nb\nc\nd\ny", 1), far);
    }

    #[test]
    fn added_and_removed_lines_have_positions() {
        assert_eq!(text("a\nb", "a\nn\nb", 0), "@@ -1,0 +2,1 @@\n+n\n");
        assert_eq!(text("a\nn\nb", "a\nb", 0), "@@ -2,1 +1,0 @@\n-n\n");
        assert_eq!(text("a\n", "a", 1), "@@ -1,2 +1,1 @@\n a\n-\n");
        assert_eq!(text("same", "same", 3), "");
    }

    #[test]
    fn a_missing_line_end_is_a_difference() {
        assert_eq!(
            unified_diff("f.k", "a\nb", "a\nb\n"),
            "--- a/f.k\n+++ b/f.k\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"
        );
        assert_eq!(unified_diff("f.k", "a\n", "a\n"), "");
    }

    #[test]
    fn a_hunk_applies_to_the_old_text() {
        let old: Vec<String> = (0..300).map(|it| format!("{}", it * it % 17)).collect();
        let new: Vec<String> = (0..300).map(|it| format!("{}", it * it % 19)).collect();
        let (before, after) = (old.join("\n"), new.join("\n"));
        for context in 0..4 {
            let mut out: Vec<&str> = Vec::new();
            let mut at = 0;
            for hunk in text_differences(&before, &after, context) {
                out.extend(old[at..hunk.old_start - 1].iter().map(String::as_str));
                assert_eq!(out.len(), hunk.new_start - 1);
                at = hunk.old_start - 1;
                for line in hunk.lines {
                    match line {
                        DiffLine::Same(line) => {
                            assert_eq!(old[at], line);
                            out.push(line);
                            at += 1;
                        }
                        DiffLine::Removed(line) => {
                            assert_eq!(old[at], line);
                            at += 1;
                        }
                        DiffLine::Added(line) => out.push(line),
                    }
                }
            }
            out.extend(old[at..].iter().map(String::as_str));
            assert_eq!(out.join("\n"), after);
        }
    }
}
