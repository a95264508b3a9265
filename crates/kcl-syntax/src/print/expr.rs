//! Printing of expressions.

use super::Printer;
use crate::ast::{
    CompClause, ConfigEntry, ConfigOp, Expr, ExprId, Keyword, Lambda, Params, QuantOp, Stmt,
    Subscript, UnaryOp,
};

impl Printer<'_> {
    pub(super) fn expr(&mut self, id: ExprId) {
        // Long chains lean to the left: walk down, then print what was passed on the way.
        let module = self.module;
        let mut passed = Vec::new();
        let mut at = id;
        loop {
            let next = match &module[at].kind {
                Expr::Binary { left, .. } => *left,
                Expr::Selector { value, .. } => *value,
                Expr::Call(call) => call.func,
                Expr::Subscript(subscript) => subscript.value,
                _ => break,
            };
            passed.push(at);
            at = next;
        }
        self.base(at);
        while let Some(at) = passed.pop() {
            self.tail(at);
        }
    }

    /// Prints what follows the left part of an operator, call, selection or subscript.
    fn tail(&mut self, id: ExprId) {
        let module = self.module;
        match &module[id].kind {
            Expr::Binary { op, right, .. } => {
                self.push(" ");
                self.push(op.as_str());
                self.push(" ");
                self.expr(*right);
            }
            Expr::Selector { value, attr, has_question } => {
                // Right behind a number, a dot would belong to it.
                if matches!(module[*value].kind, Expr::Number(_)) {
                    self.push(" ");
                }
                self.push(if *has_question { "?." } else { "." });
                self.path(attr);
            }
            Expr::Call(call) => self.args(&call.args, &call.kwargs),
            Expr::Subscript(subscript) => self.subscript(subscript),
            _ => {}
        }
    }

    fn base(&mut self, id: ExprId) {
        let module = self.module;
        match &module[id].kind {
            Expr::Ident(path) => self.path(path),
            Expr::Unary { op, operand } => {
                self.push(match op {
                    UnaryOp::Plus => "+",
                    UnaryOp::Minus => "-",
                    UnaryOp::Invert => "~",
                    UnaryOp::Not => "not ",
                });
                self.expr(*operand);
            }
            Expr::Compare { left, rest } => {
                self.expr(*left);
                for (op, right) in rest {
                    self.push(" ");
                    self.push(op.as_str());
                    self.push(" ");
                    self.expr(*right);
                }
            }
            Expr::If { body, cond, orelse } => {
                self.expr(*body);
                self.push(" if ");
                self.expr(*cond);
                self.push(" else ");
                self.expr(*orelse);
            }
            Expr::Paren(inner) => {
                self.push("(");
                self.expr(*inner);
                self.push(")");
            }
            Expr::Quant(_) => self.quant(id),
            Expr::List(items) if !self.has_if(items) => {
                self.push("[");
                self.commas(items, |this, item| this.expr(*item));
                self.push("]");
            }
            Expr::List(_) => self.list_block(id),
            Expr::ListIf { .. } => self.list_if(id),
            Expr::ListComp { elt, generators } => {
                self.push("[");
                self.element(*elt);
                self.generators(generators);
                self.push("]");
            }
            Expr::Starred(value) => {
                self.push("*");
                self.expr(*value);
            }
            Expr::DictComp { entry, generators } => {
                self.push("{");
                self.entry(entry);
                self.generators(generators);
                self.push("}");
            }
            Expr::ConfigIf { .. } => self.config_if(id),
            Expr::Schema(schema) => {
                self.path(&schema.name);
                if !schema.args.is_empty() || !schema.kwargs.is_empty() {
                    self.args(&schema.args, &schema.kwargs);
                }
                self.push(" ");
                self.expr(schema.config);
            }
            Expr::Config(entries) => self.config(entries),
            Expr::Lambda(lambda) => self.lambda(lambda),
            Expr::Number(number) => self.number(id, *number),
            Expr::String(string) => self.string(id, string),
            Expr::Constant(constant) => self.push(constant.as_str()),
            Expr::Joined(joined) => self.joined(joined),
            Expr::Type(ty) => self.ty(*ty),
            Expr::Missing
            | Expr::Binary { .. }
            | Expr::Selector { .. }
            | Expr::Call(_)
            | Expr::Subscript(_) => {}
        }
    }

    pub(super) fn args(&mut self, args: &[ExprId], kwargs: &[Keyword]) {
        self.push("(");
        self.commas(args, |this, arg| this.expr(*arg));
        if !args.is_empty() && !kwargs.is_empty() {
            self.push(", ");
        }
        self.commas(kwargs, |this, keyword| {
            this.path(&keyword.arg);
            this.push("=");
            if let Some(value) = keyword.value {
                this.expr(value);
            }
        });
        self.push(")");
    }

    fn subscript(&mut self, subscript: &Subscript) {
        self.push(if subscript.has_question { "?[" } else { "[" });
        if let Some(index) = subscript.index {
            self.expr(index);
        } else {
            let opt = |this: &mut Self, part: Option<ExprId>| {
                if let Some(part) = part {
                    this.expr(part);
                }
            };
            opt(self, subscript.lower);
            self.push(":");
            opt(self, subscript.upper);
            if subscript.step.is_some() {
                self.push(":");
                opt(self, subscript.step);
            }
        }
        self.push("]");
    }

    fn quant(&mut self, id: ExprId) {
        let module = self.module;
        let Expr::Quant(quant) = &module[id].kind else { return };
        self.push(match quant.op {
            QuantOp::All => "all ",
            QuantOp::Any => "any ",
            QuantOp::Filter => "filter ",
            QuantOp::Map => "map ",
        });
        self.commas(&quant.vars, |this, var| this.ident(*var));
        self.push(" in ");
        self.expr(quant.target);
        self.push(" { ");
        self.expr(quant.test);
        if let Some(cond) = quant.if_cond {
            self.push(" if ");
            self.expr(cond);
        }
        self.push(" }");
    }

    fn generators(&mut self, generators: &[CompClause]) {
        for clause in generators {
            self.push(" for ");
            self.commas(&clause.targets, |this, target| this.ident(*target));
            self.push(" in ");
            self.expr(clause.iter);
            for cond in &clause.ifs {
                self.push(" if ");
                self.expr(*cond);
            }
        }
    }

    fn has_if(&self, items: &[ExprId]) -> bool {
        items.iter().any(|item| matches!(self.module[*item].kind, Expr::ListIf { .. }))
    }

    /// Prints a list with each item on a line of its own.
    pub(super) fn list_block(&mut self, id: ExprId) {
        let module = self.module;
        self.push("[");
        self.indented(|this| match &module[id].kind {
            Expr::List(items) => this.lines(items, |this, item| this.expr(*item)),
            Expr::ListComp { elt, generators } => {
                this.newline();
                this.element(*elt);
                this.generators(generators);
            }
            _ => {}
        });
        self.newline();
        self.push("]");
    }

    /// Prints with one level more.
    fn indented(&mut self, inner: impl FnOnce(&mut Self)) {
        self.level += 1;
        inner(self);
        self.level -= 1;
    }

    /// Prints each item on a line of its own.
    fn lines<T>(&mut self, items: &[T], mut one: impl FnMut(&mut Self, &T)) {
        for item in items {
            self.newline();
            one(self, item);
        }
    }

    /// Prints the element of a list comprehension: a condition there has one item per branch, and
    /// no blocks.
    fn element(&mut self, id: ExprId) {
        let module = self.module;
        let (mut word, mut at) = ("if ", id);
        while let Expr::ListIf { cond, items, orelse } = &module[at].kind {
            self.push(word);
            self.expr(*cond);
            self.push(": ");
            for item in items {
                self.element(*item);
            }
            match orelse.map(|it| (it, &module[it].kind)) {
                None => return,
                Some((_, Expr::List(items))) => {
                    self.push(" else: ");
                    for item in items {
                        self.element(*item);
                    }
                    return;
                }
                Some((next, _)) => (word, at) = (" elif ", next),
            }
        }
        self.expr(at);
    }

    fn list_if(&mut self, id: ExprId) {
        let module = self.module;
        let (mut word, mut at) = ("if ", id);
        loop {
            let Expr::ListIf { cond, items, orelse } = &module[at].kind else { return };
            self.push(word);
            self.expr(*cond);
            self.push(":");
            self.indented(|this| this.lines(items, |this, item| this.expr(*item)));
            let Some(orelse) = orelse else { return };
            self.newline();
            if let Expr::List(items) = &module[*orelse].kind {
                self.push("else:");
                self.indented(|this| this.lines(items, |this, item| this.expr(*item)));
                return;
            }
            (word, at) = ("elif ", *orelse);
        }
    }

    fn config(&mut self, entries: &[ConfigEntry]) {
        let is_block = entries
            .iter()
            .any(|entry| matches!(self.module[entry.value].kind, Expr::ConfigIf { .. }));
        self.push("{");
        if is_block {
            self.indented(|this| {
                for (at, entry) in entries.iter().enumerate() {
                    this.newline();
                    this.entry(entry);
                    if entry.needs_comma_before(entries.get(at + 1), this.module) {
                        this.newline();
                        this.push(",");
                    }
                }
            });
            self.newline();
        } else {
            self.commas(entries, Self::entry);
        }
        self.push("}");
    }

    fn entry(&mut self, entry: &ConfigEntry) {
        if let Some(key) = entry.key {
            self.expr(key);
            self.push(match entry.op {
                ConfigOp::Union => ": ",
                ConfigOp::Override => " = ",
                ConfigOp::Insert => " += ",
            });
        } else if !matches!(self.module[entry.value].kind, Expr::ConfigIf { .. }) {
            self.push("**");
        }
        self.expr(entry.value);
    }

    fn config_if(&mut self, id: ExprId) {
        let module = self.module;
        let (mut word, mut at) = ("if ", id);
        loop {
            let Expr::ConfigIf { cond, items, orelse } = &module[at].kind else { return };
            self.push(word);
            self.expr(*cond);
            self.push(":");
            self.indented(|this| this.lines(items, Self::entry));
            let Some(orelse) = orelse else { return };
            // A last branch without entries says nothing, and there is no way to write it.
            if matches!(&module[*orelse].kind, Expr::Config(rest) if rest.is_empty()) {
                if items.is_empty() {
                    self.push(" **{}");
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
                self.push("else:");
                self.indented(|this| this.lines(items, Self::entry));
                return;
            }
            (word, at) = ("elif ", *orelse);
        }
    }

    fn lambda(&mut self, lambda: &Lambda) {
        self.push("lambda ");
        if let Some(params) = &lambda.params {
            if params.list.is_empty() {
                self.push("{}");
            } else {
                let start = self.out.len();
                self.params(params);
                // A function as a default would take the arrow for its own.
                if lambda.return_ty.is_some() && self.out[start..].contains("lambda") {
                    self.out.insert(start, '{');
                    self.push("}");
                }
            }
            self.push(" ");
        }
        if let Some(ty) = lambda.return_ty {
            self.push("-> ");
            self.ty(ty);
            self.push(" ");
        }
        let module = self.module;
        match lambda.body.as_slice() {
            [] => self.push("{}"),
            [only] if matches!(module[*only].kind, Stmt::Expr(_)) => {
                self.push("{ ");
                self.stmt(*only);
                self.push(" }");
            }
            body => {
                self.push("{");
                self.indented(|this| this.lines(body, |this, stmt| this.stmt(*stmt)));
                self.newline();
                self.push("}");
            }
        }
    }

    pub(super) fn params(&mut self, params: &Params) {
        self.commas(&params.list, |this, param| {
            this.ident(param.name);
            if let Some(ty) = param.ty {
                this.push(": ");
                this.ty(ty);
            }
            if let Some(default) = param.default {
                this.push(" = ");
                this.expr(default);
            }
        });
    }
}
