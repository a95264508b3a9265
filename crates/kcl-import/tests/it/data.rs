//! Data goes through KCL unchanged.

use base_system::MemorySystem;
use kcl_data::{Data, Format, Node, read};
use kcl_driver::{Format as Output, RunOptions, run};

/// The output of what a text is imported as.
fn through(text: &str, format: Format) -> String {
    let source = kcl_import::data(text, format).expect("the data can be imported");
    let system = MemorySystem::new().with_file("/main.k", source.as_str());
    let mut options = RunOptions::files(["/main.k"]);
    options.format = Some(Output::Json);
    run(&system, &options).expect("what is imported compiles").result
}

/// Values without places.
fn plain(node: &Node) -> Data {
    let none = |data| Node { span: base_text::Span::default(), data };
    match &node.data {
        Data::List(items) => Data::List(items.iter().map(|it| none(plain(it))).collect()),
        Data::Dict(entries) => Data::Dict(
            entries
                .iter()
                .map(|entry| kcl_data::Entry {
                    key: entry.key.clone(),
                    key_span: base_text::Span::default(),
                    is_text: true,
                    value: none(plain(&entry.value)),
                })
                .collect(),
        ),
        data => data.clone(),
    }
}

#[test]
fn values_and_keys_of_all_kinds() {
    for text in [
        r#"{"a": [1, -2.5, true, null, "x", [], {}, [[1], {"b": 2}]], "z": 1e300}"#,
        r#"{"if": 1, "schema": {"lambda": 2, "True": 3, "a.b": 4, "": 5, "é": 6}, "str": 7}"#,
        r#"{"a-b": {"c": 1}, "d": "${e}", "f": "${", "g": "$${h}\\\"\n\t\u0001\b\f\u007f\u2028'''\"\"\""}"#,
        r#"{"min": -9223372036854775808, "max": 9223372036854775807}"#,
        r#"{"${a}": 1, "\"": {"\\": "\\"}}"#,
    ] {
        let given = read(text, Format::Json).expect("the text is valid");
        let found = read(&through(text, Format::Json), Format::Json).expect("output is valid");
        assert_eq!(plain(&found[0]), plain(&given[0]), "{text}");
    }
}

#[test]
fn yaml_and_toml() {
    let found = through("a: |\n  x\n  y\nb: [yes, 0x10]\n", Format::Yaml);
    assert_eq!(found.replace(['\n', ' '], ""), r#"{"a":"x\ny\n","b":["yes",16]}"#);
    let found = through("a = 1979-05-27\n[b.c]\nd = true\n", Format::Toml);
    assert_eq!(found.replace(['\n', ' '], ""), r#"{"a":"1979-05-27","b":{"c":{"d":true}}}"#);
}
