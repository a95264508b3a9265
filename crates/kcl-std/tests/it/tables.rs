//! Tables of expressions with what the reference gives: a value as JSON, or `! message`.

use crate::expression::evaluate;
use crate::host::TestHost;

/// Checks each line `expression => result` of a table.
fn check(table: &str) {
    let mut wrong = Vec::new();
    for line in table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (expression, expected) = line.split_once("   =>   ").expect("a line with an arrow");
        let found = match evaluate(expression, &mut TestHost::new()) {
            Ok(value) => kcl_value::json::write(&value),
            Err(fault) => format!("! {}", fault.message.trim()),
        };
        if found != expected {
            wrong.push(format!("{expression}\n  expected {expected}\n  found    {found}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn builtins_do_as_the_reference() {
    check(include_str!("data/builtins.txt"));
}

#[test]
fn string_methods_do_as_the_reference() {
    check(include_str!("data/strings.txt"));
}

#[test]
fn modules_do_as_the_reference() {
    check(include_str!("data/modules.txt"));
}

#[test]
fn arguments_of_any_type_do_as_the_reference() {
    check(include_str!("data/any.txt"));
}

#[test]
fn edges_are_those_of_the_reference() {
    check(include_str!("data/edges.txt"));
}

#[test]
fn missing_arguments_are_named_as_by_the_reference() {
    check(include_str!("data/missing.txt"));
}

#[test]
fn faults_of_the_reference_are_not_copied() {
    check(include_str!("data/differences.txt"));
}

#[test]
fn files_stay_below_the_folder_of_the_program() {
    check(include_str!("data/files.txt"));
}

#[test]
fn print_puts_spaces_between_and_a_line_break_behind() {
    let mut host = TestHost::new();
    evaluate(r#"print("a", {b="c"}, [1], None, True)"#, &mut host).unwrap();
    evaluate(r#"print(1, sep="-", end="!")"#, &mut host).unwrap();
    assert_eq!(host.printed, "a {'b': 'c'} [1] None True\n1!");
}

#[test]
fn a_stream_replaces_the_output() {
    let mut host = TestHost::new();
    evaluate("manifests.yaml_stream([{a=1,_b=2}, {c=None}])", &mut host).unwrap();
    assert_eq!(host.stream.as_deref(), Some("a: 1\n_b: 2\n---\nc: null"));
    let options = r#"{ignore_none=True, sort_keys=True, sep="+++"}"#;
    evaluate(
        &format!("manifests.yaml_stream([{{b=1,a=2,_c=3}}, {{d=None}}], {options})"),
        &mut host,
    )
    .unwrap();
    assert_eq!(host.stream.as_deref(), Some("a: 2\nb: 1\n+++\n{}"));
}

#[test]
fn a_random_id_has_version_and_variant() {
    let id = evaluate("crypto.uuid()", &mut TestHost::new()).unwrap();
    assert_eq!(id.as_str(), Some("00000000-0000-4000-8000-000000000001"));
}

#[test]
fn functions_can_be_called_back() {
    let mut host = TestHost::new();
    let value = |text: &str, host: &mut TestHost| {
        evaluate(text, host).map_or_else(|f| f.message, |value| kcl_value::show(&value))
    };
    assert_eq!(value("reduce(func, [1, 2, 3])", &mut host), "6");
    assert_eq!(value("reduce(func, [1, 2, 3], 10)", &mut host), "16");
    assert_eq!(value("reduce(func, [], 10)", &mut host), "10");
    assert_eq!(
        value("reduce(func, [])", &mut host),
        "reduce() empty list with no initial value and non-nullable accumulator type 'int'"
    );
    assert_eq!(value("reduce(1, [])", &mut host), "reduce() argument 'reducer' must be a function");
    assert_eq!(value("runtime.catch(func)", &mut host), "called");
    assert_eq!(value("typeof(runtime.catch(1))", &mut host), "UndefinedType");
}
