//! Answers one conformance case: `conformance-adapter CASE_DIR OUT_DIR`.
//!
//! Reads `case.json`, asks the library or `kcl` what the case asks, and writes the files that the
//! scorer compares. A kind that is not answered yet ends with exit code 3.

#![expect(clippy::print_stderr, reason = "a command line tool reports on standard error")]

mod command;
mod edit;
mod fmt;
mod lint;
mod parse;
mod query;

use std::path::Path;
use std::process::ExitCode;
use testkit::Case;

/// A kind of case that nothing here answers yet.
const NOT_ANSWERED: u8 = 3;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [case_dir, out_dir] = &words[..] else {
        eprintln!("usage: conformance-adapter CASE_DIR OUT_DIR");
        return ExitCode::from(2);
    };
    match answer(Path::new(case_dir), Path::new(out_dir)) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn answer(case_dir: &Path, out_dir: &Path) -> anyhow::Result<ExitCode> {
    let case = Case::read(case_dir.display().to_string(), case_dir)?;
    let answer = match case.kind.as_str() {
        "parse" => Answer::json(&parse::answer(&case)?),
        "fmt" => fmt::answer(&case)?,
        "lint" => lint::answer(&case)?,
        "list_variables" => query::variables(&case)?,
        "list_options" => query::options(&case)?,
        "override_file" => edit::override_file(&case)?,
        "rename" => edit::rename(&case)?,
        kind => {
            eprintln!("no answer yet for cases of kind `{kind}`");
            return Ok(ExitCode::from(NOT_ANSWERED));
        }
    };
    for (name, text) in answer.files {
        std::fs::write(out_dir.join(name), text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The files that the scorer compares.
struct Answer {
    files: Vec<(&'static str, String)>,
}

impl Answer {
    /// One file with a text.
    fn text(name: &'static str, text: String) -> Self {
        Self { files: vec![(name, text)] }
    }

    /// The file `expect.json`.
    fn json(value: &serde_json::Value) -> Self {
        Self::text("expect.json", format!("{value:#}"))
    }
}
