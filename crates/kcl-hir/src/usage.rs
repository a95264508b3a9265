//! Which imports a package uses.

use crate::program::{ImportTarget, Program};
use base_text::Name;
use kcl_syntax::ast::{Expr, Module, Path, Stmt, Type};
use rustc_hash::FxHashSet;

/// Fills [`crate::Import::is_used`] for imports of packages. Import names are shared by the
/// files of a package, so a use in any of them counts.
pub(crate) fn mark_used_imports(program: &mut Program) {
    for package in &program.packages {
        let files = || package.files.iter().map(|file| &program.files[file.0 as usize]);
        let has_packages = files()
            .flat_map(|file| &file.imports)
            .any(|import| matches!(import.target, ImportTarget::Package(_)));
        if !has_packages {
            continue;
        }
        let mut used = FxHashSet::default();
        for file in files() {
            collect_prefixes(&file.module, &mut used);
        }
        for file in &package.files {
            for import in &mut program.files[file.0 as usize].imports {
                if matches!(import.target, ImportTarget::Package(_)) {
                    import.is_used = used.contains(&import.name);
                }
            }
        }
    }
}

/// The first parts of all dotted names.
fn collect_prefixes(module: &Module, used: &mut FxHashSet<Name>) {
    let mut add = |path: &Path| {
        if let [first, _, ..] = path.names.as_slice() {
            used.insert(first.name);
        }
    };
    for expr in &module.exprs {
        match &expr.kind {
            Expr::Ident(path) => add(path),
            Expr::Schema(schema) => add(&schema.name),
            _ => {}
        }
    }
    for ty in &module.types {
        if let Type::Named(path) = &ty.kind {
            add(path);
        }
    }
    for stmt in &module.stmts {
        match &stmt.kind {
            Stmt::Schema(schema) => {
                schema
                    .parent
                    .iter()
                    .chain(&schema.for_host)
                    .chain(&schema.mixins)
                    .for_each(&mut add);
            }
            Stmt::Rule(rule) => rule.parents.iter().chain(&rule.for_host).for_each(&mut add),
            _ => {}
        }
    }
}
