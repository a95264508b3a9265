//! Cells of one stack on sandboxes: each has its own objects, releases and end.

use crate::support::{Home, ask, text};
use serde_json::Value;
use std::fs;

/// A repository with one stack that has two cells, `zone=a` and `zone=b`.
struct Repository {
    home: Home,
}

const PROGRAM: &str = r#"
app = {replicas = 1}
settings = {
    apiVersion = "v1"
    kind = "ConfigMap"
    metadata = {name = "settings", namespace = "default"}
    data = {replicas = str(app.replicas)}
}
"#;

impl Repository {
    /// Creates it with the `clusters` of its `stack.yaml`.
    fn new(name: &str, clusters: &str) -> Self {
        let it = Self { home: Home::new(name) };
        it.write("kcl.mod", "");
        it.write("dims.k", "axes = [{name = \"zone\", values = [\"a\", \"b\"]}]\n");
        it.write("shop/project.yaml", "name: shop\n");
        let stack = format!("name: prod\ncells: {{zone: [a, b]}}\nclusters: {clusters}\n");
        it.write("shop/prod/stack.yaml", &stack);
        it.write("shop/prod/main.k", PROGRAM);
        it
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.home.folder.join("src").join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, content).expect("a file");
    }

    /// Runs a command on the stack; returns exit code, output and errors.
    fn run(&self, words: &[&str]) -> (Option<i32>, String, String) {
        let folder = self.home.folder.join("src").display().to_string();
        let output = self.home.run(&[words, &["shop/prod", "-w", &folder]].concat());
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }

    fn ok(&self, words: &[&str]) -> String {
        let (code, out, err) = self.run(words);
        assert_eq!(code, Some(0), "{words:?}: {out}{err}");
        out
    }

    /// Returns the value and version of the object on a sandbox; `None` if there is none.
    fn live(&self, sandbox: &str) -> Option<(String, String)> {
        let kubeconfig = self.home.ok(&["sandbox", "kubeconfig", "--name", sandbox]);
        let path = "/api/v1/namespaces/default/configmaps/settings";
        let (code, body) = ask(&kubeconfig, "GET", path, "");
        let object: Value = serde_json::from_str(&body).expect("JSON");
        let field = |path: &str| object.pointer(path).and_then(Value::as_str).map(str::to_owned);
        let found = field("/data/replicas").zip(field("/metadata/resourceVersion"));
        found.filter(|_| code == 200)
    }

    /// Returns the number of releases of a cell.
    fn n_releases(&self, cell: &str) -> usize {
        let listed = self.ok(&["release", "list", "--cell", cell, "-o", "json"]);
        listed.lines().filter(|line| line.contains("\"event\":\"release\"")).count()
    }
}

fn value(live: Option<&(String, String)>) -> Option<&str> {
    live.map(|(value, _)| value.as_str())
}

#[test]
fn cells_on_two_sandboxes_are_applied_changed_and_destroyed_apart() {
    let stack = Repository::new("cells", "{\"zone=a\": sandbox/a, \"zone=b\": sandbox/b}");
    stack.write("shop/prod/@zone=b.k", "app = {replicas = 2}\n");
    let out = stack.ok(&["apply", "--yes"]);
    assert!(out.ends_with("2 stacks: 2 done\n"), "{out}");
    let (a, b) = (stack.live("a"), stack.live("b"));
    assert_eq!((value(a.as_ref()), value(b.as_ref())), (Some("1"), Some("2")));

    stack.write("shop/prod/@zone=b.k", "app = {replicas = 3}\n");
    let (code, out, _) = stack.run(&["preview", "--exit-code"]);
    assert_eq!(code, Some(3), "{out}");
    let (for_a, for_b) = out.split_once("shop/prod in zone=b").expect("two plans");
    assert!(for_a.contains("no changes; 1 unchanged"), "{out}");
    assert!(for_b.contains("1 to update"), "{out}");
    stack.ok(&["apply", "--cell", "zone=b", "--yes"]);
    let changed = stack.live("b");
    assert_eq!(value(changed.as_ref()), Some("3"));
    assert_eq!(stack.live("a"), a, "the other cell is not touched");
    assert_eq!((stack.n_releases("zone=a"), stack.n_releases("zone=b")), (1, 2));

    stack.ok(&["destroy", "--cell", "zone=a", "--yes"]);
    assert_eq!(stack.live("a"), None);
    assert_eq!(stack.live("b"), changed);
    assert!(stack.ok(&["preview", "--cell", "zone=b"]).contains("no changes; 1 unchanged"));
    assert!(stack.ok(&["preview", "--cell", "zone=a"]).contains("1 to create"));
    stack.ok(&["destroy", "--cell", "zone=b", "--yes"]);
    assert_eq!(stack.live("b"), None);
}

