//! What every command prints and how it ends: the golden files in `tests/snapshots`.
//!
//! `UPDATE=1 cargo test -p kcl-cli snapshots` writes them anew; a second run writes the index.

use crate::sandbox::Sandbox;
use std::path::{Path, PathBuf};
use testkit::transcript::{Index, Transcript, copy};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots")
}

/// Runs the commands of a golden file in a folder of their own, beside the files of `fixture`.
fn check(name: &str) {
    let sandbox = Sandbox::new(&[]);
    let work = sandbox.path("");
    copy(&folder().join("fixture"), &work).expect("the fixture is copied");
    let place = work.display().to_string().trim_end_matches('/').to_owned();
    let transcript = Transcript {
        tool: "kcl",
        folder: &work,
        command: &|words| {
            let mut command = sandbox.command(words);
            command.env("COLUMNS", "80").env_remove("NO_COLOR");
            command
        },
        redact: &|text| text.replace(&place, "[DIR]"),
    };
    let result = transcript.check(&folder().join(format!("{name}.txt")));
    let failure = result.err().map(|error| format!("{error:#}")).unwrap_or_default();
    assert!(failure.is_empty(), "{failure}");
}

macro_rules! snapshots {
    ($($name:ident),* $(,)?) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(#[test] fn $name() { check(stringify!($name)); })*
    };
}

snapshots!(
    batch, colour, errors, explain, fmt, help, lint, query, rename, run, set, usage, version
);

#[test]
fn every_command_has_snapshots() {
    let sandbox = Sandbox::new(&[]);
    let index = Index {
        tool: "kcl",
        folder: &folder(),
        names: NAMES,
        stdout: &|words| {
            let output = sandbox.command(words).output().expect("the binary runs");
            String::from_utf8_lossy(&output.stdout).into_owned()
        },
    };
    let failure = index.check().err().map(|error| format!("{error:#}")).unwrap_or_default();
    assert!(failure.is_empty(), "{failure}");
}
