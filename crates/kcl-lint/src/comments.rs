//! Comments that switch lints off: `# kcl-lint: disable=L1001,naming`.
//!
//! At the end of a line the comment is for that line, on a line of its own for the next line that
//! is not a comment. `disable-file` is for the whole file. `all` stands for all lints.

use crate::table::{Lint, by_code};
use base_diag::Diagnostic;
use base_text::{FileId, LineIndex};
use kcl_hir::{Program, SourceFile};
use rustc_hash::FxHashMap;

/// What comments of the files of a program switch off.
pub(crate) struct Switches<'p> {
    program: &'p Program,
    files: FxHashMap<FileId, FileSwitches>,
}

#[derive(Default)]
struct FileSwitches {
    lines: LineIndex,
    /// Words by line; line 0 stands for the whole file.
    words: Vec<(u32, String)>,
}

impl<'p> Switches<'p> {
    pub(crate) fn new(program: &'p Program) -> Self {
        Self { program, files: FxHashMap::default() }
    }

    /// Whether a comment switches a finding off.
    pub(crate) fn is_off(&mut self, diagnostic: &Diagnostic) -> bool {
        let Some(at) = diagnostic.labels.first().and_then(|label| label.at) else { return false };
        let Some(lint) = by_code(diagnostic.code) else { return false };
        let program = self.program;
        let file = self.files.entry(at.file).or_insert_with(|| read(program.file(at.file)));
        let line = file.lines.line(at.span.start);
        file.words.iter().any(|(at, word)| (*at == 0 || *at == line) && means(word, lint))
    }
}

fn means(word: &str, lint: &Lint) -> bool {
    word == "all" || word == lint.code || word == lint.name
}

fn read(file: &SourceFile) -> FileSwitches {
    let lines = LineIndex::new(&file.text);
    let mut words = Vec::new();
    for comment in &file.module.comments {
        let text = comment.slice(&file.text).trim_start_matches('#').trim();
        let Some(command) = text.strip_prefix("kcl-lint:").map(str::trim) else { continue };
        let own = lines.line(comment.start);
        let (list, line) = if let Some(list) = command.strip_prefix("disable-file=") {
            (list, 0)
        } else if let Some(list) = command.strip_prefix("disable=") {
            let before = &file.text[lines.line_start(own) as usize..comment.start as usize];
            let is_alone = before.trim().is_empty();
            (list, if is_alone { next_code_line(file, &lines, own) } else { own })
        } else {
            continue;
        };
        let list = list.split_whitespace().next().unwrap_or("");
        words.extend(list.split(',').map(|word| (line, word.to_owned())));
    }
    FileSwitches { lines, words }
}

/// The first line behind `line` that holds more than a comment.
fn next_code_line(file: &SourceFile, lines: &LineIndex, line: u32) -> u32 {
    let is_code = |line: &u32| {
        let text = lines.line_text(&file.text, *line).trim();
        !text.is_empty() && !text.starts_with('#')
    };
    (line + 1..=lines.n_lines()).find(is_code).unwrap_or(line)
}
