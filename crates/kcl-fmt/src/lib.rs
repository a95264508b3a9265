//! Source text in canonical layout.
//!
//! [`format`] parses a text, prints its tree with the comments of the text, parses the result and
//! compares the two trees: what it returns means the same. It is linear in the size of the text.
//! Knows nothing about files, packages, names or types. Start reading at `printer.rs`; `comments.rs`
//! says where comments go.

mod blocks;
mod comments;
mod entries;
mod expr;
mod layout;
mod literals;
mod printer;
mod same;
mod schema;
mod stmt;
mod types;

pub use literals::quoted;
pub use printer::{Open, Style};
pub use same::same_tree;

use kcl_syntax::SyntaxError;
use kcl_syntax::ast::{ExprId, Module, TypeId};
use printer::Printer;

/// Why a text was not formatted.
#[derive(Clone, Debug, PartialEq)]
pub enum FormatError {
    /// The text has syntax errors, at least one; it must be left alone.
    Syntax(Vec<SyntaxError>),
    /// The result would not mean the same: a defect of the formatter.
    Changed,
}

/// Formats a source file. The result ends with one line end, or is empty.
///
/// # Errors
/// See [`FormatError`].
pub fn format(text: &str) -> Result<String, FormatError> {
    let parsed = kcl_syntax::parse(text);
    if !parsed.diagnostics.is_empty() {
        return Err(FormatError::Syntax(parsed.diagnostics));
    }
    let formatted = print(&parsed.module, text, Style::default());
    if formatted == text {
        return Ok(formatted);
    }
    let again = kcl_syntax::parse(&formatted);
    let is_same = again.diagnostics.is_empty()
        && same_tree(&parsed.module, &again.module)
        && parsed.module.comments.len() == again.module.comments.len();
    if is_same { Ok(formatted) } else { Err(FormatError::Changed) }
}

/// Prints the tree of `text` with its comments, without the checks of [`format`].
pub fn print(module: &Module, text: &str, style: Style) -> String {
    let mut printer = Printer::new(module, text, style);
    printer.module();
    printer.finish()
}

/// Prints one expression of the tree of `text`.
pub fn print_expr(module: &Module, text: &str, expr: ExprId, style: Style) -> String {
    let mut printer = Printer::new(module, text, style);
    printer.expr(expr);
    printer.finish_inline()
}

/// Prints one type annotation of the tree of `text`.
pub fn print_type(module: &Module, text: &str, ty: TypeId) -> String {
    let mut printer = Printer::new(module, text, Style::default());
    printer.ty(ty);
    printer.finish_inline()
}
