//! Expressions.

use crate::checker::Checker;
use crate::diagnostics;
use crate::ty::{FunctionType, Param, Type};
use base_diag::Fix;
use kcl_syntax::ast::{
    BinOp, CmpOp, Constant, Expr, ExprId, JoinedString, Lambda, Number, Path, Stmt, StringPart,
};
use std::sync::Arc;

impl<'p> Checker<'p> {
    /// The type of an expression.
    pub(crate) fn expr(&mut self, id: ExprId) -> Type {
        let node = &self.module[id];
        if let Expr::Ident(_) = &node.kind {
            self.place = node.span;
        }
        self.expr_in_place(id)
    }

    /// The type of an expression; a lone identifier is reported at the place walked last, as
    /// the reference does.
    pub(crate) fn expr_in_place(&mut self, id: ExprId) -> Type {
        let ty = self.nested(|this| this.walk(id));
        if let Some(table) = &mut self.table {
            table.set(self.file, id, ty.clone());
        }
        ty
    }

    fn walk(&mut self, id: ExprId) -> Type {
        let module = self.module;
        match &module[id].kind {
            Expr::Ident(path) => self.read_path(id, path, self.place),
            Expr::Unary { op, operand } => {
                let ty = self.expr(*operand);
                self.unary(&ty, *op, self.at(module[*operand].span))
            }
            Expr::Binary { .. } => self.binary_chain(id),
            Expr::Compare { left, rest } => self.comparison(*left, rest),
            Expr::If { body, cond, orelse } => {
                self.expr(*cond);
                let body = self.expr(*body);
                let orelse = self.expr(*orelse);
                self.join2(body, orelse)
            }
            Expr::Selector { value, attr, has_question } => {
                self.selector(*value, attr, *has_question)
            }
            Expr::Call(call) => self.call(call.func, &call.args, &call.kwargs),
            Expr::Paren(inner) => self.expr(*inner),
            Expr::Quant(quant) => self.quantifier(quant),
            Expr::List(items) => self.list(items),
            Expr::ListIf { cond, items, orelse } => self.list_if(*cond, items, *orelse),
            Expr::ListComp { elt, generators } => self.list_comp(*elt, generators),
            Expr::Starred(value) => self.starred(*value),
            Expr::DictComp { entry, generators } => self.dict_comp(entry, generators),
            Expr::ConfigIf { cond, items, orelse } => {
                // Its keys can be read when its block is closed.
                self.file_scope();
                self.expr(*cond);
                let ty = self.entries(items);
                match orelse {
                    Some(orelse) => {
                        let orelse = self.expr(*orelse);
                        self.join2(ty, orelse)
                    }
                    None => ty,
                }
            }
            Expr::Schema(schema) => self.schema_expr(id, schema),
            Expr::Config(entries) => self.config(id, entries),
            Expr::Lambda(lambda) => self.lambda(lambda),
            Expr::Subscript(subscript) => self.subscript(subscript),
            Expr::Number(number) => number_type(*number),
            Expr::String(text) => Type::str_lit(&text.value),
            Expr::Constant(constant) => match constant {
                Constant::True => Type::BoolLit(true),
                Constant::False => Type::BoolLit(false),
                Constant::None | Constant::Undefined => Type::None,
            },
            Expr::Joined(joined) => self.joined(joined),
            Expr::Type(_) | Expr::Missing => Type::Any,
        }
    }

    /// The type of `a op b op c …`, walked from the left without recursion.
    fn binary_chain(&mut self, id: ExprId) -> Type {
        let module = self.module;
        let mut chain = Vec::new();
        let mut current = id;
        while let Expr::Binary { op, left, right } = &module[current].kind {
            chain.push((*op, *left, *right));
            current = *left;
        }
        let mut ty = self.expr(current);
        for (op, left, right) in chain.into_iter().rev() {
            let span = module[left].span.to(module[right].span);
            let right_ty = match &module[right].kind {
                Expr::Type(ty) => self.annotation(*ty, module[right].span).as_instance(),
                _ => self.expr(right),
            };
            if op == BinOp::As && !matches!(module[right].kind, Expr::Type(_)) {
                let message = "keyword 'as' right operand must be a type";
                self.report(diagnostics::compile_error(self.at(span), message));
                continue;
            }
            ty = self.binary_owned(ty, &right_ty, op, self.at(span));
        }
        ty
    }

    fn comparison(&mut self, left: ExprId, rest: &'p [(CmpOp, ExprId)]) -> Type {
        let module = self.module;
        let Some((op, second)) = rest.first() else { return Type::Bool };
        let first = self.expr(left);
        let ty = self.expr(*second);
        let span = module[left].span.to(module[*second].span);
        self.compare(&first, &ty, *op, self.at(span));
        // In longer chains the reference compares each further operand but the last with
        // the first one.
        for (index, (_, operand)) in rest.iter().enumerate().take(rest.len() - 1).skip(1) {
            let ty = self.expr(*operand);
            let (op, _) = rest[index + 1];
            self.compare(&first, &ty, op, self.at(module[*operand].span));
        }
        Type::Bool
    }

    fn selector(&mut self, value: ExprId, attr: &'p Path, has_question: bool) -> Type {
        let mut ty = self.expr(value);
        if has_question && matches!(ty, Type::Module(_)) {
            let name = super::call::quoted(attr);
            let name = name.trim_matches('"');
            let message = format!(
                "For the module type, the use of '?.{name}' is unnecessary and it can be modified as '.{name}'"
            );
            let start = self.module[value].span.end;
            let at = self.at(base_text::Span::new(start, attr.span.start.max(start)));
            let fix = Fix::safe("replace `?.` with `.`").edit(at, ".");
            let finding = diagnostics::compile_error(at, message).suggest(vec![".".to_owned()]);
            self.report(finding.fix(fix));
        }
        for ident in &attr.names {
            ty = self.load_attr(&ty, *ident, self.at(attr.span));
        }
        ty
    }

