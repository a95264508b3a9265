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
mod fixes;
mod infer;
mod library;
mod lineage;
mod lints;
mod merge;
mod scope;
mod suggest;
mod table;
pub mod ty;
mod union;

pub use library::{Library, check_in};
pub use table::TypeTable;

use base_diag::Diagnostic;
use checker::Checker;
use kcl_hir::Program;
use merge::Merges;

/// Checks names and types, and returns all findings in the reference's order: imported
/// packages first, errors before warnings.
pub fn check(program: &Program) -> Vec<Diagnostic> {
    check_as(program, &CheckOptions::default())
}

/// How a program is checked.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheckOptions {
    /// Whether schema literals are partial: required attributes may be missing.
    pub partial: bool,
}

/// Checks names and types like [`check`], with options.
pub fn check_as(program: &Program, options: &CheckOptions) -> Vec<Diagnostic> {
    run(program, None, Merges::find(program), *options).diagnostics
}

/// Checks names and types of each statement on its own: configs of one name are not taken
/// together, so each must set what is required.
pub fn lint(program: &Program) -> Vec<Diagnostic> {
    run(program, None, Merges::default(), CheckOptions::default()).diagnostics
}

/// Checks names and types, and keeps the types for tools.
pub fn check_with_types(program: &Program) -> Checked {
    let table = Some(TypeTable::new(program));
    run(program, table, Merges::find(program), CheckOptions::default())
}

/// What a check finds out.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// All findings, as [`check`] gives them.
    pub diagnostics: Vec<Diagnostic>,
    /// The types of expressions and globals.
    pub types: TypeTable,
}

fn run<'p>(
    program: &'p Program,
    table: Option<TypeTable>,
    merges: Merges<'p>,
    options: CheckOptions,
) -> Checked {
    let main_file = program.main_package().and_then(|package| package.files.first());
    let Some(&file) = main_file else { return Checked::default() };
    let mut checker = Checker::new(program, &program.file(file).module, merges, table);
    checker.is_partial = options.partial;
    checker.check_package(kcl_hir::PackageId(0));
    checker.lint();
    checker.finish()
}
