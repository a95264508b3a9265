//! Commands that look at projects and stacks.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder of its own for a test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("kusion-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder can be made");
        Self(path)
    }

    fn run(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kusion"));
        command.args(words).current_dir(&self.0).env("KUSION_HOME", self.0.join("home"));
        command.output().expect("the binary runs")
    }

    /// Runs a command that succeeds and returns what it prints.
    fn good(&self, words: &[&str]) -> String {
        let output = self.run(words);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {error}");
        String::from_utf8(output.stdout).expect("the output is text")
    }

    /// Runs a command that fails and returns its exit code and what it says.
    fn bad(&self, words: &[&str]) -> (i32, String) {
        let output = self.run(words);
        let code = output.status.code().expect("it ends by itself");
        (code, String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left behind does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_new_project_is_listed_compiled_and_shown() {
    let folder = Folder::new("project");
    assert!(folder.good(&["init", "--list"]).contains("guestbook"));
    assert!(folder.good(&["init", "web", "shop"]).starts_with("created project `shop` in shop\n"));
    assert_eq!(folder.good(&["ls"]), "shop  shop\n  dev   shop/dev\n  prod  shop/prod\n");
    let listed: serde_json::Value =
        serde_json::from_str(&folder.good(&["ls", "-o", "json"])).expect("it is JSON");
    assert_eq!(listed["projects"][0]["stacks"][1]["name"], "prod");

    let spec = folder.good(&["compile", "shop/dev"]);
    assert!(spec.starts_with("resources:\n- id: v1:Namespace:shop-dev\n"), "{spec}");
    assert!(spec.contains("  dependsOn:\n  - v1:ConfigMap:shop-dev:shop\n"), "{spec}");
    assert_eq!(folder.good(&["generate", "shop/dev"]), spec);
    assert_eq!(folder.good(&["compile", "-w", "shop", "dev"]), spec);
    let json: serde_json::Value =
        serde_json::from_str(&folder.good(&["compile", "shop/dev", "-o", "json"]))
            .expect("it is JSON");
    assert_eq!(json["resources"][0]["id"], "v1:Namespace:shop-dev");
    let changed = folder.good(&["compile", "shop/prod", "-O", "web.replicas=7"]);
    assert!(changed.contains("replicas: 7\n"), "{changed}");
    let changed = folder.good(&["compile", "shop/prod", "-D", "env=test"]);
    assert!(changed.contains("v1:Namespace:shop-test\n"), "{changed}");

    let all = folder.good(&["compile"]);
    assert!(all.starts_with("---\n# shop/dev\nresources:\n"), "{all}");
    assert!(all.contains("\n---\n# shop/prod\nresources:\n"), "{all}");
    folder.good(&["compile", "--out", "out/"]);
    assert_eq!(read(&folder.0.join("out/shop/dev.yaml")), spec);
    assert!(folder.0.join("out/shop/prod.yaml").is_file());
    folder.good(&["compile", "shop/dev", "--out", "one.yaml"]);
    assert_eq!(read(&folder.0.join("one.yaml")), spec);
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("the file is there")
}

#[test]
fn graphs_have_the_fewest_edges() {
    let folder = Folder::new("graph");
    folder.good(&["init", "web", "shop"]);
    assert_eq!(
        folder.good(&["graph", "shop/prod"]),
        "v1:Namespace:shop-prod\n\
         v1:ConfigMap:shop-prod:shop\n  depends on v1:Namespace:shop-prod\n\
         v1:Service:shop-prod:shop\n  depends on v1:Namespace:shop-prod\n\
         apps/v1:Deployment:shop-prod:shop\n  depends on v1:ConfigMap:shop-prod:shop\n\
         networking.k8s.io/v1:Ingress:shop-prod:shop\n  depends on v1:Service:shop-prod:shop\n"
    );
    let dot = folder.good(&["graph", "shop/dev", "-o", "dot"]);
    assert!(dot.starts_with("digraph \"shop/dev\" {\n"), "{dot}");
    assert!(
        dot.contains("  \"v1:Service:shop-dev:shop\" -> \"v1:Namespace:shop-dev\";\n"),
        "{dot}"
    );
    let json: serde_json::Value =
        serde_json::from_str(&folder.good(&["graph", "-o", "json"])).expect("it is JSON");
    assert_eq!(json["stacks"][1]["stack"], "prod");
    assert_eq!(json["stacks"][0]["resources"][1]["dependsOn"][0], "v1:Namespace:shop-dev");
}

#[test]
fn every_workload_is_in_the_graph() {
    let folder = Folder::new("workloads");
    let role = "{apiVersion = \"rbac.authorization.k8s.io/v1\", kind = \"ClusterRole\", \
                metadata.name = \"system:reader\"}";
    let workload = |kind: &str, name: &str| {
        format!(
            "{{apiVersion = \"apps/v1\", kind = \"{kind}\", metadata.name = \"{name}\", \
             spec.template.spec.containers = []}}"
        )
    };
    let all = [workload("Deployment", "a"), workload("Deployment", "b"), role.to_owned()];
    fs::create_dir_all(folder.0.join("shop")).expect("a folder can be made");
    let program = format!("objects = [{}]\n", all.join(", "));
    fs::write(folder.0.join("shop/main.k"), program).expect("a file can be written");
    assert_eq!(
        folder.good(&["graph", "shop"]),
        "apps/v1:Deployment:default:a\napps/v1:Deployment:default:b\n\
         rbac.authorization.k8s.io/v1:ClusterRole:system:reader\n"
    );
}

#[test]
fn nothing_is_overwritten() {
    let folder = Folder::new("overwrite");
    fs::create_dir_all(folder.0.join("shop/base")).expect("a folder can be made");
    fs::write(folder.0.join("shop/base/base.k"), "mine").expect("a file can be written");
    let (code, text) = folder.bad(&["init", "web", "shop"]);
    assert_eq!(code, 1);
    assert_eq!(text, "error: shop/base/base.k already exists; nothing was written\n");
    assert!(!folder.0.join("shop/project.yaml").exists());
    assert_eq!(read(&folder.0.join("shop/base/base.k")), "mine");
    let (code, text) = folder.bad(&["init", "nothing"]);
    assert_eq!((code, text.contains("expected one of: web, guestbook")), (1, true), "{text}");
}

#[test]
fn failures_have_a_place_and_a_code() {
    let folder = Folder::new("failures");
    folder.good(&["init", "web", "shop"]);
    fs::write(folder.0.join("shop/dev/stack.yaml"), "name: dev\nlabels: [a]\n").expect("written");
    let (code, text) = folder.bad(&["compile", "shop"]);
    assert_eq!(code, 1);
    assert!(text.contains("shop/dev/stack.yaml:2: "), "{text}");
    fs::write(folder.0.join("shop/prod/main.k"), "x = y\n").expect("written");
    let (code, text) = folder.bad(&["compile", "shop/prod"]);
    assert_eq!(code, 1);
    assert!(text.contains("shop/prod/main.k:1:5"), "{text}");
    assert_eq!(folder.bad(&["compile", "-D", "x"]).0, 2);
    assert_eq!(folder.bad(&["compile", "--nothing"]).0, 2);
    assert_eq!(folder.bad(&["init", "web", "--name", "A"]).0, 2);
    let (code, text) = folder.bad(&["compile", "nowhere"]);
    assert_eq!((code, text.contains("cannot read")), (1, true), "{text}");
}

#[test]
fn completion_and_version() {
    let folder = Folder::new("version");
    assert!(folder.good(&["completion", "bash"]).contains("kusion,compile)"));
    assert!(folder.good(&["completion", "zsh"]).starts_with("#compdef kusion"));
    assert!(folder.good(&["version"]).starts_with("kusion "));
    let json: serde_json::Value =
        serde_json::from_str(&folder.good(&["version", "-o", "json"])).expect("it is JSON");
    assert_eq!(json["version"], env!("CARGO_PKG_VERSION"));
}
