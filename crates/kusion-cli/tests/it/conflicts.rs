//! Fields that others manage, and deletions that wait.

use crate::support::Project;
use fancy_regex::Regex;

const SHOP: &str = r#"settings = {
    apiVersion = "v1"
    kind = "ConfigMap"
    metadata = {name = "NAME", namespace = "default"}
    data = {color = "blue", size = "1"}
}
other = {
    apiVersion = "v1"
    kind = "ConfigMap"
    metadata = {name = "NAME-other", namespace = "default"}
    data.color = "blue"
}
"#;
const SETTINGS: &str = "/api/v1/namespaces/default/configmaps/dev";

/// Returns a text with placeholders for times.
fn timeless(text: &str) -> String {
    let time = Regex::new(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ").expect("a pattern");
    time.replace_all(text, "[TIME]").into_owned()
}

#[test]
fn a_conflict_hides_neither_the_plan_nor_other_stacks() {
    let (dev, prod) = (SHOP.replace("NAME", "dev"), SHOP.replace("NAME", "prod"));
    let project = Project::new("conflicts", &[("dev", &dev), ("prod", &prod)]);
    project.ok(&["apply", "--yes", "--all"]);
    let edit = format!("{SETTINGS}?fieldManager=kubectl-edit");
    project.patch(&edit, r#"{"data":{"size":"9"}}"#);
    let green = |text: &str| text.replace("blue", "green").replace(r#""1""#, r#""2""#);
    project.write("dev", &green(&dev));
    project.write("prod", &green(&prod));
    let (code, out, err) = project.run(&["preview"]);
    assert_eq!((code, err.as_str()), (Some(1), ""), "{out}");
    let expected = r#"shop/dev on sandbox `default`
  ~ update  v1:ConfigMap:default:dev
      data.color: "blue" → "green"  dev/main.k:5
      data.size: "9" → "2"  dev/main.k:5
        conflict: `kubectl-edit` manages this field (changed at [TIME])
  ~ update  v1:ConfigMap:default:dev-other
      data.color: "blue" → "green"  dev/main.k:11
2 to update
rejected: v1:ConfigMap:default:dev: conflict: `kubectl-edit` manages data.size (changed at [TIME]); pass `--force-conflicts` to take it over, `--ignore-fields ConfigMap:data.size` to keep the live value, or remove it from the stack
shop/prod on sandbox `default`
  ~ update  v1:ConfigMap:default:prod
      data.color: "blue" → "green"  prod/main.k:5
      data.size: "1" → "2"  prod/main.k:5
  ~ update  v1:ConfigMap:default:prod-other
      data.color: "blue" → "green"  prod/main.k:11
2 to update
2 stacks: 4 to update
"#;
    assert_eq!(timeless(&out), expected);

    // Nothing is applied, and a program sees why.
    let (code, out, err) = project.run(&["apply", "dev", "--yes", "-o", "json"]);
    assert_eq!(code, Some(1), "{err}");
    let last = out.lines().last().unwrap_or_default();
    assert!(last.contains(r#""code":"conflict""#), "{last}");
    assert!(last.contains(r#""subjects":["v1:ConfigMap:default:dev"]"#), "{last}");
    assert_eq!(project.live(SETTINGS).expect("an object")["data"]["color"], "blue");
    let (_, out, _) = project.run(&["preview", "dev", "-o", "markdown"]);
    assert!(out.contains("- **rejected:** v1:ConfigMap:default:dev: conflict"), "{out}");

    // The ways out that the plan names.
    let rule = "ConfigMap:data.size";
    let out = project.ok(&["preview", "dev", "--ignore-fields", rule]);
    assert!(out.contains("2 to update\n") && !out.contains("conflict"), "{out}");
    let out = project.ok(&["apply", "dev", "--yes", "--force-conflicts"]);
    assert!(out.contains("note: takes over data.size from `kubectl-edit`"), "{out}");
    assert_eq!(project.live(SETTINGS).expect("an object")["data"]["size"], "2");
}

#[test]
fn a_deletion_that_waits_names_its_finalizers() {
    let held = SHOP.replace("NAME", "dev").replacen(
        "namespace = \"default\"",
        "namespace = \"default\", finalizers = [\"example.com/held\"]",
        1,
    );
    let project = Project::new("waits", &[("dev", &held)]);
    project.ok(&["apply", "--yes"]);
    let (code, out, err) = project.run(&["destroy", "--yes", "--timeout", "4s"]);
    assert_eq!(code, Some(1), "{err}");
    let reason = "waiting for the finalizers `example.com/held`";
    let id = "v1:ConfigMap:default:dev";
    assert!(out.contains(&format!("still deleting {id}: {reason}\n")), "{out}");
    assert!(out.contains(&format!("✗ delete {id}: timed out after 4 s: {reason}\n")), "{out}");
    // The next plan says that it is on its way.
    let (_, out, _) = project.run(&["preview", "--destroy"]);
    assert!(out.contains(&format!("it is being deleted: {reason}\n")), "{out}");
    project.patch(SETTINGS, r#"{"metadata":{"finalizers":null}}"#);
}

#[test]
fn skipped_steps_are_counted_and_not_listed() {
    let program = r#"namespace = {
    apiVersion = "v1"
    kind = "Namespace"
    metadata = {name = "held", finalizers = ["example.com/held"]}
}
first = {
    apiVersion = "v1"
    kind = "ConfigMap"
    metadata = {name = "first", namespace = "held", finalizers = ["example.com/held"]}
}
"#;
    let project = Project::new("skipped", &[("dev", program)]);
    project.ok(&["apply", "--yes"]);
    let (code, out, err) = project.run(&["destroy", "--yes", "--timeout", "1s"]);
    assert_eq!(code, Some(1), "{err}");
    assert!(out.contains("1 failed, 1 skipped\n"), "{out}");
    assert!(!out.contains("skipped v1:Namespace:held"), "{out}");
    let log = project.ok(&["release", "log", "2"]);
    assert!(log.contains("skipped v1:Namespace:held"), "{log}");
    let path = "/api/v1/namespaces/held/configmaps/first";
    project.patch(path, r#"{"metadata":{"finalizers":null}}"#);
    project.patch("/api/v1/namespaces/held", r#"{"metadata":{"finalizers":null}}"#);
}

#[test]
fn a_rejected_resource_hides_neither_the_plan_nor_other_stacks() {
    let (dev, prod) = (SHOP.replace("NAME", "dev"), SHOP.replace("NAME", "prod"));
    let broken = dev.replace("data.color = \"blue\"", "datta.color = \"blue\"");
    let project = Project::new("rejected", &[("dev", &broken), ("prod", &prod)]);
    let (code, out, err) = project.run(&["preview"]);
    assert_eq!((code, err.as_str()), (Some(1), ""), "{out}");
    let expected = "shop/dev on sandbox `default`
  + create  v1:ConfigMap:default:dev
  + create  v1:ConfigMap:default:dev-other
      rejected: dev/main.k:11: unknown field `datta` (did you mean `data`?)
2 to create
rejected: 1 resource (see above): v1:ConfigMap:default:dev-other
shop/prod on sandbox `default`
  + create  v1:ConfigMap:default:prod
  + create  v1:ConfigMap:default:prod-other
2 to create
2 stacks: 4 to create
";
    assert_eq!(out, expected);

    // Nothing is applied, and a program sees why.
    let (code, out, err) = project.run(&["apply", "dev", "--yes", "-o", "json"]);
    assert_eq!(code, Some(1), "{err}");
    let last = out.lines().last().unwrap_or_default();
    assert!(last.contains(r#""code":"rejected""#), "{last}");
    assert!(last.contains(r#""subjects":["v1:ConfigMap:default:dev-other"]"#), "{last}");
    assert!(project.live(SETTINGS).is_none());
    // A plan that cannot be applied is not saved.
    let (code, ..) = project.run(&["preview", "dev", "--save", "dev.plan"]);
    assert_eq!((code, project.folder().join("dev.plan").exists()), (Some(1), false));

    // The other stack is applied, and the command fails.
    let (code, out, err) = project.run(&["apply", "--all", "--yes"]);
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(err.contains("skipped: shop/prod"), "{err}");
    let (code, out, err) = project.run(&["apply", "--all", "--yes", "--keep-going"]);
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(err.ends_with("error: 1 of 2 stacks failed: shop/dev\n"), "{err}");
    assert!(project.live("/api/v1/namespaces/default/configmaps/prod").is_some());
    assert!(project.live(SETTINGS).is_none());
}

#[test]
fn stacks_that_do_not_compile_keep_the_others_only_if_asked() {
    let prod = SHOP.replace("NAME", "prod");
    let project = Project::new("broken", &[("dev", "a = "), ("prod", &prod)]);
    let (code, _, err) = project.run(&["apply", "--yes", "--keep-going"]);
    assert_eq!(code, Some(1), "{err}");
    assert!(err.starts_with("error: 2 stacks were found, and `--all` was not passed:\n"), "{err}");
    let (code, out, err) = project.run(&["apply", "--all", "--yes", "--keep-going"]);
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(err.contains("dev/main.k:1"), "{err}");
    assert!(project.live("/api/v1/namespaces/default/configmaps/prod").is_some());
    // Also to destroy: what has no state is nothing to delete.
    let (code, out, err) = project.run(&["destroy", "--all", "--yes", "--keep-going"]);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    assert!(project.live("/api/v1/namespaces/default/configmaps/prod").is_none());
}
