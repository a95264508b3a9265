//! How objects fare: one file for each condition, with the state that it must give.

use kusion_model::HealthState;
use kusion_runtime_k8s::health;
use serde_json::Value;
use std::path::{Path, PathBuf};

#[test]
fn every_condition_gives_its_state() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/health");
    let mut files = files(&folder);
    files.sort();
    assert!(files.len() >= 70, "{} files in {}", files.len(), folder.display());
    let problems: Vec<String> = files.iter().filter_map(|file| check(file)).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

fn check(file: &Path) -> Option<String> {
    let text = std::fs::read_to_string(file).expect("a file");
    let expected = |name: &str| {
        let start = format!("# {name}: ");
        text.lines().find_map(|line| line.strip_prefix(&start)).map(str::to_owned)
    };
    let objects: Vec<Value> =
        text.split("\n---\n").map(|part| yaml_serde::from_str(part).expect("an object")).collect();
    let related: Vec<&Value> = objects.iter().skip(1).collect();
    let found = health::summary(&objects[0], &related);
    let state = match found.state {
        HealthState::Ready => "ready",
        HealthState::Progressing => "progressing",
        HealthState::Failed => "failed",
        HealthState::Terminating => "terminating",
    };
    let fits = expected("state").as_deref() == Some(state)
        && expected("reason") == found.reason
        && expected("message").is_none_or(|part| found.message.contains(&part));
    (!fits).then(|| format!("{}: {found:?}", file.display()))
}
