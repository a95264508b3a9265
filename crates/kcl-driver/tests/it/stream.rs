//! The provenance of what `manifests.yaml_stream` writes, and the JSON form.

use base_system::MemorySystem;
use kcl_driver::{RunOptions, run};

fn json(text: &str) -> String {
    let system = MemorySystem::new().with_file("/main.k", text);
    let options = RunOptions { provenance: true, ..RunOptions::files(["/main.k"]) };
    let output = run(&system, &options).expect("the program is valid");
    output.provenance.expect("it was asked for").to_json()
}

#[test]
fn leaves_of_documents_are_from_the_values_or_the_call() {
    let text = "import manifests\n_a = {x = 1, _p = 2, l = []}\nb = 3\n\
                manifests.yaml_stream([_a, {\"ä\" = [str(i) for i in range(1)]}])\n";
    let wanted = r#"{"version": 1, "leaves": [
  {"path": [0, "x"], "origin": {"kind": "source", "file": "/main.k", "line": 2, "column": 11, "end_line": 2, "end_column": 12}, "beaten": []},
  {"path": [0, "_p"], "origin": {"kind": "source", "file": "/main.k", "line": 2, "column": 19, "end_line": 2, "end_column": 20}, "beaten": []},
  {"path": [0, "l"], "origin": {"kind": "source", "file": "/main.k", "line": 2, "column": 26, "end_line": 2, "end_column": 28}, "beaten": []},
  {"path": [1, "ä", 0], "origin": {"kind": "source", "file": "/main.k", "line": 4, "column": 36, "end_line": 4, "end_column": 42}, "beaten": []}
]}"#;
    assert_eq!(json(text), wanted);
    let text =
        "import manifests\nimport json\nmanifests.yaml_stream(json.decode('[{\"a\": 1}]'))\n";
    let wanted = r#"{"version": 1, "leaves": [
  {"path": [0, "a"], "origin": {"kind": "source", "file": "/main.k", "line": 3, "column": 1, "end_line": 3, "end_column": 22}, "beaten": []}
]}"#;
    assert_eq!(json(text), wanted);
}

#[test]
fn nothing_comes_from_nowhere() {
    assert_eq!(
        json("_a = 1\n"),
        "{\"version\": 1, \"leaves\": [\n  {\"path\": [], \"origin\": {\"kind\": \"builtin\"}, \"beaten\": []}\n]}"
    );
}
