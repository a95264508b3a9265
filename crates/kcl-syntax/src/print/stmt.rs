//! Printing of statements.

use super::Printer;
use crate::ast::{
    Assign, AugOp, Check, Expr, ExprId, If, IndexSignature, MemberOrIndex, Number, Params, Path,
    Rule, Schema, SchemaAttr, SchemaKind, Stmt, StmtId, Target, UnaryOp,
};

impl Printer<'_> {
    pub(super) fn module(&mut self) {
        let module = self.module;
        if let Some(doc) = &module.doc {
            self.doc(&doc.value);
            self.push("\n");
        } else if let Some(first) = module.body.first()
            && self.starts_with(*first, |expr| match expr {
                Expr::String(string) => string.is_long,
                Expr::Joined(joined) => joined.is_long,
                _ => false,
            })
        {
            // On the first line this text would be the documentation.
            self.push("\n");
        }
        for stmt in &module.body {
            self.stmt(*stmt);
            self.push("\n");
        }
    }

    pub(super) fn stmt(&mut self, id: StmtId) {
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
                self.push(&import.path.value);
                if let Some(alias) = import.asname {
                    self.push(" as ");
                    self.ident(alias);
                }
            }
            Stmt::SchemaAttr(attr) => self.attr(attr),
            Stmt::Schema(schema) => self.schema(schema),
            Stmt::Rule(rule) => self.rule(rule),
        }
    }

    fn aug_op(&mut self, op: AugOp) {
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

    fn condition(&mut self, test: ExprId, if_cond: Option<ExprId>, msg: Option<ExprId>) {
        self.expr(test);
        if let Some(cond) = if_cond {
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
            self.block(&stmt.body);
            if stmt.orelse.is_empty() {
                return;
            }
            self.newline();
            match stmt.orelse.as_slice() {
                [only] if let Stmt::If(inner) = &module[*only].kind => {
                    (word, stmt) = ("elif ", inner);
                }
                body => {
                    self.push("else:");
                    self.block(body);
                    return;
                }
            }
        }
    }

    fn block(&mut self, body: &[StmtId]) {
        // `if a: -1`: no line starts with a sign, so this one stays behind its colon.
        if let [only] = body
            && self.starts_with_sign(*only)
        {
            self.push(" ");
            return self.stmt(*only);
        }
        self.level += 1;
        for stmt in body {
            self.newline();
            self.stmt(*stmt);
        }
        self.level -= 1;
    }

    fn starts_with_sign(&self, stmt: StmtId) -> bool {
        self.starts_with(stmt, |expr| match expr {
            Expr::Unary { op, .. } => matches!(op, UnaryOp::Plus | UnaryOp::Minus),
            Expr::Number(Number::Int(value)) => *value == i64::MIN,
            _ => false,
        })
    }

    /// Whether `is_such` holds for the operand that the printed statement starts with.
    fn starts_with(&self, stmt: StmtId, is_such: impl FnOnce(&Expr) -> bool) -> bool {
        let Stmt::Expr(exprs) = &self.module[stmt].kind else { return false };
        let Some(mut at) = exprs.first().copied() else { return false };
        loop {
            at = match &self.module[at].kind {
                Expr::Binary { left, .. } | Expr::Compare { left, .. } => *left,
                Expr::If { body, .. } => *body,
                Expr::Selector { value, .. } => *value,
                Expr::Call(call) => call.func,
                Expr::Subscript(subscript) => subscript.value,
                operand => return is_such(operand),
            };
        }
    }

    fn decorators(&mut self, decorators: &[ExprId]) {
        for decorator in decorators {
            self.push("@");
            self.expr(*decorator);
            self.newline();
        }
    }

    fn attr(&mut self, attr: &SchemaAttr) {
        self.decorators(&attr.decorators);
        let name = attr.name.name.as_str();
        if is_name(name) {
            self.name(name);
        } else if name.contains("${") {
            // Only raw strings with it are names.
            self.raw_string(name, false);
        } else {
            self.short_string(name);
        }
        self.push(if attr.is_optional { "?: " } else { ": " });
        self.ty(attr.ty);
        if let (Some(op), Some(value)) = (attr.op, attr.value) {
            self.aug_op(op);
            self.expr(value);
        }
    }

    /// Prints the name of a declaration and what follows up to the colon.
    fn head(&mut self, params: Option<&Params>, parents: &[Path], for_host: Option<&Path>) {
        if let Some(params) = params {
            self.push("[");
            self.params(params);
            self.push("]");
        }
        if !parents.is_empty() {
            self.push("(");
            self.commas(parents, Self::path);
            self.push(")");
        }
        if let Some(host) = for_host {
            self.push(" for ");
            self.path(host);
        }
        self.push(":");
    }

    fn schema(&mut self, schema: &Schema) {
        self.decorators(&schema.decorators);
        self.push(match schema.kind {
            SchemaKind::Schema => "schema ",
            SchemaKind::Mixin => "mixin ",
            SchemaKind::Protocol => "protocol ",
        });
        self.ident(schema.name);
        self.head(schema.params.as_ref(), schema.parent.as_slice(), schema.for_host.as_ref());
        self.level += 1;
        if let Some(doc) = &schema.doc {
            self.newline();
            self.doc(&doc.value);
        }
        if !schema.mixins.is_empty() {
            self.newline();
            self.push("mixin [");
            self.commas(&schema.mixins, Self::path);
            self.push("]");
        }
        if let Some(signature) = &schema.index_signature {
            self.newline();
            self.index_signature(signature);
        }
        for stmt in &schema.body {
            self.newline();
            self.schema_item(*stmt);
        }
        if !schema.checks.is_empty() {
            self.newline();
            self.push("check:");
            self.level += 1;
            self.checks(&schema.checks);
            self.level -= 1;
        }
        self.level -= 1;
    }

    /// A list that stands alone is known from an index signature by its line break.
    fn schema_item(&mut self, stmt: StmtId) {
        let module = self.module;
        if let Stmt::Expr(exprs) = &module[stmt].kind
            && let [only] = exprs.as_slice()
            && matches!(module[*only].kind, Expr::List(_) | Expr::ListComp { .. })
        {
            self.list_block(*only);
        } else {
            self.stmt(stmt);
        }
    }

    fn index_signature(&mut self, signature: &IndexSignature) {
        self.push("[");
        if let Some(name) = signature.key_name {
            self.ident(name);
            self.push(": ");
        }
        if signature.any_other {
            self.push("...");
        }
        self.ty(signature.key_ty);
        self.push("]: ");
        self.ty(signature.value_ty);
        if let Some(value) = signature.value {
            self.push(" = ");
            self.expr(value);
        }
    }

    fn checks(&mut self, checks: &[Check]) {
        for check in checks {
            self.newline();
            self.condition(check.test, check.if_cond, check.msg);
        }
    }

    fn rule(&mut self, rule: &Rule) {
        self.decorators(&rule.decorators);
        self.push("rule ");
        self.ident(rule.name);
        self.head(rule.params.as_ref(), &rule.parents, rule.for_host.as_ref());
        self.level += 1;
        if let Some(doc) = &rule.doc {
            self.newline();
            self.doc(&doc.value);
        }
        self.checks(&rule.checks);
        self.level -= 1;
    }
}

/// Whether `text` can be written as a name (with `$` if it is a keyword).
fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    let starts = chars.next().is_some_and(|c| c == '_' || unicode_ident::is_xid_start(c));
    starts && chars.all(unicode_ident::is_xid_continue)
}
