//! `kcl batch` on a repository of real files.

use crate::sandbox::Sandbox;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

const SETTINGS: &str = "kcl_cli_configs:\n  file: [../base/base.k, main.k]\n";

/// Twelve projects of two stacks on one model.
fn repo() -> Sandbox {
    let model =
        "schema App:\n    name: str\n    replicas: int = 1\n    check:\n        replicas < 9\n";
    let mut files = vec![
        ("r/kcl.mod".to_owned(), "[package]\nname = \"r\"\n".to_owned()),
        ("r/model/app.k".to_owned(), model.to_owned()),
    ];
    for i in 0..12 {
        let base = format!("import model\napp: model.App {{name = \"app-{i}\"}}\n");
        files.push((format!("r/p{i:02}/base/base.k"), base));
        for (at, stack) in ["dev", "prod"].iter().enumerate() {
            let main = format!("import model\napp: model.App {{replicas = {}}}\n", i % 4 + at);
            files.push((format!("r/p{i:02}/{stack}/main.k"), main));
            files.push((format!("r/p{i:02}/{stack}/kcl.yaml"), SETTINGS.to_owned()));
        }
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect();
    Sandbox::new(&files)
}

#[test]
fn each_result_is_what_a_run_prints() {
    let sandbox = repo();
    let ended = sandbox.kcl("batch r --out out --threads 2");
    let wanted = "24 stacks: 24 compiled (72 lines), 0 unchanged, 0 failed\n";
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (0, wanted, ""));
    for i in 0..12 {
        for stack in ["dev", "prod"] {
            let alone = sandbox.kcl_in(&format!("r/p{i:02}/{stack}"), "run", "");
            assert_eq!(sandbox.read(&format!("out/p{i:02}/{stack}.yaml")), alone.stdout);
        }
    }
    let again = sandbox.kcl("batch r -o out");
    assert_eq!(again.stdout, "24 stacks: 0 compiled (0 lines), 24 unchanged, 0 failed\n");
    sandbox.write("r/p03/dev/main.k", "import model\napp: model.App {replicas = 9}\n");
    let failed = sandbox.kcl("batch r -o out");
    assert_eq!(failed.stdout, "24 stacks: 0 compiled (0 lines), 23 unchanged, 1 failed\n");
    assert_eq!(failed.code, 1);
    assert!(failed.stderr.starts_with("p03/dev:\n"), "{}", failed.stderr);
}

#[test]
fn limits_hold_for_each_stack_and_compile_again_when_they_change() {
    let sandbox = Sandbox::new(&[
        ("r/a/kcl.yaml", "kcl_cli_configs:\n  file: [main.k]\n"),
        ("r/a/main.k", "import file\na = file.read(\"kcl.yaml\")\n"),
        ("r/b/kcl.yaml", "kcl_cli_configs:\n  file: [main.k]\n"),
        ("r/b/main.k", "a = [x for x in range(1000)]\n"),
    ]);
    let batch = |words: &str| sandbox.kcl(&format!("batch r --out out {words}"));
    let all = "2 stacks: 2 compiled (1004 lines), 0 unchanged, 0 failed\n";
    assert_eq!(batch("").stdout, all);
    assert_eq!(batch("").stdout, "2 stacks: 0 compiled (0 lines), 2 unchanged, 0 failed\n");
    for (words, stack, message) in [
        ("--no-io", "a", "file.read() is not allowed: `--no-io` is set"),
        ("--max-steps 100", "b", "the program was stopped: it takes too many steps"),
        ("--max-memory 100", "b", "the program was stopped: it takes too much memory"),
        ("--max-output 100", "b", "the program was stopped: its output takes more than 100 bytes"),
    ] {
        let ended = batch(words);
        assert_eq!(ended.code, 1, "{words}");
        assert!(ended.stdout.contains("0 unchanged"), "{words}: {}", ended.stdout);
        let said = ended.stderr.split(&format!("{stack}:\n")).nth(1).unwrap_or_default();
        assert!(said.contains(message), "{words}: {}", ended.stderr);
    }
    assert_eq!(batch("").stdout, all, "without limits again");
}

/// Makes a folder, and all in it, look as if it had been there for long.
fn age(path: &Path) {
    let Ok(file) = fs::File::open(path) else { return };
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        age(&entry.path());
    }
    let _ = file.set_modified(SystemTime::now() - Duration::from_mins(1));
}

#[test]
fn what_is_new_in_a_folder_counts() {
    let sandbox = repo();
    age(&sandbox.path("r"));
    let said = |n: usize| {
        format!("24 stacks: {n} compiled ({} lines), {} unchanged, 0 failed\n", n * 3, 24 - n)
    };
    let batch = || sandbox.kcl("batch r --out out --threads 2").stdout;
    assert_eq!(batch(), said(24));
    assert_eq!(batch(), said(0));
    sandbox.write("r/p02/prod/notes.txt", "nobody reads it\n");
    assert_eq!(batch(), said(0));
    sandbox.write("r/model/more.k", "more = 1\n");
    assert_eq!(batch(), said(24));
    assert_eq!(batch(), said(0));
    let settings = "kcl_cli_configs:\n  file: [../base/base.k, main.k]\n# longer\n";
    sandbox.write("r/p04/dev/kcl.yaml", settings);
    assert_eq!(batch(), said(1));
    fs::create_dir_all(sandbox.path("r/vendor/model")).expect("a folder can be made");
    sandbox.write("r/vendor/model/other.k", "other = 1\n");
    let ended = sandbox.kcl("batch r --out out");
    assert!(!ended.stdout.contains("24 unchanged"), "{}", ended.stdout);
}

#[test]
fn a_revision_of_git_says_what_changed() {
    let sandbox = repo();
    let git = |words: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=t", "-c", "user.email=t@t.test"]).args(words);
        command.current_dir(sandbox.path("r")).output().is_ok_and(|output| output.status.success())
    };
    if !(git(&["init", "-q"]) && git(&["add", "."]) && git(&["commit", "-qm", "all"])) {
        return; // There is no git here.
    }
    sandbox.write("r/p05/prod/main.k", "import model\napp: model.App {replicas = 3}\n");
    sandbox.write("r/p07/base/more.txt", "new, and nobody reads it\n");
    let ended = sandbox.kcl("batch r --out out --changed-since HEAD");
    assert_eq!(ended.stdout, "24 stacks: 1 compiled (3 lines), 23 unchanged, 0 failed\n");
    assert_eq!(sandbox.read("out/p05/prod.yaml"), "app:\n  name: app-5\n  replicas: 3\n");
    let wrong = sandbox.kcl("batch r --changed-since no-such-revision");
    assert_eq!(wrong.code, 1);
    assert!(wrong.stderr.starts_with("error: git: "), "{}", wrong.stderr);
}

#[test]
fn wrong_words() {
    let sandbox = Sandbox::new(&[("empty/a.txt", "")]);
    assert_eq!(sandbox.kcl("batch").code, 2);
    assert_eq!(sandbox.kcl("batch empty x").code, 2);
    assert!(sandbox.kcl("batch --help").stdout.contains("--changed-since"));
    let ended = sandbox.kcl("batch empty");
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""));
    assert!(ended.stderr.contains("there is no stack in"), "{}", ended.stderr);
}
