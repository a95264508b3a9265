//! Secret values reach no file and no output.

use crate::support::Project;
use std::fs;
use std::path::Path;

const CANARY: &str = "c4n4ry-7f1e-value";
/// The same in base64, as objects hold it.
const ENCODED: &str = "YzRuNHJ5LTdmMWUtdmFsdWU=";

fn program(value: &str) -> String {
    format!(
        r#"token = {{
    apiVersion = "v1"
    kind = "Secret"
    metadata = {{name = "token", namespace = "default"}}
    stringData.plain = "{value}"
    data.encoded = "{ENCODED}"
}}
"#
    )
}

fn check(text: &str, place: &str) {
    assert!(!text.contains(CANARY) && !text.contains(ENCODED), "found in {place}: {text}");
}

fn search(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            search(&path);
        } else if path.file_name().is_none_or(|it| it != "main.k") {
            let bytes = fs::read(&path).unwrap_or_default();
            check(&String::from_utf8_lossy(&bytes), &path.display().to_string());
        }
    }
}

#[test]
fn a_canary_is_found_nowhere() {
    let project = Project::new("canary", &[("dev", &program(CANARY))]);
    let file = project.home.folder.join("plan.json").display().to_string();
    let log = project.home.folder.join("log.json").display().to_string();
    let commands: [&[&str]; 11] = [
        &["preview", "--save", &file],
        &["apply", "--yes", "-vvv"],
        &["release", "log", "1", "-vvv", "--log-file", &log, "--log-format", "json"],
        &["status"],
        &["release", "show", "1"],
        &["preview", "--output", "json"],
        &["apply", "--yes", "--output", "json"],
        &["status", "--output", "json"],
        &["release", "show", "1", "--output", "json"],
        &["release", "list", "--output", "json"],
        &["preview"],
    ];
    for words in commands {
        let (code, out, err) = project.run(words);
        assert_eq!(code, Some(0), "{words:?}: {out}{err}");
        check(&out, &format!("the output of {words:?}"));
        check(&err, &format!("the errors of {words:?}"));
    }
    project.write("dev", &program("another-value"));
    let (_, out, err) = project.run(&["preview", "--save", &file]);
    assert!(out.contains("(secret"), "{out}{err}");
    check(&out, "the output of a change");
    search(&project.home.folder);
    let out = project.ok(&["apply", "--yes"]);
    check(&out, "the output of a change");
    let out = project.ok(&["release", "diff", "1", "2"]);
    assert!(out.contains("(secret, changed)"), "{out}");
    let out = project.ok(&["release", "rollback", "1", "--yes"]);
    check(&out, "the output of a rollback");
    search(&project.home.folder);
}

#[test]
fn fifty_plans_of_the_same_have_the_same_bytes() {
    let project = Project::new("same", &[("dev", &program(CANARY))]);
    project.ok(&["apply", "--yes"]);
    project.write("dev", &program("another"));
    let file = project.home.folder.join("plan.json").display().to_string();
    let made = || {
        let shown = project.ok(&["preview", "--output", "json", "--save", &file]);
        (shown, fs::read_to_string(&file).expect("the plan"))
    };
    let first = made();
    assert!(first.1.contains("$sealed"), "{}", first.1);
    for _ in 1..50 {
        assert_eq!(made(), first);
    }
}
