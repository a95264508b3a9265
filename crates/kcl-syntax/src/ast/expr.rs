//! Expressions.

use super::{
    BinOp, CmpOp, Constant, ExprId, Ident, JoinedString, Module, Number, Params, Path, StmtId,
    StringLit, TypeId, UnaryOp,
};
use base_text::Span;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// `a`, `a.b.c`
    Ident(Path),
    /// `-a`
    Unary {
        /// The operator.
        op: UnaryOp,
        /// Its operand.
        operand: ExprId,
    },
    /// `a + b`; the right side of `as` is an [`Expr::Type`] if a name stands there, which is
    /// all that is allowed; else it is left as the expression that was written.
    Binary {
        /// The operator.
        op: BinOp,
        /// The left side.
        left: ExprId,
        /// The right side.
        right: ExprId,
    },
    /// `a < b <= c`
    Compare {
        /// The first operand.
        left: ExprId,
        /// Operators with what follows them, at least one.
        rest: Vec<(CmpOp, ExprId)>,
    },
    /// `body if cond else orelse`
    If {
        /// The value if `cond` holds.
        body: ExprId,
        /// The condition.
        cond: ExprId,
        /// The value if not.
        orelse: ExprId,
    },
    /// `value.attr`, `value?.attr`, where `value` is more than a dotted name.
    Selector {
        /// What is selected from.
        value: ExprId,
        /// The names; more than one where no `?` stands between.
        attr: Path,
        /// Whether `?.` was written.
        has_question: bool,
    },
    /// `f(a, k=v)`
    Call(Box<Call>),
    /// `(a)`
    Paren(ExprId),
    /// `all x in xs { test }`
    Quant(Box<Quant>),
    /// `[a, *b, if c: d]`; see [`Expr::ListIf`].
    List(Vec<ExprId>),
    /// `if cond: items else: …` inside a list.
    ListIf {
        /// The condition.
        cond: ExprId,
        /// The items if it holds.
        items: Vec<ExprId>,
        /// Else: an [`Expr::List`] or, for `elif`, another [`Expr::ListIf`].
        orelse: Option<ExprId>,
    },
    /// `[elt for x in xs if c]`
    ListComp {
        /// The item.
        elt: ExprId,
        /// The loops.
        generators: Vec<CompClause>,
    },
    /// `*a` in a list.
    Starred(ExprId),
    /// `{k: v for k, v in xs}`
    DictComp {
        /// The entry.
        entry: Box<ConfigEntry>,
        /// The loops.
        generators: Vec<CompClause>,
    },
    /// `if cond: entries else: …` inside a config.
    ConfigIf {
        /// The condition.
        cond: ExprId,
        /// The entries if it holds.
        items: Vec<ConfigEntry>,
        /// Else: an [`Expr::Config`] or, for `elif`, another [`Expr::ConfigIf`].
        orelse: Option<ExprId>,
    },
    /// `Name(args) {…}`
    Schema(Box<SchemaExpr>),
    /// `{…}`
    Config(Vec<ConfigEntry>),
    /// `lambda x: T -> R { … }`
    Lambda(Box<Lambda>),
    /// `a[0]`, `a?[0]`, `a[1:2:3]`
    Subscript(Box<Subscript>),
    /// `1`, `0x1F`, `1.5`, `1Ki`
    Number(Number),
    /// `"text"`, without interpolation.
    String(StringLit),
    /// `True`, `False`, `None`, `Undefined`
    Constant(Constant),
    /// `"a ${b} c"`
    Joined(Box<JoinedString>),
    /// The type on the right of `as`.
    Type(TypeId),
    /// Stands where an expression is missing after a syntax error.
    Missing,
}

/// `f(a, k=v)`
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// What is called.
    pub func: ExprId,
    /// Positional arguments.
    pub args: Vec<ExprId>,
    /// Named arguments.
    pub kwargs: Vec<Keyword>,
}

