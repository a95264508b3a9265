//! Tests of validation rules.

use super::*;
use serde_json::{Value, json};

fn run(text: &str, object: &Value) -> Result<bool, Failure> {
    let expr = parse(text).map_err(|error| Failure::Error(error.message))?;
    match evaluate(&expr, &mut Scope::default().with("self", object.into()))? {
        Cel::Bool(flag) => Ok(flag),
        other => Err(Failure::Error(format!("{other:?}"))),
    }
}

#[test]
fn rules_are_evaluated() {
    let object = json!({"x": 1, "y": -1, "s": "abc", "l": [1, 2, 3], "m": {"a": "a", "b-c": 2},
        "f": 1.5, "e": [], "t": true, "n": null});
    for (text, expected) in [
        ("self.x + self.y == 0", true),
        ("self.x > self.y && self.f < 2.0", true),
        ("self.x + 2 * 3 - 1 == 6", true),
        ("(1 + 2) * 3 == 9 ? true : false", true),
        ("self.s.startsWith('a') && self.s.endsWith(\"c\") && self.s.contains('b')", true),
        ("self.s.matches('^a.c$')", true),
        ("size(self.l) == 3 && self.l.size() == 3 && size(self.s) == 3 && size(self.m) == 2", true),
        ("self.l.all(i, i > 0) && self.l.exists(i, i == 2) && self.l.exists_one(i, i > 2)", true),
        ("self.l.map(i, i * 2) == [2, 4, 6] && self.l.filter(i, i > 1) == [2, 3]", true),
        ("self.l.all(i, self.l.all(j, i == j))", false),
        ("self.l.isSorted() && self.l.sum() == 6 && self.l.min() == 1 && self.l.max() == 3", true),
        ("has(self.x) && !has(self.z)", true),
        ("!has(self.z) || self.z > 1", true),
        ("self.m.all(k, self.m[k] == k)", false),
        ("'a' in self.m && 2 in self.l && !('z' in self.m)", true),
        ("self.m.b__dash__c == 2", true),
        ("self.l[0] == 1 && self.m['a'] == 'a'", true),
        ("self.x == 1 || self.z == 1", true),
        ("self.t == true && self.n == null", true),
        ("-self.x == self.y && !(self.x < 0)", true),
        ("string(self.x) + 'b' == '1b' && int('5') == 5", true),
        ("self.s.split('b') == ['a', 'c'] && ['a', 'c'].join('-') == 'a-c'", true),
        ("self.l.all(i, v, v == i + 1)", true),
        ("7 % 2 == 1 && 7 / 2 == 3 && 1 in [1, 2]", true),
        ("self.e.all(i, false)", true),
    ] {
        assert_eq!(run(text, &object), Ok(expected), "{text}");
    }
}

#[test]
fn failures_are_told_apart() {
    let object = json!({"x": 1, "l": vec![20; 725]});
    assert_eq!(run("self.y > 0", &object), Err(Failure::Error("no such key: y".to_owned())));
    assert_eq!(run("self.x / 0 > 0", &object), Err(Failure::Error("division by zero".to_owned())));
    assert_eq!(run("self.x > 'a'", &object), Err(Failure::Error("no such overload".to_owned())));
    assert_eq!(run("self.l.all(x, self.l.all(y, y == x))", &object), Err(Failure::Cost));
    assert_eq!(run("url(self.x).getHost() == 'a'", &object), Err(Failure::Unknown));
}

#[test]
fn syntax_errors_say_where() {
    for (text, at, message) in [
        ("self = 42", 5, "token recognition error at: '= '"),
        ("1 2", 2, "extraneous input '2' expecting <EOF>"),
        ("(1", 2, "mismatched input '<EOF>' expecting ')'"),
    ] {
        let expected = SyntaxError { at, message: message.to_owned() };
        assert_eq!(parse(text), Err(expected), "{text}");
    }
    assert!(parse("self.x >").expect_err("cut").message.starts_with("mismatched input '<EOF>'"));
    assert!(parse(&"(".repeat(10_000)).is_err());
    assert!(parse(&"!".repeat(10_000)).is_err());
    for text in ["'", "\"\\", "'\\x", "0x", "a.", "a[", "{1:", "r'", "é", "9999999999999999999"] {
        assert!(parse(text).is_err(), "{text}");
    }
}
