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
