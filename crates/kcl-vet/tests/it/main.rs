//! Data against rules, in memory.

use base_system::MemorySystem;
use kcl_data::Format;
use kcl_vet::{DataFile, Report, Rules, SchemaName, vet};

const RULES: &str = "\
import regex

schema Port:
    number: int
    check:
        0 < number < 65536, \"out of range\"

schema App:
    name: str
    replicas: int = 1
    ports?: [Port]
    check:
        regex.match(name, \"^[a-z]+$\"), \"not lower case\"
        replicas > 0
";

fn reports(data: &[(&str, &str, Format)]) -> Vec<Report> {
    let system = MemorySystem::new().with_file("/m/app.k", RULES);
    let mut rules = Rules::files(["/m/app.k"]);
    rules.schema = SchemaName::Named("App".into());
    let data: Vec<DataFile> =
        data.iter().map(|(name, text, format)| DataFile::new(*name, *text, *format)).collect();
    vet(&system, &rules, &data, 2).expect("the rules can be loaded")
}

/// Each failure as `document: data line, rule line: message`.
fn failures(text: &str, format: Format) -> Vec<String> {
    let report = reports(&[("data", text, format)]).remove(0);
    let line = |place: &Option<kcl_vet::Place>| place.as_ref().map_or(0, |place| place.line);
    report
        .failures
        .iter()
        .map(|it| {
            let message = it.message.lines().next().unwrap_or_default();
            format!("{}: {}, {}: {message}", it.document, line(&it.data), line(&it.rule))
        })
        .collect()
}

#[test]
fn all_failures_of_all_documents_have_both_places() {
    let text = "name: web\n---\nname: Web\nreplicas: 0\nports:\n- number: 80\n- number: 99999\n---\n\
                name: db\nreplicas: x\nzone: 3\n";
    assert_eq!(
        failures(text, Format::Yaml),
        [
            "2: 7, 6: Check failed on the condition: out of range",
            "2: 3, 13: Check failed on the condition: not lower case",
            "2: 3, 14: Check failed on the condition",
            "3: 10, 10: expected int, got str(x)",
            "3: 11, 0: Cannot add member 'zone' to schema 'App'",
        ]
    );
}

#[test]
fn data_that_cannot_be_read() {
    assert_eq!(
        failures("{\"name\": \"a\",\n \"replicas\": }", Format::Json),
        ["1: 2, 0: Failed to Load JSON: expected value"]
    );
    assert_eq!(failures("name = 'a'\nreplicas = \n", Format::Toml).len(), 1);
    assert_eq!(
        failures("name: a\nname: b\n", Format::Yaml),
        ["1: 2, 0: Failed to Load YAML: the key `name` is there twice"]
    );
    assert_eq!(
        failures("# nothing\n", Format::Yaml),
        ["1: 1, 0: Failed to Load YAML: there is no document"]
    );
}

#[test]
fn strings_are_data_and_not_code() {
    let text = "{\"name\": \"${1 + 1}\\\"\\\\\\n\"}";
    assert_eq!(
        failures(text, Format::Json),
        ["1: 1, 13: Check failed on the condition: not lower case"]
    );
}

#[test]
fn reports_come_in_the_order_of_files() {
    let good = "name = \"web\"\n";
    let all = reports(&[
        ("a.toml", good, Format::Toml),
        ("b.json", "{\"name\": 1}", Format::Json),
        ("c.toml", good, Format::Toml),
    ]);
    let valid: Vec<(&str, bool)> =
        all.iter().map(|report| (report.name.as_str(), report.is_valid())).collect();
    assert_eq!(valid, [("a.toml", true), ("b.json", false), ("c.toml", true)]);
    let json = all[1].to_json();
    assert_eq!(json["failures"][0]["data"]["line"], 1);
    assert_eq!(json["failures"][0]["rule"]["line"], 9);
}

#[test]
fn statements_can_judge_data_without_a_schema() {
    let system = MemorySystem::new().with_file("/r.k", "assert data >= 1, \"too small\"\n");
    let mut rules = Rules::files(["/r.k"]);
    rules.attribute = "data".into();
    let of = |text: &str| {
        let data = DataFile::new("d.json", text, Format::Json);
        vet(&system, &rules, &[data], 1).expect("the rules can be loaded").remove(0)
    };
    assert!(of("1").is_valid());
    assert_eq!(of("0").failures[0].message, "too small");
}
