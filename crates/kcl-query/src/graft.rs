//! Copies parts of one tree into another.

use base_text::Span;
use kcl_syntax::ast::{
    Assert, Assign, AugAssign, Call, CompClause, ConfigEntry, Expr, ExprId, Ident, If,
    JoinedString, Keyword, Lambda, MemberOrIndex, Module, Param, Params, Path, Quant, SchemaAttr,
    SchemaExpr, Stmt, StmtId, StringPart, Subscript, Target, Type, TypeAlias, TypeId, Unification,
};

/// Copies expressions of `from` into `to`; all copies get one span, a place in the text
/// that `to` was made from.
pub(crate) struct Graft<'m> {
    pub(crate) from: &'m Module,
    pub(crate) to: &'m mut Module,
    pub(crate) span: Span,
}

impl Graft<'_> {
    pub(crate) fn expr(&mut self, id: ExprId) -> ExprId {
        let kind = match &self.from[id].kind {
            Expr::Ident(path) => Expr::Ident(self.path(path)),
            Expr::Unary { op, operand } => Expr::Unary { op: *op, operand: self.expr(*operand) },
            Expr::Binary { op, left, right } => {
                Expr::Binary { op: *op, left: self.expr(*left), right: self.expr(*right) }
            }
            Expr::Compare { left, rest } => Expr::Compare {
                left: self.expr(*left),
                rest: rest.iter().map(|(op, right)| (*op, self.expr(*right))).collect(),
            },
            Expr::If { body, cond, orelse } => Expr::If {
                body: self.expr(*body),
                cond: self.expr(*cond),
                orelse: self.expr(*orelse),
            },
            Expr::Selector { value, attr, has_question } => Expr::Selector {
                value: self.expr(*value),
                attr: self.path(attr),
                has_question: *has_question,
            },
            Expr::Call(call) => Expr::Call(Box::new(Call {
                func: self.expr(call.func),
                args: self.exprs(&call.args),
                kwargs: self.keywords(&call.kwargs),
            })),
            Expr::Paren(inner) => Expr::Paren(self.expr(*inner)),
            Expr::Quant(quant) => Expr::Quant(Box::new(Quant {
                op: quant.op,
                vars: self.idents(&quant.vars),
                target: self.expr(quant.target),
                test: self.expr(quant.test),
                if_cond: self.option(quant.if_cond),
            })),
            Expr::List(items) => Expr::List(self.exprs(items)),
            Expr::ListIf { cond, items, orelse } => Expr::ListIf {
                cond: self.expr(*cond),
                items: self.exprs(items),
                orelse: self.option(*orelse),
            },
            Expr::ListComp { elt, generators } => {
                Expr::ListComp { elt: self.expr(*elt), generators: self.clauses(generators) }
            }
            Expr::Starred(inner) => Expr::Starred(self.expr(*inner)),
            Expr::DictComp { entry, generators } => Expr::DictComp {
                entry: Box::new(self.entry(entry)),
                generators: self.clauses(generators),
            },
            Expr::ConfigIf { cond, items, orelse } => Expr::ConfigIf {
                cond: self.expr(*cond),
                items: self.entries(items),
                orelse: self.option(*orelse),
            },
            Expr::Schema(schema) => Expr::Schema(Box::new(self.schema_expr(schema))),
            Expr::Config(entries) => Expr::Config(self.entries(entries)),
            Expr::Lambda(lambda) => Expr::Lambda(Box::new(Lambda {
                params: lambda.params.as_ref().map(|params| self.params(params)),
                return_ty: lambda.return_ty.map(|ty| self.ty(ty)),
                body: self.stmts(&lambda.body),
            })),
            Expr::Subscript(subscript) => Expr::Subscript(Box::new(Subscript {
                value: self.expr(subscript.value),
                index: self.option(subscript.index),
                lower: self.option(subscript.lower),
                upper: self.option(subscript.upper),
                step: self.option(subscript.step),
                has_question: subscript.has_question,
            })),
            Expr::Joined(joined) => Expr::Joined(Box::new(self.joined(joined))),
            Expr::Type(ty) => Expr::Type(self.ty(*ty)),
            leaf @ (Expr::Number(_) | Expr::String(_) | Expr::Constant(_) | Expr::Missing) => {
                leaf.clone()
            }
        };
        self.to.add_expr(kind, self.span)
    }

    fn option(&mut self, id: Option<ExprId>) -> Option<ExprId> {
        id.map(|id| self.expr(id))
    }

    fn exprs(&mut self, ids: &[ExprId]) -> Vec<ExprId> {
        ids.iter().map(|id| self.expr(*id)).collect()
    }

    fn ident(&self, ident: Ident) -> Ident {
        Ident { name: ident.name, span: self.span }
    }

    fn idents(&self, idents: &[Ident]) -> Vec<Ident> {
        idents.iter().map(|ident| self.ident(*ident)).collect()
    }

    fn path(&self, path: &Path) -> Path {
        Path { names: self.idents(&path.names).into(), span: self.span }
    }

    fn keywords(&mut self, kwargs: &[Keyword]) -> Vec<Keyword> {
        let span = self.span;
        let mut copy = |keyword: &Keyword| Keyword {
            arg: self.path(&keyword.arg),
            value: self.option(keyword.value),
            span,
        };
        kwargs.iter().map(&mut copy).collect()
    }

    fn clauses(&mut self, clauses: &[CompClause]) -> Vec<CompClause> {
        let span = self.span;
        let mut copy = |clause: &CompClause| CompClause {
            targets: self.idents(&clause.targets),
            iter: self.expr(clause.iter),
            ifs: self.exprs(&clause.ifs),
            span,
        };
        clauses.iter().map(&mut copy).collect()
    }

    pub(crate) fn entry(&mut self, entry: &ConfigEntry) -> ConfigEntry {
        ConfigEntry {
            key: self.option(entry.key),
            value: self.expr(entry.value),
            op: entry.op,
            span: self.span,
        }
    }

    fn entries(&mut self, entries: &[ConfigEntry]) -> Vec<ConfigEntry> {
        entries.iter().map(|entry| self.entry(entry)).collect()
    }

    fn schema_expr(&mut self, schema: &SchemaExpr) -> SchemaExpr {
        SchemaExpr {
            name: self.path(&schema.name),
            args: self.exprs(&schema.args),
            kwargs: self.keywords(&schema.kwargs),
            config: self.expr(schema.config),
        }
    }

    fn joined(&mut self, joined: &JoinedString) -> JoinedString {
        let mut copy = |part: &StringPart| match part {
            StringPart::Text(text) => StringPart::Text(text.clone()),
            StringPart::Formatted { value, spec } => {
                StringPart::Formatted { value: self.expr(*value), spec: spec.clone() }
            }
        };
        JoinedString {
            parts: joined.parts.iter().map(&mut copy).collect(),
            is_long: joined.is_long,
        }
    }

    fn params(&mut self, params: &Params) -> Params {
        let mut copy = |param: &Param| Param {
            name: self.ident(param.name),
            ty: param.ty.map(|ty| self.ty(ty)),
            default: self.option(param.default),
        };
        Params { list: params.list.iter().map(&mut copy).collect(), span: self.span }
    }

    fn target(&mut self, target: &Target) -> Target {
        let mut copy = |step: &MemberOrIndex| match step {
            MemberOrIndex::Member(name) => MemberOrIndex::Member(self.ident(*name)),
            MemberOrIndex::Index(index) => MemberOrIndex::Index(self.expr(*index)),
        };
        let paths = target.paths.iter().map(&mut copy).collect();
        Target { name: self.ident(target.name), paths, span: self.span }
    }

    fn stmts(&mut self, ids: &[StmtId]) -> Vec<StmtId> {
        ids.iter().filter_map(|id| self.stmt(*id)).collect()
    }

    /// Copies a statement of a lambda's body. Declarations can't stand there.
    fn stmt(&mut self, id: StmtId) -> Option<StmtId> {
        let kind = match &self.from[id].kind {
            Stmt::TypeAlias(alias) => {
                Stmt::TypeAlias(TypeAlias { name: self.ident(alias.name), ty: self.ty(alias.ty) })
            }
            Stmt::Expr(exprs) => Stmt::Expr(self.exprs(exprs)),
            Stmt::Unification(unification) => Stmt::Unification(Unification {
                target: self.path(&unification.target),
                value: self.expr(unification.value),
            }),
            Stmt::Assign(assign) => Stmt::Assign(Assign {
                targets: assign.targets.iter().map(|target| self.target(target)).collect(),
                ty: assign.ty.map(|ty| self.ty(ty)),
                value: self.expr(assign.value),
            }),
            Stmt::AugAssign(assign) => Stmt::AugAssign(AugAssign {
                target: self.target(&assign.target),
                op: assign.op,
                value: self.expr(assign.value),
            }),
            Stmt::Assert(assert) => Stmt::Assert(Assert {
                test: self.expr(assert.test),
                if_cond: self.option(assert.if_cond),
                msg: self.option(assert.msg),
            }),
            Stmt::If(if_stmt) => Stmt::If(If {
                cond: self.expr(if_stmt.cond),
                body: self.stmts(&if_stmt.body),
                orelse: self.stmts(&if_stmt.orelse),
            }),
            Stmt::SchemaAttr(attr) => Stmt::SchemaAttr(SchemaAttr {
                name: self.ident(attr.name),
                op: attr.op,
                value: self.option(attr.value),
                is_optional: attr.is_optional,
                decorators: self.exprs(&attr.decorators),
                ty: self.ty(attr.ty),
            }),
            Stmt::Import(_) | Stmt::Schema(_) | Stmt::Rule(_) => return None,
        };
        Some(self.to.add_stmt(kind, self.span))
    }

    fn ty(&mut self, id: TypeId) -> TypeId {
        let kind = match &self.from[id].kind {
            Type::List(item) => Type::List(item.map(|item| self.ty(item))),
            Type::Dict { key, value } => Type::Dict {
                key: key.map(|key| self.ty(key)),
                value: value.map(|value| self.ty(value)),
            },
            Type::Union(items) => Type::Union(items.iter().map(|item| self.ty(*item)).collect()),
            Type::Named(path) => Type::Named(self.path(path)),
            Type::Function { params, ret } => Type::Function {
                params: params
                    .as_ref()
                    .map(|params| params.iter().map(|param| self.ty(*param)).collect()),
                ret: ret.map(|ret| self.ty(ret)),
            },
            leaf @ (Type::Any | Type::Basic(_) | Type::Literal(_) | Type::Missing) => leaf.clone(),
        };
        self.to.add_type(kind, self.span)
    }
}
