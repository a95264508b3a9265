//! The children of nodes, for walks over a tree.
//!
//! A walk is a function that handles the nodes it cares about and calls one of these for
//! the others. Children come in source order.

use crate::ast::{
    CompClause, ConfigEntry, Expr, ExprId, Keyword, MemberOrIndex, Module, Params, Stmt, StmtId,
    StringPart, Target, Type, TypeId,
};

/// A node of any kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// An expression.
    Expr(ExprId),
    /// A statement.
    Stmt(StmtId),
    /// A type annotation.
    Type(TypeId),
}

/// Calls `each` with the direct children of `node`.
pub fn children(module: &Module, node: Node, mut each: impl FnMut(Node)) {
    match node {
        Node::Expr(id) => expr_children(module, id, &mut each),
        Node::Stmt(id) => stmt_children(module, id, &mut each),
        Node::Type(id) => type_children(module, id, &mut each),
    }
}

/// Calls `each` with every node below the statements of `module`, parents first.
///
/// Needs no stack for deep trees.
pub fn descendants(module: &Module, mut each: impl FnMut(Node)) {
    let mut open: Vec<Node> = module.body.iter().rev().copied().map(Node::Stmt).collect();
    while let Some(node) = open.pop() {
        each(node);
        let before = open.len();
        children(module, node, |child| open.push(child));
        open[before..].reverse();
    }
}

type Each<'a> = &'a mut dyn FnMut(Node);

fn exprs<'i>(ids: impl IntoIterator<Item = &'i ExprId>, each: Each<'_>) {
    ids.into_iter().for_each(|id| each(Node::Expr(*id)));
}

fn types<'i>(ids: impl IntoIterator<Item = &'i TypeId>, each: Each<'_>) {
    ids.into_iter().for_each(|id| each(Node::Type(*id)));
}

fn stmts<'i>(ids: impl IntoIterator<Item = &'i StmtId>, each: Each<'_>) {
    ids.into_iter().for_each(|id| each(Node::Stmt(*id)));
}

fn keywords(kwargs: &[Keyword], each: Each<'_>) {
    for keyword in kwargs {
        exprs(&keyword.value, each);
    }
}

fn generators(clauses: &[CompClause], each: Each<'_>) {
    for clause in clauses {
        each(Node::Expr(clause.iter));
        exprs(&clause.ifs, each);
    }
}

fn entry(entry: &ConfigEntry, each: Each<'_>) {
    exprs(&entry.key, each);
    each(Node::Expr(entry.value));
}

fn params(params: Option<&Params>, each: Each<'_>) {
    for param in params.iter().flat_map(|params| &params.list) {
        types(&param.ty, each);
        exprs(&param.default, each);
    }
}

fn target(target: &Target, each: Each<'_>) {
    for step in &target.paths {
        if let MemberOrIndex::Index(index) = step {
            each(Node::Expr(*index));
        }
    }
}

