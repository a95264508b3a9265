//! `kusion preview`, `apply`, `destroy`, `status`, `watch`.

use crate::support::{Home, Project};
use serde_json::Value;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::time::Duration;

const WEB: &str = r#"namespace = {
    apiVersion = "v1"
    kind = "Namespace"
    metadata.name = "shop"
}
settings = {
    apiVersion = "v1"
    kind = "ConfigMap"
    metadata = {name = "settings", namespace = "shop"}
    data.color = "blue"
}
web = {
    apiVersion = "apps/v1"
    kind = "Deployment"
    metadata = {name = "web", namespace = "shop"}
    spec = {
        replicas = 1
        selector.matchLabels.app = "web"
        template = {
            metadata.labels.app = "web"
            spec.containers = [{name = "web", image = "nginx"}]
        }
    }
}
"#;

const SETTINGS: &str = "/api/v1/namespaces/shop/configmaps/settings";

#[test]
fn a_stack_is_previewed_applied_changed_and_destroyed() {
    let project = Project::new("life", &[("dev", WEB)]);
    let (code, out, err) = project.run(&["preview", "--exit-code"]);
    assert_eq!(code, Some(3), "{out}{err}");
    assert!(out.contains("+ create  apps/v1:Deployment:shop:web\n"), "{out}");
    assert!(out.ends_with("3 to create\n"), "{out}");
    assert!(!out.contains('\u{1b}'), "{out}");
    let out = project.ok(&["apply", "--yes", "--watch"]);
    assert!(out.contains("created apps/v1:Deployment:shop:web\n"), "{out}");
    assert!(out.contains("release 1 succeeded: 3 done\n"), "{out}");
    assert!(out.contains("all resources are ready\nnext steps:\n"), "{out}");
    assert!(!out.contains('\u{1b}'), "{out}");
    let out = project.ok(&["preview", "--exit-code"]);
    assert!(out.ends_with("no changes; 3 unchanged\n"), "{out}");

    project.write("dev", &WEB.replace("replicas = 1", "replicas = 2"));
    let (code, out, _) = project.run(&["preview", "--exit-code"]);
    assert_eq!(code, Some(3));
    assert!(out.contains("~ update  apps/v1:Deployment:shop:web\n"), "{out}");
    assert!(out.contains("      spec.replicas: 1 → 2  dev/main.k:17\n"), "{out}");
    assert!(out.ends_with("1 to update; 2 unchanged\n"), "{out}");
    project.ok(&["apply", "-y"]);
    let out = project.ok(&["status"]);
    assert!(out.contains("● v1:ConfigMap:shop:settings"), "{out}");
    assert!(out.contains("Pod web-"), "{out}");
    project.ok(&["watch", "--until-ready"]);

    let out = project.ok(&["destroy", "--yes"]);
    assert!(out.contains("3 to delete\n"), "{out}");
    assert_eq!(project.live(SETTINGS), None);
    assert!(project.ok(&["status"]).contains("no resources"));
    assert!(project.ok(&["destroy", "--yes"]).contains("nothing to do"));
}

#[test]
fn a_saved_plan_is_run_as_shown_or_refused() {
    let project = Project::new("saved", &[("dev", WEB)]);
    project.ok(&["apply", "--yes"]);
    project.write("dev", &WEB.replace("blue", "green"));
    let file = project.home.folder.join("plan.json").display().to_string();
    project.ok(&["preview", "--save", &file]);
    project.patch(SETTINGS, r#"{"data":{"color":"red"}}"#);
    let (code, _, err) = project.run(&["apply", "--plan", &file]);
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("changed since the plan was made: v1:ConfigMap:shop:settings"), "{err}");
    let live = project.live(SETTINGS).expect("the object");
    assert_eq!(live["data"]["color"], "red");

    // The other manager owns the field now.
    project.ok(&["preview", "--force-conflicts", "--save", &file]);
    let (code, _, err) = project.run(&["apply", "--plan", &file, "--backend", "sqlite:other.db"]);
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("to save a new plan"), "{err}");
    // What the program says now does not count.
    project.write("dev", &WEB.replace("blue", "black"));
    project.ok(&["apply", "--plan", &file]);
    assert_eq!(project.live(SETTINGS).expect("the object")["data"]["color"], "green");
    let (code, _, err) = project.run(&["apply", "--plan", &file]);
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("to save a new plan"), "{err}");
    fs::write(&file, "{}").expect("a file");
    let (_, _, err) = project.run(&["apply", "--plan", &file]);
    assert!(err.contains("not a valid plan file"), "{err}");
}

