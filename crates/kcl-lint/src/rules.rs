//! The rules, one in each file.

mod check_message;
mod comparison;
mod deprecated;
mod duplicate_key;
mod missing_docs;
mod naming;
mod shadowing;
mod unknown_key;
mod unreachable;
mod unused;

pub(crate) use check_message::check_message;
pub(crate) use comparison::comparison;
pub(crate) use deprecated::deprecated;
pub(crate) use duplicate_key::duplicate_key;
pub(crate) use missing_docs::missing_docs;
pub(crate) use naming::naming;
pub(crate) use shadowing::shadowing;
pub(crate) use unknown_key::unknown_key;
pub(crate) use unreachable::unreachable;
pub(crate) use unused::unused;

use base_diag::Diagnostic;
use base_text::{FileId, FileSpan, Span};
use kcl_hir::{Program, SourceFile};
use kcl_syntax::ast::{Constant, Expr, ExprId, Module, Schema, Stmt};

/// What a rule looks at: one file of a program.
pub(crate) struct Context<'p> {
    pub(crate) program: &'p Program,
    pub(crate) file: FileId,
}

impl<'p> Context<'p> {
    pub(crate) fn source(&self) -> &'p SourceFile {
        self.program.file(self.file)
    }

    pub(crate) fn module(&self) -> &'p Module {
        &self.source().module
    }

    pub(crate) fn at(&self, span: Span) -> FileSpan {
        FileSpan { file: self.file, span }
    }

    /// A finding.
    pub(crate) fn warning(
        &self,
        (code, kind): (&'static str, &'static str),
        span: Span,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::warning(code, kind, self.at(span), message)
    }

    /// An expression as it is written, without blanks: two that are equal are the same.
    pub(crate) fn written(&self, expr: ExprId) -> String {
        let text = self.module()[expr].span.slice(&self.source().text);
        text.split_whitespace().collect()
    }

    /// The schemas, mixins and protocols of the file.
    pub(crate) fn schemas(&self) -> impl Iterator<Item = &'p Schema> + use<'p> {
        self.module().stmts.iter().filter_map(|stmt| match &stmt.kind {
            Stmt::Schema(schema) => Some(&**schema),
            _ => None,
        })
    }
}

/// The truth of an expression that has one whatever the program does.
pub(crate) fn constant_truth(module: &Module, expr: ExprId) -> Option<bool> {
    match &module[expr].kind {
        Expr::Constant(Constant::True) => Some(true),
        Expr::Constant(_) => Some(false),
        Expr::Paren(inner) => constant_truth(module, *inner),
        _ => None,
    }
}
