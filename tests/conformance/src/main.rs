//! Answers one conformance case: `conformance-adapter CASE_DIR OUT_DIR`.
//!
//! Reads `case.json`, asks the library what the case asks, and writes the files that the
//! scorer compares. A kind that is not answered yet ends with exit code 3.

#![expect(clippy::print_stderr, reason = "a command line tool reports on standard error")]

mod parse;

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
    let value = match case.kind.as_str() {
        "parse" => parse::answer(&case)?,
        kind => {
            eprintln!("no answer yet for cases of kind `{kind}`");
            return Ok(ExitCode::from(NOT_ANSWERED));
        }
    };
    std::fs::write(out_dir.join("expect.json"), serde_json::to_string_pretty(&value)?)?;
    Ok(ExitCode::SUCCESS)
}
