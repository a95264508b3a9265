//! What the files of a repository can make kusion do.

use crate::support::{Home, text};
use std::fs;
use std::path::{Path, PathBuf};

/// Writes a stack with a kubeconfig whose program writes its environment to a file, and to where
/// kubectl looks; returns the folder of the stack and that file.
fn stack(home: &Home, kubeconfig: &Path) -> (PathBuf, PathBuf) {
    let stack = home.folder.join("repository/dev");
    fs::create_dir_all(&stack).expect("a folder");
    let seen = home.folder.join("seen");
    fs::write(
        stack.join("main.k"),
        "a = {apiVersion = \"v1\", kind = \"ConfigMap\", metadata.name = \"a\"}\n",
    )
    .expect("written");
    let config = format!(
        "{{clusters: [{{name: a, cluster: {{server: 'http://127.0.0.1:1'}}}}], \
          users: [{{name: a, user: {{exec: {{apiVersion: client.authentication.k8s.io/v1, \
          command: sh, args: [-c, \"env > {}\"], interactiveMode: Never}}}}}}], \
          contexts: [{{name: a, context: {{cluster: a, user: a}}}}], current-context: a}}",
        seen.display()
    );
    fs::write(stack.join(kubeconfig), config).expect("written");
    (stack, seen)
}

/// Runs a preview with secrets in the environment; returns the names of the variables that the
/// helper program saw.
fn names_seen(home: &Home, words: &[&str], seen: &Path) -> Option<Vec<String>> {
    let _ = fs::remove_file(seen);
    let mut command = home.command(words);
    command.env("KUSION_KEY", "07".repeat(32)).env("AWS_SECRET_ACCESS_KEY", "x");
    command.env("LC_ALL", "C").output().expect("kusion runs");
    let names = fs::read_to_string(seen).ok()?;
    Some(names.lines().filter_map(|it| Some(it.split_once('=')?.0.to_owned())).collect())
}

#[test]
fn a_repository_starts_no_program_until_it_is_trusted() {
    let home = Home::new("trust-exec");
    let (folder, seen) = stack(&home, Path::new("cluster.yaml"));
    fs::write(folder.join("stack.yaml"), "name: dev\nkubeConfig: cluster.yaml\n").expect("written");
    let folder = folder.display().to_string();
    for words in [
        &["preview", &folder][..],
        &["apply", &folder, "--yes"],
        &["destroy", &folder, "--yes"],
        &["status", &folder],
        &["watch", &folder, "--until-ready"],
        &["release", "list", &folder],
        &["release", "rollback", "1", &folder, "--yes"],
        &["compile", &folder],
    ] {
        assert_eq!(names_seen(&home, words, &seen), None, "{words:?}");
    }
    let once = names_seen(&home, &["preview", &folder, "--trust"], &seen).expect("it ran");
    for shown in &once {
        let is_harmless = ["PATH", "HOME", "PWD", "SHLVL", "_", "LC_ALL", "KUBERNETES_EXEC_INFO"];
        let is_harmless = is_harmless.contains(&shown.as_str()) || shown.starts_with("LANG");
        assert!(is_harmless, "{shown} is none of its business");
    }
    assert_eq!(names_seen(&home, &["preview", &folder], &seen), None, "once is not for ever");
    let trusted = home.run(&["trust", &folder]);
    assert!(trusted.status.success(), "{}", text(&trusted.stderr));
    assert!(names_seen(&home, &["preview", &folder], &seen).is_some());
}

#[test]
fn programs_of_the_user_see_no_keys_of_kusion() {
    let home = Home::new("trust-user");
    let (folder, seen) = stack(&home, Path::new("cluster.yaml"));
    let file = folder.join("cluster.yaml").display().to_string();
    let folder = folder.display().to_string();
    let names = names_seen(&home, &["preview", &folder, "--kubeconfig", &file], &seen);
    let names = names.expect("it ran without a question");
    assert!(names.iter().any(|it| it == "AWS_SECRET_ACCESS_KEY"), "{names:?}");
    assert!(!names.iter().any(|it| it.starts_with("KUSION_")), "{names:?}");
}
