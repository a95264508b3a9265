//! Which expressions are printed over several lines.
//!
//! Found once for all expressions: children stand before their parents in the arena.

use crate::comments::has_comment;
use base_text::{LineIndex, Span};
use kcl_syntax::ast::{Expr, ExprId, Module, StmtId};
use kcl_syntax::walk::{Node, children};

/// What is known about the expressions of a module, by number.
pub(crate) struct Layout {
    /// Configs and lists with each item on a line of its own.
    is_open: Vec<bool>,
    /// Whether anything in the expression needs several lines.
    is_long: Vec<bool>,
    /// Whether a list with items is in the expression.
    has_list: Vec<bool>,
}

impl Layout {
    pub(crate) fn new(module: &Module, text: &str, lines: &LineIndex) -> Self {
        let n_exprs = module.exprs.len();
        let (no, finder) = (vec![false; n_exprs], Finder { module, text, lines });
        let mut layout = Self { is_open: no.clone(), is_long: no.clone(), has_list: no };
        for at in 0..n_exprs {
            let id = ExprId(at as u32);
            let kind = &module[id].kind;
            layout.is_open[at] = finder.is_open(&layout, id);
            let (mut is_long, mut has_list) = (
                layout.is_open[at] || finder.is_block(id),
                matches!(kind, Expr::List(items) if !items.is_empty()),
            );
            children(module, Node::Expr(id), |child| {
                if let Node::Expr(child) = child {
                    is_long |= layout.is_long[child.index()];
                    has_list |= layout.has_list[child.index()];
                }
            });
            (layout.is_long[at], layout.has_list[at]) = (is_long, has_list);
        }
        layout
    }

    /// Whether a config or list has each item on a line of its own.
    pub(crate) fn is_open(&self, expr: ExprId) -> bool {
        self.is_open[expr.index()]
    }

    /// Whether an expression needs one line only.
    pub(crate) fn is_flat(&self, expr: ExprId) -> bool {
        !self.is_long[expr.index()]
    }

    /// Whether a list with items is in an expression.
    pub(crate) fn has_list(&self, expr: ExprId) -> bool {
        self.has_list[expr.index()]
    }

    /// Whether the expressions of a statement need one line only; a statement with a body needs
    /// more.
    pub(crate) fn is_flat_stmt(&self, module: &Module, stmt: StmtId) -> bool {
        let mut is_flat = true;
        children(module, Node::Stmt(stmt), |child| match child {
            Node::Expr(expr) => is_flat &= self.is_flat(expr),
            Node::Stmt(_) => is_flat = false,
            Node::Type(_) => {}
        });
        is_flat
    }
}

struct Finder<'m> {
    module: &'m Module,
    text: &'m str,
    lines: &'m LineIndex,
}

impl Finder<'_> {
    /// Whether an expression that is no config or list always has several lines.
    fn is_block(&self, id: ExprId) -> bool {
        match &self.module[id].kind {
            Expr::Lambda(_) | Expr::ListIf { .. } | Expr::ConfigIf { .. } => true,
            Expr::Quant(quant) => {
                let (target, test) = (self.module[quant.target].span, self.module[quant.test].span);
                self.lines.line(target.end) != self.lines.line(test.start)
            }
            _ => false,
        }
    }

    fn is_open(&self, layout: &Layout, id: ExprId) -> bool {
        let module = self.module;
        let span = module[id].span;
        match &module[id].kind {
            Expr::List(items) => {
                let items = items.iter().map(|item| (module[*item].span, *item, *item));
                self.needs_lines(layout, span, items)
            }
            // A dotted key is written out as configs that have no braces.
            Expr::Config(_) if !span.slice(self.text).starts_with('{') => false,
            Expr::Config(entries) => {
                let is_deep = match entries.as_slice() {
                    [only] => {
                        let value = &module[self.behind_dots(only.value)].kind;
                        matches!(value, Expr::Config(_) | Expr::Schema(_))
                    }
                    _ => false,
                };
                let items =
                    entries.iter().map(|it| (it.span, it.key.unwrap_or(it.value), it.value));
                is_deep || self.needs_lines(layout, span, items)
            }
            _ => false,
        }
    }

    /// The value behind a dotted key.
    fn behind_dots(&self, mut value: ExprId) -> ExprId {
        while let Expr::Config(entries) = &self.module[value].kind
            && !self.module[value].span.slice(self.text).starts_with('{')
            && let Some(inner) = entries.first()
        {
            value = inner.value;
        }
        value
    }

    /// Whether not all items start on the line of the bracket, comments stand between them, an item
    /// is a condition, or an item that others follow has several lines.
    fn needs_lines(
        &self,
        layout: &Layout,
        span: Span,
        items: impl Iterator<Item = (Span, ExprId, ExprId)>,
    ) -> bool {
        let line = self.lines.line(span.start);
        let has_comments = has_comment(self.module, span.start, span.end);
        let (mut behind, mut is_behind_long) = (span.start, false);
        for (item, key, value) in items {
            let is_condition =
                matches!(self.module[value].kind, Expr::ListIf { .. } | Expr::ConfigIf { .. });
            if is_condition
                || is_behind_long
                || self.lines.line(item.start) != line
                || has_comments && has_comment(self.module, behind, item.start)
            {
                return true;
            }
            behind = item.end;
            is_behind_long = !(layout.is_flat(key) && layout.is_flat(value));
        }
        has_comments && has_comment(self.module, behind, span.end)
    }
}
