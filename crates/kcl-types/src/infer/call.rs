//! Calls and their arguments.

use crate::checker::Checker;
use crate::diagnostics;
use crate::suggest;
use crate::ty::{FunctionType, Type};
use base_text::{Name, Span};
use kcl_hir::names::Meaning;
use kcl_syntax::ast::{Expr, ExprId, Keyword, Path};
use std::fmt;
use std::sync::Arc;

impl<'p> Checker<'p> {
    /// The type of `func(args, kwargs)`.
    pub(super) fn call(&mut self, func: ExprId, args: &'p [ExprId], kwargs: &'p [Keyword]) -> Type {
        let callee = self.expr(func);
        let span = self.module[func].span;
        let (signature, result) = match &callee {
            Type::Any => {
                let variadic = || {
                    Arc::new(FunctionType { params: Vec::new(), ret: Type::Any, is_variadic: true })
                };
                (self.forward_lambda(func).unwrap_or_else(variadic), Type::Any)
            }
            Type::Function(function) => (Arc::clone(function), function.ret.clone()),
            Type::Schema(schema) if !schema.is_instance => {
                (Arc::clone(&self.schema_type(schema.id).func), callee.as_instance())
            }
            _ => {
                let message = match &callee {
                    Type::Schema(_) => format!("schema '{callee}' instance is not callable"),
                    _ => format!("'{callee}' object is not callable"),
                };
                self.report(diagnostics::compile_error(self.at(span), message));
                return Type::Any;
            }
        };
        self.arguments(self.callee(func), span, args, kwargs, &signature);
        result
    }

    /// The signature of a global lambda whose statement comes later.
    fn forward_lambda(&mut self, func: ExprId) -> Option<Arc<FunctionType>> {
        let Expr::Ident(path) = &self.module[func].kind else { return None };
        let [ident] = path.names.as_slice() else { return None };
        if !matches!(self.meaning(func, ident.name), Meaning::Global(_)) {
            return None;
        }
        self.packages[self.package.0 as usize].lambdas.get(&ident.name).cloned()
    }

    /// What is called.
    pub(crate) fn callee(&self, func: ExprId) -> Callee<'p> {
        let mut func = func;
        loop {
            match &self.module[func].kind {
                Expr::Ident(path) | Expr::Selector { attr: path, .. } => {
                    return Callee::Named(path);
                }
                Expr::Paren(inner) => func = *inner,
                _ => return Callee::Anonymous,
            }
        }
    }

    /// Checks the arguments of a function, schema or decorator.
    pub(crate) fn arguments(
        &mut self,
        function: Callee<'p>,
        span: Span,
        args: &'p [ExprId],
        kwargs: &'p [Keyword],
        signature: &FunctionType,
    ) {
        for (index, &arg) in args.iter().enumerate() {
            if let Some(param) = signature.params.get(index) {
                self.expr_fitting(arg, &param.ty, param.at);
                continue;
            }
            self.expr(arg);
            if !signature.is_variadic {
                let at = self.at(self.module[arg].span);
                let expected = signature.params.len();
                let function = function.to_string();
                self.report(diagnostics::too_many_arguments(at, &function, expected, args.len()));
                break;
            }
        }
        let named = self.keywords(function, kwargs, signature);
        if signature.is_variadic {
            return;
        }
        let required = signature.params.iter().filter(|param| !param.has_default);
        let (mut expected, mut found) = (0, args.len());
        for param in required {
            expected += 1;
            found += usize::from(named.contains(&param.name));
        }
        if found < expected {
            self.report(diagnostics::too_few_arguments(self.at(span), expected, found));
        }
    }

    /// Checks named arguments and returns their names.
    fn keywords(
        &mut self,
        function: Callee<'p>,
        kwargs: &'p [Keyword],
        signature: &FunctionType,
    ) -> Vec<Name> {
        let mut named: Vec<Name> = Vec::with_capacity(kwargs.len());
        let mut previous_end = None;
        for keyword in kwargs {
            let Some(ident) = keyword.arg.names.first() else {
                self.report(diagnostics::compile_error(self.at(keyword.span), "missing argument"));
                continue;
            };
            let name = ident.name;
            if named.contains(&name) {
                let start = previous_end.unwrap_or(keyword.span.end);
                let at = self.at(Span::new(start, keyword.span.end));
                let message = format!("{function} has duplicated keyword argument {name}");
                self.report(diagnostics::compile_error(at, message));
            } else {
                named.push(name);
            }
            previous_end = Some(keyword.span.end);
            match signature.params.iter().find(|param| param.name == name) {
                Some(param) => {
                    if let Some(value) = keyword.value {
                        self.expr_fitting(value, &param.ty, param.at);
                    }
                }
                None if signature.is_variadic => {}
                None => {
                    let names = signature.params.iter().map(|param| param.name.as_str());
                    let similar = suggest::similar(name.as_str(), names);
                    let at = self.at(keyword.arg.span);
                    let (function, name) = (function.to_string(), name.as_str());
                    let finding =
                        diagnostics::unexpected_keyword(at, &function, name, similar.clone());
                    self.report(self.misspelt(finding, *ident, &similar));
                }
            }
        }
        named
    }
}

/// What is called, as messages name it.
#[derive(Clone, Copy)]
pub(crate) enum Callee<'p> {
    /// Something with a dotted name.
    Named(&'p Path),
    /// The value of another expression.
    Anonymous,
}

impl fmt::Display for Callee<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(path) => f.write_str(&quoted(path)),
            Self::Anonymous => f.write_str("anonymous function"),
        }
    }
}

/// A dotted name in quotes.
pub(super) fn quoted(path: &Path) -> String {
    let names: Vec<&str> = path.names.iter().map(|ident| ident.name.as_str()).collect();
    format!("\"{}\"", names.join("."))
}
