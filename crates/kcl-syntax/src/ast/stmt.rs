//! Statements.

use super::{AugOp, ExprId, Ident, Path, Rule, Schema, SchemaAttr, StmtId, StrNode, TypeId};
use base_text::Span;

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// `type Name = T`
    TypeAlias(TypeAlias),
    /// `f(x)`, `1`, `App {}`: expressions on a line.
    Expr(Vec<ExprId>),
    /// `name: Schema {…}`
    Unification(Unification),
    /// `a = b = value`, `a.b[0] = value`
    Assign(Assign),
    /// `a += value`
    AugAssign(AugAssign),
    /// `assert test if cond, msg`
    Assert(Assert),
    /// `if cond: …`
    If(If),
    /// `import a.b as c`
    Import(Import),
    /// `name?: T = value`, in a schema body.
    SchemaAttr(SchemaAttr),
    /// `schema`, `mixin` or `protocol`
    Schema(Box<Schema>),
    /// `rule`
    Rule(Box<Rule>),
}

/// `type Name = T`
#[derive(Clone, Debug, PartialEq)]
pub struct TypeAlias {
    /// The new name.
    pub name: Ident,
    /// What it stands for.
    pub ty: TypeId,
}

/// `name: Schema {…}`
#[derive(Clone, Debug, PartialEq)]
pub struct Unification {
    /// The name.
    pub target: Path,
    /// An [`Expr::Schema`](super::Expr::Schema).
    pub value: ExprId,
}

/// `a = b = value`, with `ty` in `a: T = value`.
#[derive(Clone, Debug, PartialEq)]
pub struct Assign {
    /// What is assigned to, at least one.
    pub targets: Vec<Target>,
    /// The annotated type.
    pub ty: Option<TypeId>,
    /// The value.
    pub value: ExprId,
}

/// `target op value`
#[derive(Clone, Debug, PartialEq)]
pub struct AugAssign {
    /// What is changed.
    pub target: Target,
    /// How.
    pub op: AugOp,
    /// By what.
    pub value: ExprId,
}

/// What can be assigned to: `name`, `name.a.b`, `name[0].c`.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// The variable.
    pub name: Ident,
    /// The way into it.
    pub paths: Vec<MemberOrIndex>,
    /// The whole target.
    pub span: Span,
}

/// One step of the way into a value.
#[derive(Clone, Debug, PartialEq)]
pub enum MemberOrIndex {
    /// `.name`
    Member(Ident),
    /// `[expr]`
    Index(ExprId),
}

/// `assert test if cond, msg`
#[derive(Clone, Debug, PartialEq)]
pub struct Assert {
    /// What must hold.
    pub test: ExprId,
    /// When it must hold.
    pub if_cond: Option<ExprId>,
    /// What to say if not.
    pub msg: Option<ExprId>,
}

/// `if cond: body else: orelse`; an `elif` is an [`Stmt::If`] alone in `orelse`.
#[derive(Clone, Debug, PartialEq)]
pub struct If {
    /// The condition.
    pub cond: ExprId,
    /// Done if it holds.
    pub body: Vec<StmtId>,
    /// Done if not.
    pub orelse: Vec<StmtId>,
}

/// `import path as asname`
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// The path as written, leading dots included: `.a.b`, `k8s.api.core.v1`.
    pub path: StrNode,
    /// The alias.
    pub asname: Option<Ident>,
}
