//! Expressions, apart from configs and lists.

use crate::printer::Printer;
use kcl_syntax::ast::{
    CompClause, Expr, ExprId, Keyword, Lambda, Number, Quant, QuantOp, Subscript, UnaryOp,
};

impl Printer<'_> {
    pub(crate) fn expr(&mut self, id: ExprId) {
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
        self.operand(at);
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
            // A decorator without parentheses is a call of a name, at the place of the name.
            Expr::Call(call) if module[call.func].span == module[id].span => {}
            Expr::Call(call) => self.args(&call.args, &call.kwargs),
            Expr::Subscript(subscript) => self.subscript(subscript),
            _ => {}
        }
    }

    fn operand(&mut self, id: ExprId) {
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
            Expr::Quant(quant) => self.quant(quant),
            Expr::List(items) => self.list(id, items),
            Expr::ListComp { elt, generators } => {
                self.push("[");
                self.comprehension(*elt, generators);
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
            Expr::Schema(schema) => {
                self.path(&schema.name);
                if !schema.args.is_empty() || !schema.kwargs.is_empty() {
                    self.args(&schema.args, &schema.kwargs);
                }
                self.push(" ");
                self.expr(schema.config);
            }
            Expr::Config(entries) => self.config(id, entries),
            Expr::ListIf { .. } => self.list_if(id),
            Expr::ConfigIf { .. } => self.config_if(id),
            Expr::Lambda(lambda) => self.lambda(id, lambda),
            Expr::Number(Number::Int(value)) => self.int(*value, module[id].span),
            Expr::Number(_) | Expr::String(_) | Expr::Joined(_) => self.verbatim(module[id].span),
            Expr::Constant(constant) => self.push(constant.as_str()),
            Expr::Type(ty) => self.ty(*ty),
            Expr::Missing
            | Expr::Binary { .. }
            | Expr::Selector { .. }
            | Expr::Call(_)
            | Expr::Subscript(_) => {}
        }
    }

    fn args(&mut self, args: &[ExprId], kwargs: &[Keyword]) {
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

    /// A slice always has two colons, as the reference writes it.
    fn subscript(&mut self, subscript: &Subscript) {
        self.push(if subscript.has_question { "?[" } else { "[" });
        if let Some(index) = subscript.index {
            self.expr(index);
        } else {
            for (at, part) in
                [subscript.lower, subscript.upper, subscript.step].into_iter().enumerate()
            {
                self.push(if at > 0 { ":" } else { "" });
                if let Some(part) = part {
                    self.expr(part);
                }
            }
        }
        self.push("]");
    }

    fn quant(&mut self, quant: &Quant) {
        self.push(match quant.op {
            QuantOp::All => "all ",
            QuantOp::Any => "any ",
            QuantOp::Filter => "filter ",
            QuantOp::Map => "map ",
        });
        self.commas(&quant.vars, |this, var| this.ident(*var));
        self.push(" in ");
        self.expr(quant.target);
        self.push(" {");
        let module = self.module;
        let (target, test) = (module[quant.target].span, module[quant.test].span);
        if self.line(target.end) == self.line(test.start) {
            self.condition(quant.test, quant.if_cond, None);
        } else {
            self.indented(|this| {
                this.newline();
                this.condition(quant.test, quant.if_cond, None);
            });
            self.newline();
        }
        self.push("}");
    }

    pub(crate) fn generators(&mut self, generators: &[CompClause]) {
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

    fn lambda(&mut self, id: ExprId, lambda: &Lambda) {
        let module = self.module;
        self.push("lambda ");
        let mut head = module[id].span.start;
        if let Some(params) = &lambda.params {
            head = head.max(params.span.end);
            self.lambda_params(lambda);
        }
        if let Some(ty) = lambda.return_ty {
            head = head.max(module[ty].span.end);
            self.push("-> ");
            self.ty(ty);
            self.push(" ");
        }
        self.push("{");
        let end = module[id].span.end - 1;
        let first = lambda.body.first().map_or(end, |first| self.stmt_span(*first).start);
        let brace = self.find_word(head, first, "{").map_or(head, |at| at + 1);
        self.set_aside(brace);
        self.end_of_line_comment(brace, first);
        let around = std::mem::replace(&mut self.limit, end);
        self.indented(|this| {
            this.stmts(&lambda.body, end);
            this.own_line_comments(end);
        });
        self.limit = around;
        self.newline();
        self.push("}");
    }

    fn lambda_params(&mut self, lambda: &Lambda) {
        let Some(params) = &lambda.params else { return };
        if params.list.is_empty() {
            self.push("{} ");
            return;
        }
        let start = self.out.len();
        self.params(params);
        // A function as a default would take the arrow for its own.
        if lambda.return_ty.is_some() && self.out[start..].contains("lambda") {
            self.out.insert(start, '{');
            self.push("}");
        }
        self.push(" ");
    }

    /// Prints the inside of a list comprehension: a condition there has one item per branch, and
    /// no blocks.
    pub(crate) fn comprehension(&mut self, elt: ExprId, generators: &[CompClause]) {
        self.element(elt);
        self.generators(generators);
    }

    fn elements(&mut self, items: &[ExprId]) {
        for item in items {
            self.element(*item);
        }
    }

    fn element(&mut self, id: ExprId) {
        let module = self.module;
        let (mut word, mut at) = ("if ", id);
        while let Expr::ListIf { cond, items, orelse } = &module[at].kind {
            self.push(word);
            self.expr(*cond);
            self.push(": ");
            self.elements(items);
            match orelse.map(|it| (it, &module[it].kind)) {
                None => return,
                Some((_, Expr::List(items))) => {
                    self.push(" else: ");
                    self.elements(items);
                    return;
                }
                Some((next, _)) => (word, at) = (" elif ", next),
            }
        }
        self.expr(at);
    }
}
