//! The log of the program.

use crate::support::Project;
use serde_json::Value;
use std::fs;

const CONFIG: &str = r#"a = {
    apiVersion = "v1"
    kind = "ConfigMap"
    metadata = {name = "a", namespace = "default"}
    data.color = "blue"
}
"#;

#[test]
fn spans_say_which_operation_and_step_a_call_belongs_to() {
    let project = Project::new("log", &[("dev", CONFIG)]);
    let file = project.home.folder.join("log");
    let path = file.display().to_string();
    let out = project.ok(&["apply", "--yes", "-vv", "--log-file", &path, "--log-format", "json"]);
    assert!(out.contains("release 1 succeeded"), "{out}");
    let text = fs::read_to_string(&file).expect("a log");
    let lines: Vec<Value> =
        text.lines().map(|it| serde_json::from_str(it).expect("a line of JSON")).collect();
    let call = lines
        .iter()
        .find(|it| it["fields"]["method"] == "PATCH" && it["spans"][1]["name"] == "step")
        .expect("the call of a step");
    assert_eq!(call["fields"]["status"], 201);
    assert_eq!(call["spans"][0]["name"], "operation");
    assert_eq!(call["spans"][0]["stack"], "shop/dev");
    assert_eq!(call["spans"][1]["id"], "v1:ConfigMap:default:a");
    assert!(
        lines.iter().all(|it| it["target"].as_str().is_some_and(|it| it.starts_with("kusion")))
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let rights = fs::metadata(&file).expect("a log").permissions().mode();
        assert_eq!(rights & 0o777, 0o600);
    }
}

#[test]
fn the_variable_chooses_what_is_logged() {
    let project = Project::new("log-variable", &[("dev", CONFIG)]);
    let folder = project.folder().display().to_string();
    let run = |value: &str| {
        let words = ["preview", "--sandbox", "-w", &folder];
        let mut command = project.home.command(&words);
        let output = command.env("KUSION_LOG", value).output().expect("the binary runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, log) = run("kusion_runtime_k8s=debug");
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("method=GET") && !log.contains("kusion_store"), "{log}");
    assert_eq!(run("error"), (Some(0), String::new()));
    let (code, log) = run("hyper=trace");
    assert_eq!(code, Some(1));
    assert!(log.starts_with("error: invalid `KUSION_LOG` value `hyper=trace`"), "{log}");
}
