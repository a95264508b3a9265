//! The tests of one package.

use crate::find::{TestFolder, is_test};
use crate::report::PackageFailure;
use crate::run::TestOptions;
use base_diag::{Diagnostic, Findings};
use base_system::System;
use kcl_driver::{Input, RunOptions, compile};
use kcl_hir::Program;
use kcl_syntax::ast::{Expr, Stmt};
use std::path::Path;

/// A package that compiles, and its tests.
pub(crate) struct Package {
    /// The folder as messages show it.
    pub(crate) name: String,
    /// What a test of the package is run with, but for the call.
    pub(crate) options: RunOptions,
    /// The tests in the order of files and lines.
    pub(crate) tests: Vec<Test>,
}

/// One test of a package.
pub(crate) struct Test {
    pub(crate) name: String,
    /// The file as messages show it.
    pub(crate) file: String,
    /// The line of the test.
    pub(crate) line: u32,
}

/// Compiles a package and lists its tests.
pub(crate) fn open(
    system: &(dyn System + Sync),
    folder: &TestFolder,
    options: &TestOptions,
) -> Result<Package, PackageFailure> {
    let here = system.current_dir().unwrap_or_default();
    let shown = |path: &Path| match path.strip_prefix(&here) {
        Ok(inner) if inner.as_os_str().is_empty() => ".".to_owned(),
        Ok(inner) => inner.display().to_string(),
        Err(_) => path.display().to_string(),
    };
    let name = shown(&folder.folder);
    let failure = |findings: Findings| PackageFailure { package: name.clone(), findings };
    let entries = system.read_dir(&folder.folder).unwrap_or_default();
    let is_source = |path: &&std::path::PathBuf| {
        // A layer (`@env=prod.k`) is read on its own.
        let is_layer = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('@'));
        path.extension().is_some_and(|extension| extension == "k")
            && !is_layer
            && folder.only.as_ref().is_none_or(|only| !is_test(path) || *path == only)
    };
    let files: Vec<String> =
        entries.iter().filter(is_source).map(|path| path.display().to_string()).collect();
    let mut run = options.run.clone();
    run.inputs = files.iter().map(Input::path).collect();
    run.work_dir = Some(folder.folder.clone());
    run.packages = run.packages.into_iter().map(|(name, path)| (name, here.join(path))).collect();
    run.ignore_default_settings = true;
    run.eval.explain_asserts = true;
    run.eval.coverage = options.coverage.is_some();
    let compiled = compile(system, &run).map_err(|error| failure(error.into_findings()))?;
    let errors: Vec<Diagnostic> =
        compiled.diagnostics.into_iter().filter(Diagnostic::is_error).collect();
    if !errors.is_empty() {
        return Err(failure(Findings::new(errors, &compiled.program)));
    }
    let tests = tests_of(&compiled.program, &shown);
    Ok(Package { name, options: run, tests })
}

fn tests_of(program: &Program, shown: &dyn Fn(&Path) -> String) -> Vec<Test> {
    let mut tests: Vec<Test> = Vec::new();
    let files = program.main_package().map_or(&[][..], |package| &package.files);
    for file in files.iter().map(|id| program.file(*id)) {
        let path = Path::new(&file.path);
        if !is_test(path) {
            continue;
        }
        for stmt in &file.module.body {
            let Stmt::Assign(assign) = &file.module[*stmt].kind else { continue };
            let [target] = assign.targets.as_slice() else { continue };
            let is_lambda = matches!(file.module[assign.value].kind, Expr::Lambda(_));
            let name = target.name.name.as_str();
            if is_lambda && target.paths.is_empty() && name.starts_with("test_") {
                let line = file.line_col(target.span.start).line;
                tests.push(Test { name: name.to_owned(), file: shown(path), line });
            }
        }
    }
    tests
}
