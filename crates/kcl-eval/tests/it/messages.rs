//! Messages of several lines.

use crate::support::loaded;
use kcl_eval::{Earlier, Request, evaluate};

/// The whole message of the failure of a program.
fn message(source: &str) -> String {
    let loaded = loaded(source);
    let request = Request::default();
    let error = evaluate(&loaded.program, &loaded.system, &request, Earlier::Nothing);
    error.expect_err("the program fails").diagnostics[0].message().to_owned()
}

#[test]
fn a_conflict_names_the_way_to_it() {
    let wanted = "conflicting values on the attribute 'z' between :\n    1\nand\n    2\n\
                  with union path :\n    x.y.z\n\
                  try operator '=' to override the attribute, like:\n    {...} | {\n            \
                  ...\n            z = 2\n            ...\n    }";
    assert_eq!(message("a = {x: {y: {z: 1}}} | {x: {y: {z: 2}}}\n"), wanted);
    let of = |source: &str| {
        let message = message(source);
        let mut lines = message.lines().map(str::trim);
        let way = lines.clone().skip_while(|line| *line != "with union path :").nth(1);
        let values = [lines.nth(1), lines.nth(1)].map(|it| it.unwrap_or_default().to_owned());
        (values, way.unwrap_or_default().to_owned())
    };
    let values = |a: &str, b: &str| [a.to_owned(), b.to_owned()];
    assert_eq!(
        of("a = {x: [{y: 1}]} | {x: [{y: 2}]}\n"),
        (values("1", "2"), "x.list[0].y".to_owned())
    );
    assert_eq!(of("a = {x: [1], x: [1, 2]}\n"), (values("[...]", "[...]"), "x".to_owned()));
    let any = "_v: any = 1\n";
    assert_eq!(
        of(&format!("{any}a = {{x: {{y = 1}}, x: _v}}\n")),
        (values("{...}", "1"), "x".to_owned())
    );
    assert_eq!(
        of(&format!("{any}a = {{x: _v, x: [\"s\"]}}\n")),
        (values("1", "[...]"), "x".to_owned())
    );
    assert_eq!(of("a = {x: \"s\", x: \"t\"}\n"), (values("\"s\"", "\"t\""), "x".to_owned()));
    assert_eq!(of("a = {l = [1, 2], l[1]: 5}\n"), (values("2", "5"), "l[1]".to_owned()));
}

#[test]
fn a_conflict_of_whole_programs_has_no_attribute() {
    assert_eq!(message("1\n2\n"), "conflicting values between 2 and 1");
}

#[test]
fn a_mismatch_says_what_is_unknown_and_what_is_missing() {
    let schema = "schema S:\n    a: int\n    b: int\n    c?: int\n";
    let value = |value: &str| message(&format!("{schema}_v: any = {value}\nx: S = _v\n"));
    let unknown = "Schema S does not contain attribute z";
    assert_eq!(value("[1]"), "expect S, got list");
    assert_eq!(
        value("{z = 1, _p = 2, a = 1, b = 2}"),
        format!("expect S, got dict. For details:\n{unknown}")
    );
    assert_eq!(
        value("{z = 1, c = 2, b = 2}"),
        format!("expect S, got dict. For details:\n{unknown}\nSchema S's attribute a is missing")
    );
}
