//! Sequences of statements: blank lines, and bodies behind a colon.

use crate::comments::Item;
use crate::printer::Printer;
use base_text::Span;
use kcl_syntax::ast::{Expr, Stmt, StmtId};

/// Words that start a statement at the start of a line, and may be names elsewhere.
const STATEMENT_WORDS: &[&str] =
    &["import", "schema", "mixin", "protocol", "rule", "type", "assert", "if", "check"];

/// Whether an empty line follows a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gap {
    /// Always.
    Blank,
    /// Never.
    None,
    /// As in the source; also before two lines of comments.
    AsWritten,
}

impl Printer<'_> {
    /// Asks for an empty line between an item that ended at `end` and one that starts at `start`.
    pub(crate) fn gap(&mut self, gap: Gap, end: u32, start: u32) {
        let is_wanted = match gap {
            Gap::Blank => true,
            Gap::None => false,
            Gap::AsWritten => {
                let n_lines = self.line(start) - self.line(end);
                n_lines > 2 || n_lines == 2 && self.pending(start).is_none()
            }
        };
        if is_wanted {
            self.want_blank();
        }
        self.comments_ask = gap == Gap::AsWritten && !is_wanted;
    }

    /// Prints statements; `end` is where their block ends.
    pub(crate) fn stmts(&mut self, stmts: &[StmtId], end: u32) {
        let module = self.module;
        for (at, stmt) in stmts.iter().enumerate() {
            let span = self.stmt_span(*stmt);
            if at > 0 {
                let prev = stmts[at - 1];
                let is_import = matches!(module[*stmt].kind, Stmt::Import(_));
                let gap = self.gap_behind(prev, is_import);
                self.gap(gap, module[prev].span.end, span.start);
            }
            let next = stmts.get(at + 1).map_or(end, |next| self.stmt_span(*next).start);
            let is_flat = self.layout.is_flat_stmt(module, *stmt);
            let item = Item { span, next, is_flat, in_brackets: false };
            self.item(item, |this| this.stmt(*stmt));
        }
    }

    /// The whole statement; some spans of the tree leave the first word out.
    pub(crate) fn stmt_span(&self, stmt: StmtId) -> Span {
        let node = &self.module[stmt];
        let word = match &node.kind {
            Stmt::TypeAlias(_) => "type",
            Stmt::Schema(schema) if !schema.decorators.is_empty() => "@",
            Stmt::Rule(rule) if !rule.decorators.is_empty() => "@",
            _ => return node.span,
        };
        let first = match &node.kind {
            Stmt::Schema(schema) => schema.decorators.first(),
            Stmt::Rule(rule) => rule.decorators.first(),
            _ => None,
        };
        let behind = first.map_or(node.span.start, |it| self.module[*it].span.start);
        let before = self.text.get(..behind as usize).unwrap_or("");
        let start = before.rfind(word).map_or(behind, |at| at as u32);
        Span::new(start, node.span.end)
    }

    /// The gap behind a statement of a block. That behind attributes with `?`, a decorator or a
    /// quoted name, unifications, rules and complete conditionals is none: the reference takes the
    /// line ends behind them for a part of them. Schemas and other conditionals print their own.
    pub(crate) fn gap_behind(&self, stmt: StmtId, is_before_import: bool) -> Gap {
        match &self.module[stmt].kind {
            Stmt::Import(_) if !is_before_import => Gap::Blank,
            Stmt::If(_) | Stmt::Schema(_) | Stmt::Unification(_) | Stmt::Rule(_) => Gap::None,
            Stmt::SchemaAttr(attr)
                if attr.is_optional
                    || !attr.decorators.is_empty()
                    || attr.name.span.slice(self.text).contains(['"', '\'']) =>
            {
                Gap::None
            }
            _ => Gap::AsWritten,
        }
    }

    /// Prints the statements behind a colon; `head` is where what stands before them ends, `end`
    /// where what follows them starts. `ends_by_word` says that a word follows, else the block ends
    /// by indentation.
    pub(crate) fn body(&mut self, body: &[StmtId], head: u32, end: u32, ends_by_word: bool) {
        self.set_aside(head);
        let first = body.first().map_or(end, |first| self.stmt_span(*first).start);
        self.end_of_line_comment(head, first);
        if let [only] = body
            && !self.may_start_line(*only)
        {
            self.push(" ");
            self.stmt(*only);
            return;
        }
        let column = if ends_by_word { 0 } else { self.column(first) };
        self.indented(|this| {
            this.stmts(body, end);
            this.indented_comments(end, column);
        });
    }

    /// Whether a line may start with what the statement starts with: `-1`, `not a` and names that
    /// are keywords stand behind a colon only.
    fn may_start_line(&self, stmt: StmtId) -> bool {
        let is_keyword = match &self.module[stmt].kind {
            Stmt::Expr(_) | Stmt::Assign(_) | Stmt::AugAssign(_) | Stmt::Unification(_) => {
                let written = self.module[stmt].span.slice(self.text);
                let word = written.split(|c: char| !c.is_alphanumeric() && c != '_').next();
                STATEMENT_WORDS.contains(&word.unwrap_or(""))
            }
            _ => false,
        };
        if is_keyword {
            return false;
        }
        let Stmt::Expr(exprs) = &self.module[stmt].kind else { return true };
        let Some(mut at) = exprs.first().copied() else { return true };
        loop {
            at = match &self.module[at].kind {
                Expr::Binary { left, .. } | Expr::Compare { left, .. } => *left,
                Expr::If { body, .. } => *body,
                Expr::Selector { value, .. } => *value,
                Expr::Call(call) => call.func,
                Expr::Subscript(subscript) => subscript.value,
                Expr::Unary { .. } => return self.text_at(at).starts_with(['~', '!']),
                Expr::Number(_) => return !self.text_at(at).starts_with('-'),
                Expr::Constant(_) | Expr::Lambda(_) | Expr::Quant(_) => return false,
                _ => return true,
            };
        }
    }

    fn text_at(&self, expr: kcl_syntax::ast::ExprId) -> &str {
        self.module[expr].span.slice(self.text)
    }
}
