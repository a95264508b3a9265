//! Packages of Git repositories.

use super::World;
use super::git::{commit, git, serve_git};
use std::fs;

/// A world with a repository: the package `lib` in its root, and `sub` in a folder.
fn world() -> (World, String) {
    let world = World::new();
    world.write("lib/parts/sub/kcl.mod", "[package]\nname = \"sub\"\nversion = \"2.0.0\"\n");
    world.write("lib/parts/sub/s.k", "import lib\n\npart = lib.greeting\n");
    world.write("lib/.gitattributes", "*.k text filter=evil export-subst\n");
    let first = commit(&world.path("lib"));
    git(&world.path("lib"), "tag v0.1.0");
    (world, first)
}

#[test]
fn by_tag_branch_and_commit_from_a_file_url() {
    let (world, first) = world();
    let url = format!("file://{}", world.path("lib").display());
    world.write("lib/lib.k", "greeting = \"second\"\n");
    commit(&world.path("lib"));
    for (words, expected) in [
        ("--tag v0.1.0".to_owned(), "hello"),
        ("--branch main".to_owned(), "second"),
        (format!("--commit {first}"), "hello"),
        (format!("--commit {}", &first[..7]), "hello"),
        (String::new(), "second"),
    ] {
        world.well("app", &format!("mod add --git {url} {words}"));
        assert_eq!(world.well("app", "run"), format!("a: {expected}\n"), "{words}");
        let lock = world.read("app/kcl.mod.lock");
        assert!(lock.contains(&format!("url = \"{url}\"\n")), "{lock}");
        assert!(lock.contains("resolved = \""), "{lock}");
        assert_eq!(world.well("app", "run --offline --locked"), format!("a: {expected}\n"));
    }
    assert_eq!(world.well("app", &format!("run git+{url}?tag=v0.1.0")), "greeting: hello\n");
    assert_eq!(world.well("app", &format!("run git+{url} -t v0.1.0")), "greeting: hello\n");
    world.assert_nothing_is_left();
}

#[test]
fn over_http_with_a_package_in_a_folder() {
    let (world, first) = world();
    let port = serve_git(world.path(""));
    let url = format!("http://127.0.0.1:{port}/lib/.git");
    world.well("app", &format!("mod add --git {url} --tag v0.1.0 --rename lib"));
    world.well("app", &format!("mod add --git {url} --tag v0.1.0 --package parts/sub"));
    world.write("app/main.k", "import sub\n\na = sub.part\n");
    assert_eq!(world.well("app", "run"), "a: hello\n");
    let lock = world.read("app/kcl.mod.lock");
    assert!(lock.contains(&format!("resolved = \"{first}\"")), "{lock}");
    assert!(lock.contains("package = \"parts/sub\""), "{lock}");
    // The whole hash of a commit, which the server gives by itself.
    world.well("app", &format!("mod add --git {url} --commit {first} --rename lib"));
    assert_eq!(world.well("app", "run"), "a: hello\n");
}

#[test]
fn a_moved_tag_is_refused_and_a_moved_branch_stays_where_it_was() {
    let (world, first) = world();
    let url = format!("file://{}", world.path("lib").display());
    world.well("app", &format!("mod add --git {url} --tag v0.1.0"));
    world.write("lib/lib.k", "greeting = \"evil\"\n");
    let second = commit(&world.path("lib"));
    git(&world.path("lib"), "tag -f v0.1.0");
    world.forget_downloads();
    let message = world.fails("app", "run");
    let expected = format!("  found     commit {second}\n  recorded  commit {first}\n");
    assert!(message.contains(&expected), "{message}");
    world.well("app", &format!("mod add --git {url} --branch main"));
    world.write("lib/lib.k", "greeting = \"third\"\n");
    commit(&world.path("lib"));
    world.forget_downloads();
    assert_eq!(world.well("app", "run"), "a: evil\n");
    assert_eq!(world.well("app", "mod update"), "lib: new content\n");
    assert_eq!(world.well("app", "run"), "a: third\n");
}

#[test]
fn a_repository_starts_no_program() {
    let (world, _) = world();
    // A filter of the user, which a checkout would run, and a hook.
    world.write(
        ".gitconfig",
        "[filter \"evil\"]\n\tsmudge = touch ${HOME}/smudged\n\trequired = true\n",
    );
    let url = format!("file://{}", world.path("lib").display());
    let mut command = world.command("app", &format!("mod add --git {url} --tag v0.1.0"));
    command.env("GIT_CONFIG_GLOBAL", world.path(".gitconfig"));
    command.env("GIT_DIR", world.path("elsewhere"));
    let ended = world.end(command);
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "added lib v0.1.0\n"), "{}", ended.stderr);
    assert!(!world.path("smudged").exists());
    for url in ["ext::touch%20x", "http://example.com/x.git", "--upload-pack=x", "/srv/x"] {
        let message = world.fails("app", &format!("mod add --git={url}"));
        assert!(message.contains("invalid package"), "{message}");
    }
    assert!(!world.path("app/x").exists());
}

#[test]
fn links_out_of_a_repository_are_refused() {
    let (world, _) = world();
    std::os::unix::fs::symlink("lib.k", world.path("lib/inside.k")).unwrap();
    commit(&world.path("lib"));
    let url = format!("file://{}", world.path("lib").display());
    world.well("app", &format!("mod add --git {url} --branch main"));
    assert!(fs::symlink_metadata(world.stored().remove(0).join("inside.k")).unwrap().is_symlink());
    std::os::unix::fs::symlink("../app/kcl.mod", world.path("lib/outside.k")).unwrap();
    commit(&world.path("lib"));
    let message = world.fails("app", "mod update");
    assert!(message.contains("`outside.k` is a link that leads out of the package"), "{message}");
    fs::remove_file(world.path("lib/outside.k")).unwrap();
    // A link to nothing is left out.
    std::os::unix::fs::symlink("none.k", world.path("lib/nothing.k")).unwrap();
    commit(&world.path("lib"));
    world.well("app", "mod update");
    world.assert_nothing_is_left();
}
