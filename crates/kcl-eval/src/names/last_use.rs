//! Last uses: where a lambda reads one of its variables for the last time.
//!
//! Such a read takes the value out of its slot instead of sharing it, so that `list + [x]`
//! can add to the list in place. The body is walked from its end to its start; a read is
//! the last one if nothing behind it mentions the slot. Inside loops, configs and inner
//! lambdas all reads count as mentions only.

use super::{FileNames, NameRef};
use kcl_syntax::ast::{BinOp, Expr, ExprId, Keyword, Lambda, Module, Stmt, StmtId};
use kcl_syntax::walk;
use rustc_hash::FxHashSet;
use std::cell::Cell;

/// Marks the last reads of a lambda whose names were just resolved.
pub(super) fn mark_last_uses(module: &Module, names: &FileNames, lambda: &Lambda) {
    let mut marker = Marker { module, names, mentioned: FxHashSet::default() };
    for &stmt in lambda.body.iter().rev() {
        marker.stmt(stmt);
    }
}

struct Marker<'p> {
    module: &'p Module,
    names: &'p FileNames,
    /// Slots that are read behind the place being looked at.
    mentioned: FxHashSet<u32>,
}

impl Marker<'_> {
    fn stmt(&mut self, id: StmtId) {
        match &self.module[id].kind {
            Stmt::Expr(exprs) => self.exprs(exprs),
            Stmt::Assign(assign) if assign.targets.iter().all(|target| target.paths.is_empty()) => {
                // What the variables held before is gone.
                for at in 0..assign.targets.len() as u32 {
                    if let Some(slot) = self.names.targets.get(&(id, at)) {
                        self.mentioned.remove(slot);
                    }
                }
                self.expr(assign.value);
            }
            _ => self.mention_all(walk::Node::Stmt(id)),
        }
    }

    fn exprs(&mut self, exprs: &[ExprId]) {
        for &expr in exprs.iter().rev() {
            self.expr(expr);
        }
    }

    fn keywords(&mut self, kwargs: &[Keyword]) {
        for value in kwargs.iter().rev().filter_map(|keyword| keyword.value) {
            self.expr(value);
        }
    }

    fn expr(&mut self, id: ExprId) {
        let mut id = id;
        // The left side of an operator is evaluated first; chains of them may be long.
        while let Expr::Binary { op, left, right } = &self.module[id].kind {
            if *op != BinOp::As {
                self.expr(*right);
            }
            id = *left;
        }
        match &self.module[id].kind {
            Expr::Ident(path) => self.read(id, path.names.len() == 1),
            Expr::Paren(inner)
            | Expr::Starred(inner)
            | Expr::Unary { operand: inner, .. }
            | Expr::Selector { value: inner, .. } => self.expr(*inner),
            Expr::Compare { left, rest } => {
                for (_, right) in rest.iter().rev() {
                    self.expr(*right);
                }
                self.expr(*left);
            }
            Expr::If { body, cond, orelse } => {
                // Only one branch runs: what one reads is not behind the other.
                let before = self.mentioned.clone();
                self.expr(*body);
                let after_body = std::mem::replace(&mut self.mentioned, before);
                self.expr(*orelse);
                self.mentioned.extend(after_body);
                self.expr(*cond);
            }
            Expr::Call(call) => {
                self.keywords(&call.kwargs);
                self.exprs(&call.args);
                self.mention_all(walk::Node::Expr(call.func));
            }
            Expr::List(items) => self.exprs(items),
            _ => self.mention_all(walk::Node::Expr(id)),
        }
    }

    fn read(&mut self, id: ExprId, is_single: bool) {
        let Some(cell) = self.names.refs.get(id.index()) else { return };
        match cell.get() {
            NameRef::Local(slot) if is_single => {
                if self.mentioned.insert(slot) {
                    cell.set(NameRef::Last(slot));
                }
            }
            name_ref => self.mention(name_ref),
        }
    }

    /// Notes the slots that a name may be read from.
    fn mention(&mut self, name_ref: NameRef) {
        let mut name_ref = name_ref;
        loop {
            let next = match name_ref {
                NameRef::Local(slot) | NameRef::Last(slot) => {
                    self.mentioned.insert(slot);
                    return;
                }
                NameRef::LocalOr(slot, next) => {
                    self.mentioned.insert(slot);
                    next
                }
                NameRef::Attr(next) => next,
                _ => return,
            };
            match self.names.chain.get(next as usize) {
                Some(chained) => name_ref = *chained,
                None => return,
            }
        }
    }

    /// Notes all slots that are read anywhere below a node.
    fn mention_all(&mut self, node: walk::Node) {
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            match node {
                walk::Node::Expr(id) => {
                    self.mention(
                        self.names.refs.get(id.index()).map_or(NameRef::Missing, Cell::get),
                    );
                    if let Some(inner) = self.names.lambdas.get(&id) {
                        self.mentioned.extend(inner.captures.iter().map(|(outer, _)| *outer));
                        continue;
                    }
                }
                walk::Node::Stmt(id) => {
                    let mut at = 0;
                    while let Some(name_ref) = self.names.target_refs.get(&(id, at)) {
                        self.mention(*name_ref);
                        at += 1;
                    }
                }
                walk::Node::Type(_) => continue,
            }
            walk::children(self.module, node, |child| open.push(child));
        }
    }
}
