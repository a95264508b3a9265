//! Where comments go.
//!
//! Blocks are sequences of items on lines of their own: statements, entries of a config, items of
//! a list, checks. A comment belongs to the innermost block around it, and stays there: on its own
//! line before the item that follows it, behind the item whose line it ends, behind the `{`, `[` or
//! `:` whose line it ends, or at the end of the block. A comment inside an item that is printed on
//! one line goes before that item. Comments are taken in the order of the source, once each.

use crate::printer::Printer;
use base_text::Span;
use kcl_syntax::ast::Module;

/// An item of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    /// Where it stands.
    pub(crate) span: Span,
    /// Where the next item or the end of the block is.
    pub(crate) next: u32,
    /// Whether it is one line. If a comment follows it there, its lists are opened, as in the
    /// reference.
    pub(crate) is_flat: bool,
    /// Whether the block is a config or list, which have no empty lines.
    pub(crate) in_brackets: bool,
}

impl Printer<'_> {
    /// The next comment that was not taken, if it starts before `end`.
    pub(crate) fn pending(&self, end: u32) -> Option<Span> {
        self.module.comments.get(self.n_taken).copied().filter(|it| it.start < end)
    }

    /// Whether a comment stands in `start..end`.
    pub(crate) fn has_comment(&self, start: u32, end: u32) -> bool {
        has_comment(self.module, start, end)
    }

    /// Prints comments that start before `end` on lines of their own.
    pub(crate) fn own_line_comments(&mut self, end: u32) {
        while let Some(comment) = self.pending(end) {
            self.own_line_comment(comment);
        }
    }

    /// The same with an empty line between comments where the source has one.
    fn groups_of_comments(&mut self, end: u32) {
        let mut last_line = None;
        while let Some(comment) = self.pending(end) {
            let line = self.line(comment.start);
            if last_line.is_some_and(|last| last + 1 < line) {
                self.want_blank();
            }
            last_line = Some(line);
            self.own_line_comment(comment);
        }
    }

    /// The same for a block that ends by indentation: comments that stand further left than
    /// `column` belong to a block around it.
    pub(crate) fn indented_comments(&mut self, end: u32, column: u32) {
        while let Some(comment) = self.pending(end)
            && self.column(comment.start) >= column
        {
            self.own_line_comment(comment);
        }
    }

    fn own_line_comment(&mut self, comment: Span) {
        self.newline();
        self.verbatim(comment);
        self.n_taken += 1;
    }

    /// Prints a comment that ends the line of byte `at` and starts before `end`.
    pub(crate) fn end_of_line_comment(&mut self, at: u32, end: u32) {
        if let Some(comment) = self.pending(end)
            && comment.start >= at
            && self.line(comment.start) == self.line(at)
        {
            self.push(" ");
            self.verbatim(comment);
            self.n_taken += 1;
        }
    }

    /// Sets comments aside that start before `end` and for which there is no line.
    pub(crate) fn set_aside(&mut self, end: u32) {
        while let Some(comment) = self.pending(end) {
            self.stray.push(comment);
            self.n_taken += 1;
        }
    }

    /// Prints an item of a block on lines of its own, with its comments.
    pub(crate) fn item(&mut self, item: Item, print: impl FnOnce(&mut Self)) {
        let Item { span, next, is_flat, in_brackets } = item;
        let asks = std::mem::take(&mut self.comments_ask);
        let (start, n_before) = (self.out.len(), self.n_taken);
        if in_brackets {
            self.own_line_comments(span.start);
        } else {
            self.groups_of_comments(span.start);
        }
        self.newline();
        let (at, n_leading) = (self.out.len(), self.n_taken - n_before);
        let around = (std::mem::take(&mut self.stray), std::mem::replace(&mut self.limit, next));
        let opens_lists = is_flat && self.has_comment(span.end, next.min(self.line_end(span.end)));
        let around_opens = std::mem::replace(&mut self.opens_lists, opens_lists);
        print(self);
        self.opens_lists = around_opens;
        self.set_aside(span.end);
        let stray = std::mem::replace(&mut self.stray, around.0);
        self.limit = around.1;
        if !stray.is_empty() {
            self.insert_comments(at, &stray);
            if asks && n_leading + stray.len() > 1 {
                self.out.insert(start, '\n');
            }
        }
        self.end_of_line_comment(span.end, next);
    }

    fn insert_comments(&mut self, at: usize, comments: &[Span]) {
        let mut lines = String::new();
        for comment in comments {
            lines.push_str(comment.slice(self.text));
            lines.push('\n');
            lines.extend(std::iter::repeat_n("    ", self.level));
        }
        self.out.insert_str(at, &lines);
    }
}

/// Whether a comment of a module stands in `start..end`.
pub(crate) fn has_comment(module: &Module, start: u32, end: u32) -> bool {
    let first = module.comments.partition_point(|it| it.start < start);
    module.comments.get(first).is_some_and(|it| it.start < end)
}
