//! Which names of imported packages a package uses.

use crate::names::visit_paths;
use crate::program::{Package, Program, SourceFile};
use base_text::Name;
use indexmap::{IndexMap, IndexSet};
use kcl_syntax::ast::{ConfigEntry, Expr, Module, Path};
use rustc_hash::{FxBuildHasher, FxHashSet};

/// Fills [`crate::Import::is_used`] for the imports of packages. Import names are shared by
/// the files of a package, so a use in any of them counts.
pub(crate) fn mark_used_imports(program: &mut Program, package: &Package) {
    let files = || package.files.iter().map(|file| &program.files[file.0 as usize]);
    if !files().any(has_packages) {
        return;
    }
    let mut used = FxHashSet::default();
    for file in files() {
        visit_paths(&file.module, |_, path| {
            if let [first, _, ..] = path.names.as_slice() {
                used.insert(first.name);
            }
        });
    }
    for file in &package.files {
        for import in &mut program.files[file.0 as usize].imports {
            if import.target.package().is_some() {
                import.is_used = used.contains(&import.name);
            }
        }
    }
}

/// What the files of a package need of one that they import.
#[derive(Default)]
pub(crate) struct Needed {
    pub(crate) names: IndexSet<Name, FxBuildHasher>,
    /// Whether the package is named without one of its names behind it.
    pub(crate) all: bool,
}

/// In the order of imports.
type NeededByName = IndexMap<Name, Needed, FxBuildHasher>;

/// What the files of a package need of those that they import, by the names of imports.
pub(crate) fn needed(program: &Program, package: &Package) -> NeededByName {
    let files = || package.files.iter().map(|file| program.file(*file));
    let imports = files().flat_map(|file| &file.imports);
    let imports = imports.filter(|import| import.target.package().is_some());
    let mut needed: NeededByName = imports.map(|import| (import.name, Needed::default())).collect();
    if needed.is_empty() {
        return needed;
    }
    for file in files() {
        let is_key = keys(&file.module);
        visit_paths(&file.module, |expr, path| {
            // A key is a name of its own.
            let is_name = path.names.len() > 1 || expr.is_none_or(|expr| !is_key[expr.index()]);
            if is_name {
                need(&mut needed, path);
            }
        });
    }
    needed
}

fn need(needed: &mut NeededByName, path: &Path) {
    let Some((first, rest)) = path.names.split_first() else { return };
    let Some(needed) = needed.get_mut(&first.name) else { return };
    match rest.first() {
        Some(second) => {
            needed.names.insert(second.name);
        }
        None => needed.all = true,
    }
}

/// Which expressions are keys of configs.
fn keys(module: &Module) -> Vec<bool> {
    let mut is_key = vec![false; module.exprs.len()];
    let mut note = |entry: &ConfigEntry| {
        if let Some(key) = entry.key {
            is_key[key.index()] = true;
        }
    };
    for expr in &module.exprs {
        match &expr.kind {
            Expr::Config(entries) | Expr::ConfigIf { items: entries, .. } => {
                entries.iter().for_each(&mut note);
            }
            Expr::DictComp { entry, .. } => note(entry),
            _ => {}
        }
    }
    is_key
}

fn has_packages(file: &SourceFile) -> bool {
    file.imports.iter().any(|import| import.target.package().is_some())
}
