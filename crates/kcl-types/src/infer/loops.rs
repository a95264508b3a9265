//! Comprehensions and quantifiers.

use crate::checker::Checker;
use crate::diagnostics;
use crate::ty::Type;
use base_text::{Name, Span};
use kcl_syntax::ast::{CompClause, ConfigEntry, Expr, ExprId, Ident, Quant, QuantOp};

impl<'p> Checker<'p> {
    /// Defines the variables of a loop; returns the first two.
    fn loop_vars(&mut self, vars: &[Ident]) -> Vec<Ident> {
        let mut named = Vec::with_capacity(vars.len().min(2));
        for (index, var) in vars.iter().enumerate() {
            if index > 1 {
                let count = vars.len();
                let message =
                    format!("the number of loop variables is {count}, which can only be 1 or 2");
                let span = Span::new(vars[index - 1].span.end, var.span.end);
                self.report(diagnostics::compile_error(self.at(span), message));
                break;
            }
            let mut var = *var;
            if let Some((first, _)) = var.name.as_str().split_once('.') {
                let message = "loop variables can only be ordinary identifiers";
                self.report(diagnostics::compile_error(self.at(var.span), message));
                var.name = Name::new(first);
            }
            self.define_local(var, Type::Any, self.at(var.span));
            named.push(var);
        }
        named
    }

    /// Gives the variables of a loop the types that the walked value implies.
    fn set_loop_types(&mut self, vars: &[Ident], walked: &Type, span: Span) {
        let types = match walked {
            Type::Union(types) => &types[..],
            single => std::slice::from_ref(single),
        };
        let (mut first_ty, mut second_ty) = (Type::Void, Type::Void);
        for ty in types {
            let (key, value) = match ty {
                Type::List(item) if vars.len() > 1 => (Type::Int, (**item).clone()),
                Type::List(item) => ((**item).clone(), Type::Void),
                Type::Dict(dict) => (dict.key.clone(), dict.value.clone()),
                Type::Schema(schema) => (Type::Str, self.schema_value_type(*schema)),
                Type::Str | Type::StrLit(_) if vars.len() > 1 => (Type::Int, Type::Str),
                Type::Str | Type::StrLit(_) => (Type::Str, Type::Void),
                Type::Any => continue,
                _ => {
                    let message = format!("'{ty}' object is not iterable");
                    self.report(diagnostics::compile_error(self.at(span), message));
                    continue;
                }
            };
            first_ty = self.join2(key, first_ty);
            if let Some(var) = vars.first() {
                self.set_inferred(*var, &first_ty, self.at(var.span));
            }
            if let Some(var) = vars.get(1) {
                second_ty = self.join2(value, second_ty);
                self.set_inferred(*var, &second_ty, self.at(var.span));
            }
        }
    }

    fn clause(&mut self, clause: &'p CompClause) {
        let ty = self.expr(clause.iter);
        let vars = self.loop_vars(&clause.targets);
        if !ty.is_any() {
            self.set_loop_types(&vars, &ty, self.module[clause.iter].span);
        }
        for &test in &clause.ifs {
            self.expr(test);
        }
    }

    /// The type of `[elt for …]`.
    pub(super) fn list_comp(&mut self, elt: ExprId, clauses: &'p [CompClause]) -> Type {
        self.expect_item();
        self.blocks.enter(0);
        for clause in clauses {
            self.clause(clause);
        }
        if let Expr::Starred(_) = self.module[elt].kind {
            let at = self.at(self.module[elt].span);
            let message = "list unpacking cannot be used in list comprehension";
            self.report(diagnostics::compile_error(at, message));
        }
        let item = self.expr(elt);
        self.blocks.leave();
        self.expected.pop();
        Type::list(item)
    }

    /// The type of `{key: value for …}`.
    pub(super) fn dict_comp(&mut self, entry: &'p ConfigEntry, clauses: &'p [CompClause]) -> Type {
        let value_at = self.at(self.module[entry.value].span);
        if entry.key.is_none() {
            let message = "dict unpacking cannot be used in dict comprehension";
            self.report(diagnostics::compile_error(value_at, message));
        }
        self.blocks.enter(0);
        for clause in clauses {
            self.clause(clause);
        }
        let ty = if let Some(key) = entry.key {
            let key_ty = self.expr(key);
            self.check_key(&key_ty, self.at(self.module[key].span));
            let depth = self.push_key(Some(key));
            let value = self.expr(entry.value);
            self.pop_expected(depth);
            Type::dict(key_ty, value)
        } else {
            let value = self.expr(entry.value);
            let key = match &value {
                Type::None | Type::Any => Some(value.clone()),
                _ => self.unpacked(&value).map(|(key, _)| key),
            };
            let key = key.unwrap_or_else(|| {
                self.report(diagnostics::cannot_unpack_entries(value_at, &value));
                Type::Any
            });
            Type::dict(key, value)
        };
        self.blocks.leave();
        ty
    }

    /// The key and value type of a dict or schema, or of several.
    pub(super) fn unpacked(&self, ty: &Type) -> Option<(Type, Type)> {
        match ty {
            Type::Dict(dict) => Some((dict.key.clone(), dict.value.clone())),
            Type::Schema(schema) => Some((Type::Str, self.schema_value_type(*schema))),
            Type::Union(types) if types.iter().all(Type::is_config) => {
                let (keys, values): (Vec<Type>, Vec<Type>) =
                    types.iter().filter_map(|ty| self.unpacked(ty)).unzip();
                Some((self.types().join(keys), self.types().join(values)))
            }
            _ => None,
        }
    }

    /// The type of `all x in xs {…}` and the like.
    pub(super) fn quantifier(&mut self, quant: &'p Quant) -> Type {
        let walked = self.expr(quant.target);
        self.blocks.enter(0);
        let vars = self.loop_vars(&quant.vars);
        self.set_loop_types(&vars, &walked, self.module[quant.target].span);
        if let Some(cond) = quant.if_cond {
            self.expr_in_place(cond);
        }
        let item = self.expr(quant.test);
        self.blocks.leave();
        match quant.op {
            QuantOp::All | QuantOp::Any => Type::Bool,
            QuantOp::Filter => walked,
            QuantOp::Map => Type::list(item),
        }
    }
}
