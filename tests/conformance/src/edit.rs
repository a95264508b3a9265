//! Kinds `override_file` and `rename`: files after `kcl set -O` and `kcl rename`.

use crate::command::kcl;
use crate::{Answer, query};
use serde_json::{Map, Value, json};
use std::fs;
use testkit::Case;

/// Answers a case of kind `override_file`.
pub(crate) fn override_file(case: &Case) -> anyhow::Result<Answer> {
    let file = case.text("file").unwrap_or("main.k");
    let errors = query::file_errors(case, file)?;
    let mut words = vec!["set", "-q", file];
    for spec in case.texts("specs") {
        words.extend(["-O", spec]);
    }
    for import in case.texts("import_paths") {
        words.extend(["--import", import]);
    }
    let output = kcl(&case.dir, &words)?;
    if !output.status.success() {
        return Ok(failed(&String::from_utf8_lossy(&output.stderr)));
    }
    let mut answer = Answer::json(&json!({ "result": true, "parse_errors": errors }));
    answer.files.push(("expect.k", fs::read_to_string(case.dir.join(file))?));
    Ok(answer)
}

/// Answers a case of kind `rename`. The reference leaves out the last line end of a file.
pub(crate) fn rename(case: &Case) -> anyhow::Result<Answer> {
    let files: Vec<(&str, &str)> = case
        .texts("files")
        .into_iter()
        .map(|path| (path, path.strip_prefix("/mock_root/").unwrap_or(path)))
        .collect();
    let mut words = vec!["rename", "-q"];
    words.extend([case.text("symbol").unwrap_or(""), case.text("new_name").unwrap_or("")]);
    words.extend(files.iter().map(|(_, file)| *file));
    let read = |file: &str| fs::read_to_string(case.dir.join(file));
    let before = files.iter().map(|(_, file)| read(file)).collect::<Result<Vec<_>, _>>()?;
    let output = kcl(&case.dir, &words)?;
    if !output.status.success() {
        return Ok(failed(&String::from_utf8_lossy(&output.stderr)));
    }
    let mut changed = Map::new();
    for ((path, file), before) in files.iter().zip(before) {
        let after = read(file)?;
        if after != before {
            changed.insert((*path).to_owned(), Value::from(after.trim_end_matches('\n')));
        }
    }
    Ok(Answer::json(&Value::Object(changed)))
}

/// The answer for a command that failed.
fn failed(text: &str) -> Answer {
    let message = text.lines().next().unwrap_or("").trim_start_matches("error: ");
    let message = message.rsplit_once(".k: ").map_or(message, |(_, message)| message);
    let error = json!({ "line": null, "code": null, "message": message });
    Answer::text("expect_error.json", format!("{error:#}"))
}
