//! Schemas, their bases and arguments.

use crate::support::{evaluates, fails};

#[test]
fn a_base_takes_arguments_of_any_type() {
    let source = "
schema A[x: int]:
    y = x
schema B[z: str](A):
    w = z
a = B('s') {}
";
    evaluates(source, "a:\n  'y': s\n  w: s");
    let source = "
f = lambda v: any { v }
schema A[x: int]:
    y = x
a = A(f('s')) {}
";
    fails(source, 1, "expect int, got str");
}

#[test]
fn a_variable_as_a_type_is_checked_before_the_run_only() {
    evaluates("schema S:\n    m: v = 1\nv = S {}\n", "v:\n  m: 1");
}

#[test]
fn attributes_of_a_base_that_is_declared_later_come_last() {
    let (base, derived) = ("schema A:\n    a: int = 1\n", "schema B(A):\n    b: int = 2\n");
    evaluates(&format!("x = B {{}}\n{base}{derived}"), "x:\n  a: 1\n  b: 2");
    evaluates(&format!("x = B {{}}\n{derived}{base}"), "x:\n  b: 2\n  a: 1");
    evaluates(&format!("{derived}{base}x = B {{}}\n"), "x:\n  a: 1\n  b: 2");
}

#[test]
fn a_failed_check_of_a_converted_dict_is_reported_at_the_last_default() {
    let source = "
schema A:
    n: int
    check:
        n > 1
schema B[x: int = 3]:
    a: A
b = B(4) {
    a = {n = 1}
}
";
    fails(source, 5, "Instance check failed");
}

#[test]
fn an_empty_dict_is_no_instance_of_a_schema_that_wants_something() {
    let schemas = "schema B:\n    a: int = 1\nschema S(B):\n    a: int\n";
    fails(&format!("{schemas}o: S = {{}}\n"), 2, "expect S, got dict. For details:");
    evaluates(&format!("{schemas}o: S {{}}\n"), "o:\n  a: 1");
    evaluates("schema S:\n    a: int = 1\n    a: int\no: S = {}\n", "o:\n  a: 1");
    fails(
        "schema S:\n    a: int\no: S = {}\n",
        3,
        "attribute 'a' of S is required and can't be None or Undefined",
    );
}

#[test]
fn a_schema_as_a_value_is_a_type() {
    let message = "unsupported operand type(s) for +: 'type' and 'int'";
    fails("schema A:\n    a: int\n_a: any = A\no = _a + 1\n", 4, message);
    evaluates("rule R:\n    True\na = typeof(R)\nb = str(R)\n", "a: type\nb: function");
}

#[test]
fn arguments_of_rules_may_be_left_out() {
    evaluates("rule R[n]:\n    True\nx = R {}\ny = R(1) {}\n", "x: {}\n'y': {}");
    fails(
        "rule R[n]:\n    True\nx = R(1, 2) {}\n",
        3,
        "\"R\" takes 1 positional argument but 2 were given",
    );
}