    fn list(&mut self, items: &'p [ExprId]) -> Type {
        // Long lists of one schema are not told apart by the reference.
        const MANY: usize = 10;
        self.expect_item();
        let item = if items.len() > MANY && self.is_all_one_schema(items) {
            self.list_of_one_schema(items);
            Type::Any
        } else {
            let mut types = Vec::with_capacity(items.len());
            for &item in items {
                types.push(self.expr(item));
            }
            self.types().join(types)
        };
        self.expected.pop();
        Type::list(item)
    }

    fn list_if(&mut self, cond: ExprId, items: &'p [ExprId], orelse: Option<ExprId>) -> Type {
        self.expr(cond);
        let orelse = match orelse.map(|orelse| self.expr_in_place(orelse)) {
            Some(Type::List(item)) => (*item).clone(),
            Some(ty) => ty,
            None => Type::Any,
        };
        let mut types = Vec::with_capacity(items.len() + 1);
        types.push(orelse);
        for &item in items {
            types.push(self.expr(item));
        }
        self.types().join(types)
    }

    fn starred(&mut self, value: ExprId) -> Type {
        let ty = self.expr(value);
        let Some(item) = self.unpacked_items(&ty) else {
            let message = "only list, dict, schema object can be used * unpacked, got any";
            self.report(diagnostics::compile_error(self.at(self.module[value].span), message));
            return Type::Any;
        };
        item
    }

    /// The type of the items that `*value` gives.
    fn unpacked_items(&self, ty: &Type) -> Option<Type> {
        match ty {
            Type::None | Type::Any => Some(ty.clone()),
            Type::List(item) => Some((**item).clone()),
            Type::Dict(dict) => Some(dict.key.clone()),
            Type::Schema(_) => Some(Type::Str),
            Type::Union(types) => {
                let items: Option<Vec<Type>> =
                    types.iter().map(|ty| self.unpacked_items(ty)).collect();
                Some(self.types().join(items?))
            }
            _ => None,
        }
    }

    fn joined(&mut self, joined: &'p JoinedString) -> Type {
        for part in &joined.parts {
            let StringPart::Formatted { value, spec } = part else { continue };
            if let Some(spec) = spec
                && !matches!(spec.to_lowercase().as_str(), "#json" | "#yaml")
            {
                let message = format!("{spec} is a invalid format spec");
                let at = self.at(self.module[*value].span);
                self.report(diagnostics::compile_error(at, message));
            }
            self.expr(*value);
        }
        Type::Str
    }

    /// The parameters of a lambda.
    pub(crate) fn lambda_params(&mut self, lambda: &'p Lambda) -> Vec<Param> {
        let Some(params) = &lambda.params else { return Vec::new() };
        let mut list = Vec::with_capacity(params.list.len());
        for param in &params.list {
            let span = param.ty.map_or(param.name.span, |ty| self.module[ty].span);
            let ty = self.optional_annotation(param.ty, span).as_instance();
            list.push(Param {
                name: param.name.name,
                ty,
                has_default: param.default.is_some(),
                at: Some(self.at(param.name.span)),
            });
        }
        list
    }

    fn lambda(&mut self, lambda: &'p Lambda) -> Type {
        self.check_defaults(lambda.params.as_ref());
        let params = self.lambda_params(lambda);
        let place = self.place;
        self.blocks.enter(0);
        let list = lambda.params.iter().flat_map(|params| &params.list);
        for (param, written) in params.iter().zip(list.clone()) {
            self.define_local(written.name, param.ty.clone(), self.at(place));
        }
        for default in list.filter_map(|param| param.default) {
            self.expr_in_place(default);
        }
        let ret = self.optional_annotation(lambda.return_ty, place);
        let real_ret = self.lambda_body(lambda, &ret);
        self.blocks.leave();
        let ret = if lambda.return_ty.is_none() { real_ret } else { ret };
        Type::Function(Arc::new(FunctionType { params, ret, is_variadic: false }))
    }

    fn lambda_body(&mut self, lambda: &'p Lambda, ret: &Type) -> Type {
        let module = self.module;
        let place = self.at(self.place);
        let Some((&last, before)) = lambda.body.split_last() else { return Type::Any };
        let is_result = matches!(
            module[last].kind,
            Stmt::Expr(_) | Stmt::Assign(_) | Stmt::AugAssign(_) | Stmt::Assert(_)
        );
        if !is_result {
            let message =
                "The last statement of the lambda body must be a expression e.g., x, 1, etc.";
            self.report(diagnostics::compile_error(self.at(module[last].span), message));
        }
        for &stmt in before {
            self.stmt(stmt);
        }
        if let Stmt::Expr(exprs) = &module[last].kind
            && let Some(&expr) = exprs.last()
        {
            let declared = lambda.return_ty.map(|ty| self.at(module[ty].span));
            return self.expr_fitting(expr, ret, declared);
        }
        let ty = self.stmt(last);
        self.expect(&ty, ret, place, None);
        ty
    }
}

fn number_type(number: Number) -> Type {
    match number {
        Number::Int(value) => Type::IntLit(value),
        Number::Float(value) => Type::FloatLit(value),
        Number::Unit { value, unit } => Type::Multiplier(Some((value, unit))),
    }
}
