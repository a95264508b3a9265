//! Warnings about imports.

use crate::checker::Checker;
use crate::fixes::{may_be_needed, move_import_up, remove_import};
use base_diag::Diagnostic;
use base_text::FileSpan;
use kcl_hir::SourceFile;
use kcl_syntax::ast::Stmt;
use rustc_hash::FxHashMap;

impl Checker<'_> {
    /// Warns of misplaced, repeated and unused imports of the packages checked.
    pub(crate) fn lint(&mut self) {
        let packages = self.program.packages.iter().zip(&self.packages);
        let files: Vec<_> = packages
            .filter(|(_, scope)| scope.is_open)
            .flat_map(|(package, _)| package.files.iter().copied())
            .collect();
        for &file in &files {
            self.lint_file(file, self.program.file(file));
        }
        for file in files {
            self.lint_unused(file);
        }
    }

    fn lint_file(&mut self, id: base_text::FileId, file: &SourceFile) {
        let is_import =
            |stmt: kcl_syntax::ast::StmtId| matches!(file.module[stmt].kind, Stmt::Import(_));
        let first_other = file.module.body.iter().position(|stmt| !is_import(*stmt));
        for import in &file.imports {
            let span = file.module[import.stmt].span;
            let at = FileSpan { file: id, span };
            if let Some(first_other) = first_other
                && file.module[file.module.body[first_other]].span.start < span.start
            {
                let message = "The import stmt should be placed at the top of the module";
                let note = "Consider moving tihs statement to the top of the file";
                let mut finding = warning("ImportPositionWarning", at, message).note(note);
                finding.fixes.extend(move_import_up(id, file, import.stmt));
                self.report(finding);
            }
        }
        let mut names = FxHashMap::default();
        for import in &file.imports {
            let first = *names.entry(import.path.as_str()).or_insert(import);
            if first.stmt != import.stmt {
                let at = FileSpan { file: id, span: file.module[import.stmt].span };
                let message = format!("Module '{}' is reimported multiple times", import.name);
                let note = "Consider removing this statement";
                let mut finding = warning("ReimportWarning", at, message).note(note);
                // Under another name it may be in use.
                if first.name == import.name {
                    finding = finding.fix(remove_import(id, file, import));
                }
                self.report(finding);
            }
        }
    }

    fn lint_unused(&mut self, file: base_text::FileId) {
        let source = self.program.file(file);
        for import in &source.imports {
            if !self.used_imports.contains(&(file, import.name)) {
                let at = FileSpan { file, span: source.module[import.stmt].span };
                let message = format!("Module '{}' imported but unused", import.name);
                let note = "Consider removing this statement";
                let mut finding = warning("UnusedImportWarning", at, message).note(note);
                if !may_be_needed(self.program, file, import) {
                    finding = finding.fix(remove_import(file, source, import));
                }
                self.report(finding);
            }
        }
    }
}

fn warning(kind: &'static str, at: FileSpan, message: impl Into<String>) -> Diagnostic {
    Diagnostic::warning(kind, kind, at, message)
}
