//! How many types a union keeps apart.

use crate::load_fixture;
use testkit::Fixture;

/// What is found in `a: [bool] = […]` with those items.
fn found(items: &[String]) -> String {
    let program = load_fixture(&Fixture::parse(&format!("a: [bool] = [{}]\n", items.join(", "))));
    let findings = kcl_types::check(&program);
    findings.first().map_or(String::new(), |finding| finding.message().to_owned())
}

fn texts(n: usize) -> Vec<String> {
    (0..n).map(|at| format!("\"s{at}\"")).collect()
}

#[test]
fn many_literals_become_their_basic_types() {
    let most = found(&texts(4224));
    assert!(most.starts_with("expected [bool], got [str(s0) | str(s1) | "), "{most:.80}");
    assert!(most.ends_with(" | str(s4223)]"));
    assert_eq!(found(&texts(4225)), "expected [bool], got [str]");
    assert_eq!(found(&texts(5000)), "expected [bool], got [str]");
}

#[test]
fn literals_of_several_types_become_several_types() {
    let mut items = texts(3000);
    items.extend((0..1500).map(|at| at.to_string()));
    items.extend(texts(10));
    items.extend(["7".to_owned(), "{k = 1}".to_owned()]);
    assert_eq!(found(&items), "expected [bool], got [str | int | {str(k):int(1)}]");
    items.push("1.5".to_owned());
    items.push("True".to_owned());
    let found = found(&items);
    assert!(!found.contains("int |") && found.contains("float"), "{found}");
}

#[test]
fn repeated_literals_count_once() {
    let mut items = texts(4224);
    items.extend(texts(4224));
    assert!(found(&items).ends_with(" | str(s4223)]"));
    let numbers: Vec<String> = (0..20).chain(0..20).map(|at: i32| at.to_string()).collect();
    let wanted: Vec<String> = (0..20).map(|at| format!("int({at})")).collect();
    assert_eq!(found(&numbers), format!("expected [bool], got [{}]", wanted.join(" | ")));
}

#[test]
fn many_dicts_become_any() {
    let dicts = |n: usize| (0..n).map(|at| format!("{{k{at} = {at}}}")).collect::<Vec<_>>();
    assert!(found(&dicts(128)).ends_with(" | {str(k127):int(127)}]"));
    assert_eq!(found(&dicts(129)), "");
}
