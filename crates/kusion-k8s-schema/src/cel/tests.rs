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
fn texts_become_times_amounts_and_addresses() {
    let object =
        json!({"d": "90s", "t": "2026-03-01T10:20:30Z", "u": "https://a.b:8080/p/q?x=1&x=2"});
    for text in [
        "duration('1h30m').getMinutes() == 90 && duration('1.5s').getMilliseconds() == 1500",
        "duration('-1h') < duration('0') && duration('1m') + duration('30s') == duration('90s')",
        "self.d == duration('90s') && self.d > duration('1m') && duration('2m') > self.d",
        "self.d.getSeconds() == 90 && self.t.getFullYear() == 2026",
        "timestamp(self.t).getMonth() == 2 && timestamp(self.t).getDate() == 1",
        "timestamp(self.t).getDayOfWeek() == 0 && timestamp(self.t).getDayOfYear() == 59",
        "timestamp(self.t).getHours() == 10 && timestamp(self.t).getMinutes() == 20",
        "timestamp(self.t) - duration('30s') == timestamp('2026-03-01T10:20:00Z')",
        "timestamp(self.t) - timestamp('2026-03-01T10:20:00Z') == duration('30s')",
        "string(duration('1m')) == '60s' && string(timestamp(self.t)) == self.t",
        "quantity('1Gi').isGreaterThan(quantity('1G')) && quantity('1k') == quantity('1000')",
        "quantity('50').isInteger() && quantity('50').asInteger() == 50 && !isQuantity('x')",
        "quantity('1').add(quantity('500m')).compareTo(quantity('1.5')) == 0",
        "quantity('2').sub(1).sign() == 1 && quantity('1500m').asApproximateFloat() == 1.5",
        "ip('10.0.0.1').family() == 4 && ip('::1').isLoopback() && isIP('1.2.3.4') && !isIP('1.2')",
        "cidr('10.0.0.0/8').containsIP('10.1.2.3') && !cidr('10.0.0.0/8').containsIP(ip('11.0.0.1'))",
        "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && cidr('10.0.0.0/8').prefixLength() == 8",
        "isCIDR('::/0') && !isCIDR('10.0.0.0/33') && cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8')",
        "url(self.u).getScheme() == 'https' && url(self.u).getHost() == 'a.b:8080'",
        "url(self.u).getHostname() == 'a.b' && url(self.u).getPort() == '8080'",
        "url(self.u).getEscapedPath() == '/p/q' && url(self.u).getQuery()['x'] == ['1', '2']",
        "isURL('/a') && !isURL('a') && isURL(self.u)",
    ] {
        assert_eq!(run(text, &object), Ok(true), "{text}");
    }
}

#[test]
fn failures_are_told_apart() {
    let object = json!({"x": 1, "l": vec![20; 725]});
    assert_eq!(run("self.y > 0", &object), Err(Failure::Error("no such key: y".to_owned())));
    assert_eq!(run("self.x / 0 > 0", &object), Err(Failure::Error("division by zero".to_owned())));
    assert_eq!(run("self.x > 'a'", &object), Err(Failure::Error("no such overload".to_owned())));
    assert_eq!(run("self.l.all(x, self.l.all(y, y == x))", &object), Err(Failure::Cost));
    let why = "type conversion error from 'string' to 'url'".to_owned();
    assert_eq!(run("url('a b').getHost() == 'a'", &object), Err(Failure::Error(why)));
    let zone = "timestamp('2026-01-01T00:00:00Z').getHours('Europe/Paris') == 1";
    assert_eq!(run(zone, &object), Err(Failure::Unknown));
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

#[test]
fn libraries_are_there() {
    let object = json!({"s": "abcabc", "n": 5, "v": "1.2.3", "l": ["b", "a", "b"], "d": 1.5,
        "t": "2026-03-01T23:20:30Z", "p": "http"});
    for text in [
        "'%s has %d of %.2f %x %b %%'.format([self.s, self.n, self.d, 255, 5]) == 'abcabc has 5 of 1.50 ff 101 %'",
        "'%s %s'.format([self.l, {'a': 1}]) == '[b, a, b] {a: 1}'",
        "semver(self.v).major() == 1 && semver(self.v).minor() == 2 && semver(self.v).patch() == 3",
        "isSemver(self.v) && !isSemver('v1') && isSemver('v1', true) && !isSemver('1.2')",
        "semver(self.v).isLessThan(semver('1.10.0')) && semver('2.0.0').compareTo(semver(self.v)) == 1",
        "self.s.find('b.') == 'bc' && self.s.findAll('b') == ['b', 'b'] && self.s.findAll('b', 1) == ['b']",
        "self.s.replace('a', 'x', 1) == 'xbcabc' && self.s.split('b', 2) == ['a', 'cabc']",
        "self.s.indexOf('a', 1) == 3 && self.s.lastIndexOf('a', 2) == 0 && self.s.indexOf('z', 2) == -1",
        "type(self.n) == int && type(self.s) == string && type(self.l) == list && type(self) == map",
        "!format.dns1123Label().validate(self.s).hasValue()",
        "format.dns1123Label().validate('A_').hasValue()",
        "format.named('uuid').hasValue() && !format.named('odd').hasValue()",
        "format.dns1123Label().validate('A_').value().size() == 1",
        "sets.contains(self.l, ['a']) && sets.equivalent(self.l, ['a', 'b']) && !sets.intersects(self.l, ['c'])",
        "self.l.distinct() == ['b', 'a'] && self.l.sort() == ['a', 'b', 'b'] && self.l.slice(1, 3) == ['a', 'b']",
        "ip.isCanonical('127.0.0.1') && lists.range(3) == [0, 1, 2] && strings.quote('a') == '\"a\"'",
        "timestamp(self.t).getHours('+01:00') == 0 && timestamp(self.t).getDate('+01:00') == 2",
        "[1, 2, 3].map(i, i > 1, i * 2) == [4, 6]",
    ] {
        assert_eq!(run(text, &object), Ok(true), "{text}");
    }
}