#[test]
fn what_destroy_would_delete_is_previewed_saved_and_run() {
    let project = Project::new("undo", &[("dev", WEB)]);
    let out = project.ok(&["preview", "--destroy", "--exit-code"]);
    assert!(out.ends_with("nothing to do\n"), "{out}");
    project.ok(&["apply", "--yes"]);
    // The program is not asked what is there, so it may be broken.
    project.write("dev", "a = ");
    let out = project.ok(&["preview", "--destroy"]);
    assert!(out.contains("- delete  apps/v1:Deployment:shop:web\n"), "{out}");
    assert!(out.ends_with("3 to delete\n"), "{out}");
    let plan = project.home.folder.join("destroy.json").display().to_string();
    let (code, out, err) = project.run(&["preview", "--destroy", "--exit-code", "--save", &plan]);
    assert_eq!(code, Some(3), "{out}{err}");
    let json = project.json(&["preview", "--destroy"]);
    assert_eq!(json[0]["plan"]["operation"]["kind"], "destroy", "{}", json[0]);
    assert_eq!(json[0]["counts"]["delete"], 3);
    assert!(project.live(SETTINGS).is_some(), "a preview deletes nothing");
    let out = project.ok(&["apply", "--plan", &plan]);
    assert!(out.contains("release 2 succeeded: 3 done\n"), "{out}");
    assert!(project.live(SETTINGS).is_none());
    let (code, _, err) = project.run(&["preview", "--destroy", "-D", "a=1"]);
    assert_eq!(code, Some(2), "{err}");
}

#[test]
fn without_a_terminal_nobody_is_asked() {
    let project = Project::new("ask", &[("dev", WEB)]);
    let folder = project.folder().display().to_string();
    let words = ["apply", "--sandbox", "-w", &folder];
    let output =
        project.home.command(&words).stdin(Stdio::null()).output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8_lossy(&output.stderr);
    let hint = format!("hint: run `kusion apply --sandbox -w {folder} --yes` to confirm\n");
    assert!(error.ends_with(&hint), "{error}");
    assert_eq!(project.live("/api/v1/namespaces/shop"), None);
}

#[test]
fn programs_get_one_object_per_line() {
    let project = Project::new("json", &[("dev", WEB)]);
    let first = project.json(&["preview"]);
    assert_eq!(first, project.json(&["preview"]));
    assert_eq!(first.len(), 1);
    assert_eq!(first[0]["event"], "plan");
    assert_eq!(first[0]["counts"]["create"], 3);
    let events = project.json(&["apply", "--yes", "--watch"]);
    assert!(events.iter().all(|it| it["version"] == 2), "{events:#?}");
    let name = |it: &Value| it["event"].as_str().unwrap_or_default().to_owned();
    let names: Vec<String> = events.iter().map(name).collect();
    assert_eq!(names[..3], ["locked", "plan", "releaseOpened"]);
    assert_eq!(names.iter().filter(|it| *it == "stepEnded").count(), 3);
    assert_eq!(names.last().map(String::as_str), Some("watchEnded"));
    let status = project.json(&["status"]);
    assert_eq!(status[0]["resources"].as_array().map(Vec::len), Some(3));
    project.write("dev", "a =");
    let (code, out, _) = project.run(&["preview", "--output", "json"]);
    assert_eq!(code, Some(1));
    let error: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(error["event"], "error");
}

#[test]
fn stacks_of_a_project_keep_their_own_resources() {
    let prod = WEB.replace("\"shop\"", "\"shop-prod\"");
    let project = Project::new("two", &[("dev", WEB), ("prod", &prod)]);
    let (code, _, err) = project.run(&["apply", "--yes"]);
    assert_eq!(code, Some(1), "{err}");
    assert!(err.starts_with("error: 2 stacks were found, and `--all` was not passed"), "{err}");
    assert_eq!(project.live(SETTINGS), None);
    let out = project.ok(&["apply", "--yes", "--all"]);
    assert!(out.contains("shop/dev on sandbox `default`\n"), "{out}");
    assert!(out.contains("shop/prod on sandbox `default`\n"), "{out}");
    assert!(out.ends_with("2 stacks: 6 done\n"), "{out}");
    // The folder of a project, or of each stack, is enough.
    project.ok(&["apply", "--yes", "."]);
    project.ok(&["apply", "--yes", "dev", "prod"]);
    let out = project.ok(&["preview"]);
    assert_eq!(out.matches("no changes; 3 unchanged").count(), 2, "{out}");
    project.ok(&["destroy", "dev", "--yes"]);
    assert_eq!(project.live(SETTINGS), None);
    assert!(project.live("/api/v1/namespaces/shop-prod/configmaps/settings").is_some());
    assert!(project.ok(&["preview", "prod"]).contains("no changes; 3 unchanged"));
}