#[test]
fn one_object_in_two_cells_on_one_cluster_is_refused_before_anything_runs() {
    let stack = Repository::new("cells-same", "{\"\": sandbox/one}");
    let expected = "error: the cells `zone=a` and `zone=b` of shop/prod both have \
                    v1:ConfigMap:default:settings on the cluster `sandbox/one`; give each cell its \
                    own cluster (`clusters` in stack.yaml), namespace or name\n";
    for words in [&["apply", "--yes"][..], &["apply", "--yes", "--keep-going"], &["preview"]] {
        let (code, out, err) = stack.run(words);
        assert_eq!((code, out.as_str(), err.as_str()), (Some(1), "", expected), "{words:?}");
    }
    assert!(!stack.home.folder.join("sandbox").exists(), "no sandbox was started");
    assert!(!stack.home.ok(&["stack", "list"]).contains("shop/prod"), "nothing is recorded");

    // A cell that is not selected is protected by the owner of its objects.
    stack.ok(&["apply", "--cell", "zone=a", "--yes"]);
    let before = stack.live("one");
    let (code, out, err) = stack.run(&["apply", "--cell", "zone=b", "--yes"]);
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(err.contains("belongs to stack shop/prod in zone=a"), "the owner is named: {out}{err}");
    assert_eq!(stack.live("one"), before);
}

#[test]
fn changes_since_a_commit_are_shown_by_cell() {
    let stack = Repository::new("cells-impact", "{\"zone=a\": sandbox/a, \"zone=b\": sandbox/b}");
    stack.write("shop/prod/@zone=a.k", "app = {replicas = 4}\n");
    let folder = stack.home.folder.join("src");
    let git = |words: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(words);
        command.current_dir(&folder).env("GIT_CONFIG_GLOBAL", "/dev/null");
        assert!(command.output().expect("git runs").status.success(), "{words:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "x"]);
    stack.write("shop/prod/main.k", &PROGRAM.replace("replicas = 1", "replicas = 2"));
    assert_eq!(
        stack.ok(&["impact", "--from", "HEAD"]),
        "modified shop/prod/main.k\n\
         shop/prod/main.k:2  app.replicas: 1 -> 2\n  affected: shop/prod in zone=b\n\
         shop/prod/main.k:2  app.replicas\n  not affected: shop/prod in zone=a: 4 \
         (shop/prod/@zone=a.k:1) beats it, because zone a is inside all values of zone\n\
         1 file changed; 1 of 2 cells affected\n"
    );
    let json = stack.ok(&["impact", "--from", "HEAD", "-o", "json"]);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["affected"][0]["after"], 2);
    assert_eq!(json["unaffected"][0]["cell"], "zone=a");
    assert_eq!(json["nAffectedCells"], 1);
}

#[test]
fn releases_keep_where_values_come_from() {
    let stack = Repository::new("cells-origins", "{\"zone=a\": sandbox/a, \"zone=b\": sandbox/b}");
    stack.write("shop/prod/@zone=b.k", "app = {replicas = 2}\n");
    stack.ok(&["apply", "--cell", "zone=b", "--yes"]);
    stack.write("shop/prod/@zone=b.k", "\napp = {replicas = 3}\n");
    let expected = "data.replicas: \"2\" → \"3\"  shop/prod/main.k:7 from shop/prod/@zone=b.k:2 (layer zone=b)";
    let preview = stack.ok(&["preview", "--cell", "zone=b"]);
    assert!(preview.contains(expected), "{preview}");
    stack.ok(&["apply", "--cell", "zone=b", "--yes"]);
    // The files change after the release.
    stack.write("shop/prod/@zone=b.k", "\n\n\napp = {replicas = 9}\n");
    let diff = stack.ok(&["release", "diff", "1", "2", "--cell", "zone=b"]);
    assert!(diff.contains(expected), "{diff}");
    let shown = stack.ok(&["release", "show", "2", "--cell", "zone=b", "-o", "json"]);
    let shown: Value = serde_json::from_str(&shown).expect("JSON");
    let leaves = shown["origins"].as_array().expect("origins");
    let leaf = leaves.iter().find(|it| it["path"].to_string().contains("replicas"));
    let origin = &leaf.expect("the leaf")["origin"];
    assert_eq!(origin["inputs"][0]["layer"], "zone=b", "{origin}");
    assert_eq!(origin["inputs"][0]["line"], 2);
    // A rollback says where the values of its release were set.
    stack.ok(&["release", "rollback", "1", "--cell", "zone=b", "--yes"]);
    let diff = stack.ok(&["release", "diff", "2", "3", "--cell", "zone=b"]);
    assert!(diff.contains("from shop/prod/@zone=b.k:1 (layer zone=b)"), "{diff}");
}
