//! Statements.

use crate::comments::Item;
use crate::printer::Printer;
use kcl_syntax::ast::{Assign, AugOp, ExprId, If, MemberOrIndex, Module, Stmt, StmtId, Target};

impl Printer<'_> {
    /// Prints the whole file.
    pub(crate) fn module(&mut self) {
        let module = self.module;
        let end = self.text.len() as u32;
        if let Some(doc) = &module.doc {
            let first = module.body.first().map_or(end, |first| self.stmt_span(*first).start);
            let item = Item { span: doc.span, next: first, is_flat: false, in_brackets: false };
            self.item(item, |this| this.verbatim(doc.span));
            self.want_blank();
        } else if self.starts_with_long_string(module) {
            // On the first line this text would be the documentation.
            self.out.push('\n');
            let first = module.body.first().map_or(end, |first| self.stmt_span(*first).start);
            if self.pending(first).is_some() {
                self.out.clear();
            }
        }
        self.stmts(&module.body, end);
        self.own_line_comments(end);
    }

    fn starts_with_long_string(&self, module: &Module) -> bool {
        let Some(first) = module.body.first() else { return false };
        let written = module[*first].span.slice(self.text).trim_start_matches(['r', 'R']);
        written.starts_with("\"\"\"") || written.starts_with("'''")
    }

    pub(crate) fn stmt(&mut self, id: StmtId) {
        let module = self.module;
        match &module[id].kind {
            Stmt::TypeAlias(alias) => {
                self.push("type ");
                self.ident(alias.name);
                self.push(" = ");
                self.ty(alias.ty);
            }
            Stmt::Expr(exprs) => self.commas(exprs, |this, expr| this.expr(*expr)),
            Stmt::Unification(unification) => {
                self.path(&unification.target);
                self.push(": ");
                self.expr(unification.value);
            }
            Stmt::Assign(assign) => self.assign(assign),
            Stmt::AugAssign(aug) => {
                self.target(&aug.target);
                self.aug_op(aug.op);
                self.expr(aug.value);
            }
            Stmt::Assert(assert) => {
                self.push("assert ");
                self.condition(assert.test, assert.if_cond, assert.msg);
            }
            Stmt::If(stmt) => self.if_stmt(stmt),
            Stmt::Import(import) => {
                self.push("import ");
                let written = import.path.span.slice(self.text);
                self.out.extend(written.chars().filter(|c| !c.is_whitespace() && *c != '\\'));
                if let Some(alias) = import.asname {
                    self.push(" as ");
                    self.ident(alias);
                }
            }
            Stmt::SchemaAttr(attr) => self.attr(attr),
            Stmt::Schema(schema) => self.schema(id, schema),
            Stmt::Rule(rule) => self.rule(id, rule),
        }
    }

    pub(crate) fn aug_op(&mut self, op: AugOp) {
        self.push(" ");
        if let AugOp::With(op) = op {
            self.push(op.as_str());
        }
        self.push("= ");
    }

    fn assign(&mut self, assign: &Assign) {
        for (at, target) in assign.targets.iter().enumerate() {
            if at > 0 {
                self.push(" = ");
            }
            self.target(target);
            if at == 0
                && let Some(ty) = assign.ty
            {
                self.push(": ");
                self.ty(ty);
            }
        }
        self.push(" = ");
        self.expr(assign.value);
    }

    fn target(&mut self, target: &Target) {
        self.ident(target.name);
        for step in &target.paths {
            match step {
                MemberOrIndex::Member(name) => {
                    self.push(".");
                    self.ident(*name);
                }
                MemberOrIndex::Index(index) => {
                    self.push("[");
                    self.expr(*index);
                    self.push("]");
                }
            }
        }
    }

    /// `test if cond, msg`
    pub(crate) fn condition(&mut self, test: ExprId, cond: Option<ExprId>, msg: Option<ExprId>) {
        self.expr(test);
        if let Some(cond) = cond {
            self.push(" if ");
            self.expr(cond);
        }
        if let Some(msg) = msg {
            self.push(", ");
            self.expr(msg);
        }
    }

    fn if_stmt(&mut self, stmt: &If) {
        let module = self.module;
        let (mut word, mut stmt) = ("if ", stmt);
        loop {
            self.push(word);
            self.expr(stmt.cond);
            self.push(":");
            let head = module[stmt.cond].span.end;
            let Some(first) = stmt.orelse.first() else {
                self.body(&stmt.body, head, self.limit, false);
                self.end_block();
                return;
            };
            let first = self.stmt_span(*first);
            let behind = stmt.body.last().map_or(head, |last| module[*last].span.end);
            let is_elif = first.slice(self.text).starts_with("elif");
            let at = if is_elif {
                first.start
            } else {
                self.find_word(behind, first.start, "else").unwrap_or(first.start)
            };
            self.body(&stmt.body, head, at, true);
            self.newline();
            // An `if` alone in an `else` is the same as an `elif`.
            match stmt.orelse.as_slice() {
                [only]
                    if let Stmt::If(inner) = &module[*only].kind
                        && (is_elif || !self.has_comment(at, first.start)) =>
                {
                    (word, stmt) = ("elif ", inner);
                }
                body => {
                    self.push("else:");
                    self.body(body, at, self.limit, false);
                    return;
                }
            }
        }
    }
}
