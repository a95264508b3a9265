//! `--watch`: commands that run again.

use crate::sandbox::Sandbox;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Stdio};

/// A command that runs until it is dropped.
struct Watching {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Watching {
    fn start(sandbox: &Sandbox, line: &str) -> Self {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let mut command = sandbox.command(&words);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the binary runs");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        Self { child, lines }
    }

    /// Waits for a line of standard output that starts like this.
    fn wait_for(&mut self, start: &str) -> String {
        for line in self.lines.by_ref() {
            let line = line.expect("the output is text");
            if line.starts_with(start) {
                return line;
            }
        }
        unreachable!("the command ended before it printed {start}")
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_program_runs_again_when_a_file_that_it_uses_changes() {
    let sandbox = Sandbox::new(&[
        ("kcl.mod", "[package]\nname = \"a\"\n"),
        ("main.k", "import lib\nimport file\na = lib.a\nb = file.read(\"data.txt\")\n"),
        ("lib/lib.k", "a = 1\n"),
        ("data.txt", "x"),
    ]);
    let mut watching = Watching::start(&sandbox, "run main.k --watch");
    assert_eq!(watching.wait_for("a: "), "a: 1");
    sandbox.write("lib/lib.k", "a = 22\n");
    assert_eq!(watching.wait_for("a: "), "a: 22");
    sandbox.write("data.txt", "yes");
    assert_eq!(watching.wait_for("b: "), "b: x");
    assert_eq!(watching.wait_for("b: "), "b: 'yes'");
}

#[test]
fn a_program_that_fails_runs_again() {
    let sandbox = Sandbox::new(&[("main.k", "a = (\n")]);
    let mut watching = Watching::start(&sandbox, "run main.k --watch -o out.yaml");
    sandbox.write("main.k", "print(\"two\")\na = 2\n");
    assert_eq!(watching.wait_for("two"), "two");
    sandbox.write("main.k", "print(\"three\")\na = 3\n");
    assert_eq!(watching.wait_for("three"), "three");
}

#[test]
fn tests_run_again_when_a_file_is_added() {
    let sandbox = Sandbox::new(&[("p/a.k", "a = 1\n"), ("p/a_test.k", "")]);
    let mut watching = Watching::start(&sandbox, "test --watch ./...");
    assert_eq!(
        watching.wait_for("no tests"),
        "no tests: a test is a lambda test_… in a file *_test.k"
    );
    sandbox.write("p/b_test.k", "test_b = lambda {\n    assert a == 1\n}\n");
    assert!(watching.wait_for("test_b").starts_with("test_b: PASS"));
}
