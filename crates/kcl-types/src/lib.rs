//! Static checks of names and types of a whole program.
//!
//! [`check`] walks a [`Program`] and says what is wrong with it: unknown names, values that
//! do not fit their declared types, calls with wrong arguments, schemas that cannot be. It
//! evaluates nothing, reads no files, and never changes the program. Start reading at
//! `checker`; `declare` collects what packages define, `infer` finds the types of
//! statements and expressions, `assignable` compares types.

mod assignable;
mod builtins;
mod checker;
mod cycles;
mod declare;
mod diagnostics;
mod infer;
mod lints;
mod merge;
mod scope;
mod suggest;
pub mod ty;

use base_diag::Diagnostic;
use kcl_hir::Program;

/// Checks names and types, and returns all findings in the reference's order: imported
/// packages first, errors before warnings.
pub fn check(program: &Program) -> Vec<Diagnostic> {
    let Some(package) = program.main_package() else { return Vec::new() };
    let Some(&file) = package.files.first() else { return Vec::new() };
    let mut checker = checker::Checker::new(program, &program.file(file).module);
    checker.check_package(kcl_hir::PackageId(0));
    checker.lint();
    checker.findings.into_vec()
}
