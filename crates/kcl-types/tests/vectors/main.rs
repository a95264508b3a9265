//! The conformance vectors: valid programs pass, wrong ones are found out as the reference
//! does.

use base_diag::{Diagnostic, SourceMap};
use base_system::OsSystem;
use kcl_hir::{Input, LoadOptions, PackageMap, Program, load, resolve_entries};
use std::fmt::Write as _;
use std::process::ExitCode;
use testkit::{Case, Corpus, Suite};

/// Cases with static errors that must match in code, line and message of the first one.
const MIN_MATCHING: usize = 258;

fn main() -> ExitCode {
    let mut suite = Suite::default();
    suite.add_with("static_errors_are_those_of_the_reference", Corpus::locate(), |corpus| {
        static_errors_are_those_of_the_reference(&corpus).expect("the vectors are readable");
    });
    suite.run()
}

fn static_errors_are_those_of_the_reference(corpus: &Corpus) -> anyhow::Result<()> {
    let cases = corpus.cases("run")?;
    let (mut matching, mut false_errors) = (0, 0);
    let mut log = String::new();
    for case in &cases {
        let Some(program) = load_case(case) else { continue };
        let found: Vec<Diagnostic> =
            kcl_types::check(&program).into_iter().filter(Diagnostic::is_error).collect();
        let Ok(text) = case.read_file("expect_error.json") else {
            if let Some(first) = found.first() {
                false_errors += 1;
                let _ = writeln!(log, "FALSE {} {}", case.name, show(&program, first));
            }
            continue;
        };
        let expected: serde_json::Value = serde_json::from_str(&text)?;
        if expected["phase"] == "evaluate" {
            if let Some(first) = found.first() {
                let _ = writeln!(log, "EARLY {} {}", case.name, show(&program, first));
            }
            continue;
        }
        if expected["phase"] != "resolve" {
            continue;
        }
        let wanted = format!(
            "{}:{} {}",
            expected["code"].as_str().unwrap_or(""),
            expected["line"],
            expected["message"].as_str().unwrap_or(""),
        );
        let got = found.first().map_or("nothing".to_owned(), |first| show(&program, first));
        if wanted == got {
            matching += 1;
        } else {
            let _ = writeln!(log, "DIFF {}\n    want {wanted}\n    got  {got}", case.name);
        }
        let all = expected["diagnostics"].as_array().map_or(0, Vec::len);
        if wanted == got && all != found.len() {
            let _ = writeln!(log, "COUNT {} want {all} got {}", case.name, found.len());
            for diagnostic in &found {
                let _ = writeln!(log, "      {}", show(&program, diagnostic));
            }
        }
    }
    assert!(false_errors == 0, "valid programs are refused:\n{log}");
    assert!(matching >= MIN_MATCHING, "only {matching} match:\n{log}");
    Ok(())
}

fn show(program: &Program, diagnostic: &Diagnostic) -> String {
    let line = diagnostic.labels[0].at.map_or(0, |at| program.line_col(at.file, at.span).line);
    debug_assert!(diagnostic.labels[0].at.is_none_or(|at| !program.path(at.file).is_empty()));
    format!("{}:{line} {}", diagnostic.code, diagnostic.message())
}

/// Loads the program of a case; `None` if it needs more than files on the command line, or
/// has errors before type checking.
fn load_case(case: &Case) -> Option<Program> {
    let work_dir = case.text("cwd").map_or(case.dir.clone(), |cwd| case.dir.join(cwd));
    let mut packages = PackageMap::default();
    let mut inputs = Vec::new();
    let mut words = case.texts("argv").into_iter();
    while let Some(word) = words.next() {
        match word {
            "-Y" => return None,
            "-E" => {
                let (name, path) = words.next()?.split_once('=')?;
                packages.insert(name.to_owned(), work_dir.join(path));
            }
            "-D" | "-S" | "-O" | "-f" | "-o" => {
                words.next();
            }
            _ if word.starts_with('-') => {}
            _ => inputs.push(Input::path(word)),
        }
    }
    let entries = resolve_entries(&OsSystem, &inputs, &work_dir, &packages).ok()?;
    let options = LoadOptions { packages, ..LoadOptions::default() };
    let outcome = load(&OsSystem, &entries, &options).ok()?;
    (!outcome.has_errors()).then_some(outcome.value)
}
