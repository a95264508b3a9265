//! Kind `fmt`: the file after `kcl fmt`.

use crate::Answer;
use crate::command::kcl;
use testkit::Case;

/// Answers a case.
pub(crate) fn answer(case: &Case) -> anyhow::Result<Answer> {
    let file = case.text("file").unwrap_or("main.k");
    kcl(&case.dir, &["fmt", file])?;
    Ok(Answer::text("expect.k", std::fs::read_to_string(case.dir.join(file))?))
}
