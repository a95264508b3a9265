//! From a case to its answer, in this process and without files.

use crate::Case;
use anyhow::{Context as _, bail, ensure};
use base_diag::{Diagnostic, SourceMap as _};
use base_system::MemorySystem;
use kcl_driver::{Format, Input, RunError, RunOptions, Tracking, parse_argument, run};
use serde_json::{Deserializer, Value};
use testkit::Fixture;

/// Where the files of a case are.
const FOLDER: &str = "/fixture";

/// Runs a case and returns its answer: `--- output` or `--- error`, then its lines.
///
/// # Errors
///
/// When the arguments of the case are not among those that fixtures may have.
pub fn answer(case: &Case) -> anyhow::Result<String> {
    let text = match run(&system(case), &options(case)?) {
        Ok(output) => format!("--- output\n{}{}", output.printed, output.result),
        Err(error) => format!("--- error\n{}", findings(&error)),
    };
    Ok(text.trim_end_matches('\n').replace(FOLDER, "${CWD}"))
}

/// Checks that the output of a case as data is what a reader of its JSON gets.
///
/// # Errors
///
/// If they differ, with both.
pub fn check_data(case: &Case) -> anyhow::Result<()> {
    let run_as = |format: Format| {
        let mut options = RunOptions { format: Some(format), ..options(case)? };
        options.eval.tracking = Tracking::Givers;
        anyhow::Ok(run(&system(case), &options).ok())
    };
    let (Some(json), Some(data)) = (run_as(Format::Json)?, run_as(Format::Data)?) else {
        return Ok(());
    };
    let read = Deserializer::from_str(&json.result).into_iter::<Value>();
    let mut read: Vec<Value> = read.collect::<Result<_, _>>()?;
    let data = data.documents.unwrap_or_default().values;
    if data.is_empty() && read == [Value::Null] {
        // A stream without documents is an empty text, which readers take for `null`.
        read.clear();
    }
    let is_same = data.len() == read.len()
        && data.iter().zip(&read).all(|(data, read)| testkit::is_alike(data, read));
    ensure!(is_same, "data: {data:?}\nJSON: {read:?}");
    Ok(())
}

/// The files of a case.
fn system(case: &Case) -> MemorySystem {
    let empty = MemorySystem::new().with_current_dir(FOLDER);
    let files = Fixture::parse(&case.program).files.into_iter();
    files.fold(empty, |system, file| system.with_file(file.path, file.text))
}

/// The arguments of a case as options.
fn options(case: &Case) -> anyhow::Result<RunOptions> {
    let mut options = RunOptions { work_dir: Some(FOLDER.into()), ..RunOptions::default() };
    let mut words = case.arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("`{word}` has no value"));
        match word {
            "-D" => options.arguments.push(parse_argument(value()?)?),
            "-O" => options.overrides.push(value()?.into()),
            "-S" => options.selectors.push(value()?.into()),
            "-E" => {
                let (name, folder) = value()?.split_once('=').context("expected NAME=FOLDER")?;
                options.packages.push((name.into(), folder.into()));
            }
            "-f" => options.format = Some(value()?.parse().map_err(anyhow::Error::msg)?),
            "-n" => options.output.disable_none = true,
            "-k" => options.output.sort_keys = true,
            "-H" => options.output.show_hidden = true,
            "-r" => options.eval.strict_range_check = true,
            "--include-schema-type-path" => options.output.include_schema_type_path = true,
            _ if word.starts_with('-') => bail!("unknown option `{word}`"),
            _ => options.inputs.push(Input::path(word)),
        }
    }
    if options.inputs.is_empty() {
        options.inputs.push(Input::path("main.k"));
    }
    Ok(options)
}

/// The errors: a line for each place, those after the first place of an error indented.
fn findings(error: &RunError) -> String {
    let shown: Vec<String> = error.diagnostics.iter().map(|it| finding(error, it)).collect();
    shown.join("\n")
}

fn finding(error: &RunError, diagnostic: &Diagnostic) -> String {
    let mut lines = Vec::new();
    for label in &diagnostic.labels {
        let start = if lines.is_empty() { diagnostic.code } else { " " };
        // A message of several lines is known by its first one.
        let message = label.message.lines().next().unwrap_or_default().trim();
        let place = label.at.map(|at| {
            let line = error.program.line_col(at.file, at.span).line;
            let path = error.program.path(at.file);
            let path = path.strip_prefix(FOLDER).map_or(path, |path| path.trim_start_matches('/'));
            format!(" {path}:{line}")
        });
        let line = format!("{start}{}: {message}", place.unwrap_or_default());
        lines.push(line.trim_end().to_owned());
    }
    lines.join("\n")
}