#[test]
fn what_a_stack_no_longer_wants_is_deleted_as_previewed() {
    let project = Project::new("empty", &[("dev", WEB)]);
    project.ok(&["apply", "--yes"]);
    project.write("dev", "resources = []\n");
    let (code, out, err) = project.run(&["preview", "--exit-code"]);
    assert_eq!(code, Some(1), "{out}{err}");
    let refused = "rejected: 3 of 3 resources would be deleted or replaced, more than 50 %";
    assert!(out.contains(refused), "{out}");
    assert_eq!(project.run(&["apply", "--yes"]).0, Some(1));
    assert!(project.live("/api/v1/namespaces/shop").is_some());
    let (code, out, err) = project.run(&["preview", "--exit-code", "--allow-mass-delete"]);
    assert_eq!(code, Some(3), "{out}{err}");
    assert!(out.ends_with("3 to delete\n"), "{out}");
    project.ok(&["apply", "--yes", "--allow-mass-delete"]);
    assert_eq!(project.live("/api/v1/namespaces/shop"), None);
}

#[test]
fn a_failing_stack_says_why_and_what_to_do() {
    let program = WEB.replace(
        "metadata.labels.app = \"web\"",
        "metadata = {labels.app = \"web\", \
         annotations = {\"sandbox.kusion.io/image-pull-error\" = \"true\"}}",
    );
    let program =
        program.replace("replicas = 1", "replicas = 1\n        progressDeadlineSeconds = 1");
    let project = Project::new("fails", &[("dev", &program)]);
    let (code, out, err) = project.run(&["apply", "--yes", "--watch", "--timeout", "20s"]);
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(out.contains("✗ apps/v1:Deployment:shop:web: ProgressDeadlineExceeded"), "{out}");
    assert!(out.contains("ImagePullBackOff"), "{out}");
    assert!(out.contains("describe pod web-"), "{out}");
}

/// The commands that show health tell of failures with their exit code.
#[test]
fn exit_codes_tell_whether_something_failed() {
    let job = |command: &str| {
        format!(
            r#"job = {{
    apiVersion = "batch/v1"
    kind = "Job"
    metadata = {{name = "job", namespace = "default"}}
    spec = {{
        backoffLimit = 0
        template.spec = {{
            restartPolicy = "Never"
            containers = [{{name = "main", image = "busybox", command = ["{command}"]}}]
        }}
    }}
}}
"#
        )
    };
    let project = Project::new("codes", &[("good", &job("true")), ("bad", &job("false"))]);
    let codes = |stack: &str| {
        let commands: [&[&str]; 2] = [&["status", stack], &["watch", stack, "--until-ready"]];
        commands.map(|it| project.run(it).0)
    };
    // Nothing is applied yet: that is no failure, but nothing can be waited for.
    assert_eq!(codes("good"), [Some(0), Some(1)]);
    let (_, _, err) = project.run(&["watch", "good", "--until-ready"]);
    assert!(err.contains("shop/good has no resources to wait for"), "{err}");
    for (stack, code) in [("good", 0), ("bad", 1)] {
        let (applied, out, err) = project.run(&["apply", stack, "--yes", "--watch"]);
        assert_eq!(applied, Some(code), "{out}{err}");
        assert_eq!(codes(stack), [Some(code), Some(code)]);
        project.ok(&["destroy", stack, "--yes", "--allow-mass-delete"]);
    }
    // The object of the state was deleted.
    project.ok(&["apply", "good", "--yes", "--watch"]);
    let path = "/apis/batch/v1/namespaces/default/jobs/job";
    let (code, answer) = project.home.ask("DELETE", path, "");
    assert_eq!(code, 200, "{answer}");
    assert_eq!(codes("good"), [Some(1), Some(1)]);
}

#[test]
fn warnings_of_the_cluster_say_why_something_is_not_ready() {
    let volumes = r#"spec.volumes = [{name = "v", secret.secretName = "absent"}]
            spec.containers"#;
    let project = Project::new("warned", &[("dev", &WEB.replace("spec.containers", volumes))]);
    let (code, out, err) =
        project.run(&["apply", "--yes", "--watch", "--timeout", "2s", "--output", "json"]);
    assert_eq!(code, Some(1), "{out}{err}");
    let events: Vec<Value> =
        out.lines().map(|it| serde_json::from_str(it).expect("JSON")).collect();
    let warned: Vec<&Value> = events.iter().filter(|it| it["event"] == "warning").collect();
    let [warned] = warned[..] else { panic!("told once: {warned:?}") };
    assert_eq!((&warned["version"], &warned["reason"]), (&2.into(), &"FailedMount".into()));
    assert_eq!(warned["id"], "apps/v1:Deployment:shop:web");
    assert_eq!(warned["object"]["kind"], "Pod");
    let last = events.iter().rfind(|it| it["event"] == "watchEnded").expect("an end");
    assert!(
        last["findings"][0]["message"]
            .as_str()
            .is_some_and(|it| it.contains("`absent`") || it.contains("\"absent\"")),
        "{last}"
    );
    let text = project.ok(&["status"]);
    assert!(text.contains("progressing, FailedMount: 0 of 1 containers ready; "), "{text}");
}

