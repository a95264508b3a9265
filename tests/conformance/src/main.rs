//! Answers one conformance case: `conformance-adapter CASE_DIR OUT_DIR`.
//!
//! Reads `case.json`, asks the library or `kcl` what the case asks, and writes the files that the
//! scorer compares. A kind that is not answered yet ends with exit code 3.

#![expect(clippy::print_stderr, reason = "a command line tool reports on standard error")]

mod command;
mod doc;
mod edit;
mod fmt;
mod import;
mod lint;
mod parse;
mod query;
mod testing;
mod toml;
mod vet;

use base_diag::{Finding, Findings};
use serde_json::{Value, json};
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
    let case_dir = &std::path::absolute(case_dir)?;
    let case = Case::read(case_dir.display().to_string(), case_dir)?;
    let out_dir = std::path::absolute(out_dir)?;
    std::env::set_current_dir(&case.dir)?;
    let answer = match case.kind.as_str() {
        "parse" => Answer::json(&parse::answer(&case)?),
        "fmt" => fmt::answer(&case)?,
        "lint" => lint::answer(&case)?,
        "list_variables" => query::variables(&case)?,
        "list_options" => query::options(&case)?,
        "schema_types" => query::schemas(&case)?,
        "override_file" => edit::override_file(&case)?,
        "rename" => edit::rename(&case)?,
        "vet" => Answer::json(&vet::answer(&case)?),
        "test" => testing::answer(&case)?,
        "doc" => doc::markdown(&case),
        "openapi" => doc::openapi(&case),
        "proto" => doc::proto(&case),
        "toml" => toml::answer(&case),
        "import" => import::answer(&case)?,
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

    /// The file `expect_error.json`.
    fn error(value: &Value) -> Self {
        Self::text("expect_error.json", format!("{value:#}"))
    }
}

/// A failure without a place.
fn failed(message: &str) -> Answer {
    Answer::error(&json!({"code": null, "line": null, "message": message}))
}

/// Findings as the scorer expects them: the first one, and all of them.
fn findings(findings: &Findings) -> Answer {
    let all: Vec<Value> = findings.iter().map(finding).collect();
    let mut first = all.first().cloned().unwrap_or_else(|| json!({}));
    first["diagnostics"] = Value::Array(all);
    Answer::error(&first)
}

/// One finding.
fn finding(found: Finding<'_>) -> Value {
    let mut value = json!({"code": found.code, "kind": found.kind});
    if let Some((file, at)) = found.at {
        value["file"] = file.into();
        value["line"] = at.line.into();
        value["col"] = at.col.into();
    }
    value["message"] = found.message.lines().next().unwrap_or_default().into();
    value
}

/// The words of a list in `case.json`.
fn words(case: &Case, key: &str) -> Vec<String> {
    let list = case.meta[key].as_array().map_or(&[][..], Vec::as_slice);
    list.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect()
}
