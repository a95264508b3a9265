//! The output as data: what a reader of the JSON gets, and what gave each leaf.

use base_diag::Findings;
use base_system::{MemorySystem, OsSystem, System};
use kcl_driver::PathStep::{self, Index, Key};
use kcl_driver::{
    EvalOptions, Format, LeafPlace, OutputOptions, RunOptions, RunOutput, Tracking, run,
};
use serde_json::{Deserializer, Value, json};

fn data(system: &(dyn System + Sync), options: &RunOptions) -> RunOutput {
    let eval = EvalOptions { tracking: Tracking::Givers, ..EvalOptions::default() };
    let format = Some(Format::Data);
    run(system, &RunOptions { format, eval, ..options.clone() }).expect("it runs")
}

/// Checks that the data of a program are its JSON, and returns them.
#[track_caller]
fn check(system: &(dyn System + Sync), options: &RunOptions) -> Vec<Value> {
    let documents = data(system, options).documents.expect("data were requested");
    let json = run(system, &RunOptions { format: Some(Format::Json), ..options.clone() });
    let json = json.expect("it runs").result;
    let read: Vec<Value> =
        Deserializer::from_str(&json).into_iter().map(|it| it.expect("it is JSON")).collect();
    assert_eq!(documents.values, read, "{json}");
    documents.values
}

fn program(text: &str) -> MemorySystem {
    MemorySystem::new().with_file("/main.k", text)
}

fn main_file() -> RunOptions {
    RunOptions::files(["/main.k"])
}

const VALUES: &str = "\
schema A:
    x: int = 1
    _p: int = 2
    n?: str
    f = lambda x { x }
