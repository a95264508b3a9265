//! The commit of a stack, as `git` says it.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the repositories of the tests are made by git"
)]

use base_system::OsSystem;
use kusion_generate::{find, git_revision};
use kusion_model::GitRevision;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A repository with a stack, which is removed at the end of a test.
struct Repository(PathBuf);

impl Drop for Repository {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Repository {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("kusion-git-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("main/dev")).expect("a folder");
        let repository = Self(fs::canonicalize(folder).expect("the folder"));
        repository.write("dev/stack.yaml", "name: dev\n");
        repository.write("dev/main.k", "a = 1\n");
        repository.git(&["init", "-q", "-b", "trunk"]);
        repository
    }

    fn main(&self) -> PathBuf {
        self.0.join("main")
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.main().join(path), text).expect("a file");
    }

    fn git_in(folder: &Path, words: &[&str]) -> String {
        let settings = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "gc.auto=0"];
        let mut command = Command::new("git");
        command.args(settings).args(words).current_dir(folder);
        let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").output().expect("git runs");
        assert!(output.status.success(), "{words:?}: {}", text_of(&output.stderr));
        text_of(&output.stdout).trim().to_owned()
    }

    fn git(&self, words: &[&str]) -> String {
        Self::git_in(&self.main(), words)
    }

    fn commit(&self) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "x"]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn revision_in(folder: &Path) -> Option<GitRevision> {
        let stacks = find(&OsSystem, folder, &[]).expect("a stack");
        git_revision(&OsSystem, &stacks[0])
    }

    fn revision(&self) -> Option<GitRevision> {
        Self::revision_in(&self.main())
    }

    fn is_dirty(&self) -> Option<bool> {
        self.revision().expect("a commit").is_dirty
    }
}

#[test]
fn the_commit_the_branch_and_changes_are_found() {
    let repository = Repository::new("changes");
    assert_eq!(repository.revision(), None, "there is no commit yet");
    let commit = repository.commit();
    let clean = GitRevision { commit, branch: Some("trunk".to_owned()), is_dirty: Some(false) };
    assert_eq!(repository.revision(), Some(clean.clone()));
    repository.write("dev/main.k", "a = 2\n");
    assert_eq!(repository.is_dirty(), Some(true), "changed");
    repository.git(&["add", "-A"]);
    // The index has no tree by then, or another one than the commit.
    assert_ne!(repository.is_dirty(), Some(false), "staged");
    repository.git(&["write-tree"]);
    assert_eq!(repository.is_dirty(), Some(true), "staged, with a tree");
    repository.git(&["reset", "-q", "--hard"]);
    assert_eq!(repository.revision(), Some(clean), "as before");
    repository.write("dev/new.k", "b = 2\n");
    assert_eq!(repository.is_dirty(), Some(true), "not tracked");
    fs::remove_file(repository.main().join("dev/new.k")).expect("removed");
    fs::remove_file(repository.main().join("dev/main.k")).expect("removed");
    assert_eq!(repository.is_dirty(), Some(true), "deleted");
}

#[test]
fn packs_detached_heads_and_every_form_of_the_index() {
    let repository = Repository::new("packs");
    let commit = repository.commit();
    repository.git(&["pack-refs", "--all"]);
    repository.git(&["repack", "-q", "-a", "-d"]);
    let branch = Some("trunk".to_owned());
    let clean = GitRevision { commit, branch, is_dirty: Some(false) };
    assert_eq!(repository.revision(), Some(clean.clone()));
    for version in ["3", "4", "2"] {
        repository.git(&["update-index", "--index-version", version]);
        assert_eq!(repository.revision(), Some(clean.clone()), "version {version}");
    }
    repository.git(&["checkout", "-q", "--detach"]);
    assert_eq!(repository.revision(), Some(GitRevision { branch: None, ..clean }));
}

#[test]
fn work_trees_and_submodules_lead_to_their_repositories() {
    let repository = Repository::new("trees");
    let commit = repository.commit();
    let tree = repository.0.join("tree");
    repository.git(&["worktree", "add", "-q", "-b", "side", &tree.display().to_string()]);
    let branch = Some("side".to_owned());
    let expected = GitRevision { commit, branch, is_dirty: Some(false) };
    assert_eq!(Repository::revision_in(&tree), Some(expected.clone()));
    fs::write(tree.join("dev/main.k"), "a = 3\n").expect("a file");
    let changed = GitRevision { is_dirty: Some(true), ..expected };
    assert_eq!(Repository::revision_in(&tree), Some(changed));
    // A file that leads to the work tree of somebody else is not followed.
    let stranger = repository.0.join("stranger");
    fs::create_dir_all(stranger.join("dev")).expect("a folder");
    fs::copy(tree.join(".git"), stranger.join(".git")).expect("a copy");
    fs::write(stranger.join("dev/stack.yaml"), "name: dev\n").expect("a file");
    assert_eq!(Repository::revision_in(&stranger), None);
}

#[test]
fn links_out_of_the_repository_are_not_followed() {
    let repository = Repository::new("links");
    let commit = repository.commit();
    let main = repository.main();
    let outside = repository.0.join("outside");
    fs::write(&outside, format!("{commit}\n")).expect("a file");
    #[cfg(unix)]
    {
        let reference = main.join(".git/refs/heads/trunk");
        fs::remove_file(&reference).expect("removed");
        std::os::unix::fs::symlink(&outside, &reference).expect("a link");
        assert_eq!(repository.revision(), None);
    }
    fs::write(main.join(".git/HEAD"), "ref: refs/../../../outside\n").expect("a file");
    assert_eq!(repository.revision(), None);
}
