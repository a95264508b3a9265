//! Configs and lists: on one line as long as they start so, else an item on each line.

use crate::comments::Item;
use crate::printer::{Open, Printer};
use base_text::Span;
use kcl_syntax::ast::{ConfigEntry, ConfigOp, Expr, ExprId};

impl Printer<'_> {
    pub(crate) fn list(&mut self, id: ExprId, items: &[ExprId]) {
        if self.layout.is_open(id) || !items.is_empty() && (self.opens_lists || self.opens(id)) {
            self.list_block(id, items);
        } else {
            self.push("[");
            self.commas(items, |this, item| this.expr(*item));
            self.push("]");
        }
    }

    /// Whether the style opens the current config or list.
    fn opens(&mut self, id: ExprId) -> bool {
        match self.style.open {
            Open::AsWritten => false,
            Open::Before(line) => self.line(self.module[id].span.start) < line,
            Open::Outermost => {
                self.style.open = Open::AsWritten;
                true
            }
            Open::All => true,
        }
    }

    /// Prints a list with each item on a line of its own.
    pub(crate) fn list_block(&mut self, id: ExprId, items: &[ExprId]) {
        let span = self.module[id].span;
        self.push("[");
        self.open(span.start + 1, items.first().map(|item| self.module[*item].span));
        self.indented(|this| this.items(items, span.end - 1));
        self.newline();
        self.push("]");
    }

    fn items(&mut self, items: &[ExprId], end: u32) {
        let module = self.module;
        for (at, item) in items.iter().enumerate() {
            let next = items.get(at + 1).map_or(end, |next| module[*next].span.start);
            let is_flat = self.layout.is_flat(*item);
            let place = Item { span: module[*item].span, next, is_flat, in_brackets: true };
            self.item(place, |this| this.expr(*item));
        }
        self.own_line_comments(end);
    }

    pub(crate) fn config(&mut self, id: ExprId, entries: &[ConfigEntry]) {
        let span = self.module[id].span;
        if self.is_odd(entries) && self.line(span.start) == self.line(span.end) {
            return self.verbatim(span);
        }
        let is_opened = !entries.is_empty() && self.opens(id);
        let is_deep = self.style.write_out_keys && self.holds_block(entries);
        if is_opened || is_deep || self.layout.is_open(id) || self.has_open_list(entries) {
            self.push("{");
            self.open(span.start + 1, entries.first().map(|entry| entry.span));
            self.indented(|this| this.entries(entries, span.end - 1));
            self.newline();
            self.push("}");
        } else {
            self.push("{");
            self.commas(entries, Self::entry);
            self.push("}");
        }
    }

    /// Whether a branch has no entries, which is possible on one line only: `{if a: else: b = 1}`.
    fn is_odd(&self, entries: &[ConfigEntry]) -> bool {
        entries.iter().any(|entry| {
            let mut next = Some(entry.value);
            while let Some(at) = next {
                next = match &self.module[at].kind {
                    Expr::ConfigIf { items, .. } if items.is_empty() => return true,
                    Expr::ConfigIf { orelse, .. } => *orelse,
                    Expr::Config(rest) if at != entry.value => return rest.is_empty(),
                    _ => None,
                };
            }
            false
        })
    }

    /// Starts a block behind its bracket.
    fn open(&mut self, bracket: u32, first: Option<Span>) {
        self.set_aside(bracket);
        if let Some(first) = first {
            self.end_of_line_comment(bracket, first.start);
        }
    }

    fn entries(&mut self, entries: &[ConfigEntry], end: u32) {
        for (at, entry) in entries.iter().enumerate() {
            let next = entries.get(at + 1).map_or(end, |next| next.span.start);
            let is_flat = self.layout.is_flat(entry.value)
                && entry.key.is_none_or(|key| self.layout.is_flat(key));
            let item = Item { span: entry.span, next, is_flat, in_brackets: true };
            self.item(item, |this| {
                this.entry(entry);
                if entry.needs_comma_before(entries.get(at + 1), this.module) {
                    this.newline();
                    this.push(",");
                }
            });
        }
        self.own_line_comments(end);
    }

    /// Whether the only entry has a config or schema as value.
    fn holds_block(&self, entries: &[ConfigEntry]) -> bool {
        matches!(entries, [only]
            if matches!(self.module[only.value].kind, Expr::Config(_) | Expr::Schema(_)))
    }

    /// Whether a list is opened in an entry that others follow.
    fn has_open_list(&self, entries: &[ConfigEntry]) -> bool {
        let before = entries.split_last().map_or(entries, |(_, before)| before);
        self.opens_lists && before.iter().any(|it| self.layout.has_list(it.value))
    }

    /// The entry behind a dot, if `value` was written that way.
    fn dotted(&self, value: ExprId) -> Option<&ConfigEntry> {
        let node = &self.module[value];
        match &node.kind {
            Expr::Config(entries) if !node.span.slice(self.text).starts_with('{') => {
                entries.first()
            }
            _ => None,
        }
    }

    pub(crate) fn entry(&mut self, entry: &ConfigEntry) {
        let module = self.module;
        let Some(key) = entry.key else {
            if !matches!(module[entry.value].kind, Expr::ConfigIf { .. }) {
                self.push("**");
            }
            return self.expr(entry.value);
        };
        self.expr(key);
        if module[key].span == module[entry.value].span {
            return;
        }
        let (mut op, mut value) = (entry.op, entry.value);
        let (mut n_open, mut n_opened) = (0, 0);
        while let Expr::Config(inner) = &module[value].kind
            && self.dotted(value).is_some()
            && let Some(inner) = inner.first()
        {
            if self.style.write_out_keys {
                self.push(": {");
                n_open += 1;
                if self.opens(value) || self.holds_block(std::slice::from_ref(inner)) {
                    self.level += 1;
                    n_opened += 1;
                    self.newline();
                }
            } else {
                self.push(".");
            }
            inner.key.into_iter().for_each(|key| self.expr(key));
            (op, value) = (inner.op, inner.value);
        }
        self.push(match op {
            ConfigOp::Union => ": ",
            ConfigOp::Override => " = ",
            ConfigOp::Insert => " += ",
        });
        self.expr(value);
        for _ in 0..n_open {
            if n_opened > 0 {
                n_opened -= 1;
                self.level -= 1;
                self.newline();
            }
            self.push("}");
        }
    }

    pub(crate) fn list_if(&mut self, id: ExprId) {
        let module = self.module;
        let end = module[id].span.end;
        let (mut word, mut at) = ("if ", id);
        loop {
            let Expr::ListIf { cond, items, orelse } = &module[at].kind else { return };
            let last = items.last().map(|item| module[*item].span.end);
            let first = items.first().map(|item| module[*item].span.start);
            let block_end = self.branch_head(word, *cond, (first, last), *orelse, end);
            self.indented(|this| this.items(items, block_end));
            let Some(orelse) = orelse else { return };
            self.newline();
            if let Expr::List(items) = &module[*orelse].kind {
                let first = items.first().map_or(end, |item| module[*item].span.start);
                self.else_head(module[*orelse].span.start, first);
                return self.indented(|this| this.items(items, end));
            }
            (word, at) = ("elif ", *orelse);
        }
    }

    pub(crate) fn config_if(&mut self, id: ExprId) {
        let module = self.module;
        let end = module[id].span.end;
        let (mut word, mut at) = ("if ", id);
        loop {
            let Expr::ConfigIf { cond, items, orelse } = &module[at].kind else { return };
            let last = items.last().map(|item| item.span.end);
            let first = items.first().map(|item| item.span.start);
            let block_end = self.branch_head(word, *cond, (first, last), *orelse, end);
            self.indented(|this| this.entries(items, block_end));
            let Some(orelse) = orelse else { return };
            // A last branch without entries says nothing, and there is no way to write it.
            if matches!(&module[*orelse].kind, Expr::Config(rest) if rest.is_empty()) {
                if items.is_empty() {
                    self.level += 1;
                    self.newline();
                    self.push("**{}");
                    self.level -= 1;
                }
                return;
            }
            // `if a: else:`: a branch without entries is known by its one line.
            if items.is_empty() {
                self.push(" ");
            } else {
                self.newline();
            }
            if let Expr::Config(items) = &module[*orelse].kind {
                let first = items.first().map_or(end, |item| item.span.start);
                self.else_head(module[*orelse].span.start, first);
                return self.indented(|this| this.entries(items, end));
            }
            (word, at) = ("elif ", *orelse);
        }
    }

    /// Prints `if cond:` and the comment behind it; returns where the branch ends. `body` says
    /// where the items of the branch start and end.
    fn branch_head(
        &mut self,
        word: &str,
        cond: ExprId,
        body: (Option<u32>, Option<u32>),
        orelse: Option<ExprId>,
        end: u32,
    ) -> u32 {
        self.push(word);
        self.expr(cond);
        self.push(":");
        let head = self.module[cond].span.end;
        let block_end = orelse.map_or(body.1.unwrap_or(end), |it| self.module[it].span.start);
        self.set_aside(head);
        self.end_of_line_comment(head, body.0.unwrap_or(block_end));
        block_end
    }

    fn else_head(&mut self, word: u32, first: u32) {
        self.push("else:");
        self.set_aside(word);
        self.end_of_line_comment(word, first);
    }
}
