//! From byte offsets to lines and columns.

/// A place for people: both numbers start at 1, columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineCol {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in characters.
    pub col: u32,
}

/// The line starts of one text.
#[derive(Clone, Debug, Default)]
pub struct LineIndex {
    starts: Vec<u32>,
}

impl LineIndex {
    /// Finds the line starts of `text`. A line end at the end of the text starts no further
    /// line: what stands there belongs to the last one.
    pub fn new(text: &str) -> Self {
        let mut starts = vec![0];
        starts.extend(text.match_indices('\n').map(|(at, _)| at as u32 + 1));
        if starts.len() > 1 && starts.last().is_some_and(|last| *last as usize == text.len()) {
            starts.pop();
        }
        Self { starts }
    }

    /// The place of byte `offset` in `text`, the text the index was made from.
    pub fn line_col(&self, text: &str, offset: u32) -> LineCol {
        let line = self.line(offset);
        let start = self.line_start(line);
        let mut end = (offset as usize).min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let before = text.get(start as usize..end).unwrap_or("");
        LineCol { line, col: before.chars().count() as u32 + 1 }
    }

    /// The text of line `line` (from 1) without its line end.
    pub fn line_text<'t>(&self, text: &'t str, line: u32) -> &'t str {
        let Some(start) = self.starts.get((line as usize).wrapping_sub(1)) else { return "" };
        let end = self.starts.get(line as usize).copied().unwrap_or(text.len() as u32);
        let whole = text.get(*start as usize..end as usize).unwrap_or("");
        whole.trim_end_matches(['\n', '\r'])
    }

    /// The line of byte `offset`, from 1.
    pub fn line(&self, offset: u32) -> u32 {
        self.starts.partition_point(|start| *start <= offset).max(1) as u32
    }

    /// The first byte of line `line` (from 1).
    pub fn line_start(&self, line: u32) -> u32 {
        self.starts.get((line as usize).wrapping_sub(1)).copied().unwrap_or(0)
    }

    /// The number of lines.
    pub fn n_lines(&self) -> u32 {
        self.starts.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_not_bytes() {
        let text = "a\nbä = 1\n";
        let index = LineIndex::new(text);
        assert_eq!(index.line_col(text, 0), LineCol { line: 1, col: 1 });
        assert_eq!(index.line_col(text, 2), LineCol { line: 2, col: 1 });
        assert_eq!(index.line_col(text, 6), LineCol { line: 2, col: 4 });
        assert_eq!(index.line_text(text, 2), "bä = 1");
    }

    #[test]
    fn the_end_of_the_text_is_on_the_last_line() {
        let text = "a\nbc\n";
        let index = LineIndex::new(text);
        assert_eq!(index.line_col(text, 5), LineCol { line: 2, col: 4 });
        assert_eq!(index.n_lines(), 2);
    }

    #[test]
    fn an_offset_past_the_end_is_the_end() {
        let text = "ab";
        assert_eq!(LineIndex::new(text).line_col(text, 99), LineCol { line: 1, col: 3 });
    }
}