/// `k=v` in a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyword {
    /// The name.
    pub arg: Path,
    /// The value.
    pub value: Option<ExprId>,
    /// The whole argument.
    pub span: Span,
}

/// What a quantifier does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantOp {
    /// `all`
    All,
    /// `any`
    Any,
    /// `filter`
    Filter,
    /// `map`
    Map,
}

/// `all k, v in target { test if cond }`
#[derive(Clone, Debug, PartialEq)]
pub struct Quant {
    /// Which one.
    pub op: QuantOp,
    /// One or two variables.
    pub vars: Vec<Ident>,
    /// What is walked.
    pub target: ExprId,
    /// The test or result.
    pub test: ExprId,
    /// A filter.
    pub if_cond: Option<ExprId>,
}

/// `for a, b in iter if c`
#[derive(Clone, Debug, PartialEq)]
pub struct CompClause {
    /// One or two variables.
    pub targets: Vec<Ident>,
    /// What is walked.
    pub iter: ExprId,
    /// Filters.
    pub ifs: Vec<ExprId>,
    /// The clause.
    pub span: Span,
}

/// `Name(args) {…}`
#[derive(Clone, Debug, PartialEq)]
pub struct SchemaExpr {
    /// The schema, or a variable that holds an instance.
    pub name: Path,
    /// Positional arguments.
    pub args: Vec<ExprId>,
    /// Named arguments.
    pub kwargs: Vec<Keyword>,
    /// An [`Expr::Config`] (or [`Expr::DictComp`]).
    pub config: ExprId,
}

/// How a config entry meets what is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ConfigOp {
    /// `:` merge
    #[default]
    Union,
    /// `=` replace
    Override,
    /// `+=` append
    Insert,
}

/// `key: value`, `key = value`, `**value`, or an [`Expr::ConfigIf`] as value without key.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigEntry {
    /// The key; `None` for `**value` and `if`.
    /// A nested key `a.b.c: v` is written out: `a: {b: {c: v}}` with the inner configs
    /// spanning the key, as the parser of the reference does; a subscript key is `a[0]`.
    /// `{name}` is written out too, as `{name = name}`: then key and value have one span.
    pub key: Option<ExprId>,
    /// The value.
    pub value: ExprId,
    /// The operator.
    pub op: ConfigOp,
    /// The whole entry.
    pub span: Span,
}

impl ConfigEntry {
    /// Whether `next`, printed on the line below this entry, would be read as a branch of its `if`:
    /// a key may be named `else` or `elif`. A comma between the two keeps them apart.
    pub fn needs_comma_before(&self, next: Option<&ConfigEntry>, module: &Module) -> bool {
        let is_branch = |key: ExprId| match &module[key].kind {
            Expr::Ident(path) => {
                matches!(path.names.first().map(|it| it.name.as_str()), Some("else" | "elif"))
            }
            _ => false,
        };
        matches!(module[self.value].kind, Expr::ConfigIf { .. })
            && next.and_then(|next| next.key).is_some_and(is_branch)
    }
}

/// `lambda params -> ret { body }`
#[derive(Clone, Debug, PartialEq)]
pub struct Lambda {
    /// Parameters.
    pub params: Option<Params>,
    /// The result's type.
    pub return_ty: Option<TypeId>,
    /// The body; its last expression is the result.
    pub body: Vec<StmtId>,
}

/// `value[index]` or `value[lower:upper:step]`
#[derive(Clone, Debug, PartialEq)]
pub struct Subscript {
    /// What is looked into.
    pub value: ExprId,
    /// Where; `None` for a slice.
    pub index: Option<ExprId>,
    /// Start of a slice.
    pub lower: Option<ExprId>,
    /// End of a slice.
    pub upper: Option<ExprId>,
    /// Step of a slice.
    pub step: Option<ExprId>,
    /// Whether `?[` was written.
    pub has_question: bool,
}
