//! The expression language of validation rules (CEL), as far as rules on JSON need it.
//!
//! Covers literals, operators, field and index access, optional values, messages, the macros and the
//! functions on text, lists, maps, times, amounts, addresses, URLs, versions and formats. Unsupported
//! and invalid rules are distinguished. [`infer`] checks the types of an expression as servers do.

mod access;
mod eval;
mod functions;
mod library;
mod parse;
mod semver;
mod signatures;
mod special;
#[cfg(test)]
mod tests;
mod types;

pub use access::{AccessQuery, Authorizer};
pub(crate) use eval::{Cel, Failure, Scope, evaluate, unescape};
pub(crate) use functions::is_known;
pub(crate) use library::SPACES;
#[cfg(test)]
use parse::SyntaxError;
pub(crate) use parse::parse;
pub(crate) use special::Special;
#[cfg(test)]
pub(crate) use types::Problem;
pub(crate) use types::{Fields, Ty, infer, located};

/// One expression and where it starts in its text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expr {
    pub(crate) node: Node,
    /// Byte offset: of a field, its dot; of a call, its bracket; of an operator, the operator.
    pub(crate) at: usize,
}

/// The kinds of expressions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(String),
    Bytes(Vec<u8>),
    Ident(String),
    List(Vec<Expr>),
    Map(Vec<(Expr, Expr)>),
    /// `operand.field`.
    Select(Box<Expr>, String),
    /// `has(operand.field)`.
    Has(Box<Expr>, String),
    /// `operand[key]`.
    Index(Box<Expr>, Box<Expr>),
    /// `operand.?field`.
    OptionalSelect(Box<Expr>, String),
    /// `operand[?key]`.
    OptionalIndex(Box<Expr>, Box<Expr>),
    /// The optional value of an entry (`{?'key': value}`), which is left out if it is missing.
    IfPresent(Box<Expr>),
    /// `Object.spec{field: value}`; each field with the place of its colon.
    Message(String, Vec<(String, usize, Expr)>),
    /// `!` or `-`.
    Unary(char, Box<Expr>),
    Binary(Op, Box<Expr>, Box<Expr>),
    /// `condition ? left : right`.
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `target.name(arguments)` or `name(arguments)`.
    Call(Option<Box<Expr>>, String, Vec<Expr>),
    /// `target.macro(variables, body…)`.
    Loop(Macro, Box<Expr>, Vec<String>, Vec<Expr>),
}

/// Operators between two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// Macros that run over a list or map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Macro {
    All,
    Exists,
    ExistsOne,
    Map,
    Filter,
    TransformList,
    TransformMap,
    OptionalMap,
    OptionalFlatMap,
}

impl Expr {
    /// Visits the expression and all inside it.
    pub(crate) fn visit<'e>(&'e self, see: &mut impl FnMut(&'e Self)) {
        see(self);
        match &self.node {
            Node::List(items) => {
                for item in items {
                    item.visit(see);
                }
            }
            Node::Map(entries) => {
                for (key, value) in entries {
                    key.visit(see);
                    value.visit(see);
                }
            }
            Node::Message(_, fields) => {
                for (_, _, value) in fields {
                    value.visit(see);
                }
            }
            Node::Select(inner, _)
            | Node::OptionalSelect(inner, _)
            | Node::Has(inner, _)
            | Node::IfPresent(inner)
            | Node::Unary(_, inner) => {
                inner.visit(see);
            }
            Node::Index(left, right)
            | Node::OptionalIndex(left, right)
            | Node::Binary(_, left, right) => {
                left.visit(see);
                right.visit(see);
            }
            Node::Choice(condition, left, right) => {
                condition.visit(see);
                left.visit(see);
                right.visit(see);
            }
            Node::Call(target, _, arguments) => {
                if let Some(target) = target {
                    target.visit(see);
                }
                for argument in arguments {
                    argument.visit(see);
                }
            }
            Node::Loop(_, target, _, bodies) => {
                target.visit(see);
                for body in bodies {
                    body.visit(see);
                }
            }
            _ => {}
        }
    }

    /// Returns whether a name is used anywhere.
    pub(crate) fn mentions(&self, name: &str) -> bool {
        let mut found = false;
        self.visit(&mut |expr| found |= matches!(&expr.node, Node::Ident(own) if own == name));
        found
    }
}
