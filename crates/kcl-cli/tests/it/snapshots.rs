//! What every command prints and how it ends: the golden files in `tests/snapshots`.
//!
//! `UPDATE=1 cargo test -p kcl-cli snapshots` writes them anew; a second run writes the index.

use crate::packages::registry::{Login, Registry};
use crate::sandbox::Sandbox;
use std::path::{Path, PathBuf};
use testkit::transcript::{Index, Transcript, copy};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots")
}

/// Runs the commands of a golden file in a folder of their own, beside the files of `fixture`, with a
/// registry at `[HOST]`.
fn check(name: &str) {
    let sandbox = Sandbox::new(&[]);
    let work = sandbox.path("");
    copy(&folder().join("fixture"), &work).expect("the fixture is copied");
    let registry = Registry::start(Login::Open);
    let place = work.display().to_string().trim_end_matches('/').to_owned();
    let transcript = Transcript {
        tool: "kcl",
        folder: &work,
        command: &|words| {
            let words: Vec<String> =
                words.iter().map(|word| word.replace("[HOST]", &registry.host)).collect();
            let mut command = sandbox.command(&words);
            command.env("COLUMNS", "80").env_remove("NO_COLOR").env("KPM_REG", &registry.host);
            command
        },
        redact: &|text| {
            without_times(&text.replace(&place, "[DIR]").replace(&registry.host, "[HOST]"))
        },
    };
    let result = transcript.check(&folder().join(format!("{name}.txt")));
    let failure = result.err().map(|error| format!("{error:#}")).unwrap_or_default();
    assert!(failure.is_empty(), "{failure}");
}

/// Puts `[TIME]` in the place of durations: `(1.2 ms)`, `time="0.001"`, `"seconds": 0.1`.
fn without_times(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    let is_number =
        |it: &str| !it.is_empty() && it.chars().all(|it| it.is_ascii_digit() || it == '.');
    let marks = [
        ("(", " ms)"),
        ("(", " s)"),
        ("time=\"", "\""),
        ("\"seconds\": ", "\n"),
        ("\"seconds\": ", ","),
    ];
    while let Some(first) = rest.chars().next() {
        let found = marks.iter().find_map(|(start, end)| {
            let inner = rest.strip_prefix(start)?;
            let number = &inner[..inner.find(end)?];
            is_number(number).then(|| (*start, *end, inner[number.len() + end.len()..].as_ref()))
        });
        match found {
            Some((start, end, after)) => {
                out.extend([start, "[TIME]", end]);
                rest = after;
            }
            None => {
                out.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    out
}

macro_rules! snapshots {
    ($($name:ident),* $(,)?) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(#[test] fn $name() { check(stringify!($name)); })*
    };
}

snapshots!(
    batch, clean, colour, completion, doc, errors, explain, export, fmt, help, import, lint,
    packages, plugins, query, registry, rename, run, set, test, usage, version, vet
);

#[test]
fn every_command_has_snapshots() {
    let sandbox = Sandbox::new(&[]);
    let index = Index {
        tool: "kcl",
        folder: &folder(),
        names: NAMES,
        elsewhere: &[],
        stdout: &|words| {
            let output = sandbox.command(words).output().expect("the binary runs");
            String::from_utf8_lossy(&output.stdout).into_owned()
        },
    };
    let failure = index.check().err().map(|error| format!("{error:#}")).unwrap_or_default();
    assert!(failure.is_empty(), "{failure}");
}
