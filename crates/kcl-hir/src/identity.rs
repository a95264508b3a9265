//! What the result of checking a package follows from.

use crate::program::{ImportTarget, PackageId, Program};
use base_cache::{Key, KeyBuilder};
use rustc_hash::FxHashSet;

/// The keys under which packages are checked, by number: they follow from the content of the
/// package (`contents`, by number), the paths by which imports find others, and their keys.
///
/// `None` if packages import each other, or an import leads nowhere. The main package has no
/// key of its own.
pub(crate) fn check_keys(program: &Program, contents: &[Option<Key>]) -> Option<Vec<Key>> {
    let none = Key([0; 32]);
    let mut keys: Vec<Option<Key>> = vec![None; program.packages.len()];
    let mut is_open = vec![false; program.packages.len()];
    // Imports may form long chains, so this keeps its own stack.
    let mut stack: Vec<PackageId> = (0..program.packages.len() as u32).map(PackageId).collect();
    while let Some(&package) = stack.last() {
        let at = package.0 as usize;
        if keys[at].is_some() {
            stack.pop();
            continue;
        }
        let missing = targets(program, package).find(|target| keys[target.0 as usize].is_none());
        if std::mem::replace(&mut is_open[at], true) {
            if missing.is_some() {
                return None;
            }
            stack.pop();
            keys[at] =
                Some(check_key(program, package, contents[at].as_ref().unwrap_or(&none), &keys)?);
        } else {
            let open = targets(program, package).filter(|target| keys[target.0 as usize].is_none());
            let before = stack.len();
            stack.extend(open);
            if stack[before..].iter().any(|target| is_open[target.0 as usize]) {
                return None;
            }
        }
    }
    keys.into_iter().collect()
}

fn targets(program: &Program, package: PackageId) -> impl Iterator<Item = PackageId> {
    let files = program.package(package).files.iter().map(|file| program.file(*file));
    files.flat_map(|file| &file.imports).filter_map(|import| import.target.package())
}

fn check_key(
    program: &Program,
    package: PackageId,
    content: &Key,
    keys: &[Option<Key>],
) -> Option<Key> {
    let mut builder = KeyBuilder::new("checked");
    builder.text(&program.package(package).path).key(content);
    for file in &program.package(package).files {
        let imports = &program.file(*file).imports;
        builder.number(imports.len() as u64);
        for import in imports {
            builder.text(&import.path);
            match import.target {
                ImportTarget::Package(target) => {
                    builder.key(keys[target.0 as usize].as_ref()?);
                }
                ImportTarget::System => {}
                ImportTarget::Plugin | ImportTarget::Missing => return None,
            }
        }
    }
    Some(builder.finish())
}

/// The packages that are checked: what is needed, directly or not.
pub(crate) fn open_packages(program: &Program) -> FxHashSet<PackageId> {
    let needed = program.needed_packages();
    let mut open = FxHashSet::default();
    let mut stack = vec![PackageId(0)];
    while let Some(package) = stack.pop() {
        if !open.insert(package) {
            continue;
        }
        let files = program.package(package).files.iter().map(|file| program.file(*file));
        let targets = files.flat_map(|file| &file.imports).filter_map(|it| it.target.package());
        stack.extend(targets.filter(|target| needed[target.0 as usize]));
    }
    open
}
