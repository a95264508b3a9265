//! What a terminal shows: a small model of text, colours, and a cursor that moves up.

use anyhow::{Context as _, bail, ensure};
use std::fmt::Write as _;

/// How characters look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attributes {
    /// Whether they are bold.
    pub is_bold: bool,
    /// Whether they are dim.
    pub is_dim: bool,
    /// One of the eight colours by its number, such as 1 for red; `None` for the default.
    pub colour: Option<u8>,
}

impl Attributes {
    /// Returns the parameters of the escape sequence that selects these attributes.
    fn codes(self) -> String {
        let colour = self.colour.map(|it| format!("3{it}"));
        let flags = [(self.is_bold, "1"), (self.is_dim, "2")];
        let flags =
            flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, code)| code.to_owned());
        flags.chain(colour).collect::<Vec<_>>().join(";")
    }
}

/// Characters of one line that look the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// How they look.
    pub attributes: Attributes,
    /// The characters.
    pub text: String,
}

/// One line of output. If it is longer than the screen is wide, it is shown on several lines.
pub type Line = Vec<Run>;

/// What a screen shows at one moment, including the lines that have scrolled away.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frame {
    /// The lines, from the top.
    pub lines: Vec<Line>,
    /// Whether the cursor is behind the last line, and not at the start of the next one.
    is_open: bool,
}

impl Frame {
    /// Returns the frame with every run of text replaced by the result of `mask`.
    #[must_use]
    pub fn masked(mut self, mask: &dyn Fn(&str) -> String) -> Self {
        for run in self.lines.iter_mut().flatten() {
            run.text = mask(&run.text);
        }
        self
    }

    /// Returns the text without colours.
    pub fn text(&self) -> String {
        self.render(|run| run.text.clone())
    }

    /// Returns the text with escape sequences for colours, in which `\e` is the escape character.
    pub fn escaped(&self) -> String {
        self.render(|run| match run.attributes.codes() {
            codes if codes.is_empty() => run.text.clone(),
            codes => format!("\\e[{codes}m{}\\e[0m", run.text),
        })
    }

    fn render(&self, run: impl Fn(&Run) -> String) -> String {
        let mut text = String::new();
        for line in &self.lines {
            let line: String = line.iter().map(&run).collect();
            let _ = writeln!(text, "{line}");
        }
        if self.is_open {
            text.pop();
        }
        text
    }
}

/// One line of the screen.
#[derive(Default)]
struct Row {
    cells: Vec<(char, Attributes)>,
    /// Whether the line of output goes on in the next row.
    is_continued: bool,
}

/// The state of a terminal.
///
/// It knows the escape sequences for colours, for moving the cursor up, and for erasing what
/// follows the cursor. Others are an error: a picture must not differ from a real terminal.
pub(super) struct Screen {
    columns: usize,
    rows: Vec<Row>,
    row: usize,
    column: usize,
    attributes: Attributes,
    /// Bytes of a character or an escape sequence that is not complete.
    rest: Vec<u8>,
}

impl Screen {
    pub(super) fn new(columns: usize) -> Self {
        let attributes = Attributes::default();
        let rows = vec![Row::default()];
        Self { columns, rows, row: 0, column: 0, attributes, rest: Vec::new() }
    }

