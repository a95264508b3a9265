//! The names that statements define, and the dotted names written in a tree.
//!
//! The one list of statements that define something: globals, attributes, the package index,
//! and the evaluator's setters all come from it.

use crate::program::GlobalKind;
use base_text::Name;
use kcl_syntax::ast::{Expr, ExprId, Ident, Module, Path, Stmt, StmtId, Type};

/// A name that a statement defines or changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Defined {
    /// The name, where it is written.
    pub ident: Ident,
    /// What it becomes; `None` for a declared attribute of a schema.
    pub kind: Option<GlobalKind>,
    /// The innermost statement that does it.
    pub stmt: StmtId,
}

impl Defined {
    /// Whether the name gets a value: it is a variable or an attribute.
    pub fn is_value(&self) -> bool {
        matches!(self.kind, None | Some(GlobalKind::Variable))
    }
}

/// Visits the names that a statement defines or changes, those inside an `if` included, in the
/// order in which they are written.
pub fn visit_definitions(module: &Module, stmt: StmtId, found: &mut impl FnMut(Defined)) {
    let new = |ident, kind| Defined { ident, kind: Some(kind), stmt };
    match &module[stmt].kind {
        Stmt::TypeAlias(alias) => found(new(alias.name, GlobalKind::TypeAlias)),
        Stmt::Unification(unification) => {
            if let Some(first) = unification.target.names.first() {
                found(new(*first, GlobalKind::Variable));
            }
        }
        Stmt::Assign(assign) => {
            for target in &assign.targets {
                found(new(target.name, GlobalKind::Variable));
            }
        }
        Stmt::AugAssign(assign) => found(new(assign.target.name, GlobalKind::Variable)),
        Stmt::SchemaAttr(attr) => found(Defined { ident: attr.name, kind: None, stmt }),
        Stmt::If(if_stmt) => {
            for &inner in if_stmt.body.iter().chain(&if_stmt.orelse) {
                visit_definitions(module, inner, found);
            }
        }
        Stmt::Schema(schema) => found(new(schema.name, GlobalKind::Schema)),
        Stmt::Rule(rule) => found(new(rule.name, GlobalKind::Rule)),
        Stmt::Expr(_) | Stmt::Assert(_) | Stmt::Import(_) => {}
    }
}

/// The name that a target of an assignment starts with.
pub(super) fn target_name(module: &Module, stmt: StmtId, at: u32) -> Option<Ident> {
    match &module[stmt].kind {
        Stmt::Assign(assign) => assign.targets.get(at as usize).map(|target| target.name),
        Stmt::AugAssign(assign) => Some(assign.target.name),
        Stmt::Unification(unification) => unification.target.names.first().copied(),
        _ => None,
    }
}

/// The variables and attributes that statements define or assign to, in order.
pub fn names_set(module: &Module, stmts: &[StmtId]) -> Vec<Name> {
    let mut names = Vec::with_capacity(stmts.len());
    for &stmt in stmts {
        visit_definitions(module, stmt, &mut |defined| {
            if defined.is_value() {
                names.push(defined.ident.name);
            }
        });
    }
    names
}

/// Where a statement begins, decorators included.
pub fn first_byte(module: &Module, stmt: StmtId) -> u32 {
    let decorators = match &module[stmt].kind {
        Stmt::Schema(schema) => &schema.decorators[..],
        Stmt::Rule(rule) => &rule.decorators[..],
        _ => &[],
    };
    let starts = decorators.iter().map(|decorator| module[*decorator].span.start);
    starts.chain([module[stmt].span.start]).min().unwrap_or(0)
}

/// The dotted name in an expression, not counting those in expressions inside.
pub fn expr_path(expr: &Expr) -> Option<&Path> {
    match expr {
        Expr::Ident(path) => Some(path),
        Expr::Schema(schema) => Some(&schema.name),
        _ => None,
    }
}

/// The dotted name that a type annotation is.
pub fn type_path(ty: &Type) -> Option<&Path> {
    match ty {
        Type::Named(path) => Some(path),
        _ => None,
    }
}

/// Visits the dotted names in a statement, not counting those in the nodes inside.
pub fn stmt_paths<'m>(stmt: &'m Stmt, each: impl FnMut(&'m Path)) {
    match stmt {
        Stmt::Schema(schema) => {
            schema.parent.iter().chain(&schema.for_host).chain(&schema.mixins).for_each(each);
        }
        Stmt::Rule(rule) => rule.parents.iter().chain(&rule.for_host).for_each(each),
        _ => {}
    }
}

/// Visits all dotted names of a tree: those of expressions, with the expression, then those of
/// types and statements.
pub fn visit_paths<'m>(module: &'m Module, mut each: impl FnMut(Option<ExprId>, &'m Path)) {
    for (at, expr) in module.exprs.iter().enumerate() {
        if let Some(path) = expr_path(&expr.kind) {
            each(Some(ExprId(at as u32)), path);
        }
    }
    module.types.iter().filter_map(|ty| type_path(&ty.kind)).for_each(|path| each(None, path));
    module.stmts.iter().for_each(|stmt| stmt_paths(&stmt.kind, |path| each(None, path)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_inside_an_if_count() {
        let text = "if a:\n    b = c = 1\nelse:\n    d: D {}\n    e += 1\n";
        let module = kcl_syntax::parse(text).module;
        let mut found = Vec::new();
        visit_definitions(&module, module.body[0], &mut |defined| {
            found.push(defined.ident.name.as_str());
        });
        assert_eq!(found, ["b", "c", "d", "e"]);
    }

    #[test]
    fn names_of_types_and_bases_are_visited() {
        let text = "schema A(b.B):\n    mixin [CMixin]\n    d: e.E = f.g\n";
        let mut found = Vec::new();
        visit_paths(&kcl_syntax::parse(text).module, |_, path| {
            found.extend(path.names.first().map(|first| first.name.to_string()));
        });
        assert_eq!(found, ["f", "e", "b", "CMixin"]);
    }
}
