//! `kusion release`.

use crate::support::Project;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

const FIRST: &str = r#"settings = {
    apiVersion = "v1"
    kind = "ConfigMap"
    metadata = {name = "settings", namespace = "default"}
    data.color = "blue"
}
"#;

const SETTINGS: &str = "/api/v1/namespaces/default/configmaps/settings";

#[test]
fn releases_are_listed_shown_compared_and_gone_back_to() {
    let project = Project::new("releases", &[("dev", FIRST)]);
    assert!(project.ok(&["release", "list"]).contains("has no releases"));
    project.ok(&["apply", "--yes"]);
    let second = format!("{FIRST}more = settings | {{metadata.name = \"more\"}}\n");
    project.write("dev", &second.replace("blue", "green"));
    project.ok(&["apply", "--yes"]);
    let list = project.ok(&["release", "list"]);
    assert_eq!(list.lines().count(), 3, "{list}");
    assert!(list.contains("succeeded"), "{list}");
    let shown = project.ok(&["release", "show", "1"]);
    assert!(shown.starts_with("# release 1 of shop/dev"), "{shown}");
    assert!(shown.contains("color: blue"), "{shown}");
    let diff = project.ok(&["release", "diff", "1", "2"]);
    assert!(diff.contains("+ create  v1:ConfigMap:default:more"), "{diff}");
    assert!(diff.contains("data.color: \"blue\" → \"green\""), "{diff}");
    let out = project.ok(&["release", "rollback", "1", "--yes"]);
    assert!(out.contains("release 3: rollback to 1"), "{out}");
    assert_eq!(project.live(SETTINGS).expect("the object")["data"]["color"], "blue");
    assert_eq!(project.live("/api/v1/namespaces/default/configmaps/more"), None);
    assert_eq!(project.json(&["release", "list"]).len(), 3);
    let (code, _, err) = project.run(&["release", "show", "9"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("has no release 9"), "{err}");
    assert_eq!(project.run(&["release", "rollback", "9", "--yes"]).0, Some(1));
}

#[test]
fn a_release_whose_process_was_killed_is_interrupted() {
    let held = FIRST.replace("namespace =", "finalizers = [\"example.com/held\"], namespace =");
    let project = Project::new("killed", &[("dev", &held)]);
    project.ok(&["apply", "--yes"]);
    let folder = project.folder().display().to_string();
    let mut command = project.home.command(&["destroy", "--yes", "--sandbox", "-w", &folder]);
    let mut destroy = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(destroy.stdout.take().expect("its output")).lines();
    assert!(lines.any(|it| it.expect("a line").starts_with("deleting ")));
    let list = project.ok(&["release", "list"]);
    assert!(list.contains("running"), "{list}");
    destroy.kill().expect("killed");
    destroy.wait().expect("ended");
    let list = project.ok(&["release", "list"]);
    assert!(list.contains("interrupted") && !list.contains("running"), "{list}");
}

#[test]
fn a_stack_that_does_not_become_ready_is_rolled_back() {
    const WEB: &str = r#"web = {
    apiVersion = "apps/v1"
    kind = "Deployment"
    metadata = {name = "web", namespace = "default"}
    spec = {
        selector.matchLabels.app = "web"
        template = {
            metadata = {labels.app = "web", annotations = {ANNOTATIONS}}
            spec.containers = [{name = "web", image = "nginx"}]
        }
    }
}
"#;
    let project = Project::new("rolled-back", &[("dev", &WEB.replace("ANNOTATIONS", "a = \"1\""))]);
    project.ok(&["apply", "--yes", "--watch"]);
    let bad = r#"a = "2", "sandbox.kusion.io/image-pull-error" = "true""#;
    project.write("dev", &WEB.replace("ANNOTATIONS", bad));
    let (code, out, err) =
        project.run(&["apply", "--yes", "--rollback-on-failure", "--timeout", "20s"]);
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(err.contains("rolling back to release 1"), "{out}{err}");
    assert!(out.contains("release 3 succeeded: 1 done"), "{out}{err}");
    let live = project.live("/apis/apps/v1/namespaces/default/deployments/web").expect("it");
    assert_eq!(live["spec"]["template"]["metadata"]["annotations"]["a"], "1");
    let list = project.ok(&["release", "list"]);
    let health: Vec<bool> = list.lines().skip(1).map(|it| it.contains("  ready  ")).collect();
    assert_eq!(health, [true, false, true], "{list}");
}
