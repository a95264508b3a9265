//! The environment and the settings of the user, and commands that run at the same time.

use crate::support::{Home, Project, text};
use std::fs;
use std::process::Output;

const PROGRAM: &str = r#"a = {apiVersion = "v1", kind = "ConfigMap", metadata.name = "a"}
"#;

fn run(project: &Project, words: &[&str], variables: &[(&str, &str)]) -> Output {
    let folder = project.folder().display().to_string();
    let mut command = project.home.command(&[words, &["-w", &folder]].concat());
    command.envs(variables.iter().copied()).output().expect("the binary runs")
}

#[test]
fn the_environment_names_the_cluster() {
    let project = Project::new("environment", &[("dev", PROGRAM)]);
    let sandbox = [("KUSION_SANDBOX", "blue")];
    // Reading commands start no sandbox of a name that may be mistyped.
    let done = run(&project, &["preview", "dev"], &sandbox);
    assert_eq!(done.status.code(), Some(1));
    assert!(text(&done.stderr).starts_with("error: sandbox `blue` does not exist\n"));
    let done = run(&project, &["apply", "dev", "--yes"], &sandbox);
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert!(text(&done.stdout).starts_with("shop/dev on sandbox `blue`\n"));
    // The command line wins.
    let done = run(&project, &["preview", "dev", "--sandbox"], &sandbox);
    assert!(text(&done.stdout).starts_with("shop/dev on sandbox `default`\n"));
    let done = run(&project, &["preview", "dev", "--context", "x"], &sandbox);
    assert!(text(&done.stderr).contains("cannot find the context `x`"), "{}", text(&done.stderr));
    // A named place is not one of a sandbox.
    let done = run(&project, &["preview", "dev", "--place", "x"], &sandbox);
    assert!(text(&done.stderr).contains("no kubeconfig found"), "{}", text(&done.stderr));
    let both = [("KUSION_SANDBOX", "blue"), ("KUSION_CONTEXT", "x")];
    let done = run(&project, &["preview", "dev"], &both);
    assert_eq!(done.status.code(), Some(2));
    let expected = "error: `KUSION_SANDBOX` and `KUSION_CONTEXT` are both set; unset one of them\n";
    assert_eq!(text(&done.stderr), expected);
}

#[test]
fn contexts_of_environment_stack_and_settings() {
    let project = Project::new("contexts", &[("dev", PROGRAM), ("prod", PROGRAM)]);
    let kubeconfig = project.home.folder.join("kubeconfig");
    let cluster = |name: &str| {
        format!("{{name: {name}, cluster: {{server: \"http://127.0.0.1:1/{name}\"}}}}")
    };
    let context = |name: &str| format!("{{name: {name}, context: {{cluster: {name}, user: me}}}}");
    let names = ["one", "two", "three"];
    let text_of = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: one\nusers: [{{name: me, user: {{}}}}]\n\
         clusters: [{}]\ncontexts: [{}]\n",
        names.map(cluster).join(", "),
        names.map(context).join(", ")
    );
    fs::write(&kubeconfig, text_of).expect("a file");
    let config = project.home.folder.join(".config/kusion");
    fs::create_dir_all(&config).expect("a folder");
    fs::write(config.join("config.yaml"), "context: two\n").expect("a file");
    let prod = project.folder().join("prod/stack.yaml");
    fs::write(prod, "name: prod\ncontext: three\n").expect("a file");
    let server = |stack: &str, variables: &[(&str, &str)]| {
        let file = kubeconfig.display().to_string();
        let variables = [variables, &[("KUBECONFIG", file.as_str())]].concat();
        let done = run(&project, &["preview", stack], &variables);
        let error = text(&done.stderr);
        let found = names.into_iter().find(|it| error.contains(&format!("127.0.0.1:1/{it}")));
        found.unwrap_or_else(|| panic!("{error}"))
    };
    assert_eq!(server("dev", &[]), "two", "the settings of the user");
    assert_eq!(server("prod", &[]), "three", "the stack");
    assert_eq!(server("prod", &[("KUSION_CONTEXT", "one")]), "one", "the environment");
}

#[test]
fn settings_are_not_read_from_a_repository() {
    let project = Project::new("foreign-settings", &[("dev", PROGRAM)]);
    let folder = project.folder().join(".config/kusion");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("config.yaml"), "sandbox: default\n").expect("a file");
    for variable in [".config", "", "."] {
        let mut command = project.home.command(&["preview", "dev"]);
        command.current_dir(project.folder()).env("XDG_CONFIG_HOME", variable);
        let done = command.env("HOME", variable).output().expect("the binary runs");
        assert!(text(&done.stderr).contains("no kubeconfig found"), "{}", text(&done.stderr));
    }
}

