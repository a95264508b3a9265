//! Properties that hold for every file of the conformance corpus.

use crate::dump;
use kcl_syntax::{parse, print};
use std::path::{Path, PathBuf};

/// All `.k` files of the corpus; `None` (and a line that says so) where it is not there.
#[expect(clippy::print_stdout, reason = "says why nothing is tested")]
fn files() -> Option<Vec<PathBuf>> {
    let root = std::env::var_os("KCL_CONFORMANCE").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance"),
        PathBuf::from,
    );
    let corpus = root.join("corpus");
    if !corpus.is_dir() {
        println!("skipped: no conformance corpus; set KCL_CONFORMANCE");
        return None;
    }
    let mut files = Vec::new();
    let mut open = vec![corpus];
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
    Some(files)
}

#[test]
fn what_is_printed_parses_to_the_same_tree() {
    let Some(files) = files() else { return };
    let mut failures = Vec::new();
    for file in files {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
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

#[test]
fn any_part_of_a_file_gives_a_tree() {
    let Some(files) = files() else { return };
    for file in files.iter().step_by(20) {
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        for end in (0..text.len().min(2000)).step_by(7).filter(|end| text.is_char_boundary(*end)) {
            parse(&text[..end]);
            parse(&text[end..]);
        }
    }
}
