//! Kind `import`: data as KCL.

use crate::{Answer, failed};
use testkit::Case;

/// Answers a case.
pub(crate) fn answer(case: &Case) -> anyhow::Result<Answer> {
    let text = std::fs::read_to_string(case.text("file").unwrap_or_default())?;
    let format = case.text("format").unwrap_or_default().parse().map_err(anyhow::Error::msg)?;
    match kcl_import::data(&text, format) {
        Ok(source) => Ok(Answer::text("expect.k", source)),
        Err(error) => Ok(failed(&error.to_string())),
    }
}
