//! Fixes that go with findings.

use crate::checker::Checker;
use base_diag::{Diagnostic, Fix};
use base_text::{FileId, FileSpan, Name, Span};
use kcl_hir::names::{Meaning, Symbol, first_byte, references, visit_paths};
use kcl_hir::{Import, Program, SourceFile};
use kcl_syntax::ast::{Ident, Stmt, StmtId};

impl Checker<'_> {
    /// Adds fixes that write a similar name instead of the one found, the most similar first.
    pub(crate) fn misspelt(
        &self,
        mut diagnostic: Diagnostic,
        found: Ident,
        similar: &[String],
    ) -> Diagnostic {
        let name = found.name.as_str();
        let written = found.span.slice(&self.program.file(self.file).text);
        for better in similar.iter().rev() {
            let text = if written == name {
                better.clone()
            } else if written.len() == name.len() + 2 && written.trim_matches(['"', '\'']) == name {
                written.replace(name, better)
            } else {
                // What is written there is more than the name.
                return diagnostic;
            };
            let title = format!("replace `{name}` with `{better}`");
            diagnostic = diagnostic.fix(Fix::suggestion(title).edit(self.at(found.span), text));
        }
        diagnostic
    }
}

/// How many findings get a fix that renames something everywhere: each looks through files.
const MAX_RENAMES: u32 = 20;

impl Checker<'_> {
    /// Renames a global of the package wherever it is named; `None` if the new name is taken.
    pub(crate) fn rename(&mut self, from: Name, to: &str) -> Option<Fix> {
        let package = self.package;
        let globals = &self.program.package(package).globals;
        let number = globals.get_index_of(&from)? as u32;
        let is_taken = self.program.global_meaning(self.file, Name::new(to)) != Meaning::Missing;
        if is_taken || self.n_renames == MAX_RENAMES {
            return None;
        }
        self.n_renames += 1;
        let places = references(self.program, Symbol::Global { package, number });
        let fix = Fix::suggestion(format!("rename `{from}` to `{to}`"));
        Some(places.into_iter().fold(fix, |fix, at| fix.edit(at, to)))
    }

    /// Reports a finding with the fix of renaming a global.
    pub(crate) fn report_misnamed(&mut self, mut finding: Diagnostic, from: Name, to: &str) {
        finding.fixes.extend(self.rename(from, to));
        self.report(finding);
    }
}

/// Removes an import statement.
pub(crate) fn remove_import(id: FileId, file: &SourceFile, import: &Import) -> Fix {
    let span = whole_lines(&file.text, file.module[import.stmt].span);
    Fix::safe("remove this import").edit(FileSpan { file: id, span }, "")
}

/// Whether an import that counts as unused may still be needed: its file names it without a
/// member, or a file of its package that has no such import names it.
pub(crate) fn may_be_needed(program: &Program, id: FileId, import: &Import) -> bool {
    let names_it = |file: &SourceFile| {
        let mut is_named = false;
        visit_paths(&file.module, |_, path| {
            is_named |= path.names.first().is_some_and(|first| first.name == import.name);
        });
        is_named
    };
    program.package(program.file(id).package).files.iter().any(|other| {
        let file = program.file(*other);
        let has_own = *other != id && file.imports.iter().any(|own| own.name == import.name);
        !has_own && names_it(file)
    })
}

/// Moves an import statement before all other statements.
pub(crate) fn move_import_up(id: FileId, file: &SourceFile, stmt: StmtId) -> Option<Fix> {
    let (text, module) = (&file.text, &*file.module);
    let from = file.module[stmt].span;
    let first = module.body.iter().find(|stmt| !matches!(module[**stmt].kind, Stmt::Import(_)))?;
    let before = Span::new(0, first_byte(module, *first)).slice(text);
    let to = before.rfind('\n').map_or(0, |newline| newline as u32 + 1);
    let import = format!("{}\n", from.slice(text));
    let at = |span| FileSpan { file: id, span };
    let fix = Fix::safe("move this import to the top").edit(at(Span::empty(to)), import);
    Some(fix.edit(at(whole_lines(text, from)), ""))
}

/// The lines of a statement, if nothing but it and a comment stands there; else the statement.
fn whole_lines(text: &str, span: Span) -> Span {
    let before = Span::new(0, span.start).slice(text);
    let start = before.rfind('\n').map_or(0, |newline| newline as u32 + 1);
    let behind = Span::new(span.end, text.len() as u32).slice(text);
    let end = behind.find('\n').map_or(behind.len(), |newline| newline + 1) as u32;
    let rest = Span::new(span.end, span.end + end).slice(text).trim();
    let is_alone = Span::new(start, span.start).slice(text).trim().is_empty();
    if is_alone && (rest.is_empty() || rest.starts_with('#')) {
        Span::new(start, span.end + end)
    } else {
        span
    }
}