#[test]
fn without_a_cluster_the_sandbox_is_recommended() {
    let project = Project::new("none", &[("dev", WEB)]);
    let folder = project.folder().display().to_string();
    let mut command = project.home.command(&["preview", "-w", &folder]);
    let output = command.env("HOME", &project.home.folder).output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8_lossy(&output.stderr);
    let hint = format!("hint: run `kusion preview -w {folder} --sandbox` to use an embedded");
    assert!(error.contains(&hint), "{error}");
}

const SLOW_PODS: &str = r#"pods = [{
    apiVersion = "v1"
    kind = "Pod"
    metadata = {
        name = "p${i}"
        namespace = "default"
        annotations = {"sandbox.kusion.io/stop-time" = "2s"}
    }
    spec = {terminationGracePeriodSeconds = 20, containers = [{name = "c", image = "x"}]}
} for i in range(3)]
"#;

/// Runs a slow destroy, interrupts it, and returns exit code, output and errors.
fn interrupted(project: &Project, signals: &[&str]) -> (Option<i32>, String, String) {
    let folder = project.folder().display().to_string();
    let words = ["destroy", "--yes", "--parallel", "1", "--sandbox", "-w", &folder];
    let mut command = project.home.command(&words);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut seen = String::new();
    while !seen.contains("deleting") {
        assert_ne!(out.read_line(&mut seen).expect("a line"), 0, "{seen}");
    }
    for signal in signals {
        let pid = child.id().to_string();
        let sent =
            Command::new("kill").args([*signal, pid.as_str()]).status().expect("`kill` runs");
        assert!(sent.success());
        std::thread::sleep(Duration::from_millis(300));
    }
    out.read_to_string(&mut seen).expect("the rest");
    let output = child.wait_with_output().expect("it ends");
    (output.status.code(), seen, String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn an_interruption_lets_running_steps_end() {
    let project = Project::new("interrupt", &[("dev", SLOW_PODS)]);
    project.ok(&["apply", "--yes", "--watch"]);
    let (code, out, err) = interrupted(&project, &["-TERM"]);
    assert_eq!(code, Some(130), "{out}{err}");
    assert!(err.contains("stopping: running steps finish"), "{err}");
    assert!(out.contains("release 2 stopped: 1 done, 2 skipped"), "{out}");
    let (code, out, err) = interrupted(&project, &["-INT", "-INT"]);
    assert_eq!(code, Some(130), "{out}{err}");
    assert!(err.contains("stopped immediately"), "{err}");
    let out = project.ok(&["destroy", "--yes"]);
    assert!(out.contains("succeeded"), "{out}");
    assert!(project.ok(&["release", "list"]).contains("interrupted"));
    assert!(project.ok(&["status"]).contains("no resources"));
}

#[test]
fn the_main_command_of_the_readme_works() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let readme = fs::read_to_string(format!("{root}/README.md")).expect("README.md is there");
    let words = readme
        .lines()
        .find_map(|line| line.strip_prefix("cargo run --release -p kusion-cli -- apply "))
        .expect("the README has a main command");
    let home = Home::new("readme");
    let mut command = home.command(&["apply"]);
    let output = command.args(words.split(' ')).current_dir(root).output();
    let output = output.expect("the binary runs");
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{out}{}", String::from_utf8_lossy(&output.stderr));
    assert!(out.contains("all resources are ready\nnext steps:\n"), "{out}");
}

#[test]
fn of_several_processes_one_changes_the_stack_and_the_others_wait() {
    let project = Project::new("race", &[("dev", WEB)]);
    let folder = project.folder().display().to_string();
    let words = ["apply", "--yes", "--lock-wait", "60s", "--sandbox", "-w", &folder];
    let start = || {
        let mut command = project.home.command(&words);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs")
    };
    let children: Vec<_> = (0..4).map(|_| start()).collect();
    for child in children {
        let output = child.wait_with_output().expect("it ends");
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{error}");
    }
    assert_eq!(project.json(&["release", "list"]).len(), 1);
    assert!(project.ok(&["preview"]).ends_with("no changes; 3 unchanged\n"));
}