_private = 1
a = A {}
b = [1, None, Undefined, 1.5, 1e300, -0.0, 3.0, -9223372036854775808, A {x = 2}, [], {}]
c = {\"z\" = 1, \"a\" = {\"_h\" = 1, \"k\\n\\\"\" = \"t\\u0001ä\\\\\"}}
d = 1Mi
e = True
f = lambda { 1 }
";

#[test]
fn data_are_what_a_reader_of_the_json_gets() {
    let many = [
        VALUES,
        "",
        "1",
        "\"text\"",
        "[{a = 1}, {b = 2}]",
        "[1, {a = 1}]",
        "[]",
        "None",
        "import manifests\nmanifests.yaml_stream([{a = 1.5, _b = 2, c = None}, {d = '1'}, 3, None])",
        "import manifests\nmanifests.yaml_stream([{a = None, _b = 2}], {ignore_none = True})",
    ];
    for text in many {
        check(&program(text), &main_file());
    }
    // A stream without documents is an empty text, which a reader takes for `null`.
    let empty = data(&program("import manifests\nmanifests.yaml_stream([])"), &main_file());
    assert!(empty.documents.expect("data were requested").values.is_empty());
}

#[test]
fn several_streams_are_joined_in_data_and_the_text_has_the_last() {
    let text = "import manifests\nmanifests.yaml_stream([{a = 1, _b = 2}])\n\
                _later = lambda n: int {\n    manifests.yaml_stream([{c = n}, None])\n}\n\
                _ran = [_later(n) for n in [3, 4]]\n\
                manifests.yaml_stream([{d = None}], {ignore_none = True})\n";
    let system = program(text);
    let output = data(&system, &main_file());
    let documents = output.documents.expect("data were requested");
    let expected = json!([{"a": 1}, {"c": 3}, null, {"c": 4}, null, {}]);
    assert_eq!(Value::Array(documents.values), expected);
    assert!(output.warnings.is_empty(), "nothing is lost");
    let place = |path: &[PathStep<'_>]| match documents.places.find(path.iter().copied()) {
        Some(LeafPlace::Text { at, .. }) => at.line,
        _ => 0,
    };
    assert_eq!((place(&[Index(0), Key("a")]), place(&[Index(3), Key("c")])), (2, 4));
    let again = "import manifests\nschema S:\n    x: int = 1\n    y: int = 2\n    \
                 manifests.yaml_stream([{x = x}])\n_s: S {x = 3}\n_t = _s {y = 4}\n";
    let output = data(&program(again), &main_file());
    let documents = output.documents.expect("data were requested");
    assert_eq!(Value::Array(documents.values), json!([{"x": 3}]), "evaluated again");
    let output = run(&system, &main_file()).expect("it runs");
    assert_eq!(output.result.trim_end(), "{}");
    let found = Findings::new(output.warnings, &output.program);
    let found: Vec<_> = found.iter().map(|it| (it.code, it.at.map(|(_, at)| at.line))).collect();
    assert_eq!(found, [("W0002", Some(2))]);
}

#[test]
fn data_obey_the_options() {
    let system = program(VALUES);
    for number in 0..16 {
        let has = |bit: u32| number >> bit & 1 == 1;
        let output = OutputOptions {
            disable_none: has(0),
            sort_keys: has(1),
            show_hidden: has(2),
            include_schema_type_path: has(3),
        };
        check(&system, &RunOptions { output, ..main_file() });
    }
    for selectors in [&["a"][..], &["a", "c"], &["d", "e"], &["b.8"]] {
        let selectors = selectors.iter().map(ToString::to_string).collect();
        check(&system, &RunOptions { selectors, ..main_file() });
    }
}

#[test]
fn stacks_of_konfig_give_their_json() {
    let folder = testkit::repository().join("konfig/appops");
    for stack in kcl_driver::find_stacks(&OsSystem, &folder).expect("there are stacks") {
        let options = RunOptions { work_dir: Some(stack.folder), ..RunOptions::default() };
        assert!(!check(&OsSystem, &options).is_empty());
    }
}

#[test]
fn deep_data_are_refused() {
    let deep = |n: usize| program(&format!("a = {}1{}", "[".repeat(n), "]".repeat(n)));
    check(&deep(126), &main_file());
    let options = RunOptions { format: Some(Format::Data), ..main_file() };
    let error = run(&deep(127), &options).expect_err("it is too deep").to_string();
    assert_eq!(error, "the output is nested too deeply: more than 127 levels");
}

#[test]
fn places_are_those_of_the_text_that_was_compiled() {
    let system = program(
        "_image = \"a:1\"\nimport manifests\nmanifests.yaml_stream([{\n    name = \"x\"\n    \
         image = _image\n    ports = [\n        80\n        81\n    ]\n    empty = {}\n}])\n",
    );
    let options = RunOptions { overrides: vec!["_image=\"b:2\"".into()], ..main_file() };
    let output = data(&system, &options);
    let places = output.documents.expect("data were requested").places;
    system.write(std::path::Path::new("/main.k"), "\n\n").expect("it can be written");
    let find = |path: &[PathStep<'_>]| match places.find(path.iter().copied()) {
        Some(LeafPlace::Text { file, at }) => format!("{file}:{}:{}", at.line, at.col),
        Some(LeafPlace::Override(spec)) => format!("-O {spec}"),
        None => "nothing".to_owned(),
    };
    assert_eq!(find(&[Index(0), Key("name")]), "/main.k:4:12");
    assert_eq!(find(&[Index(0), Key("image")]), "-O _image=\"b:2\"");
    assert_eq!(find(&[Index(0), Key("ports"), Index(1)]), "/main.k:8:9");
    // The first leaf by the order of keys.
    assert_eq!(find(&[Index(0)]), "/main.k:10:13");
    assert_eq!(find(&[Index(0), Key("ports")]), "/main.k:7:9");
    assert_eq!(find(&[Index(1)]), "nothing");
    assert_eq!(find(&[Index(0), Key("name"), Key("x")]), "nothing");
    assert_eq!(find(&[Key("name")]), "nothing");
}
