//! Plugins: real processes, good and bad, and who may name them.

use crate::sandbox::{Ended, Sandbox};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A plugin in sh: notes its id, speaks the protocol, and does something for each call. `@id@` is the
/// id of the request, `@line@` the request.
fn script(body: &str) -> String {
    let body = body.replace("@id@", "'$id'").replace("@line@", "'\"$line\"'");
    format!(
        "echo $$ >> ids\n\
         while read -r line; do\n\
         id=${{line#*'\"id\":'}}; id=${{id%%,*}}\n\
         case $line in\n\
         *'\"method\":\"initialize\"'*) \
         echo '{{\"jsonrpc\":\"2.0\",\"id\":'$id',\"result\":{{\"protocol\":\"kcl-plugin/1\"}}}}' ;;\n\
         *) {body} ;;\n\
         esac\n\
         done\n"
    )
}

/// Answers with the request.
const ECHO: &str = r#"echo '{"jsonrpc":"2.0","id":@id@,"result":@line@}'"#;
/// Answers with the number of calls of this process, and its id.
const COUNT: &str = r#"n=$((n+1)); echo '{"jsonrpc":"2.0","id":@id@,"result":['$n','$$']}'"#;

const CALL: &str = "import kcl_plugin.p\na = 1\nb = p.f(a)\n";

/// A folder with a program and the plugin `p`.
fn sandbox(program: &str, body: &str) -> Sandbox {
    Sandbox::new(&[("main.k", program), ("p.sh", &script(body))])
}

fn command(sandbox: &Sandbox, words: &[&str]) -> Command {
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    let mut command = sandbox.command(&words);
    for name in ["KUSION_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "KUSION_TRUST"] {
        command.env_remove(name);
    }
    command
}

fn kcl(sandbox: &Sandbox, words: &[&str]) -> Ended {
    let output = command(sandbox, words).output().expect("kcl runs");
    let place = sandbox.path("").display().to_string();
    let place = place.trim_end_matches('/').to_owned();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&place, "${DIR}");
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    }
}

/// Runs the program with the plugin.
fn run(sandbox: &Sandbox, more: &[&str]) -> Ended {
    let words = ["run", "main.k", "--plugin", "p=sh p.sh"];
    kcl(sandbox, &[&words[..], more].concat())
}

/// The message of a failure, and its line.
fn failure(ended: &Ended) -> (i32, String, String) {
    let at = ended.stderr.lines().find_map(|line| line.split_once("--> ")).map(|it| it.1);
    let said = ended.stderr.lines().find_map(|line| line.split_once("^ ")).map(|it| it.1);
    (ended.code, at.unwrap_or_default().to_owned(), said.unwrap_or(&ended.stderr).to_owned())
}

