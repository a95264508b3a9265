//! The syntax tree of one file, in arenas.
//!
//! Nodes live in the vectors of a [`Module`] and point at each other by id, so a tree is a
//! few allocations, and facts about nodes are vectors indexed by the same ids.
//! `module[id]` gives a node.

mod expr;
mod literal;
mod names;
mod ops;
mod schema;
mod stmt;
mod types;

pub use expr::{
    Call, CompClause, ConfigEntry, ConfigOp, Expr, Keyword, Lambda, Quant, QuantOp, SchemaExpr,
    Subscript,
};
pub use literal::{Constant, JoinedString, Number, StringLit, StringPart, Unit};
pub use names::Names;
pub use ops::{AugOp, BinOp, CmpOp, UnaryOp};
pub use schema::{Check, IndexSignature, Param, Params, Rule, Schema, SchemaAttr, SchemaKind};
pub use stmt::{
    Assert, Assign, AugAssign, If, Import, MemberOrIndex, Stmt, Target, TypeAlias, Unification,
};
pub use types::{BasicType, LiteralType, Type};

use base_text::{Name, Span};
use std::ops::Index;

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
