//! What a program can't do: leave its folder, read what it was not given, go on for ever.

use crate::sandbox::Sandbox;
use std::fs;

/// Runs `a = EXPRESSION` in a Git work tree beside a folder with a secret, and returns what is
/// said: the message of an error, or the output.
#[cfg(unix)]
fn said(sandbox: &Sandbox, expression: &str) -> String {
    let program = format!("import file\nimport json\na = {expression}\n");
    sandbox.write("repo/main.k", &program);
    message(&sandbox.kcl_in("repo", "run main.k", ""))
}

fn message(ended: &crate::sandbox::Ended) -> String {
    let found = ended.stderr.lines().find_map(|line| line.split_once("^ "));
    found.map_or_else(|| ended.stdout.trim().to_owned(), |(_, message)| message.to_owned())
}

#[cfg(unix)]
fn repository() -> Sandbox {
    use std::os::unix::fs::symlink;
    let sandbox = Sandbox::new(&[
        ("out/secret.txt", "SECRET"),
        ("repo/.git/config", "[core]\n"),
        ("repo/in.txt", "inside"),
        ("repo/sub/a.txt", ""),
        ("repo/pkg/b.txt", ""),
    ]);
    let link = |to: &str, path: &str| symlink(to, sandbox.path(path)).expect("a link can be made");
    link("../out/secret.txt", "repo/relative");
    link(&sandbox.path("out").display().to_string(), "repo/absolute");
    link("../../out/secret.txt", "repo/pkg/link");
    link("../out/new.txt", "repo/dangling");
    link(".git/config", "repo/git");
    link("in.txt", "repo/inner");
    link("../in.txt", "repo/sub/up");
    link("loop", "repo/loop");
    sandbox
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out_of_the_work_tree() {
    let sandbox = repository();
    let escapes = |path: &str| format!("path '{path}' escapes module root '${{DIR}}/repo'");
    for (expression, path) in [
        (r#"file.read("relative")"#, "relative"),
        (r#"file.readbase64("absolute/secret.txt")"#, "absolute/secret.txt"),
        (r#"file.size("absolute/secret.txt")"#, "absolute/secret.txt"),
        (r#"file.abs("absolute")"#, "absolute"),
        (r#"file.append("dangling", "x")"#, "dangling"),
        (r#"file.write("absolute/new.txt", "x")"#, "absolute/new.txt"),
        (r#"file.mkdir("absolute/new")"#, "absolute/new"),
        (r#"file.cp("pkg", "copied")"#, "pkg"),
        (r#"file.cp("relative", "copied")"#, "relative"),
        (r#"file.cp("in.txt", "absolute/in.txt")"#, "in.txt"),
        (r#"file.mv("in.txt", "absolute/in.txt")"#, "in.txt"),
        (r#"file.delete("absolute/secret.txt")"#, "absolute/secret.txt"),
        (r#"file.read("../out/secret.txt")"#, "../out/secret.txt"),
        (r#"file.read("/etc/passwd")"#, "/etc/passwd"),
        (r#"json.dump_to_file({}, "../out/new.json")"#, "../out/new.json"),
        (r#"json.dump_to_file({}, "absolute/new.json")"#, "absolute/new.json"),
    ] {
        assert_eq!(said(&sandbox, expression), escapes(path), "{expression}");
    }
    assert_eq!(said(&sandbox, r#"file.exists("absolute/secret.txt")"#), "a: false");
    assert_eq!(said(&sandbox, r#"file.glob("absolute/*")"#), "a: []");
    assert!(said(&sandbox, r#"file.read("loop")"#).contains("symbolic links"));
    let left = fs::read_dir(sandbox.path("out")).expect("the folder is there").count();
    assert_eq!((left, sandbox.read("out/secret.txt")), (1, "SECRET".to_owned()));
}

#[cfg(unix)]
#[test]
fn the_repository_of_git_is_not_for_programs() {
    let sandbox = repository();
    for path in [".git/config", "git"] {
        let said = said(&sandbox, &format!("file.read(\"{path}\")"));
        assert!(said.ends_with("the folder `.git` may not be used"), "{said}");
    }
    assert_eq!(said(&sandbox, r#"file.exists(".git")"#), "a: false");
    assert!(said(&sandbox, r#"file.append(".git/hooks", "x")"#).contains(".git"));
    assert_eq!(said(&sandbox, r#"file.glob(".git/*")"#), "a: []");
}

#[cfg(unix)]
#[test]
fn links_inside_of_the_work_tree_are_followed() {
    let sandbox = repository();
    for (expression, answer) in [
        (r#"file.read("inner")"#, "a: inside"),
        (r#"file.read("sub/up")"#, "a: inside"),
        (r#"file.read(file.modpath() + "/in.txt")"#, "a: inside"),
        (r#"file.mkdir("new/deep")"#, "a: null"),
        (r#"file.write("new/deep/x", "1")"#, "a: null"),
        (r#"file.append("new/deep/x", "2")"#, "a: null"),
        (r#"file.size("new/deep/x")"#, "a: 2"),
        (r#"file.cp("new", "copy")"#, "a: null"),
        (r#"file.mv("copy/deep/x", "moved")"#, "a: null"),
        (r#"file.read("moved")"#, "a: '12'"),
        (r#"file.delete("moved")"#, "a: null"),
        (r#"file.exists("moved")"#, "a: false"),
    ] {
        assert_eq!(said(&sandbox, expression), answer, "{expression}");
    }
}

#[cfg(unix)]
#[test]
fn settings_and_packages_name_sources_only() {
    let sandbox = repository();
    std::os::unix::fs::symlink("../out/secret.txt", sandbox.path("repo/evil.k")).expect("a link");
    fs::create_dir(sandbox.path("repo/lib")).expect("a folder");
    std::os::unix::fs::symlink("../../out/secret.txt", sandbox.path("repo/lib/l.k"))
        .expect("a link");
    for file in ["../out/secret.txt", "evil.k", "${KCL_MOD}/evil.k", "in.txt"] {
        sandbox.write("repo/kcl.yaml", &format!("kcl_cli_configs:\n  file: ['{file}']\n"));
        let ended = sandbox.kcl_in("repo", "run", "");
        let refused = format!("Failed to load '{file}': settings can only name KCL files (*.k)");
        assert!(ended.code == 1 && ended.stderr.contains(&refused), "{file}: {}", ended.stderr);
    }
    sandbox.write("repo/kcl.yaml", "kcl_cli_configs:\n  file: ['.']\n");
    sandbox.write("repo/main.k", "import lib\na = 1\n");
    let ended = sandbox.kcl_in("repo", "run", "");
    assert!(!ended.stderr.contains("SECRET") && !ended.stdout.contains("SECRET"), "{ended:?}");
}

#[test]
fn files_and_environment_can_be_turned_off() {
    let sandbox = Sandbox::new(&[
        ("main.k", "import file\na = file.read_env(\"HOME\")\n"),
        ("read.k", "import file\na = file.read(\"main.k\")\n"),
        ("dump.k", "import yaml\na = yaml.dump_to_file({}, \"new.yaml\")\n"),
    ]);
    for (file, function) in
        [("main.k", "file.read_env"), ("read.k", "file.read"), ("dump.k", "yaml.dump_to_file")]
    {
        let ended = sandbox.kcl(&format!("run --no-io {file}"));
        assert_eq!(message(&ended), format!("{function}() is not allowed: `--no-io` is set"));
    }
    assert_eq!(sandbox.kcl("run main.k").code, 0);
}

#[test]
fn dependencies_use_files_only_if_the_main_package_says_so() {
    let sandbox = Sandbox::new(&[
        (
            "dep/kcl.mod",
            "[package]\nname = \"dep\"\n[dependencies]\nx = { path = \"../x\", io = true }\n",
        ),
        ("dep/d.k", "import file\nv = file.read(\"d.txt\")\n"),
        ("dep/d.txt", "text"),
        ("x/kcl.mod", ""),
        ("app/main.k", "import dep\na = dep.v\n"),
        ("app/kcl.mod", "[dependencies]\ndep = { path = \"../dep\" }\n"),
    ]);
    let ended = sandbox.kcl_in("app", "run main.k", "");
    let refused = "file.read() is not allowed in dependencies unless the main package grants it";
    assert!(message(&ended).starts_with(refused), "{}", ended.stderr);
    assert_eq!(sandbox.kcl_in("app", "run --allow-io dep main.k", "").stdout, "a: text\n");
    sandbox.write("app/kcl.mod", "[dependencies]\ndep = { path = \"../dep\", io = true }\n");
    assert_eq!(sandbox.kcl_in("app", "run main.k", "").stdout, "a: text\n");
}

#[test]
fn every_limit_is_an_error_with_a_place() {
    let sandbox = Sandbox::new(&[
        ("fib.k", "f = lambda n { 1 if n < 2 else f(n - 1) + f(n - 2) }\na = f(60)\n"),
        ("many.k", "_l = [i for i in range(1000)]\na = [[x for x in _l] for y in _l]\n"),
        ("replace.k", "_s = \"a\" * 100000\na = len(_s.replace(\"a\", _s))\n"),
        ("join.k", "_s = \"a\" * 100000\na = len(_s.join([_s for i in range(1000)]))\n"),
        ("format.k", "_s = \"a\" * 1000000\na = len((\"{0}\" * 1000).format(_s))\n"),
        ("width.k", "a = len(\"{:>9000000}\".format(1))\n"),
        ("repeat.k", "a = len(\"a\" * 9000000)\n"),
        (
            "template.k",
            "import template\n_d = {l = [i for i in range(300)]}\na = len(template.execute(\"{{#each l}}{{#each @root.l}}{{#each @root.l}}{{#each @root.l}}x{{/each}}{{/each}}{{/each}}{{/each}}\", _d))\n",
        ),
        (
            "regex.k",
            "import regex\n_s = \"a\" * 10000\na = len(regex.replace(_s, \"a\", \"$0\" * 10000))\n",
        ),
        ("shared.k", &format!("_l0 = [1]\n{}a = len(str(_l50))\n", doubled())),
        ("encode.k", &format!("import json\n_l0 = [1]\n{}a = len(json.encode(_l50))\n", doubled())),
        ("joined.k", &format!("_l0 = [1]\n{}a = len(\"${{_l50}}\")\n", doubled())),
    ]);
    let stopped = |words: &str, what: &str| {
        let ended = sandbox.kcl(&format!("run {words}"));
        let want = format!("the program was stopped: {what}");
        assert_eq!(message(&ended), want, "{words}: {}", ended.stderr);
        assert!(ended.stderr.contains(" --> "), "{words}: {}", ended.stderr);
    };
    stopped("--max-steps 100000 fib.k", "it takes too many steps");
    stopped("--timeout 50ms fib.k", "timed out after 50ms");
    let memory = "it takes too much memory";
    for file in [
        "many", "replace", "join", "format", "width", "repeat", "template", "regex", "shared",
        "encode", "joined",
    ] {
        stopped(&format!("--max-memory 8000000 {file}.k"), memory);
    }
    assert_eq!(sandbox.kcl("run --timeout 5 fib.k").code, 2);
}

/// Fifty lists, each of which holds the one before twice.
fn doubled() -> String {
    let lines: Vec<String> = (0..50).map(|n| format!("_l{} = [_l{n}, _l{n}]\n", n + 1)).collect();
    lines.concat()
}

#[test]
fn the_output_has_a_limit_in_every_form() {
    let program = format!("_l0 = [1]\n{}a = _l50\n", doubled());
    let stream = format!(
        "import manifests\n_l0 = [1]\n{}manifests.yaml_stream([{{a = _l50}}])\n",
        doubled()
    );
    let sandbox = Sandbox::new(&[
        ("main.k", &program),
        ("stream.k", &stream),
        ("print.k", "_l = [print(\"text\") for i in range(1000)]\n"),
    ]);
    for words in ["main.k", "-f json main.k", "-f toml main.k", "stream.k", "-f json stream.k"] {
        let ended = sandbox.kcl(&format!("run --max-output 100000 {words}"));
        let want = "the program was stopped: its output takes more than 100000 bytes";
        assert_eq!(message(&ended), want, "{words}");
    }
    let ended = sandbox.kcl("run --max-output 1000 print.k");
    assert_eq!(message(&ended), "the program was stopped: it prints more than 1000 bytes");
}

#[test]
fn usage_is_shown_on_request() {
    let sandbox = Sandbox::new(&[("main.k", "a = [i for i in range(100)]\n")]);
    let ended = sandbox.kcl("run --show-usage main.k");
    assert!(ended.stderr.starts_with("used: ") && ended.stderr.ends_with(" bytes of output\n"));
}

#[test]
fn settings_write_the_output_only_below_the_root() {
    let sandbox = Sandbox::new(&[
        ("repo/kcl.mod", ""),
        ("repo/main.k", "a = 1\n"),
        ("repo/kcl.yaml", "kcl_cli_configs:\n  file: [main.k]\n  output: ../new.yaml\n"),
    ]);
    let ended = sandbox.kcl_in("repo", "run", "");
    let refused = "cannot write '../new.yaml': settings can only name an output below";
    assert!(ended.stderr.contains(refused), "{}", ended.stderr);
    assert!(!sandbox.path("new.yaml").exists());
    sandbox.write("repo/kcl.yaml", "kcl_cli_configs:\n  file: [main.k]\n  output: out.yaml\n");
    assert_eq!(sandbox.kcl_in("repo", "run", "").code, 0);
    assert_eq!(sandbox.read("repo/out.yaml"), "a: 1\n");
}
