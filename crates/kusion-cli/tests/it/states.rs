//! Whose state it is, and what a Spec means wherever it is applied.

use crate::support::Project;
use std::fs;

const CONFIGS: &str = r#"a = {
    apiVersion = "v1"
    kind = "ConfigMap"
    metadata.name = "a"
    data.color = "blue"
}
b = {
    apiVersion = "v1"
    kind = "ConfigMap"
    metadata.name = "b"
    data.color = "as $kusion_path.v1:ConfigMap:a.data.color"
}
"#;

#[test]
fn another_checkout_has_the_same_state() {
    let project = Project::new("checkout", &[("dev", CONFIGS)]);
    project.ok(&["apply", "--yes"]);
    let other = project.home.folder.join("other/checkout/shop");
    fs::create_dir_all(other.join("dev")).expect("a folder");
    for file in ["project.yaml", "dev/stack.yaml", "dev/main.k"] {
        fs::copy(project.folder().join(file), other.join(file)).expect("a copy");
    }
    let folder = other.display().to_string();
    let out = project.home.ok(&["preview", "--sandbox", "-w", &folder]);
    assert!(out.ends_with("no changes; 2 unchanged\n"), "{out}");
    project.home.ok(&["destroy", "--yes", "--sandbox", "-w", &folder]);
    assert!(project.ok(&["status"]).contains("no resources"));
}

#[test]
fn references_without_a_namespace_mean_that_of_the_project() {
    let project = Project::new("short", &[("dev", CONFIGS)]);
    let file = "name: shop\nextensions:\n- kind: kubernetesNamespace\n  \
                kubernetesNamespace: {namespace: colors}\n";
    fs::write(project.folder().join("project.yaml"), file).expect("a file");
    let space =
        "\nspace = {apiVersion = \"v1\", kind = \"Namespace\", metadata.name = \"colors\"}\n";
    project.write("dev", &format!("{CONFIGS}{space}"));
    project.ok(&["apply", "--yes"]);
    let path = "/api/v1/namespaces/colors/configmaps/b";
    assert_eq!(project.live(path).expect("the object")["data"]["color"], "as blue");
    assert!(project.ok(&["preview"]).ends_with("no changes; 3 unchanged\n"));
    project.write("dev", &format!("{}{space}", CONFIGS.replace("blue", "green")));
    project.ok(&["apply", "--yes"]);
    project.ok(&["release", "rollback", "1", "--yes"]);
    assert_eq!(project.live(path).expect("the object")["data"]["color"], "as blue");
}
