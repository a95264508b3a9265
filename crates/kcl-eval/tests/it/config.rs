//! Configs, defaults and merged blocks.

use crate::support::{evaluates, fails};

const CHILD: &str = "
schema A:
    b: int = 2
    a: int
schema T:
    x: A = {}
";

#[test]
fn a_default_need_not_fit_before_the_config_is_merged() {
    evaluates(&format!("{CHILD}t = T {{x: {{a = 1}}}}"), "t:\n  x:\n    b: 2\n    a: 1");
    fails(&format!("{CHILD}t = T {{}}"), 2, "expect A, got dict. For details:");
}

#[test]
fn a_conflict_is_reported_where_the_entry_is() {
    let source = "
schema A:
    name: str
    e: float
v: A {
    name: 'a'
}
v: A {
    name: 'b'
    e: 2.5
}
";
    fails(source, 8, "conflicting values on the attribute 'name' between :");
}

#[test]
fn a_missing_attribute_is_reported_at_the_first_key() {
    let source = "
schema A:
    a?: int
    c: int
v = A {
    a = 1
    c = None
    a = 2
}
";
    fails(source, 7, "attribute 'c' of A is required and can't be None or Undefined");
    let source = "
schema A:
    a?: int
    c: int
v: A {
    a = 1
}
v: A {
    c = None
}
";
    fails(source, 5, "attribute 'c' of A is required and can't be None or Undefined");
}

#[test]
fn a_filter_that_keeps_all_of_a_string_gives_the_string() {
    evaluates("r = filter x in 'abc' { x }\n", "r: abc");
    fails("r = filter x in 'abc' { False }\n", 1, "only list, dict and schema can be removed item");
}

#[test]
fn nothing_may_be_inserted_anywhere() {
    evaluates("o = {l: [1, 2], l[5] += []}\n", "o:\n  l:\n  - 1\n  - 2");
    fails("o = {l[1] += [1]}\n", 1, "insertion index (is 1) should be <= len (is 0)");
}
