//! `kcl explain`

use crate::{Exit, help, terminal};
use base_text::nearest;
use kcl_lint::{LINTS, explain, explained_codes};

/// Runs `kcl explain` with the words behind it.
pub(crate) fn run(words: &[String]) -> Exit {
    match words {
        [word] if word == "-h" || word == "--help" => terminal::write_out(help::EXPLAIN),
        [] => terminal::write_out(&list()),
        [code] => match explain(code) {
            Some(page) => terminal::write_out(page),
            None => {
                let names = LINTS.iter().map(|lint| lint.name);
                let hint = nearest(code, explained_codes().chain(names))
                    .map_or(String::new(), |known| format!(" (did you mean `{known}`?)"));
                terminal::fail(&format!(
                    "unknown code `{code}`{hint}\nRun 'kcl explain' for a list of codes."
                ))
            }
        },
        _ => terminal::usage("expected one code"),
    }
}

/// The titles of all pages.
fn list() -> String {
    let mut out = String::new();
    for page in explained_codes().filter_map(explain) {
        out.push_str(page.lines().next().unwrap_or("").trim_start_matches("# "));
        out.push('\n');
    }
    out
}
