//! The command line itself.

use crate::sandbox::Sandbox;

#[test]
fn help_and_version() {
    let sandbox = Sandbox::new(&[]);
    for line in ["version", "--version"] {
        let ended = sandbox.kcl(line);
        assert_eq!(ended.code, 0);
        assert!(ended.stdout.starts_with("kcl "), "{}", ended.stdout);
    }
    for line in ["--help", "help"] {
        assert!(sandbox.kcl(line).stdout.contains("Commands:"));
    }
    for line in ["run --help", "help run", "run -h"] {
        assert!(sandbox.kcl(line).stdout.contains("--disable-none"));
    }
}

#[test]
fn wrong_command_lines_end_with_2() {
    let sandbox = Sandbox::new(&[("main.k", "")]);
    for (line, text) in [
        ("none", "error: unrecognized command 'none'"),
        ("run main.k --none", "error: unexpected argument '--none' found"),
        ("run main.k -f", "error: a value is required for '-f' but none was supplied"),
        ("run main.k -f xml", "error: invalid output format 'xml', expected yaml, json or toml"),
        ("run main.k -D x", "error[E3M38]: EvaluationError\nInvalid value for top level arguments"),
        ("run main.k --max-steps x", "error: invalid number 'x'"),
    ] {
        let ended = sandbox.kcl(line);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{line}");
        assert!(ended.stderr.starts_with(text), "{line}: {}", ended.stderr);
    }
}

#[test]
fn flags_stand_before_and_after_files_in_either_spelling() {
    let sandbox = Sandbox::new(&[("main.k", "b = None\na = option(\"x\")\n")]);
    for line in [
        "run -D x=1 main.k --disable_none --sort_keys",
        "run --disable-none main.k -kDx=1",
        "run -nk -D x=1 -- main.k",
    ] {
        assert_eq!(sandbox.kcl(line).stdout, "a: 1\n", "{line}");
    }
}
