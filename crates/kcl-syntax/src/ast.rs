//! The syntax tree of one file, in arenas.
//!
//! Nodes live in the vectors of a [`Module`] and point at each other by id, so a tree is a
//! few allocations, and facts about nodes are vectors indexed by the same ids.
//! `module[id]` gives a node.

mod names;

pub use names::Names;

use base_text::{Name, Span};
use std::ops::Index;
use std::sync::Arc;

macro_rules! ids {
    ($($(#[$doc:meta])* $id:ident => $field:ident : $node:ty;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $id(pub u32);

        impl $id {
            /// The position in the arena.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl Index<$id> for Module {
            type Output = $node;

            fn index(&self, id: $id) -> &$node {
                &self.$field[id.index()]
            }
        }
    )*};
}

ids! {
    /// An expression of a module.
    ExprId => exprs: ExprNode;
    /// A statement of a module.
    StmtId => stmts: StmtNode;
    /// A type annotation of a module.
    TypeId => types: TypeNode;
}

/// The tree of one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// The docstring at the top of the file, if any.
    pub doc: Option<StrNode>,
    /// Top-level statements in order.
    pub body: Vec<StmtId>,
    /// All expressions; see [`ExprId`].
    pub exprs: Vec<ExprNode>,
    /// All statements; see [`StmtId`].
    pub stmts: Vec<StmtNode>,
    /// All type annotations; see [`TypeId`].
    pub types: Vec<TypeNode>,
    /// All comments in order, from `#` to the end of the line (exclusive).
    pub comments: Vec<Span>,
}

impl Module {
    /// Adds an expression.
    pub fn add_expr(&mut self, kind: Expr, span: Span) -> ExprId {
        self.exprs.push(ExprNode { kind, span });
        ExprId(self.exprs.len() as u32 - 1)
    }

    /// Adds a statement.
    pub fn add_stmt(&mut self, kind: Stmt, span: Span) -> StmtId {
        self.stmts.push(StmtNode { kind, span });
        StmtId(self.stmts.len() as u32 - 1)
    }

    /// Adds a type annotation.
    pub fn add_type(&mut self, kind: Type, span: Span) -> TypeId {
        self.types.push(TypeNode { kind, span });
        TypeId(self.types.len() as u32 - 1)
    }
}

/// An expression and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct ExprNode {
    /// What it is.
    pub kind: Expr,
    /// Where it stands.
    pub span: Span,
}

/// A statement and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct StmtNode {
    /// What it is.
    pub kind: Stmt,
    /// Where it stands.
    pub span: Span,
}

/// A type annotation and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeNode {
    /// What it is.
    pub kind: Type,
    /// Where it stands.
    pub span: Span,
}

/// One identifier in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The identifier, without a leading `$`.
    pub name: Name,
    /// Where it stands.
    pub span: Span,
}

/// A dotted name, `a.b.c`. At least one part, except after a syntax error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The parts.
    pub names: Names,
    /// From the first part to the last.
    pub span: Span,
}

/// A string in its place (docstrings, import paths).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrNode {
    /// The text.
    pub value: Box<str>,
    /// Where it stands, quotes included.
    pub span: Span,
}

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
    /// An [`Expr::Schema`].
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
    /// `@deprecated(…)` and the like: each an [`Expr::Call`].
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

/// A number as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// `12`
    Int(i64),
    /// `1.5`, `1e3`
    Float(f64),
    /// `1Ki`
    Unit {
        /// The number before the unit.
        value: i64,
        /// The unit.
        unit: Unit,
    },
}

/// The unit behind a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants are the units' own names")]
pub enum Unit {
    N,
    U,
    M,
    K,
    KUpper,
    MUpper,
    G,
    T,
    P,
    Ki,
    Mi,
    Gi,
    Ti,
    Pi,
}

impl Unit {
    /// The unit as written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::N => "n",
            Self::U => "u",
            Self::M => "m",
            Self::K => "k",
            Self::KUpper => "K",
            Self::MUpper => "M",
            Self::G => "G",
            Self::T => "T",
            Self::P => "P",
            Self::Ki => "Ki",
            Self::Mi => "Mi",
            Self::Gi => "Gi",
            Self::Ti => "Ti",
            Self::Pi => "Pi",
        }
    }
}

