//! What is known of imported packages, kept from one program to the next.

use crate::CheckOptions;
use crate::builtins::Builtins;
use crate::checker::Checker;
use crate::cycles::Dependencies;
use crate::lineage::Lineage;
use crate::merge::Merges;
use crate::scope::PackageScope;
use crate::ty::{SchemaType, Type};
use base_diag::Diagnostic;
use base_text::Name;
use kcl_hir::program::MAIN_PACKAGE;
use kcl_hir::{PackageId, Program};
use rustc_hash::FxHashMap;

/// The checked packages that programs with the same imports share. Starts empty; the first
/// program fills it.
#[derive(Default)]
pub struct Library {
    known: Option<Known>,
}

/// What a checker knows beside the main package.
struct Known {
    schemas: Vec<SchemaType>,
    lineages: Vec<Lineage>,
    packages: Vec<PackageScope>,
    file_imports: Vec<FxHashMap<Name, Type>>,
    builtins: Builtins,
    schema_cycles: Dependencies,
    module_cycles: Dependencies,
}

/// Checks names and types like [`check_as`](crate::check_as), but for warnings: packages that
/// `library` knows are not checked again. All programs that use one library must have the same
/// imported packages, under the same numbers, and be checked with the same options.
///
/// A program with errors leaves the library empty.
pub fn check_in(
    program: &Program,
    options: &CheckOptions,
    library: &mut Library,
) -> Vec<Diagnostic> {
    let main_files = program.main_package().map_or(&[][..], |package| &package.files);
    let Some(&file) = main_files.first() else { return Vec::new() };
    let merges = Merges::find(program);
    let mut checker = Checker::new(program, &program.file(file).module, merges, None);
    checker.is_partial = options.partial;
    if let Some(known) = library.known.take() {
        checker.schemas = known.schemas;
        checker.lineages = known.lineages;
        checker.packages = known.packages;
        checker.file_imports = known.file_imports;
        checker.builtins = known.builtins;
        checker.schema_cycles = known.schema_cycles;
        checker.module_cycles = known.module_cycles;
    }
    checker.check_package(PackageId(0));
    let Checker { mut schemas, mut lineages, mut packages, mut file_imports, findings, .. } =
        checker;
    let found = findings.into_vec();
    if found.iter().any(Diagnostic::is_error) {
        return found;
    }
    // The main package comes after those that it imports.
    let n_own = schemas.iter().rev().take_while(|schema| schema.package == PackageId(0)).count();
    let n_known = schemas.len() - n_own;
    schemas.truncate(n_known);
    lineages.truncate(n_known);
    packages[0] = PackageScope::default();
    for file in main_files {
        file_imports[file.0 as usize].clear();
    }
    let mut module_cycles = checker.module_cycles;
    module_cycles.forget(MAIN_PACKAGE);
    let mut schema_cycles = checker.schema_cycles;
    if n_own > 0 {
        // Circles of the next program's schemas are its own.
        schema_cycles = Dependencies::default();
    }
    library.known = Some(Known {
        schemas,
        lineages,
        packages,
        file_imports,
        builtins: checker.builtins,
        schema_cycles,
        module_cycles,
    });
    found
}
