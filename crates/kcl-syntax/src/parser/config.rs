//! Configs: `{a = 1, b: 2, **c, if d: e = 3}`.

use super::Parser;
use crate::ast::{ConfigEntry, ConfigOp, Expr, ExprId, Path};
use crate::token::TokenKind;
use base_text::Span;

const ENTRY_OPERATORS: &[&str] = &[":", "=", "+="];

impl Parser<'_> {
    /// `{…}`, or `{k: v for k, v in xs}`
    pub(super) fn config(&mut self) -> ExprId {
        let start = self.token.start;
        self.bump();
        let multi_line = self.at(TokenKind::Newline);
        if multi_line {
            self.skip_newlines();
            self.skip_indentation();
        }
        if self.eat(TokenKind::CloseBrace) {
            return self.add(Expr::Config(Vec::new()), start);
        }
        let first = self.token.span();
        let mut entries = self.config_entries(multi_line);
        let generators = self.comp_clauses();
        self.skip_newlines();
        self.skip_indentation();
        self.expect_or_stay(TokenKind::CloseBrace, "}");
        if generators.is_empty() {
            for entry in &mut entries {
                self.nest(entry);
            }
            return self.add(Expr::Config(entries), start);
        }
        if entries.is_empty() {
            self.error(first, "missing config comp clause expression");
            return self.add(Expr::Config(entries), start);
        }
        if entries.len() > 1 {
            let n = entries.len();
            self.error(
                first,
                format!("multiple config comp clause expression found: expected 1, got {n}"),
            );
        }
        let entry = Box::new(entries.swap_remove(0));
        self.add(Expr::DictComp { entry, generators }, start)
    }

    fn ends_config(&self, multi_line: bool) -> bool {
        match self.kind() {
            TokenKind::CloseBrace | TokenKind::Eof | TokenKind::For => true,
            TokenKind::Newline => !multi_line,
            _ => false,
        }
    }

    fn config_entries(&mut self, multi_line: bool) -> Vec<ConfigEntry> {
        if self.ends_config(multi_line) {
            return Vec::new();
        }
        let base = self.entries.len();
        let mut is_first = true;
        loop {
            let pos = self.pos;
            if !is_first {
                self.skip_indentation();
                if self.ends_config(multi_line) {
                    return self.entries.split_off(base);
                }
            }
            let entry = self.config_entry();
            self.entries.push(entry);
            self.eat(TokenKind::Comma);
            if multi_line {
                self.skip_newlines();
            }
            if !is_first {
                self.ensure_progress(pos);
            }
            is_first = false;
        }
    }

    fn config_entry(&mut self) -> ConfigEntry {
        let start = self.token.start;
        let (key, value, op) = match self.kind() {
            TokenKind::StarStar => {
                self.bump();
                (None, self.expr(), ConfigOp::Union)
            }
            TokenKind::If if self.enter() => {
                let value = self.config_if();
                self.leave();
                (None, value, ConfigOp::Union)
            }
            _ => {
                let key = self.expr();
                if let Some(value) = self.shorthand(key) {
                    return ConfigEntry {
                        key: Some(key),
                        value,
                        op: ConfigOp::Override,
                        span: self.span_from(start),
                    };
                }
                let op = self.entry_operator();
                self.bump();
                (Some(key), self.expr(), op.unwrap_or(ConfigOp::Override))
            }
        };
        ConfigEntry { key, value, op, span: self.span_from(start) }
    }

    /// `{name}` is short for `{name = name}`: makes the value, which stands where the key does.
    fn shorthand(&mut self, key: ExprId) -> Option<ExprId> {
        if matches!(self.kind(), TokenKind::Colon | TokenKind::Assign | TokenKind::PlusEq) {
            return None;
        }
        let node = &self.module[key];
        match &node.kind {
            Expr::Ident(path) if path.names.len() == 1 => {
                let (value, span) = (Expr::Ident(path.clone()), node.span);
                Some(self.module.add_expr(value, span))
            }
            _ => None,
        }
    }

    fn entry_operator(&mut self) -> Option<ConfigOp> {
        match self.kind() {
            TokenKind::Colon => Some(ConfigOp::Union),
            TokenKind::Assign => Some(ConfigOp::Override),
            TokenKind::PlusEq => Some(ConfigOp::Insert),
            _ => {
                self.expected(ENTRY_OPERATORS);
                None
            }
        }
    }

    /// Writes a dotted key out: `a.b.c = v` becomes `a: {b: {c = v}}`.
    fn nest(&mut self, entry: &mut ConfigEntry) {
        let Some(key) = entry.key else { return };
        let node = &mut self.module.exprs[key.index()];
        let Expr::Ident(path) = &mut node.kind else { return };
        if path.names.len() < 2 {
            return;
        }
        let first = path.names[0];
        let names = std::mem::replace(&mut path.names, first.into());
        let inner = &names[1..];
        let n_inner = inner.len();
        path.span = first.span;
        node.span = path.span;
        if self.is_too_long(n_inner) {
            return;
        }
        let mut op = entry.op;
        for &name in inner.iter().rev() {
            let path = Path { names: name.into(), span: name.span };
            let key = self.module.add_expr(Expr::Ident(path), name.span);
            let span = Span::new(name.span.start, entry.span.end);
            let inner = ConfigEntry { key: Some(key), value: entry.value, op, span };
            let end = self.module[entry.value].span.end;
            let span = Span::new(name.span.start, end.max(name.span.end));
            entry.value = self.module.add_expr(Expr::Config(vec![inner]), span);
            op = ConfigOp::Union;
        }
        entry.op = ConfigOp::Union;
    }

    /// `if cond: entries elif cond: entries else: entries`
    fn config_if(&mut self) -> ExprId {
        let start = self.token.start;
        // Behind an `elif` that is a block, all are; the `if` says nothing of the others.
        let (mut is_first, mut is_block) = (true, false);
        let branches = self.branches(|this| {
            is_block |= this.at(TokenKind::Newline);
            let entries = this.config_block(is_block);
            is_block &= !std::mem::take(&mut is_first);
            entries
        });
        let orelse = self.else_expr(|this| {
            let is_block = this.at(TokenKind::Newline);
            Expr::Config(this.config_block(is_block))
        });
        let whole = self.span_from(start);
        self.eat(TokenKind::Comma);
        self.skip_newlines();
        self.nest_branches(branches, orelse, whole, |cond, items, orelse| Expr::ConfigIf {
            cond,
            items,
            orelse,
        })
    }

    fn config_block(&mut self, is_block: bool) -> Vec<ConfigEntry> {
        let mut entries = Vec::new();
        if !is_block {
            self.block_entry(&mut entries, false);
            return entries;
        }
        self.skip_newlines();
        self.expect(TokenKind::Indent, "indent");
        while self.block_entry(&mut entries, true) {
            if self.at(TokenKind::Eof) {
                break;
            }
            self.eat(TokenKind::Comma);
            self.skip_newlines();
        }
        self.skip_newlines();
        entries
    }

    /// Parses one entry of an `if`; false at the end of the block.
    fn block_entry(&mut self, entries: &mut Vec<ConfigEntry>, is_block: bool) -> bool {
        let pos = self.pos;
        if is_block && self.eat(TokenKind::Dedent) {
            return false;
        }
        if !is_block && self.at(TokenKind::Newline)
            || matches!(self.kind(), TokenKind::Elif | TokenKind::Else)
        {
            return false;
        }
        if self.at(TokenKind::If) && self.enter() {
            let value = self.config_if();
            self.leave();
            let span = self.module[value].span;
            entries.push(ConfigEntry { key: None, value, op: ConfigOp::Override, span });
            return true;
        }
        self.check_dedent();
        if matches!(self.kind(), TokenKind::Dedent | TokenKind::Newline) {
            return false;
        }
        if self.eat(TokenKind::StarStar) {
            let value = self.primary_expr();
            let span = self.module[value].span;
            entries.push(ConfigEntry { key: None, value, op: ConfigOp::Override, span });
            return true;
        }
        let start = self.token.start;
        let key = self.expr();
        let op = self.entry_operator();
        if op.is_some() {
            self.bump();
        }
        let value = self.expr();
        let op = op.unwrap_or(ConfigOp::Override);
        let mut entry = ConfigEntry { key: Some(key), value, op, span: self.span_from(start) };
        self.nest(&mut entry);
        entries.push(entry);
        self.ensure_progress(pos);
        true
    }
}
