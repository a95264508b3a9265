//! Kinds `doc`, `openapi` and `proto`: documents about schemas.

use crate::{Answer, failed, words};
use base_system::OsSystem;
use kcl_doc::{Docs, markdown, openapi, proto};
use kcl_driver::RunOptions;
use testkit::Case;

fn read(case: &Case) -> Result<Docs, String> {
    let options = RunOptions::files(words(case, "paths"));
    Docs::read(&OsSystem, &options).map(|(docs, _)| docs).map_err(|error| error.to_string())
}

/// Answers a case of kind `doc`.
pub(crate) fn markdown(case: &Case) -> Answer {
    match read(case) {
        Ok(docs) => Answer::text("expect.md", markdown::write(&docs)),
        Err(message) => failed(&message),
    }
}

/// Answers a case of kind `openapi`.
pub(crate) fn openapi(case: &Case) -> Answer {
    match read(case) {
        Ok(docs) => {
            let form = openapi::Form::Reference;
            Answer::json(&openapi::write(&docs, case.text("version"), form))
        }
        Err(message) => failed(&message),
    }
}

/// Answers a case of kind `proto`.
pub(crate) fn proto(case: &Case) -> Answer {
    let package = case.text("package").unwrap_or("kcl");
    let written =
        read(case).and_then(|docs| proto::write(&docs, package).map_err(|error| error.to_string()));
    match written {
        Ok(text) => Answer::text("expect.proto", text),
        Err(message) => failed(&message),
    }
}
