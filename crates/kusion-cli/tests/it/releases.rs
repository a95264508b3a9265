//! `kusion release`.

use crate::support::Project;

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
