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

/// A plugin that writes its environment to a file when it is started, and answers each call with 1.
fn plugin(seen: &Path) -> String {
    format!(
        "env > {}\n\
         while read -r line; do\n\
         id=${{line#*'\"id\":'}}; id=${{id%%,*}}\n\
         case $line in\n\
         *initialize*) result='{{\"protocol\":\"kcl-plugin/1\"}}' ;;\n\
         *) result=1 ;;\n\
         esac\n\
         echo '{{\"jsonrpc\":\"2.0\",\"id\":'$id',\"result\":'\"$result\"'}}'\n\
         done\n",
        seen.display()
    )
}

#[test]
fn a_plugin_of_a_repository_is_started_when_it_is_trusted() {
    let home = Home::new("trust-plugin");
    let (folder, seen) = stack(&home, Path::new("unused.yaml"));
    fs::write(folder.join("stack.yaml"), "name: dev\n").expect("written");
    let main = "import kcl_plugin.p\na = {apiVersion = \"v1\", kind = \"ConfigMap\", \
                metadata.name = \"a${p.f()}\"}\n";
    fs::write(folder.join("main.k"), main).expect("written");
    let module = folder.parent().expect("a folder").to_owned();
    fs::write(module.join("kcl.mod"), "[plugins]\np = \"sh plugins/p.sh\"\n").expect("written");
    fs::create_dir(module.join("plugins")).expect("a folder");
    fs::write(module.join("plugins/p.sh"), plugin(&seen)).expect("written");
    let (folder, module) = (folder.display().to_string(), module.display().to_string());
    let compile = ["compile", folder.as_str()];
    for words in [&compile[..], &["graph", &folder], &["preview", &folder], &["trust", &folder]] {
        assert_eq!(names_seen(&home, words, &seen), None, "{words:?}");
        home.run(&["trust", "--remove", &module]);
    }
    let refused = home.fails(&compile);
    let why = "the plugin `p` is not trusted: kcl.mod says that it starts `sh plugins/p.sh`";
    assert!(refused.contains(why), "{refused}");
    let seen_by = |words: &[&str]| names_seen(&home, words, &seen).expect("it ran");
    for words in [
        &["preview", &folder, "--trust"][..],
        &["compile", &folder, "--plugin", &format!("p=sh {module}/plugins/p.sh")],
    ] {
        for name in seen_by(words) {
            let allowed = [
                "PATH",
                "HOME",
                "PWD",
                "OLDPWD",
                "SHLVL",
                "_",
                "LC_ALL",
                "PYTHONDONTWRITEBYTECODE",
            ];
            let is_harmless = allowed.contains(&name.as_str()) || name.starts_with("LANG");
            assert!(is_harmless, "{name} is none of its business");
        }
    }
    assert_eq!(names_seen(&home, &compile, &seen), None, "once is not for ever");
    let trusted = home.ok(&["trust", &folder]);
    assert!(trusted.contains(": plugins.p `sh plugins/p.sh`"), "{trusted}");
    assert!(home.ok(&compile).contains("v1:ConfigMap:default:a1"));
    fs::write(format!("{module}/plugins/other"), "").expect("written");
    let changed = home.fails(&compile);
    assert!(changed.contains("the plugin `p` has changed since you trusted it"), "{changed}");
    // Without stacks, the folder of the module is enough.
    fs::remove_file(format!("{folder}/stack.yaml")).expect("removed");
    assert!(
        home.ok(&["trust", &module]).ends_with("1 setting is trusted until something changes\n")
    );
    let once = home.command(&compile).env("KUSION_TRUST", "1").output().expect("kusion runs");
    assert!(once.status.success(), "{}", text(&once.stderr));
}
