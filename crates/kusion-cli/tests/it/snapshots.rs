//! What every command prints and how it ends: the golden files in `tests/snapshots`.
//!
//! `UPDATE=1 cargo test -p kusion-cli snapshots` writes them anew; a second run writes the index.

use crate::support::{Home, text};
use fancy_regex::Regex;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::transcript::{Index, Transcript, copy};

/// What differs between two runs, and what stands for it.
const PLACEHOLDERS: &[(&str, &str)] = &[
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?", "[TIME]"),
    (r"(\[TIME\] +)\d+(ms|s|m)\b", "${1}[DURATION]"),
    (r"\(\d+(\.\d+)?s\)", "([DURATION])"),
    (r"127\.0\.0\.1:\d{2,}", "127.0.0.1:[PORT]"),
    (r#"("port": ?)\d+"#, "${1}[PORT]"),
    (r"[\w.-]+@[\w.-]+ \(process", "[USER]@[HOST] (process"),
    (r#"((?:pid|process) |"pid": ?)\d+"#, "${1}[PID]"),
    (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "[UID]"),
    (r"\b[0-9a-f]{16,}\b", "[DIGEST]"),
    (r"(certificate-authority-data: )\S+", "${1}[CERTIFICATE]"),
    (r"\((linux|macos)/\w+\)", "([OS]/[ARCH])"),
    (r"\b(linux|darwin)_(amd64|arm64)\b", "[PLATFORM]"),
    (r#"("arch": )"\w+""#, "${1}\"[ARCH]\""),
    (r#"("os": )"\w+""#, "${1}\"[OS]\""),
    (r"(web-[0-9a-f]{8,10}-)[a-z0-9]{5}\b", "${1}[SUFFIX]"),
    (r"(web-[0-9a-f]{8,10}(?:-\[SUFFIX\])?)  \d+s", "${1}  [AGE]"),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots")
}

/// Runs the commands of a golden file in a home of their own, beside the stacks of `fixture`.
fn check(name: &str) {
    let home = Home::new(&format!("snapshot-{name}"));
    let work = home.folder.join("src");
    copy(&folder().join("fixture"), &work).expect("the fixture is copied");
    if name == "impact" {
        commit(&work);
    }
    let rules: Vec<(Regex, &str)> = PLACEHOLDERS
        .iter()
        .map(|(pattern, placeholder)| (Regex::new(pattern).expect("a pattern"), *placeholder))
        .collect();
    let place = home.folder.canonicalize().expect("the home").display().to_string();
    let transcript = Transcript {
        tool: "kusion",
        folder: &work,
        command: &|words| {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let mut command = home.command(&words);
            command.env("HOME", &home.folder).env("COLUMNS", "80").env("TZ", "UTC");
            command.env_remove("NO_COLOR").env_remove("KUBERNETES_SERVICE_HOST");
            command.env_remove("TF_PLUGIN_CACHE_DIR").env_remove("KUSION_PROVIDER_DIRS");
            command
        },
        redact: &|text| {
            let text =
                text.replace(&place, "[HOME]").replace(env!("CARGO_BIN_EXE_kusion"), "kusion");
            let text = rules.iter().fold(text, |text, (rule, placeholder)| {
                rule.replace_all(&text, *placeholder).into_owned()
            });
            text.split_inclusive('\n').map(narrow).collect()
        },
    };
    let result = transcript.check(&folder().join(format!("{name}.txt")));
    let failure = result.err().map(|error| format!("{error:#}")).unwrap_or_default();
    assert!(failure.is_empty(), "{failure}");
}

/// Makes a folder a Git repository with one commit.
fn commit(folder: &Path) {
    for words in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "all"]] {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(words);
        command.current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null");
        assert!(command.status().expect("git runs").success(), "{words:?}");
    }
}

/// Takes the padding out of tables with times, whose columns are as wide as what they hold.
fn narrow(line: &str) -> String {
    let is_table = line.contains("  [TIME]") || line.contains("  STARTED");
    if !is_table {
        return line.to_owned();
    }
    let cells = line.split("  ").filter(|cell| !cell.trim().is_empty());
    cells.map(str::trim_start).collect::<Vec<_>>().join("  ")
}

macro_rules! snapshots {
    ($($name:ident),* $(,)?) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(#[test] fn $name() { check(stringify!($name)); })*
    };
}

snapshots!(
    apply, cells, cluster, colour, compile, completion, destroy, diffs, faults, graph, help, hosts,
    impact, init, json, key, ls, moved, newcomer, owners, places, plans, policies, preview,
    providers, release, replace, rollback, rules, runtimes, sandbox, set, several, silent, stack,
    state, status, topics, trust, usage, version, waiting, watch, words,
);

#[test]
fn every_command_has_snapshots() {
    let home = Home::new("snapshot-index");
    let index = Index {
        tool: "kusion",
        folder: &folder(),
        names: NAMES,
        elsewhere: &["provider schema", "runtime check"],
        stdout: &|words| {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            text(&home.run(&words).stdout)
        },
    };
    let failure = index.check().err().map(|error| format!("{error:#}")).unwrap_or_default();
    assert!(failure.is_empty(), "{failure}");
}
