//! What changes since a commit affect, compared with repositories that git makes.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the repositories of the tests are made by git"
)]

use base_system::OsSystem;
use kusion_generate::{CompileOptions, Impact, impact};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// A repository that is removed at the end of a test.
struct Repository(PathBuf);

impl Drop for Repository {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Repository {
    fn new(name: &str) -> Self {
        let folder = format!("kusion-impact-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        let it = Self(fs::canonicalize(folder).expect("the folder"));
        it.git(&["init", "-q", "-b", "trunk"]);
        it.write("dims.k", "axes = [{name = \"zone\", values = [\"a\", \"b\", \"c\"]}]\n");
        it.write("shop/project.yaml", "name: shop\n");
        it.write("shop/prod/stack.yaml", "name: prod\ncells: {zone: [a, b, c]}\n");
        it.write("shop/prod/main.k", "app = {replicas = 1, image = \"x\"}\n");
        it.write("shop/prod/@zone=a.k", "app = {replicas = 2}\n");
        it.write("layers/all.yaml", "when: {zone: [a, b]}\nset: {app: {tag: v1}}\n");
        it
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    fn git(&self, words: &[&str]) -> String {
        let settings = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "gc.auto=0"];
        let mut command = Command::new("git");
        command.args(settings).args(words).current_dir(&self.0);
        let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").output().expect("git runs");
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn commit(&self) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "x"]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn impact(&self, revision: &str) -> Result<Impact, String> {
        let work_dir = Some(self.0.clone());
        let options = CompileOptions { work_dir, ..CompileOptions::default() };
        impact(&OsSystem, &options, revision).map_err(|error| error.to_string())
    }

    fn shown(&self, revision: &str) -> String {
        let found = match self.impact(revision) {
            Ok(found) => found,
            Err(error) => return error,
        };
        let mut text = String::new();
        for it in &found.files {
            let _ = writeln!(text, "{} {}", it.change, it.file);
        }
        for it in &found.affected {
            let _ = writeln!(
                text,
                "{} {} {:?} -> {:?} by {}",
                it.cell,
                it.path,
                it.before.as_ref().map(ToString::to_string).unwrap_or_default(),
                it.after.as_ref().map(ToString::to_string).unwrap_or_default(),
                it.origin
            );
        }
        for it in &found.unaffected {
            let _ = writeln!(text, "not {} {} at {}: {}", it.cell, it.path, it.origin, it.reason);
        }
        let _ = writeln!(text, "{} of {}", found.n_affected_cells, found.n_cells);
        text
    }
}

#[test]
fn affected_cells_and_those_that_are_not_with_the_reason() {
    let repository = Repository::new("cells");
    repository.commit();
    assert_eq!(repository.shown("HEAD"), "0 of 3\n");
    // Another value of an axis changes nothing at the cells that there were.
    let dims = fs::read_to_string(repository.0.join("dims.k")).expect("a file");
    repository.write("dims.k", &dims.replace("\"a\", ", "\"new\", \"a\", "));
    assert_eq!(repository.shown("HEAD"), "modified dims.k\n0 of 3\n");
    repository.write("dims.k", &dims);
    repository.write("shop/prod/main.k", "app = {replicas = 5, image = \"x\"}\n");
    repository.write("layers/all.yaml", "when: {zone: [a, b]}\nset: {app: {tag: v2}}\n");
    repository.write("shop/prod/@zone=c.k", "app = {image = \"x\"}\n");
    let expected = "\
modified layers/all.yaml
added shop/prod/@zone=c.k
modified shop/prod/main.k
zone=a app.tag \"\\\"v1\\\"\" -> \"\\\"v2\\\"\" by layers/all.yaml:2
zone=b app.replicas \"1\" -> \"5\" by shop/prod/main.k:1
zone=b app.tag \"\\\"v1\\\"\" -> \"\\\"v2\\\"\" by layers/all.yaml:2
zone=c app.replicas \"1\" -> \"5\" by shop/prod/main.k:1
not zone=a app.replicas at shop/prod/main.k:1: 2 (shop/prod/@zone=a.k:1) beats it, because zone a is inside all values of zone
not zone=c app.image at shop/prod/@zone=c.k:1: the value is the same
3 of 3
";
    assert_eq!(repository.shown("HEAD"), expected);
    // A removed layer.
    fs::remove_file(repository.0.join("shop/prod/@zone=a.k")).expect("removed");
    let shown = repository.shown("HEAD");
    assert!(shown.contains("removed shop/prod/@zone=a.k\n"), "{shown}");
    assert!(shown.contains("zone=a app.replicas \"2\" -> \"5\" by shop/prod/main.k:1"), "{shown}");
}

#[test]
fn revisions_are_found_in_loose_objects_and_in_packs() {
    let repository = Repository::new("packs");
    let lines: Vec<String> = (0..200).map(|it| format!("# line {it} of a long text")).collect();
    let long = lines.join("\n");
    let main = |replicas: u32| format!("app = {{replicas = {replicas}, image = \"x\"}}\n{long}");
    repository.write("shop/prod/main.k", &main(1));
    let first = repository.commit();
    repository.git(&["tag", "-a", "-m", "first", "v1"]);
    for replicas in 2..6 {
        repository.write("shop/prod/main.k", &main(replicas));
        repository.commit();
    }
    repository.git(&["branch", "side", "HEAD~1"]);
    let check = || {
        for (revision, before) in
            [("HEAD~1", 4), ("side", 4), ("side~2", 2), ("v1", 1), (first.as_str(), 1)]
        {
            let shown = repository.shown(revision);
            let expected = format!("zone=b app.replicas \"{before}\" -> \"5\"");
            assert!(shown.contains(&expected), "{revision}: {shown}");
        }
        assert_eq!(repository.shown("trunk"), "0 of 3\n");
    };
    check();
    repository.git(&["pack-refs", "--all"]);
    repository.git(&["repack", "-q", "-a", "-d", "--depth=50", "--window=50"]);
    let pack = fs::read_dir(repository.0.join(".git/objects/pack")).expect("packs");
    assert!(pack.count() >= 2, "there is a pack");
    check();
}

#[test]
fn what_cannot_be_read_is_refused() {
    let repository = Repository::new("refused");
    repository.commit();
    let unknown = "unknown revision `nope`: expected a branch, a tag, the whole id of a commit, or \
                   one of these with `~N`, such as `HEAD~1`";
    assert_eq!(repository.shown("nope"), unknown);
    for revision in ["../config", "HEAD~99", "HEAD~x", "", "refs/../config"] {
        let shown = repository.shown(revision);
        assert!(shown.starts_with("unknown revision"), "{revision}: {shown}");
    }
    // A damaged object.
    let tree = repository.git(&["rev-parse", "HEAD^{tree}"]);
    let path = repository.0.join(".git/objects").join(&tree[..2]).join(&tree[2..]);
    let _ = fs::remove_file(&path);
    fs::write(&path, "garbage").expect("a file");
    let shown = repository.shown("HEAD");
    assert!(shown.starts_with("cannot read the commit "), "{shown}");
}
