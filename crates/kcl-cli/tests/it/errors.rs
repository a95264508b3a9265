//! What goes to standard error.

use crate::sandbox::{Ended, Sandbox};

#[test]
fn a_finding_with_its_place() {
    let sandbox = Sandbox::new(&[("main.k", "a = 1\nb: int = \"x\"\n")]);
    assert_eq!(
        sandbox.kcl("run main.k"),
        Ended {
            code: 1,
            stdout: String::new(),
            stderr: "error[E2G22]: TypeError
 --> ${DIR}/main.k:2:1
  |
2 | b: int = \"x\"
  | ^ expected int, got str(x)
  |


"
            .into(),
        }
    );
}

#[test]
fn findings_as_json() {
    let sandbox = Sandbox::new(&[("main.k", "import none\n")]);
    let ended = sandbox.kcl("run main.k --error-format json");
    assert_eq!((ended.code, ended.stdout.as_str()), (1, ""));
    assert!(ended.stderr.starts_with(
        "[\n{\"severity\":\"error\",\"code\":\"E2F04\",\"kind\":\"CannotFindModule\",\
         \"message\":\"pkgpath none not found in the program\",\"file\":\"${DIR}/main.k\",\
         \"line\":1,\"column\":1,"
    ));
}

#[test]
fn an_evaluation_that_fails_shows_what_was_printed() {
    let sandbox = Sandbox::new(&[("main.k", "print(\"on the way\")\nassert False, \"no\"\n")]);
    let ended = sandbox.kcl("run main.k --color always");
    assert_eq!((ended.code, ended.stdout.as_str()), (1, "on the way\n"));
    assert!(ended.stderr.contains("EvaluationError"), "{}", ended.stderr);
    assert!(ended.stderr.contains("\u{1b}["), "{}", ended.stderr);
}

#[test]
fn nothing_to_run() {
    let sandbox = Sandbox::new(&[("d/x.txt", "")]);
    let message = |line| {
        let ended = sandbox.kcl(line);
        assert_eq!((ended.code, ended.stdout.as_str()), (1, ""));
        ended.stderr
    };
    let shown = |text: &str| format!("error[E3M38]: EvaluationError\n{text}\n\n\n");
    assert_eq!(message("run"), shown("No input KCL files or paths"));
    assert_eq!(message("run d"), shown("No input KCL files"));
    assert_eq!(
        message("run none.k"),
        shown("Cannot find the kcl file, please check the file path none.k")
    );
    assert!(message("run d -O x").starts_with("error[E3M38]: EvaluationError\nNo input KCL files"));
}

#[test]
fn the_broken_pipe_is_quiet() {
    use std::process::{Command, Stdio};
    let sandbox = Sandbox::new(&[("main.k", "a = [\"x\" * 100 for i in range(20000)]\n")]);
    assert_eq!(sandbox.kcl("run main.k").code, 0);
    let mut child = Command::new(env!("CARGO_BIN_EXE_kcl"))
        .args(["run", "-"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}