    /// Shows some output; returns the frames that were complete before the cursor moved up.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> anyhow::Result<Vec<Frame>> {
        self.rest.extend(bytes);
        let rest = std::mem::take(&mut self.rest);
        let valid = match std::str::from_utf8(&rest) {
            Ok(text) => text,
            Err(error) if error.error_len().is_none() => {
                std::str::from_utf8(&rest[..error.valid_up_to()])?
            }
            Err(error) => bail!("the output is not UTF-8: {error}"),
        };
        let mut frames = Vec::new();
        let mut chars = valid.chars();
        let mut n_used = 0;
        while let Some(char) = chars.next() {
            if char == '\u{1b}' {
                let Some(end) = chars.as_str().find(|it: char| it.is_ascii_alphabetic()) else {
                    break;
                };
                let (sequence, after) = chars.as_str().split_at(end + 1);
                self.obey(sequence, &mut frames)?;
                chars = after.chars();
            } else {
                self.put(char)?;
            }
            n_used = valid.len() - chars.as_str().len();
        }
        self.rest = rest[n_used..].to_vec();
        Ok(frames)
    }

    fn put(&mut self, char: char) -> anyhow::Result<()> {
        match char {
            '\r' => self.column = 0,
            '\n' => {
                self.row += 1;
                if self.row == self.rows.len() {
                    self.rows.push(Row::default());
                }
            }
            _ if char.is_control() => bail!("unknown control character {char:?}"),
            _ => {
                if self.column == self.columns {
                    self.rows[self.row].is_continued = true;
                    self.put('\n')?;
                    self.column = 0;
                }
                let cells = &mut self.rows[self.row].cells;
                let width = cells.len().max(self.column + 1);
                cells.resize(width, (' ', Attributes::default()));
                cells[self.column] = (char, self.attributes);
                self.column += 1;
            }
        }
        Ok(())
    }

    /// Executes an escape sequence, without its first character.
    fn obey(&mut self, sequence: &str, frames: &mut Vec<Frame>) -> anyhow::Result<()> {
        let unknown = || format!("unknown escape sequence `\\e{sequence}`");
        let inner = sequence.strip_prefix('[').with_context(unknown)?;
        let (parameters, command) = inner.split_at(inner.len() - 1);
        match command {
            "A" => {
                frames.push(self.frame());
                let n_lines: usize = parameters.parse().with_context(unknown)?;
                ensure!(n_lines <= self.row, "the cursor leaves the screen at the top");
                self.row -= n_lines;
            }
            "J" if parameters.is_empty() => {
                self.rows.truncate(self.row + 1);
                self.rows[self.row].cells.truncate(self.column);
                self.rows[self.row].is_continued = false;
            }
            "m" => {
                for code in parameters.split(';') {
                    match code {
                        "" | "0" => self.attributes = Attributes::default(),
                        "1" => self.attributes.is_bold = true,
                        "2" => self.attributes.is_dim = true,
                        "31" | "32" | "33" | "34" | "35" | "36" => {
                            self.attributes.colour = code[1..].parse().ok();
                        }
                        _ => bail!(unknown()),
                    }
                }
            }
            _ => bail!(unknown()),
        }
        Ok(())
    }

    /// Returns what is shown now.
    pub(super) fn frame(&self) -> Frame {
        let mut lines: Vec<Line> = Vec::new();
        let mut cells = Vec::new();
        for row in &self.rows {
            cells.extend(&row.cells);
            if !row.is_continued {
                lines.push(runs(&std::mem::take(&mut cells)));
            }
        }
        let is_open = lines.last().is_some_and(|line| !line.is_empty());
        if !is_open {
            lines.pop();
        }
        Frame { lines, is_open }
    }
}

/// Joins neighbours that look the same.
fn runs(line: &[(char, Attributes)]) -> Line {
    let mut runs: Line = Vec::new();
    for (char, attributes) in line {
        match runs.last_mut() {
            Some(run) if run.attributes == *attributes => run.text.push(*char),
            _ => runs.push(Run { attributes: *attributes, text: char.to_string() }),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_redraws_and_long_lines_are_shown() {
        let mut screen = Screen::new(4);
        let output = "a\r\n\u{1b}[1mbcdef\u{1b}[0m\r\n\u{1b}[2A\r\u{1b}[J\u{1b}[2;31m●\u{1b}[0m";
        let mut frames = Vec::new();
        for byte in output.bytes() {
            frames.extend(screen.feed(&[byte]).unwrap());
        }
        assert_eq!(frames.len(), 1);
        assert_eq!(frames[0].escaped(), "a\n\\e[1mbcdef\\e[0m\n");
        assert_eq!(screen.frame().escaped(), "a\n\\e[2;31m●\\e[0m");
    }

    #[test]
    fn what_the_model_does_not_know_is_an_error() {
        for output in ["\u{1b}[2K", "\u{1b}[9A", "\u{1b}[48m", "\u{1b}c", "\t", "\u{ff}"] {
            let bytes = if output == "\u{ff}" { &[0xff][..] } else { output.as_bytes() };
            assert!(Screen::new(4).feed(bytes).is_err(), "{output:?}");
        }
    }
}
