//! Large and deep programs.

#![expect(clippy::disallowed_methods, reason = "the test measures time")]

use crate::load_fixture;
use std::fmt::Write as _;
use std::time::{Duration, Instant};
use testkit::Fixture;

/// Checks a program, which must have no errors, in a time that rules out superlinear steps.
fn check_quickly(source: &str) {
    let program = load_fixture(&Fixture::parse(source));
    let start = Instant::now();
    let found = kcl_types::check(&program);
    assert!(found.is_empty(), "{found:#?}");
    assert!(start.elapsed() < Duration::from_secs(5), "took {:?}", start.elapsed());
}

#[test]
fn long_chains_of_operators_are_walked_without_recursion() {
    let source = format!("a = 1{}\n", " + 1".repeat(20_000));
    check_quickly(&source);
}

#[test]
fn large_lists_and_dicts_are_joined_in_linear_time() {
    let mut source = String::from("a = [\n");
    for index in 0..20_000 {
        let _ = writeln!(source, "    {{name = \"n{index}\", port = {index}}}");
    }
    source.push_str("]\nb = {\n");
    for index in 0..20_000 {
        let _ = writeln!(source, "    k{index} = {index}");
    }
    source.push_str("}\n_ab = [a[0], b.k1]\nc: [int] = [\n");
    for index in 0..20_000 {
        let _ = writeln!(source, "    {index}");
    }
    source.push_str("]\n");
    check_quickly(&source);
}

#[test]
fn long_chains_of_schemas_are_walked_in_time() {
    let mut source = String::from("schema S0:\n    a0: int = 0\n");
    for index in 1..1_000 {
        let base = index - 1;
        let _ = writeln!(source, "schema S{index}(S{base}):\n    a{index}: int = a{base}");
    }
    source.push_str("x = S999 {a0 = 1}\n");
    check_quickly(&source);
}

#[test]
fn schemas_that_hold_each_other_are_no_trap() {
    check_quickly(
        r#"
schema A:
    b?: B
    name: str = ""
schema B:
    a?: A
schema C:
    b?: B
    name: str = ""
_a = A {}
c = C {**_a}
d = A {b.a.b.a.name = "s"}
"#,
    );
}

#[test]
fn long_lines_of_bases_and_merges_take_linear_time() {
    let mut source = String::from("schema S0:\n    a0: int = 0\n\n");
    for index in 1..5_000 {
        let base = index - 1;
        let _ = writeln!(source, "schema S{index}(S{base}):\n    a{index}: int = a{base} + a0\n");
    }
    source.push_str("s = S4999 {a1 = 1, a4998 = 2}\nmerged = {k = 0}");
    for index in 0..20_000 {
        let _ = write!(source, " | {{k{index} = {index}}}");
    }
    source.push_str("\nschema L:\n    kind: \"k0\"");
    for index in 1..5_000 {
        let _ = write!(source, " | \"k{index}\"");
    }
    source.push_str("\n\nls = [\n");
    for index in 0..5_000 {
        let _ = writeln!(source, "    L {{kind = \"k{index}\"}}");
    }
    source.push_str("]\n");
    check_quickly(&source);
}
