//! Whether two trees are the same, spans and comments apart.

use kcl_syntax::ast::{
    Check, CompClause, ConfigEntry, Expr, ExprId, IndexSignature, Keyword, MemberOrIndex, Module,
    Names, Params, Path, Stmt, StmtId, StrNode, StringPart, Target, Type, TypeId,
};

/// Whether two trees mean the same: all is equal but where it stands, comments, and the form of
/// strings (in one or three quotes) that has no influence on a value.
pub fn same_tree(a: &Module, b: &Module) -> bool {
    let pair = Pair { a, b };
    docs(a.doc.as_ref(), b.doc.as_ref()) && pair.stmts(&a.body, &b.body)
}

#[derive(Clone, Copy)]
struct Pair<'m> {
    a: &'m Module,
    b: &'m Module,
}

/// Whether two slices are as long and `same` holds for all pairs.
fn all<T>(a: &[T], b: &[T], same: impl Fn(&T, &T) -> bool) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
}

/// Whether both are missing, or `same` holds.
fn opt<T>(a: Option<&T>, b: Option<&T>, same: impl Fn(&T, &T) -> bool) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => same(a, b),
        (None, None) => true,
        _ => false,
    }
}

fn names(a: &Names, b: &Names) -> bool {
    all(a, b, |a, b| a.name == b.name)
}

fn paths(a: &Path, b: &Path) -> bool {
    names(&a.names, &b.names)
}

fn docs(a: Option<&StrNode>, b: Option<&StrNode>) -> bool {
    opt(a, b, |a, b| a.value == b.value)
}

fn is_empty_config(module: &Module, id: ExprId) -> bool {
    matches!(&module[id].kind, Expr::Config(entries) if entries.is_empty())
}

