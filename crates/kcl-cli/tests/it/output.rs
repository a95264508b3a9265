//! What goes to standard output, and how.

use crate::sandbox::{Sandbox, done};

const MAIN: &str = "print(\"hi\")\nb = {z = None, x = 1}\na = option(\"n\")\n_h = 2\n";

#[test]
fn printed_lines_come_before_the_result() {
    let sandbox = Sandbox::new(&[("main.k", MAIN)]);
    assert_eq!(sandbox.kcl("run main.k -D n=3"), done("hi\nb:\n  z: null\n  x: 1\na: 3\n"));
    assert_eq!(sandbox.kcl("main.k -D n=3 -q -n"), done("b:\n  x: 1\na: 3\n"));
}

#[test]
fn every_form() {
    let sandbox = Sandbox::new(&[("main.k", "b = {x = 1}\na = 2\n")]);
    assert_eq!(sandbox.kcl("run main.k -f json"), done("{\"b\": {\"x\": 1}, \"a\": 2}\n"));
    assert_eq!(sandbox.kcl("run -k main.k"), done("a: 2\nb:\n  x: 1\n"));
    assert_eq!(sandbox.kcl("run main.k -S b.x"), done("1\n"));
    assert_eq!(sandbox.kcl("run main.k -O b.x=5 a- -S b"), done("x: 5\n"));
    assert_eq!(sandbox.kcl("run --format=toml -O a- -- main.k"), done("[b]\nx = 1\n"));
}

#[test]
fn into_a_file() {
    let sandbox = Sandbox::new(&[("main.k", "print(1)\na = 1\n")]);
    assert_eq!(sandbox.kcl("run main.k -o out.yaml"), done("1\n"));
    assert_eq!(sandbox.read("out.yaml"), "a: 1\n");
}

#[test]
fn from_standard_input() {
    let sandbox = Sandbox::new(&[("lib/l.k", "x = 4\n")]);
    assert_eq!(sandbox.kcl_in(".", "run -", "import lib\na = lib.x\n"), done("a: 4\n"));
}

#[test]
fn packages_from_folders_and_dependencies() {
    let sandbox = Sandbox::new(&[
        ("app/kcl.mod", "[package]\nname = \"app\"\n[dependencies]\ndep = { path = \"../dep\" }\n"),
        ("app/main.k", "import dep.sub\na = sub.x\n"),
        ("app/other.k", "import ext\nb = ext.y\n"),
        ("dep/kcl.mod", ""),
        ("dep/sub/s.k", "x = 1\n"),
        ("ext/e.k", "y = 2\n"),
    ]);
    assert_eq!(sandbox.kcl("run app/main.k"), done("a: 1\n"));
    assert_eq!(sandbox.kcl("run app -E ext=ext"), done("a: 1\nb: 2\n"));
}

#[test]
fn provenance_stands_alone() {
    let sandbox = Sandbox::new(&[
        ("main.k", "print(\"hi\")\na = 1\n"),
        ("kcl.yaml", "kcl_cli_configs:\n  file: [main.k]\n  output: out.yaml\n"),
    ]);
    let json = "{\"version\": 1, \"leaves\": [\n  {\"path\": [\"a\"], \"origin\": \
                {\"kind\": \"override\", \"spec\": \"a=2\"}, \"beaten\": [{\"kind\": \"source\", \
                \"file\": \"${DIR}/main.k\", \"line\": 2, \"column\": 5, \"end_line\": 2, \
                \"end_column\": 6}]}\n]}\n";
    let ended = sandbox.kcl("run -O a=2 --provenance");
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (0, json, "hi\n"));
    assert_eq!(sandbox.kcl("run -q --provenance -O a=2"), done(json));
    assert_eq!(sandbox.kcl("run -q -O a=2 --provenance -o p.json"), done(""));
    assert_eq!(sandbox.read("p.json").lines().count(), 3);
}
