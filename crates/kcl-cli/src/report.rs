//! Findings of several programs, in one list.

use base_diag::{Diagnostic, SourceMap};
use base_text::{FileId, FileSpan};
use kcl_driver::Compiled;

/// A file of a program.
#[derive(Debug)]
struct File {
    path: String,
    text: String,
    /// Whether the command is about it, and not only about what imports it.
    is_main: bool,
}

/// The findings of programs, with their files.
#[derive(Debug, Default)]
pub(crate) struct Report {
    files: Vec<File>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Report {
    /// Adds the findings of a program for which `keeps` holds; it is told whether a finding is in a
    /// file of the main package. What is known already is not added again.
    pub(crate) fn add(&mut self, compiled: Compiled, keeps: impl Fn(bool, &Diagnostic) -> bool) {
        let Compiled { program, diagnostics } = compiled;
        let main = program.main_package().map_or(&[][..], |package| &package.files);
        // A file that other programs brought along keeps its number.
        let numbers: Vec<FileId> = program
            .files
            .iter()
            .enumerate()
            .map(|(at, file)| {
                let known = self.files.iter().position(|known| known.path == file.path);
                let number = known.unwrap_or_else(|| {
                    let (path, text) = (file.path.clone(), file.text.to_string());
                    self.files.push(File { path, text, is_main: false });
                    self.files.len() - 1
                });
                self.files[number].is_main |= main.contains(&FileId(at as u32));
                FileId(number as u32)
            })
            .collect();
        let moved = |at: FileSpan| FileSpan { file: numbers[at.file.0 as usize], span: at.span };
        for mut diagnostic in diagnostics {
            let at = diagnostic.labels.first().and_then(|label| label.at);
            let is_main = at.is_none_or(|at| main.contains(&at.file));
            if !keeps(is_main, &diagnostic) {
                continue;
            }
            for label in &mut diagnostic.labels {
                label.at = label.at.map(moved);
            }
            for edit in diagnostic.fixes.iter_mut().flat_map(|fix| &mut fix.edits) {
                edit.at = moved(edit.at);
            }
            if !self.diagnostics.contains(&diagnostic) {
                self.diagnostics.push(diagnostic);
            }
        }
    }

    /// The path and the text of a file.
    pub(crate) fn file(&self, number: u32) -> (&str, &str) {
        let file = &self.files[number as usize];
        (&file.path, &file.text)
    }

    /// Whether a file belongs to the main package of a program. Others may be those of
    /// dependencies, which the user did not name.
    pub(crate) fn is_main(&self, number: u32) -> bool {
        self.files[number as usize].is_main
    }
}

impl SourceMap for Report {
    fn path(&self, file: FileId) -> &str {
        self.file(file.0).0
    }

    fn text(&self, file: FileId) -> &str {
        self.file(file.0).1
    }
}
