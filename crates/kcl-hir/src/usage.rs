//! Which imports a package uses.

use crate::program::{ImportTarget, Program};
use base_text::Name;
use kcl_syntax::ast::{CompClause, Expr, ExprId, Module, Path, Stmt, Type};
use kcl_syntax::walk::{Node, children};
use rustc_hash::FxHashSet;

/// Fills [`crate::Import::is_used`] for imports of packages, and [`crate::Package::is_needed`].
/// Import names are shared by the files of a package, so a use in any of them counts.
pub(crate) fn mark_used_imports(program: &mut Program) {
    let mut needed = Vec::new();
    for package in &program.packages {
        let files = || package.files.iter().map(|file| &program.files[file.0 as usize]);
        let names: FxHashSet<Name> = files()
            .flat_map(|file| &file.imports)
            .filter(|import| matches!(import.target, ImportTarget::Package(_)))
            .map(|import| import.name)
            .collect();
        if names.is_empty() {
            continue;
        }
        let mut used = FxHashSet::default();
        for file in files() {
            if has_local(&file.module, &names) {
                collect_scoped(&file.module, &mut used);
            } else {
                collect_all(&file.module, &mut used);
            }
        }
        for file in &package.files {
            for import in &mut program.files[file.0 as usize].imports {
                if let ImportTarget::Package(target) = import.target {
                    import.is_used = used.contains(&import.name);
                    needed.extend(import.is_used.then_some(target));
                }
            }
        }
    }
    for package in &mut program.packages {
        package.is_needed =
            package.files.iter().any(|file| !program.files[file.0 as usize].imports.is_empty());
    }
    for target in needed {
        program.packages[target.0 as usize].is_needed = true;
    }
}

/// Whether a local variable has one of these names.
fn has_local(module: &Module, names: &FxHashSet<Name>) -> bool {
    (0..module.exprs.len()).any(|at| {
        let mut found = false;
        locals(module, ExprId(at as u32), |name| found |= names.contains(&name));
        found
    })
}

/// The variables that an expression binds for what is inside it.
fn locals(module: &Module, expr: ExprId, mut each: impl FnMut(Name)) {
    let clauses = |clauses: &[CompClause], each: &mut dyn FnMut(Name)| {
        let targets = clauses.iter().flat_map(|clause| &clause.targets);
        targets.for_each(|target| each(target.name));
    };
    match &module[expr].kind {
        Expr::ListComp { generators, .. } | Expr::DictComp { generators, .. } => {
            clauses(generators, &mut each);
        }
        Expr::Quant(quant) => quant.vars.iter().for_each(|var| each(var.name)),
        Expr::Lambda(lambda) => {
            let params = lambda.params.iter().flat_map(|params| &params.list);
            params.for_each(|param| each(param.name.name));
        }
        _ => {}
    }
}

/// The first parts of all dotted names.
fn collect_all(module: &Module, used: &mut FxHashSet<Name>) {
    let mut add = |name| {
        used.insert(name);
    };
    let nodes = (0..module.exprs.len()).map(|at| Node::Expr(ExprId(at as u32)));
    nodes.for_each(|node| prefixes(module, node, &mut add));
    for at in 0..module.types.len() {
        prefixes(module, Node::Type(kcl_syntax::ast::TypeId(at as u32)), &mut add);
    }
    for at in 0..module.stmts.len() {
        prefixes(module, Node::Stmt(kcl_syntax::ast::StmtId(at as u32)), &mut add);
    }
}

/// The first parts of the dotted names that start with no local variable.
fn collect_scoped(module: &Module, used: &mut FxHashSet<Name>) {
    // Each open node knows how many of the variables it sees.
    let mut open: Vec<(Node, usize)> =
        module.body.iter().rev().map(|stmt| (Node::Stmt(*stmt), 0)).collect();
    let mut visible: Vec<Name> = Vec::new();
    while let Some((node, n_visible)) = open.pop() {
        visible.truncate(n_visible);
        if let Node::Expr(expr) = node {
            locals(module, expr, |name| visible.push(name));
        }
        prefixes(module, node, &mut |name| {
            if !visible.contains(&name) {
                used.insert(name);
            }
        });
        children(module, node, |child| open.push((child, visible.len())));
    }
}

/// The first parts of the dotted names that a node itself holds.
fn prefixes(module: &Module, node: Node, add: &mut dyn FnMut(Name)) {
    let mut add = |path: &Path| {
        if let [first, _, ..] = path.names.as_slice() {
            add(first.name);
        }
    };
    match node {
        Node::Expr(expr) => match &module[expr].kind {
            Expr::Ident(path) => add(path),
            Expr::Schema(schema) => add(&schema.name),
            _ => {}
        },
        Node::Type(ty) => {
            if let Type::Named(path) = &module[ty].kind {
                add(path);
            }
        }
        Node::Stmt(stmt) => match &module[stmt].kind {
            Stmt::Schema(schema) => {
                let bases = schema.parent.iter().chain(&schema.for_host);
                bases.chain(&schema.mixins).for_each(add);
            }
            Stmt::Rule(rule) => rule.parents.iter().chain(&rule.for_host).for_each(add),
            _ => {}
        },
    }
}
