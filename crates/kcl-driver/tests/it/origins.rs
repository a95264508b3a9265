//! Where leaves come from in programs that change, merge and pass on values.
//!
//! A case of `data/origins.txt` is a program and its leaves, one on each line; `beats` names what a
//! value replaced. A line `$ …` holds options: those of `kcl run`, `-t` for types of instances in
//! the output, and `-g` for what gave a value that is only read.

use crate::provenance::leaves;
use kcl_driver::{RunOptions, Tracking};
use std::path::Path;
use testkit::{Fixture, golden};

/// The options that the line of a case names.
fn options(line: &str) -> RunOptions {
    let mut options = RunOptions::default();
    let mut words = line.split_whitespace();
    while let Some(word) = words.next() {
        let mut value = || words.next().expect("an option has a value").to_owned();
        match word {
            "-S" => options.selectors.push(value()),
            "-O" => options.overrides.push(value()),
            "-D" => {
                let argument = value();
                let (name, value) = argument.split_once('=').expect("an argument is NAME=VALUE");
                options.arguments.push((name.into(), value.into()));
            }
            "-t" => options.output.include_schema_type_path = true,
            "-H" => options.output.show_hidden = true,
            "-n" => options.output.disable_none = true,
            "-k" => options.output.sort_keys = true,
            "-g" => options.eval.tracking = Tracking::Givers,
            _ => assert!(word.is_empty(), "unknown option {word}"),
        }
    }
    options
}

#[test]
fn every_leaf_is_from_somewhere() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/data/origins.txt");
    let text = include_str!("data/origins.txt");
    let mut actual = Vec::new();
    for case in text.split("=== ").filter(|case| !case.is_empty()) {
        let (head, _) = case.split_once("--- leaves\n").expect("a case has leaves");
        let (_, program) = head.split_once('\n').expect("a case has a program");
        let (line, program) = match program.strip_prefix("$ ") {
            Some(rest) => rest.split_once('\n').expect("a case has a program"),
            None => ("", program),
        };
        let fixture = Fixture::parse(program);
        let files: Vec<(&str, &str)> =
            fixture.files.iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
        actual.push(format!("=== {head}--- leaves\n{}", leaves(&files, &options(line))));
    }
    golden::check(&path, &actual.join("\n")).expect("the leaves are those of the cases");
}