fn expr_children(module: &Module, id: ExprId, each: Each<'_>) {
    match &module[id].kind {
        Expr::Ident(_) | Expr::Number(_) | Expr::String(_) | Expr::Constant(_) | Expr::Missing => {}
        Expr::Unary { operand, .. } => each(Node::Expr(*operand)),
        Expr::Binary { left, right, .. } => exprs([left, right], each),
        Expr::Compare { left, rest } => {
            each(Node::Expr(*left));
            exprs(rest.iter().map(|(_, right)| right), each);
        }
        Expr::If { body, cond, orelse } => exprs([body, cond, orelse], each),
        Expr::Selector { value, .. } => each(Node::Expr(*value)),
        Expr::Call(call) => {
            each(Node::Expr(call.func));
            exprs(&call.args, each);
            keywords(&call.kwargs, each);
        }
        Expr::Paren(inner) | Expr::Starred(inner) => each(Node::Expr(*inner)),
        Expr::Quant(quant) => {
            exprs([&quant.target, &quant.test], each);
            exprs(&quant.if_cond, each);
        }
        Expr::List(items) => exprs(items, each),
        Expr::ListIf { cond, items, orelse } => {
            each(Node::Expr(*cond));
            exprs(items, each);
            exprs(orelse, each);
        }
        Expr::ListComp { elt, generators: clauses } => {
            each(Node::Expr(*elt));
            generators(clauses, each);
        }
        Expr::DictComp { entry: one, generators: clauses } => {
            entry(one, each);
            generators(clauses, each);
        }
        Expr::ConfigIf { cond, items, orelse } => {
            each(Node::Expr(*cond));
            for one in items {
                entry(one, each);
            }
            exprs(orelse, each);
        }
        Expr::Schema(schema) => {
            exprs(&schema.args, each);
            keywords(&schema.kwargs, each);
            each(Node::Expr(schema.config));
        }
        Expr::Config(entries) => entries.iter().for_each(|one| entry(one, each)),
        Expr::Lambda(lambda) => {
            params(lambda.params.as_ref(), each);
            types(&lambda.return_ty, each);
            stmts(&lambda.body, each);
        }
        Expr::Subscript(subscript) => {
            each(Node::Expr(subscript.value));
            for part in [&subscript.index, &subscript.lower, &subscript.upper, &subscript.step] {
                exprs(part, each);
            }
        }
        Expr::Joined(joined) => {
            for part in &joined.parts {
                if let StringPart::Formatted { value, .. } = part {
                    each(Node::Expr(*value));
                }
            }
        }
        Expr::Type(ty) => each(Node::Type(*ty)),
    }
}

fn stmt_children(module: &Module, id: StmtId, each: Each<'_>) {
    match &module[id].kind {
        Stmt::Import(_) => {}
        Stmt::TypeAlias(alias) => each(Node::Type(alias.ty)),
        Stmt::Expr(ids) => exprs(ids, each),
        Stmt::Unification(unification) => each(Node::Expr(unification.value)),
        Stmt::Assign(assign) => {
            assign.targets.iter().for_each(|one| target(one, each));
            types(&assign.ty, each);
            each(Node::Expr(assign.value));
        }
        Stmt::AugAssign(aug) => {
            target(&aug.target, each);
            each(Node::Expr(aug.value));
        }
        Stmt::Assert(assert) => {
            each(Node::Expr(assert.test));
            exprs(&assert.if_cond, each);
            exprs(&assert.msg, each);
        }
        Stmt::If(stmt) => {
            each(Node::Expr(stmt.cond));
            stmts(&stmt.body, each);
            stmts(&stmt.orelse, each);
        }
        Stmt::SchemaAttr(attr) => {
            exprs(&attr.decorators, each);
            each(Node::Type(attr.ty));
            exprs(&attr.value, each);
        }
        Stmt::Schema(schema) => {
            exprs(&schema.decorators, each);
            params(schema.params.as_ref(), each);
            if let Some(signature) = &schema.index_signature {
                types([&signature.key_ty, &signature.value_ty], each);
                exprs(&signature.value, each);
            }
            stmts(&schema.body, each);
            checks(&schema.checks, each);
        }
        Stmt::Rule(rule) => {
            exprs(&rule.decorators, each);
            params(rule.params.as_ref(), each);
            checks(&rule.checks, each);
        }
    }
}

fn checks(checks: &[crate::ast::Check], each: Each<'_>) {
    for check in checks {
        each(Node::Expr(check.test));
        exprs(&check.if_cond, each);
        exprs(&check.msg, each);
    }
}

fn type_children(module: &Module, id: TypeId, each: Each<'_>) {
    match &module[id].kind {
        Type::Any | Type::Basic(_) | Type::Literal(_) | Type::Named(_) | Type::Missing => {}
        Type::List(item) => types(item, each),
        Type::Dict { key, value } => {
            types(key, each);
            types(value, each);
        }
        Type::Union(members) => types(members, each),
        Type::Function { params, ret } => {
            types(params.iter().flatten(), each);
            types(ret, each);
        }
    }
}
