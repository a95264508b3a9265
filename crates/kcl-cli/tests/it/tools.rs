//! Commands that read and change source files: what they touch, and what they leave alone.

use crate::sandbox::Sandbox;

#[test]
fn standard_input_is_formatted_to_standard_output() {
    let sandbox = Sandbox::new(&[]);
    let ended = sandbox.kcl_in(".", "fmt -", "a=1 # c\n");
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "a = 1 # c\n"));
    let ended = sandbox.kcl_in(".", "fmt --check -", "a=1\n");
    assert_eq!((ended.code, ended.stdout.as_str()), (1, "stdin.k\n"));
    let ended = sandbox.kcl_in(".", "fmt -", "a=(\n");
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""));
    assert!(ended.stderr.contains("stdin.k:1:"), "{}", ended.stderr);
}

#[test]
fn folders_are_formatted_with_all_below_but_not_hidden_or_excluded_ones() {
    let files = ["a.k", "sub/b.k", ".git/c.k", "vendor/d.k", "sub/e_gen.k", "f.txt"];
    let sandbox = Sandbox::new(&files.map(|path| (path, "a=1\n")));
    let ended = sandbox.kcl("fmt --exclude vendor --exclude *_gen.k ./...");
    assert_eq!(ended.stdout, "a.k\nsub/b.k\n");
    for path in files {
        let is_formatted = matches!(path, "a.k" | "sub/b.k");
        assert_eq!(sandbox.read(path), if is_formatted { "a = 1\n" } else { "a=1\n" }, "{path}");
    }
}

#[cfg(unix)]
#[test]
fn files_keep_their_permissions_and_links_in_folders_are_passed() {
    use std::fs;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
    let sandbox =
        Sandbox::new(&[("in/a.k", "a=1\n"), ("in/same.k", "a = 1\n"), ("out/b.k", "b=1\n")]);
    fs::set_permissions(sandbox.path("in/a.k"), fs::Permissions::from_mode(0o600)).unwrap();
    symlink(sandbox.path("out/b.k"), sandbox.path("in/link.k")).unwrap();
    symlink(sandbox.path("out"), sandbox.path("in/folder")).unwrap();
    let unchanged = fs::metadata(sandbox.path("in/same.k")).unwrap().ino();
    assert_eq!(sandbox.kcl("fmt in").stdout, "in/a.k\n");
    let mode = fs::metadata(sandbox.path("in/a.k")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(sandbox.read("out/b.k"), "b=1\n");
    assert_eq!(fs::metadata(sandbox.path("in/same.k")).unwrap().ino(), unchanged);
    // A link that the user names is followed, and stays a link.
    assert_eq!(sandbox.kcl("fmt in/link.k").code, 0);
    assert_eq!(sandbox.read("out/b.k"), "b = 1\n");
    assert!(fs::symlink_metadata(sandbox.path("in/link.k")).unwrap().is_symlink());
}

#[test]
fn levels_of_lints_are_read_from_the_module() {
    let sandbox = Sandbox::new(&[
        ("kcl.mod", "[lint]\nnaming = \"error\"\n"),
        ("main.k", "schema app:\n    a: int\n"),
    ]);
    let ended = sandbox.kcl("lint main.k");
    assert_eq!(ended.code, 1, "{}", ended.stdout);
    assert!(ended.stdout.starts_with("error[L1004]"), "{}", ended.stdout);
    assert_eq!(sandbox.kcl("lint --off naming main.k").stdout, "");
    sandbox.write("kcl.mod", "[lint]\nnamin = \"off\"\n");
    let ended = sandbox.kcl("lint main.k");
    assert_eq!(ended.code, 1);
    assert!(ended.stderr.contains("unknown lint `namin` (did you mean `naming`?)"));
}

#[test]
fn fixes_of_lints_change_imports_only() {
    let text = "a = 1\nimport math\nimport regex # unused\nb = math.ceil(1.5)\n";
    let sandbox = Sandbox::new(&[("main.k", text)]);
    let mut n_rounds = 0;
    while sandbox.kcl("lint --fix main.k").stderr.contains("fixed") {
        n_rounds += 1;
        assert!(n_rounds < 5, "fixes come to an end");
    }
    assert_eq!(sandbox.read("main.k"), "import math\na = 1\nb = math.ceil(1.5)\n");
}

#[test]
fn fixes_leave_dependencies_alone() {
    let library = "import math\nx = 1\n";
    let sandbox = Sandbox::new(&[
        ("app/kcl.mod", "[dependencies]\nlib = { path = \"../lib\" }\n"),
        ("app/main.k", "import lib\na = lib.x\n"),
        ("lib/kcl.mod", "[package]\nname = \"lib\"\n"),
        ("lib/lib.k", library),
    ]);
    let ended = sandbox.kcl_in("app", "lint --fix main.k", "");
    assert!(ended.stdout.contains("lib/lib.k:1:1"), "{}", ended.stdout);
    assert_eq!((ended.code, sandbox.read("lib/lib.k").as_str()), (0, library));
}

#[test]
fn the_file_that_owns_a_value_is_changed() {
    let sandbox = Sandbox::new(&[("base.k", "a = {b = 1}\n"), ("main.k", "c = 1\n")]);
    let ended = sandbox.kcl("set base.k main.k a.b=2 d=3");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert_eq!(sandbox.read("base.k"), "a = {b = 2}\n");
    assert_eq!(sandbox.read("main.k"), "c = 1\nd = 3\n");
    // Nothing is written if one change fails.
    assert_eq!(sandbox.kcl("set base.k main.k a.b=4 nothing-").code, 1);
    assert_eq!(sandbox.read("base.k"), "a = {b = 2}\n");
}
