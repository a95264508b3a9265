//! Properties that hold for every file of the conformance vectors.

#![expect(clippy::disallowed_methods, reason = "tests read files of the repository")]

#[path = "../it/dump.rs"]
mod dump;

use kcl_syntax::{parse, print};
use std::path::PathBuf;
use std::process::ExitCode;
use testkit::{Corpus, Suite};

fn main() -> ExitCode {
    let mut suite = Suite::default();
    let found = Corpus::locate().map(|corpus| files(&corpus));
    suite.add_with("what_is_printed_parses_to_the_same_tree", found.clone(), |files| {
        what_is_printed_parses_to_the_same_tree(&files);
    });
    suite.add_with("any_part_of_a_file_gives_a_tree", found, |files| {
        any_part_of_a_file_gives_a_tree(&files);
    });
    suite.run()
}

/// All `.k` files of the vectors.
fn files(corpus: &Corpus) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![corpus.folder()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).expect("the folder is there").flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "k") {
                files.push(path);
            }
        }
    }
    files
}

fn what_is_printed_parses_to_the_same_tree(files: &[PathBuf]) {
    let mut failures = Vec::new();
    for file in files {
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        let parsed = parse(&text);
        if !parsed.diagnostics.is_empty() {
            continue;
        }
        let tree = dump::module(&parsed.module);
        for source in ["", &text] {
            let printed = print(&parsed.module, source);
            let again = parse(&printed);
            if !again.diagnostics.is_empty() || dump::module(&again.module) != tree {
                failures.push(format!("{}\n{printed}\n{:?}", file.display(), again.diagnostics));
            }
        }
    }
    assert!(failures.is_empty(), "{} files, the first: {}", failures.len(), failures[0]);
}

fn any_part_of_a_file_gives_a_tree(files: &[PathBuf]) {
    for file in files.iter().step_by(20) {
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        for end in (0..text.len().min(2000)).step_by(7).filter(|end| text.is_char_boundary(*end)) {
            parse(&text[..end]);
            parse(&text[end..]);
        }
    }
}