impl Pair<'_> {
    fn exprs(self, a: &[ExprId], b: &[ExprId]) -> bool {
        all(a, b, |a, b| self.expr(*a, *b))
    }

    fn opt_expr(self, a: Option<ExprId>, b: Option<ExprId>) -> bool {
        opt(a.as_ref(), b.as_ref(), |a, b| self.expr(*a, *b))
    }

    fn opt_ty(self, a: Option<TypeId>, b: Option<TypeId>) -> bool {
        opt(a.as_ref(), b.as_ref(), |a, b| self.ty(*a, *b))
    }

    fn stmts(self, a: &[StmtId], b: &[StmtId]) -> bool {
        all(a, b, |a, b| self.stmt(*a, *b))
    }

    fn stmt(self, a: StmtId, b: StmtId) -> bool {
        match (&self.a[a].kind, &self.b[b].kind) {
            (Stmt::TypeAlias(a), Stmt::TypeAlias(b)) => {
                a.name.name == b.name.name && self.ty(a.ty, b.ty)
            }
            (Stmt::Expr(a), Stmt::Expr(b)) => self.exprs(a, b),
            (Stmt::Unification(a), Stmt::Unification(b)) => {
                paths(&a.target, &b.target) && self.expr(a.value, b.value)
            }
            (Stmt::Assign(a), Stmt::Assign(b)) => {
                all(&a.targets, &b.targets, |a, b| self.target(a, b))
                    && self.opt_ty(a.ty, b.ty)
                    && self.expr(a.value, b.value)
            }
            (Stmt::AugAssign(a), Stmt::AugAssign(b)) => {
                a.op == b.op && self.target(&a.target, &b.target) && self.expr(a.value, b.value)
            }
            (Stmt::Assert(a), Stmt::Assert(b)) => {
                self.expr(a.test, b.test)
                    && self.opt_expr(a.if_cond, b.if_cond)
                    && self.opt_expr(a.msg, b.msg)
            }
            (Stmt::If(a), Stmt::If(b)) => {
                self.expr(a.cond, b.cond)
                    && self.stmts(&a.body, &b.body)
                    && self.stmts(&a.orelse, &b.orelse)
            }
            (Stmt::Import(a), Stmt::Import(b)) => {
                a.path.value == b.path.value
                    && opt(a.asname.as_ref(), b.asname.as_ref(), |a, b| a.name == b.name)
            }
            (Stmt::SchemaAttr(a), Stmt::SchemaAttr(b)) => {
                (a.name.name, a.op, a.is_optional) == (b.name.name, b.op, b.is_optional)
                    && self.opt_expr(a.value, b.value)
                    && self.exprs(&a.decorators, &b.decorators)
                    && self.ty(a.ty, b.ty)
            }
            (Stmt::Schema(a), Stmt::Schema(b)) => {
                (a.kind, a.name.name) == (b.kind, b.name.name)
                    && docs(a.doc.as_ref(), b.doc.as_ref())
                    && opt(a.parent.as_ref(), b.parent.as_ref(), paths)
                    && opt(a.for_host.as_ref(), b.for_host.as_ref(), paths)
                    && self.params(a.params.as_ref(), b.params.as_ref())
                    && all(&a.mixins, &b.mixins, paths)
                    && self.exprs(&a.decorators, &b.decorators)
                    && self.stmts(&a.body, &b.body)
                    && self.checks(&a.checks, &b.checks)
                    && self.signatures(a.index_signature.as_ref(), b.index_signature.as_ref())
            }
            (Stmt::Rule(a), Stmt::Rule(b)) => {
                a.name.name == b.name.name
                    && docs(a.doc.as_ref(), b.doc.as_ref())
                    && all(&a.parents, &b.parents, paths)
                    && opt(a.for_host.as_ref(), b.for_host.as_ref(), paths)
                    && self.params(a.params.as_ref(), b.params.as_ref())
                    && self.exprs(&a.decorators, &b.decorators)
                    && self.checks(&a.checks, &b.checks)
            }
            _ => false,
        }
    }

    fn target(self, a: &Target, b: &Target) -> bool {
        a.name.name == b.name.name
            && all(&a.paths, &b.paths, |a, b| match (a, b) {
                (MemberOrIndex::Member(a), MemberOrIndex::Member(b)) => a.name == b.name,
                (MemberOrIndex::Index(a), MemberOrIndex::Index(b)) => self.expr(*a, *b),
                _ => false,
            })
    }

    fn params(self, a: Option<&Params>, b: Option<&Params>) -> bool {
        opt(a, b, |a, b| {
            all(&a.list, &b.list, |a, b| {
                a.name.name == b.name.name
                    && self.opt_ty(a.ty, b.ty)
                    && self.opt_expr(a.default, b.default)
            })
        })
    }

    fn checks(self, a: &[Check], b: &[Check]) -> bool {
        all(a, b, |a, b| {
            self.expr(a.test, b.test)
                && self.opt_expr(a.if_cond, b.if_cond)
                && self.opt_expr(a.msg, b.msg)
        })
    }

    fn signatures(self, a: Option<&IndexSignature>, b: Option<&IndexSignature>) -> bool {
        opt(a, b, |a, b| {
            opt(a.key_name.as_ref(), b.key_name.as_ref(), |a, b| a.name == b.name)
                && a.any_other == b.any_other
                && self.ty(a.key_ty, b.key_ty)
                && self.ty(a.value_ty, b.value_ty)
                && self.opt_expr(a.value, b.value)
        })
    }

    fn entries(self, a: &[ConfigEntry], b: &[ConfigEntry]) -> bool {
        all(a, b, |a, b| self.entry(a, b))
    }

    fn entry(self, a: &ConfigEntry, b: &ConfigEntry) -> bool {
        a.op == b.op && self.opt_expr(a.key, b.key) && self.expr(a.value, b.value)
    }

    fn keywords(self, a: &[Keyword], b: &[Keyword]) -> bool {
        all(a, b, |a, b| paths(&a.arg, &b.arg) && self.opt_expr(a.value, b.value))
    }

    fn generators(self, a: &[CompClause], b: &[CompClause]) -> bool {
        all(a, b, |a, b| {
            all(&a.targets, &b.targets, |a, b| a.name == b.name)
                && self.expr(a.iter, b.iter)
                && self.exprs(&a.ifs, &b.ifs)
        })
    }

    /// Walks down the left side of operators, which may be a long way, without recursion.
    fn expr(self, mut a: ExprId, mut b: ExprId) -> bool {
        loop {
            let (left, same) = match (&self.a[a].kind, &self.b[b].kind) {
                (
                    Expr::Binary { op, left, right },
                    Expr::Binary { op: op_b, left: left_b, right: right_b },
                ) => ((*left, *left_b), op == op_b && self.expr(*right, *right_b)),
                (
                    Expr::Selector { value, attr, has_question },
                    Expr::Selector { value: value_b, attr: attr_b, has_question: has_b },
                ) => ((*value, *value_b), has_question == has_b && paths(attr, attr_b)),
                (Expr::Call(a), Expr::Call(b)) => (
                    (a.func, b.func),
                    self.exprs(&a.args, &b.args) && self.keywords(&a.kwargs, &b.kwargs),
                ),
                (Expr::Subscript(a), Expr::Subscript(b)) => (
                    (a.value, b.value),
                    a.has_question == b.has_question
                        && self.opt_expr(a.index, b.index)
                        && self.opt_expr(a.lower, b.lower)
                        && self.opt_expr(a.upper, b.upper)
                        && self.opt_expr(a.step, b.step),
                ),
                _ => return self.operand(a, b),
            };
            if !same {
                return false;
            }
            (a, b) = left;
        }
    }

    fn operand(self, a: ExprId, b: ExprId) -> bool {
        match (&self.a[a].kind, &self.b[b].kind) {
            (Expr::Ident(a), Expr::Ident(b)) => paths(a, b),
            (Expr::Unary { op, operand }, Expr::Unary { op: op_b, operand: operand_b }) => {
                op == op_b && self.expr(*operand, *operand_b)
            }
            (Expr::Compare { left, rest }, Expr::Compare { left: left_b, rest: rest_b }) => {
                self.expr(*left, *left_b)
                    && all(rest, rest_b, |a, b| a.0 == b.0 && self.expr(a.1, b.1))
            }
            (
                Expr::If { body, cond, orelse },
                Expr::If { body: body_b, cond: cond_b, orelse: orelse_b },
            ) => self.exprs(&[*body, *cond, *orelse], &[*body_b, *cond_b, *orelse_b]),
            (Expr::Paren(a), Expr::Paren(b)) | (Expr::Starred(a), Expr::Starred(b)) => {
                self.expr(*a, *b)
            }
            (Expr::Quant(a), Expr::Quant(b)) => {
                a.op == b.op
                    && all(&a.vars, &b.vars, |a, b| a.name == b.name)
                    && self.expr(a.target, b.target)
                    && self.expr(a.test, b.test)
                    && self.opt_expr(a.if_cond, b.if_cond)
            }
            (Expr::List(a), Expr::List(b)) => self.exprs(a, b),
            (
                Expr::ListIf { cond, items, orelse },
                Expr::ListIf { cond: cond_b, items: items_b, orelse: orelse_b },
            ) => {
                self.expr(*cond, *cond_b)
                    && self.exprs(items, items_b)
                    && self.opt_expr(*orelse, *orelse_b)
            }
            (
                Expr::ListComp { elt, generators },
                Expr::ListComp { elt: elt_b, generators: generators_b },
            ) => self.expr(*elt, *elt_b) && self.generators(generators, generators_b),
            (
                Expr::DictComp { entry, generators },
                Expr::DictComp { entry: entry_b, generators: generators_b },
            ) => self.entry(entry, entry_b) && self.generators(generators, generators_b),
            (
                Expr::ConfigIf { cond, items, orelse },
                Expr::ConfigIf { cond: cond_b, items: items_b, orelse: orelse_b },
            ) => {
                self.expr(*cond, *cond_b)
                    && self.branch(items, items_b)
                    && self.orelse(*orelse, *orelse_b)
            }
            (Expr::Schema(a), Expr::Schema(b)) => {
                paths(&a.name, &b.name)
                    && self.exprs(&a.args, &b.args)
                    && self.keywords(&a.kwargs, &b.kwargs)
                    && self.expr(a.config, b.config)
            }
            (Expr::Config(a), Expr::Config(b)) => self.entries(a, b),
            (Expr::Lambda(a), Expr::Lambda(b)) => {
                self.params(a.params.as_ref(), b.params.as_ref())
                    && self.opt_ty(a.return_ty, b.return_ty)
                    && self.stmts(&a.body, &b.body)
            }
            (Expr::Joined(a), Expr::Joined(b)) => {
                all(&a.parts, &b.parts, |a, b| self.string_part(a, b))
            }
            (Expr::String(a), Expr::String(b)) => a.value == b.value,
            (Expr::Type(a), Expr::Type(b)) => self.ty(*a, *b),
            (a, b) => a == b,
        }
    }

    /// A branch with nothing but `**{}` is as good as one without entries.
    fn branch(self, a: &[ConfigEntry], b: &[ConfigEntry]) -> bool {
        fn without_nothing<'e>(module: &Module, entries: &'e [ConfigEntry]) -> &'e [ConfigEntry] {
            match entries {
                [only] if only.key.is_none() && is_empty_config(module, only.value) => &[],
                _ => entries,
            }
        }
        self.entries(without_nothing(self.a, a), without_nothing(self.b, b))
    }

    /// An `else` of a config without entries is as good as none.
    fn orelse(self, a: Option<ExprId>, b: Option<ExprId>) -> bool {
        let a = a.filter(|it| !is_empty_config(self.a, *it));
        let b = b.filter(|it| !is_empty_config(self.b, *it));
        self.opt_expr(a, b)
    }

    fn string_part(self, a: &StringPart, b: &StringPart) -> bool {
        match (a, b) {
            (StringPart::Text(a), StringPart::Text(b)) => a == b,
            (
                StringPart::Formatted { value, spec },
                StringPart::Formatted { value: value_b, spec: spec_b },
            ) => spec == spec_b && self.expr(*value, *value_b),
            _ => false,
        }
    }

    fn ty(self, a: TypeId, b: TypeId) -> bool {
        match (&self.a[a].kind, &self.b[b].kind) {
            (Type::List(a), Type::List(b)) => self.opt_ty(*a, *b),
            (Type::Dict { key, value }, Type::Dict { key: key_b, value: value_b }) => {
                self.opt_ty(*key, *key_b) && self.opt_ty(*value, *value_b)
            }
            (Type::Union(a), Type::Union(b)) => all(a, b, |a, b| self.ty(*a, *b)),
            (Type::Named(a), Type::Named(b)) => paths(a, b),
            (Type::Function { params, ret }, Type::Function { params: params_b, ret: ret_b }) => {
                opt(params.as_ref(), params_b.as_ref(), |a, b| all(a, b, |a, b| self.ty(*a, *b)))
                    && self.opt_ty(*ret, *ret_b)
            }
            (a, b) => a == b,
        }
    }
}