/// The ids of the plugins that were started.
fn started(sandbox: &Sandbox) -> Vec<String> {
    let text = std::fs::read_to_string(sandbox.path("ids")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn runs(id: &str) -> bool {
    let ended = Command::new("kill").args(["-0", id]).stderr(Stdio::null()).status();
    ended.is_ok_and(|status| status.success())
}

fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_mins(1), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_call_passes_values_as_json() {
    let program = "import kcl_plugin.p as q\n\
        schema S:\n    x: int = 1\n    _y: str = \"y\"\n\
        a = q.f(1, S {}, None, [1.5, True, \"ä\"], k={b = 1, a = 2}).params\n\
        f = q.format\nb = f().params.function\nc = [q.g(i).id for i in [1, 2]]\n";
    let sandbox = sandbox(program, ECHO);
    let ended = run(&sandbox, &["--format", "json"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    let expected = "{\"a\": {\"function\": \"f\", \"args\": [1, {\"x\": 1, \"_y\": \"y\"}, null, \
        [1.5, true, \"ä\"]], \"kwargs\": {\"k\": {\"b\": 1, \"a\": 2}}}, \"b\": \"format\", \
        \"c\": [4, 5]}\n";
    let shown = ended.stdout.replace("\"_y\": \"y\", ", "");
    assert_eq!(shown.replace(", \"_y\": \"y\"", ""), expected.replace(", \"_y\": \"y\"", ""));
    assert_eq!(started(&sandbox).len(), 1, "one process for all calls");
    assert!(!runs(&started(&sandbox)[0]));
}

#[test]
fn without_a_call_nothing_is_started() {
    let sandbox = sandbox("import kcl_plugin.p\na = 1\nif a > 1:\n    b = p.f()\n", ECHO);
    assert_eq!(run(&sandbox, &[]).stdout, "a: 1\n");
    assert_eq!(started(&sandbox), [""; 0]);
}

/// Runs a plugin that fails with a time limit, and checks the message and that nothing is left.
fn check_failure(body: &str, time: &str, expected: &str) {
    let sandbox = sandbox(CALL, body);
    let found = failure(&run(&sandbox, &["--timeout", time]));
    let expected = format!("the plugin `p` {expected}");
    assert_eq!(found, (1, "${DIR}/main.k:3:1".to_owned(), expected), "{body}");
    let ids = started(&sandbox);
    assert_eq!(ids.len(), 1, "{body}");
    assert!(!runs(&ids[0]), "{body}");
}

/// What follows if a plugin has written `oh no` to standard error.
const LAST: &str = "; its last line on standard error: `oh no`";

#[test]
fn the_time_limit_of_a_program_holds_during_a_call() {
    let expected = format!("was stopped: the time limit of the program was reached{LAST}");
    check_failure("echo 'oh no' >&2; sleep 600", "5s", &expected);
}

#[test]
fn an_answer_that_is_too_late_does_not_count() {
    let late = r#"echo 'oh no' >&2; sleep 60; echo '{"jsonrpc":"2.0","id":@id@,"result":1}'"#;
    let expected = format!("was stopped: the time limit of the program was reached{LAST}");
    check_failure(late, "5s", &expected);
}

#[test]
fn what_goes_wrong_names_the_plugin_the_place_and_its_last_words() {
    for (body, expected) in [
        ("echo 'oh no' >&2; exit 3", format!("ended without an answer (exit status 3){LAST}")),
        ("echo 'oh no' >&2; kill -9 $$", format!("ended without an answer (signal 9){LAST}")),
        (
            "echo 'oh no' >&2; yes | tr -d '\\n'",
            format!("sent a line of more than 16777216 bytes and was stopped{LAST}"),
        ),
        (
            "while :; do echo 'oh no' >&2; done",
            format!("wrote more than 1048576 bytes to standard error and was stopped{LAST}"),
        ),
        (
            "echo 'oh no' >&2; echo hello",
            format!(
                "sent a line that is not an answer in JSON-RPC 2.0 and was stopped: `hello`{LAST}"
            ),
        ),
        (
            r#"echo 'oh no' >&2; echo '{"jsonrpc":"2.0","id":99,"result":1}'"#,
            format!("answered the request `99`, but `2` was asked, and was stopped{LAST}"),
        ),
        (
            r#"echo '{"jsonrpc":"2.0","id":@id@,"error":{"code":1,"message":"no such host"}}'"#,
            "failed: no such host".to_owned(),
        ),
    ] {
        check_failure(body, "60s", &expected);
    }
}

#[test]
fn a_program_that_cannot_be_started_is_named() {
    let sandbox = sandbox(CALL, ECHO);
    let start = |command: &str| {
        let plugin = format!("p={command}");
        failure(&kcl(&sandbox, &["run", "main.k", "--plugin", &plugin])).2
    };
    assert_eq!(
        start("kcl-no-such-program"),
        "the plugin `p` cannot be started: `kcl-no-such-program`: No such file or directory (os \
         error 2)"
    );
    assert_eq!(
        start("./p.sh"),
        "the plugin `p` cannot be started: `${DIR}/./p.sh`: Permission denied (os error 13)"
    );
    let ended = kcl(&sandbox, &["run", "main.k", "--plugin", "p"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("invalid plugin 'p': expected name=command"), "{}", ended.stderr);
}

#[test]
fn no_process_is_left_behind_when_kcl_is_killed() {
    let sandbox = sandbox(CALL, "sleep 600 & echo $! >> ids; wait");
    let mut child = command(&sandbox, &["run", "main.k", "--plugin", "p=sh p.sh"])
        .stderr(Stdio::null())
        .spawn()
        .expect("kcl runs");
    wait_for("the plugin starts a child", || started(&sandbox).len() == 2);
    assert!(started(&sandbox).iter().all(|id| runs(id)));
    child.kill().expect("killed");
    child.wait().expect("ended");
    wait_for("all processes end", || !started(&sandbox).iter().any(|id| runs(id)));
}

#[test]
fn a_repository_starts_nothing() {
    let sandbox = sandbox(CALL, ECHO);
    let plain = failure(&kcl(&sandbox, &["run", "main.k"]));
    let missing = "the plugin package `kcl_plugin.p` is not found, please confirm if plugin mode is \
                   enabled";
    assert_eq!((plain.0, plain.2.as_str()), (1, missing));
    std::fs::create_dir(sandbox.path("plugins")).expect("a folder");
    sandbox.write("plugins/p.sh", &script(ECHO));
    sandbox.write("kcl.mod", "[package]\nname = \"m\"\n[plugins]\np = \"sh plugins/p.sh\"\n");
    let named = kcl(&sandbox, &["run", "main.k"]);
    let found = failure(&named);
    let untrusted = "the plugin `p` is not trusted: kcl.mod says that it starts `sh plugins/p.sh`";
    assert_eq!((found.1.as_str(), found.2.as_str()), ("${DIR}/main.k:1:1", untrusted));
    assert!(named.stderr.contains("run 'kusion trust ${DIR}'"), "{}", named.stderr);
    for words in [&["lint", "main.k"][..], &["fmt", "--check", "main.k"], &["query", "main.k"]] {
        kcl(&sandbox, words);
    }
    assert_eq!(kcl(&sandbox, &["lint", "main.k"]).stderr, "", "a named plugin is known");
    assert!(!sandbox.path("plugins/ids").exists() && started(&sandbox).is_empty());
    // The user's own choice.
    assert_eq!(run(&sandbox, &[]).code, 0);
    assert_eq!(started(&sandbox).len(), 1);
}

#[test]
fn the_settings_of_the_user_name_plugins() {
    let sandbox = sandbox(CALL, ECHO);
    let set = |text: &str| {
        std::fs::create_dir_all(sandbox.path(".config/kusion")).expect("a folder");
        sandbox.write(".config/kusion/config.yaml", text);
        kcl(&sandbox, &["run", "main.k"])
    };
    let script = sandbox.path("p.sh").display().to_string();
    let text = script.replace("p.sh", "ids");
    sandbox.write("p.sh", &self::script(ECHO).replace(">> ids", &format!(">> {text}")));
    let ended = set(&format!("sandbox: default\nplugins:\n  p: [sh, {script}]\n"));
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    assert_eq!(started(&sandbox).len(), 1);
    let relative = failure(&set("plugins: {p: ./p.sh}\n")).2;
    assert_eq!(
        relative,
        "cannot use ${DIR}/.config/kusion/config.yaml: `plugins.p`: expected an absolute path, or \
         the name of a program in PATH"
    );
    assert!(failure(&set("plugins: {p: 5}\n")).2.contains("expected a command as a string"));
    assert!(failure(&set("plugins: {other: x}\n")).2.contains("is not found"));
}

#[test]
fn dependencies_neither_name_nor_call_plugins() {
    let sandbox = Sandbox::new(&[
        ("kcl.mod", "[package]\nname = \"m\"\n[dependencies]\nlib = { path = \"lib\" }\n"),
        ("main.k", "import lib\na = lib.f(1)\n"),
        ("lib/kcl.mod", "[package]\nname = \"lib\"\n[plugins]\np = \"sh p.sh\"\n"),
        ("lib/lib.k", "import kcl_plugin.p\nf = lambda x { p.f(x).id }\n"),
        ("p.sh", &script(ECHO)),
    ]);
    let unnamed = failure(&kcl(&sandbox, &["run", "main.k"]));
    assert!(
        unnamed.1.ends_with("lib/lib.k:1:1") && unnamed.2.contains("is not found"),
        "{unnamed:?}"
    );
    let refused = failure(&run(&sandbox, &[]));
    assert_eq!(refused.1, "${DIR}/lib/lib.k:2:1");
    assert!(refused.2.starts_with("p.f() is not allowed in dependencies"), "{}", refused.2);
    assert_eq!(started(&sandbox), [""; 0]);
    assert_eq!(run(&sandbox, &["--allow-io", "lib"]).stdout, "a: 2\n");
    let forbidden = failure(&run(&sandbox, &["--allow-io", "lib", "--no-io"])).2;
    assert_eq!(forbidden, "p.f() is not allowed: `--no-io` is set");
}

#[test]
fn tests_and_checks_of_data_call_plugins() {
    let sandbox = Sandbox::new(&[
        ("a_test.k", "import kcl_plugin.p\ntest_p = lambda { assert p.f(1).params.args == [1] }\n"),
        (
            "rules/s.k",
            "import kcl_plugin.p\nschema S:\n    x: int\n    check:\n        p.f(x).id > 1\n",
        ),
        ("data.yaml", "x: 1\n"),
        ("p.sh", &script(ECHO)),
    ]);
    let plugin = ["--plugin", "p=sh p.sh"];
    let tested = kcl(&sandbox, &[&["test"][..], &plugin].concat());
    assert_eq!(tested.code, 0, "{tested:?}");
    let vetted = kcl(&sandbox, &[&["vet", "data.yaml", "rules/s.k"][..], &plugin].concat());
    assert_eq!((vetted.code, vetted.stdout.as_str()), (0, "Validate success!\n"), "{vetted:?}");
    assert_eq!(started(&sandbox).len(), 2);
    assert!(!started(&sandbox).iter().any(|id| runs(id)));
}

#[test]
fn a_batch_calls_one_process_and_never_keeps_a_result() {
    let program = "import kcl_plugin.p\nimport model\na = p.f()[0] > 0\nb = model.x\n";
    let sandbox = Sandbox::new(&[
        ("r/kcl.mod", ""),
        ("r/model/m.k", "import kcl_plugin.p\nx = p.f()[1] > 0\n"),
        ("r/one/kcl.yaml", "kcl_cli_configs:\n  file: [main.k]\n"),
        ("r/one/main.k", program),
        ("r/two/kcl.yaml", "kcl_cli_configs:\n  file: [main.k]\n"),
        ("r/two/main.k", program),
        ("r/three/kcl.yaml", "kcl_cli_configs:\n  file: [main.k]\n"),
        ("r/three/main.k", "a = 1\n"),
        ("p.sh", &script(&format!("echo . >> calls; {COUNT}"))),
    ]);
    let batch = || kcl(&sandbox, &["batch", "r", "--out", "out", "--plugin", "p=sh p.sh"]);
    assert_eq!(batch().stdout, "3 stacks: 3 compiled (5 lines), 0 unchanged, 0 failed\n");
    assert_eq!(started(&sandbox).len(), 1, "one process for all stacks");
    // Two stacks, each with its own call and that of the package.
    assert_eq!(sandbox.read("calls"), ".\n".repeat(4));
    assert_eq!(batch().stdout, "3 stacks: 2 compiled (4 lines), 1 unchanged, 0 failed\n");
    assert_eq!(sandbox.read("calls"), ".\n".repeat(8));
}

#[test]
fn the_package_cache_keeps_no_call() {
    let program = "import kcl_plugin.p\nimport model\na = p.f()[1]\nb = model.x\nc = model.y\n";
    let sandbox = Sandbox::new(&[
        ("kcl.mod", ""),
        ("main.k", program),
        ("model/m.k", "import kcl_plugin.p\nimport plain\nx = p.f()[1]\ny = plain.y\n"),
        ("plain/m.k", "y = 1\nschema Unused:\n    a: int\n"),
        ("other.k", "import plain\na = plain.y\n"),
        ("p.sh", &script(&format!("echo . >> calls; {COUNT}"))),
    ]);
    let cached = |file: &str| {
        let words = ["run", file, "--plugin", "p=sh p.sh"];
        let output = command(&sandbox, &words)
            .env("KCL_CACHE", "always")
            .env("KCL_CACHE_DIR", sandbox.path("cache"))
            .output()
            .expect("kcl runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    // A package that others use is kept, so that a program could run on that.
    assert_eq!(cached("other.k"), "a: 1\n");
    assert!(sandbox.path("cache").exists(), "something is kept");
    let mut results: Vec<String> = (0..3).map(|_| cached("main.k")).collect();
    // Each run has a process of its own, and the result has its id.
    assert_eq!(started(&sandbox).len(), 3);
    results.dedup();
    assert_eq!(results.len(), 3, "{results:?}");
    assert_eq!(sandbox.read("calls"), ".\n".repeat(6), "no call is made twice");
}