/// A string without interpolation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StringLit {
    /// The text it stands for.
    pub value: Arc<str>,
    /// Whether three quotes were used.
    pub is_long: bool,
}

/// A string with interpolation.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinedString {
    /// The parts.
    pub parts: Vec<StringPart>,
    /// Whether three quotes were used.
    pub is_long: bool,
}

/// A part of a string with interpolation.
#[derive(Clone, Debug, PartialEq)]
pub enum StringPart {
    /// Text between interpolations.
    Text(Box<str>),
    /// `${value: #spec}`
    Formatted {
        /// What is put in.
        value: ExprId,
        /// How, e.g. `#json`.
        spec: Option<Box<str>>,
    },
}

/// A named constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants are the constants' own names")]
pub enum Constant {
    True,
    False,
    None,
    Undefined,
}

impl Constant {
    /// The constant as written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::None => "None",
            Self::Undefined => "Undefined",
        }
    }
}

/// A prefix operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `~`
    Invert,
    /// `not`
    Not,
}

/// An infix operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `//`
    FloorDiv,
    /// `%`
    Mod,
    /// `**`
    Pow,
    /// `<<`
    LShift,
    /// `>>`
    RShift,
    /// `&`
    BitAnd,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
    /// `and`
    And,
    /// `or`
    Or,
    /// `as`
    As,
}

impl BinOp {
    /// The operator as written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::FloorDiv => "//",
            Self::Mod => "%",
            Self::Pow => "**",
            Self::LShift => "<<",
            Self::RShift => ">>",
            Self::BitAnd => "&",
            Self::BitOr => "|",
            Self::BitXor => "^",
            Self::And => "and",
            Self::Or => "or",
            Self::As => "as",
        }
    }
}

/// A comparing operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CmpOp {
    /// `==`
    Eq,
    /// `!=`
    NotEq,
    /// `<`
    Lt,
    /// `<=`
    LtE,
    /// `>`
    Gt,
    /// `>=`
    GtE,
    /// `is`
    Is,
    /// `is not`
    IsNot,
    /// `in`
    In,
    /// `not in`
    NotIn,
    /// `not` after a value
    Not,
}

impl CmpOp {
    /// The operator as written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Eq => "==",
            Self::NotEq => "!=",
            Self::Lt => "<",
            Self::LtE => "<=",
            Self::Gt => ">",
            Self::GtE => ">=",
            Self::Is => "is",
            Self::IsNot => "is not",
            Self::In => "in",
            Self::NotIn => "not in",
            Self::Not => "not",
        }
    }
}

/// An assigning operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AugOp {
    /// `=`
    Assign,
    /// `+=`, `|=` …: the infix operator before `=`.
    With(BinOp),
}

/// A type annotation.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// `any`, or nothing where a type may be left out (`[]`, `{:}`).
    Any,
    /// `int`, `str` …
    Basic(BasicType),
    /// `[T]`, `list`
    List(Option<TypeId>),
    /// `{K:V}`, `dict`
    Dict {
        /// The type of keys.
        key: Option<TypeId>,
        /// The type of values.
        value: Option<TypeId>,
    },
    /// `A | B`
    Union(Vec<TypeId>),
    /// `"a"`, `1`, `True`, `1Ki`
    Literal(LiteralType),
    /// `Name`, `pkg.Name`
    Named(Path),
    /// `(A, B) -> C`
    Function {
        /// The types of parameters, if given.
        params: Option<Vec<TypeId>>,
        /// The result's type.
        ret: Option<TypeId>,
    },
    /// Stands where a type is missing after a syntax error.
    Missing,
}

/// A type with a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the variants are the types' own names")]
pub enum BasicType {
    Bool,
    Int,
    Float,
    Str,
}

/// A type with one value.
#[derive(Clone, Debug, PartialEq)]
pub enum LiteralType {
    /// `True`
    Bool(bool),
    /// `1`, `-1`
    Int(i64),
    /// `1Ki`
    Unit {
        /// The number before the unit.
        value: i64,
        /// The unit.
        unit: Unit,
    },
    /// `1.5`
    Float(f64),
    /// `"a"`
    Str(Box<str>),
}
