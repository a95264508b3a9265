//! Syntax tree to source text.
//!
//! What is printed parses to the same tree again, spans and comments apart.

mod expr;
mod stmt;
mod string;
mod types;

use crate::ast::{ExprId, Ident, Module, Path, TypeId};
use crate::token::is_keyword;
use std::fmt::Write as _;

/// Prints a tree as canonical source.
///
/// `text` is what the tree was parsed from (or nothing): numbers and strings are taken over
/// as written there, where they still mean the same.
pub fn print(module: &Module, text: &str) -> String {
    let mut printer = Printer::new(module, text);
    printer.module();
    printer.out
}

/// Prints one expression of a tree; see [`print`].
pub fn print_expr(module: &Module, text: &str, expr: ExprId) -> String {
    let mut printer = Printer::new(module, text);
    printer.expr(expr);
    printer.out
}

/// Prints one type annotation of a tree; see [`print`].
pub fn print_type(module: &Module, text: &str, ty: TypeId) -> String {
    let mut printer = Printer::new(module, text);
    printer.ty(ty);
    printer.out
}

struct Printer<'m> {
    module: &'m Module,
    text: &'m str,
    out: String,
    /// How deep the current line is indented.
    level: usize,
    /// Inside `${…}`: the quote for strings there, which is not the one of the string around.
    inner_quote: Option<char>,
}

impl<'m> Printer<'m> {
    fn new(module: &'m Module, text: &'m str) -> Self {
        Self { module, text, out: String::new(), level: 0, inner_quote: None }
    }

    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn newline(&mut self) {
        self.out.push('\n');
        for _ in 0..self.level {
            self.out.push_str("    ");
        }
    }

    /// Prints `items` with commas between.
    fn commas<T>(&mut self, items: &[T], mut one: impl FnMut(&mut Self, &T)) {
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.push(", ");
            }
            one(self, item);
        }
    }

    /// Prints a name, with `$` where it would be a keyword.
    fn name(&mut self, name: &str) {
        for (at, part) in name.split('.').enumerate() {
            if at > 0 {
                self.push(".");
            }
            if is_keyword(part) {
                self.push("$");
            }
            self.push(part);
        }
    }

    fn ident(&mut self, ident: Ident) {
        self.name(ident.name.as_str());
    }

    fn path(&mut self, path: &Path) {
        for (at, ident) in path.names.iter().enumerate() {
            if at > 0 {
                self.push(".");
            }
            self.ident(*ident);
        }
    }

    fn write(&mut self, args: std::fmt::Arguments<'_>) {
        let written = self.out.write_fmt(args);
        debug_assert!(written.is_ok(), "a String takes all text");
    }
}
