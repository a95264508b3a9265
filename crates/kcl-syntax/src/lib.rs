//! Source text to syntax tree.
//!
//! [`parse`] never fails: it returns a [`ast::Module`] and diagnostics. The tree owns no
//! semantic data; later stages keep their facts in side tables keyed by [`ast::ExprId`] and
//! the other ids. Knows nothing of packages, names or types. Start reading at [`ast`].

pub mod ast;
mod error;
mod lexer;
mod parser;
mod print;
mod token;
pub mod walk;

pub use error::SyntaxError;
pub use parser::{
    Parsed, ParsedExpr, ParsedType, parse, parse_code, parse_expr, parse_parts, parse_type,
};
pub use print::{print, print_expr, print_type};
pub use token::is_keyword;
