//! The state of the printer, lines and names.

use crate::layout::Layout;
use base_text::{LineIndex, Span};
use kcl_syntax::ast::{Ident, Module, Path};

/// Blocks that end together have no more empty lines behind them than this.
const MAX_BLANK: usize = 2;

/// Which configs and lists have each item on a line of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Open {
    /// Those that are written so.
    #[default]
    AsWritten,
    /// The outermost one, and those that are written so.
    Outermost,
    /// All that start before this line, and those that are written so.
    Before(u32),
    /// All that have items.
    All,
}

/// What can be chosen about the layout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Whether a dotted key `a.b = 1` is written out: `a: {b = 1}`.
    pub write_out_keys: bool,
    /// Which configs and lists have each item on a line of its own.
    pub open: Open,
}

/// Prints one module.
pub(crate) struct Printer<'m> {
    pub(crate) module: &'m Module,
    pub(crate) text: &'m str,
    pub(crate) style: Style,
    lines: LineIndex,
    pub(crate) layout: Layout,
    pub(crate) out: String,
    /// How deep the current line is indented.
    pub(crate) level: usize,
    /// How many empty lines must stand before the next line, if there is one.
    n_blank: usize,
    /// The number of comments that were printed or are in `stray`.
    pub(crate) n_taken: usize,
    /// Comments inside the current item that have no line of their own: they go before it.
    pub(crate) stray: Vec<Span>,
    /// Whether lists are opened, since a comment follows the current item on its line.
    pub(crate) opens_lists: bool,
    /// Whether two comments before the next item ask for an empty line.
    pub(crate) comments_ask: bool,
    /// Where the item behind the current one starts: comments from there on belong to others.
    pub(crate) limit: u32,
}

impl<'m> Printer<'m> {
    pub(crate) fn new(module: &'m Module, text: &'m str, style: Style) -> Self {
        let lines = LineIndex::new(text);
        let layout = Layout::new(module, text, &lines);
        Self {
            module,
            text,
            style,
            lines,
            layout,
            opens_lists: false,
            comments_ask: false,
            out: String::with_capacity(text.len() + text.len() / 8),
            level: 0,
            n_blank: 0,
            n_taken: 0,
            stray: Vec::new(),
            limit: text.len() as u32,
        }
    }

    /// The printed file.
    pub(crate) fn finish(mut self) -> String {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out
    }

    /// The printed part of a file.
    pub(crate) fn finish_inline(self) -> String {
        self.out
    }

    pub(crate) fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Starts a line, behind the empty ones that are wanted.
    pub(crate) fn newline(&mut self) {
        if !self.out.is_empty() {
            self.out.extend(std::iter::repeat_n('\n', self.n_blank.min(MAX_BLANK) + 1));
        }
        self.n_blank = 0;
        self.indent();
    }

    /// Asks for an empty line before the next line.
    pub(crate) fn want_blank(&mut self) {
        self.n_blank = self.n_blank.max(1);
    }

    /// Asks for an empty line behind a block: as many as blocks end here, as in the reference.
    pub(crate) fn end_block(&mut self) {
        self.n_blank += 1;
    }

    pub(crate) fn indent(&mut self) {
        for _ in 0..self.level {
            self.out.push_str("    ");
        }
    }

    /// Prints what `inner` prints with one level more.
    pub(crate) fn indented(&mut self, inner: impl FnOnce(&mut Self)) {
        self.level += 1;
        inner(self);
        self.level -= 1;
    }

    /// Prints `items` with commas between.
    pub(crate) fn commas<T>(&mut self, items: &[T], mut one: impl FnMut(&mut Self, &T)) {
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.push(", ");
            }
            one(self, item);
        }
    }

    /// Prints a part of the source as it is written.
    pub(crate) fn verbatim(&mut self, span: Span) {
        self.out.push_str(span.slice(self.text));
    }

    /// Prints a name as it is written; the parts of a joined one may have blanks between.
    pub(crate) fn ident(&mut self, ident: Ident) {
        let written = ident.span.slice(self.text);
        self.out.extend(written.chars().filter(|c| !c.is_whitespace() && *c != '\\'));
    }

    pub(crate) fn path(&mut self, path: &Path) {
        for (at, ident) in path.names.iter().enumerate() {
            if at > 0 {
                self.push(".");
            }
            self.ident(*ident);
        }
    }

    /// The line of a byte, from 1.
    pub(crate) fn line(&self, offset: u32) -> u32 {
        self.lines.line(offset)
    }

    /// Where the line of a byte ends.
    pub(crate) fn line_end(&self, offset: u32) -> u32 {
        let line = self.line(offset);
        if line == self.lines.n_lines() {
            self.text.len() as u32
        } else {
            self.lines.line_start(line + 1)
        }
    }

    /// How many bytes stand between the start of the line and a byte.
    pub(crate) fn column(&self, offset: u32) -> u32 {
        offset - self.lines.line_start(self.line(offset))
    }

    /// Where `word` starts in `from..to`, which holds comments, blanks and punctuation besides.
    pub(crate) fn find_word(&self, from: u32, to: u32, word: &str) -> Option<u32> {
        let bytes = self.text.as_bytes();
        let mut at = from as usize;
        while at < to as usize {
            if bytes[at] == b'#' {
                at += memchr_line_end(&bytes[at..]);
            } else if bytes[at..].starts_with(word.as_bytes()) {
                return Some(at as u32);
            } else {
                at += 1;
            }
        }
        None
    }
}

fn memchr_line_end(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len())
}