#[test]
fn manual_pages_cover_commands_and_topics() {
    let home = Home::new("man");
    let folder = home.folder.join("pages");
    home.ok(&["man", &folder.display().to_string()]);
    let page = |name: &str| fs::read_to_string(folder.join(name)).expect(name);
    assert!(page("kusion-sandbox-down.1").contains("\\-\\-all"));
    let topic = page("kusion-environment.7");
    assert!(topic.contains("KUSION_SANDBOX") && topic.contains("config.yaml"), "{topic}");
}

#[test]
fn recording_health_does_not_fail_another_command() {
    let project = Project::new("brief", &[("dev", PROGRAM)]);
    project.ok(&["apply", "dev", "--yes"]);
    let folder = project.folder().display().to_string();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..5 {
                    project.ok(&["status", "dev"]);
                }
            });
        }
        for number in 0..8 {
            let program = PROGRAM.replace("}\n", &format!(", data.n = \"{number}\"}}\n"));
            project.write("dev", &program);
            let words = ["apply", "dev", "--yes", "--sandbox", "-w", &folder];
            let done = project.home.run(&words);
            assert!(done.status.success(), "{}", text(&done.stderr));
        }
    });
}

/// The exit code of `kusion watch` that is interrupted after it has printed a word.
#[cfg(unix)]
fn watched_until(project: &Project, stack: &str, word: &str) -> Option<i32> {
    use std::io::{BufRead as _, BufReader};
    use std::process::Stdio;
    let folder = project.folder().display().to_string();
    let mut command = project.home.command(&["watch", stack, "--sandbox", "-w", &folder]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("the binary runs");
    let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let mut found = false;
    for line in lines.map_while(Result::ok) {
        found = found || line.contains(word);
        if line.contains(word) {
            let pid = child.id().to_string();
            std::process::Command::new("kill").args(["-INT", &pid]).status().expect("kill runs");
        }
    }
    assert!(found, "`{word}` was not printed");
    child.wait().expect("it ends").code()
}

#[test]
#[cfg(unix)]
fn an_interrupted_watch_tells_of_failures() {
    let job = |command: &str| {
        format!(
            r#"job = {{
    apiVersion = "batch/v1"
    kind = "Job"
    metadata = {{name = "{command}", namespace = "default"}}
    spec.backoffLimit = 0
    spec.template.spec = {{
        restartPolicy = "Never"
        containers = [{{name = "main", image = "busybox", command = ["{command}"]}}]
    }}
}}
"#
        )
    };
    let project = Project::new("watched", &[("good", &job("true")), ("bad", &job("false"))]);
    project.ok(&["apply", "good", "--yes"]);
    project.ok(&["apply", "bad", "--yes"]);
    assert_eq!(watched_until(&project, "good", "ready"), Some(130));
    assert_eq!(watched_until(&project, "bad", "failed"), Some(1));
}

#[test]
fn releases_show_their_commits() {
    let project = Project::new("commits", &[("dev", PROGRAM)]);
    let git = |words: &[&str]| {
        let mut command = std::process::Command::new("git");
        let settings = ["-c", "user.name=a", "-c", "user.email=a@b"];
        command.args(settings).args(words).current_dir(project.folder());
        let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").output().expect("git runs");
        assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
        text(&output.stdout).trim().to_owned()
    };
    git(&["init", "-q", "-b", "trunk"]);
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "x"]);
    let commit = git(&["rev-parse", "HEAD"]);
    project.ok(&["apply", "dev", "--yes", "-m", "first"]);
    project.write("dev", &PROGRAM.replace("}\n", ", data.n = \"1\"}\n"));
    project.ok(&["apply", "dev", "--yes"]);
    let list = project.ok(&["release", "list", "dev"]);
    let short = &commit[..10];
    assert!(list.contains(&format!("{short} (trunk)  ")), "{list}");
    assert!(list.contains(&format!("{short} (trunk), modified")), "{list}");
    let shown = project.ok(&["release", "show", "2", "dev"]);
    let sentence = format!("# commit {commit} of the branch trunk, with uncommitted changes\n");
    assert!(shown.contains(&sentence), "{shown}");
    let lines = project.json(&["release", "list", "dev"]);
    let expected = serde_json::json!({"commit": commit, "branch": "trunk", "isDirty": false});
    assert_eq!(lines[0]["head"]["git"], expected);
    assert_eq!(lines[1]["head"]["git"]["isDirty"], true);
}
