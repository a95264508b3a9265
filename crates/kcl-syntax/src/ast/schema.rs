//! Schemas, rules and parameters.

use super::{AugOp, ExprId, Ident, Path, StmtId, StrNode, TypeId};
use base_text::Span;

/// `name?: T op value`
#[derive(Clone, Debug, PartialEq)]
pub struct SchemaAttr {
    /// The attribute; string attributes have their text as name.
    pub name: Ident,
    /// `=`, `|=` …; `None` without a default.
    pub op: Option<AugOp>,
    /// The default.
    pub value: Option<ExprId>,
    /// Whether `?` follows the name.
    pub is_optional: bool,
    /// `@deprecated(…)` and the like: each an [`Expr::Call`](super::Expr::Call).
    pub decorators: Vec<ExprId>,
    /// The declared type.
    pub ty: TypeId,
}

/// What a schema-like declaration is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaKind {
    /// `schema`
    Schema,
    /// `mixin`
    Mixin,
    /// `protocol`
    Protocol,
}

/// `schema Name[args](Parent) for Host: …`
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    /// Schema, mixin or protocol.
    pub kind: SchemaKind,
    /// Its name.
    pub name: Ident,
    /// The docstring.
    pub doc: Option<StrNode>,
    /// The base schema.
    pub parent: Option<Path>,
    /// The protocol of a mixin.
    pub for_host: Option<Path>,
    /// Parameters.
    pub params: Option<Params>,
    /// `mixin [A, b.B]`
    pub mixins: Vec<Path>,
    /// `@decorator` calls.
    pub decorators: Vec<ExprId>,
    /// Attributes, assignments, `if`s, asserts.
    pub body: Vec<StmtId>,
    /// The `check:` block.
    pub checks: Vec<Check>,
    /// `[key: str]: T = value`
    pub index_signature: Option<IndexSignature>,
}

/// `rule Name[args](Parents) for Host: …`
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Its name.
    pub name: Ident,
    /// The docstring.
    pub doc: Option<StrNode>,
    /// Rules it extends.
    pub parents: Vec<Path>,
    /// The schema it is for.
    pub for_host: Option<Path>,
    /// Parameters.
    pub params: Option<Params>,
    /// `@decorator` calls.
    pub decorators: Vec<ExprId>,
    /// The conditions.
    pub checks: Vec<Check>,
}

/// `test if cond, msg` in a `check` block.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// What must hold.
    pub test: ExprId,
    /// When it must hold.
    pub if_cond: Option<ExprId>,
    /// What to say if not.
    pub msg: Option<ExprId>,
    /// The whole line.
    pub span: Span,
}

/// `[name: K]: V = value`, `[...str]: int`
#[derive(Clone, Debug, PartialEq)]
pub struct IndexSignature {
    /// The name of the key, if given.
    pub key_name: Option<Ident>,
    /// The type of keys.
    pub key_ty: TypeId,
    /// The type of values.
    pub value_ty: TypeId,
    /// The default.
    pub value: Option<ExprId>,
    /// Whether `...` stands before the key: declared attributes need not fit `value_ty`.
    pub any_other: bool,
    /// The whole signature.
    pub span: Span,
}

/// Parameters of a schema, rule or lambda.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// The parameters in order.
    pub list: Vec<Param>,
    /// From the first to the last.
    pub span: Span,
}

/// `name: T = default`
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name.
    pub name: Ident,
    /// Its type.
    pub ty: Option<TypeId>,
    /// The value if none is passed.
    pub default: Option<ExprId>,
}
