//! `kcl clean`.

use crate::sandbox::Sandbox;

#[test]
fn only_what_earlier_runs_kept_is_removed() {
    let entry = format!(".cache/kcl/{}.index", "0".repeat(64));
    let gone = [
        entry.as_str(),
        ".kcl/kpm/.store/packages/a/a.k",
        "app/.kclvm/cache/x",
        "app/__main__/.kclvm/cache/y",
    ];
    let kept = [".cache/kcl/notes.txt", ".kcl/kpm/k8s_1.31/kcl.mod", "app/main.k", "app/kcl.mod"];
    let files: Vec<(&str, &str)> = gone.iter().chain(&kept).map(|path| (*path, "")).collect();
    let sandbox = Sandbox::new(&files);
    let words = ["clean", "--yes", "app"].map(str::to_owned);
    let output = sandbox.command(&words).env_remove("XDG_CACHE_HOME").output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for path in gone {
        assert!(!sandbox.path(path).exists(), "{path}");
    }
    for path in kept {
        assert!(sandbox.path(path).exists(), "{path}");
    }
    let again = sandbox.command(&words).env_remove("XDG_CACHE_HOME").output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&again.stderr), "there is nothing to remove\n");
}
