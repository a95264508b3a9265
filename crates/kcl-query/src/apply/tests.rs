//! Overrides, compared with the programs they should make.

use super::apply_override;
use crate::graft::Graft;
use base_text::Span;
use kcl_syntax::ast::{Module, Stmt, StmtId};

/// The statements as trees of their own, which are equal if the sources mean the same.
fn shape(module: &Module) -> Vec<(String, Module)> {
    let show = |stmt: &StmtId| {
        let (name, value) = match &module[*stmt].kind {
            Stmt::Assign(assign) => {
                let names: Vec<&str> =
                    assign.targets.iter().map(|target| target.name.name.as_str()).collect();
                (names.join(" = "), assign.value)
            }
            Stmt::AugAssign(assign) => (format!("{} +=", assign.target.name.name), assign.value),
            Stmt::Unification(unification) => {
                (format!("{}:", unification.target.names[0].name), unification.value)
            }
            other => panic!("not in these tests: {other:?}"),
        };
        let mut copy = Module::default();
        Graft { from: module, to: &mut copy, span: Span::default() }.expr(value);
        (name, copy)
    };
    module.body.iter().map(show).collect()
}

fn parse(text: &str) -> Module {
    let parsed = kcl_syntax::parse(text);
    assert_eq!(parsed.diagnostics, [], "{text}");
    parsed.module
}

#[track_caller]
fn check(before: &str, spec: &str, after: &str) {
    let mut module = parse(before);
    apply_override(&mut module, &spec.parse().unwrap());
    assert_eq!(shape(&module), shape(&parse(after)), "{spec}");
}

#[test]
fn values_are_replaced() {
    check("x = 1\n", "x=2", "x = 2\n");
    check("x = {a = 1}\n", "x.a=\"v\"", "x = {a = \"v\"}\n");
    check("x = A {a = {b: 1}}\n", "x.a.b=[1]", "x = A {a = {b: [1]}}\n");
    check("x: A {a = 1}\nx: A {}\n", "x.a=5", "x: A {a = 5}\nx: A {}\n");
    check("x = {\"a.b\" = 1}\n", "x[\"a.b\"]=2", "x = {\"a.b\" = 2}\n");
    check("x = {a = 1, a = 2}\n", "x.a=3", "x = {a = 3, a = 3}\n");
}

#[test]
fn what_is_missing_is_added() {
    check("x = 1\n", "y=2", "x = 1\ny = 2\n");
    check("x = {a = 1}\n", "x.b.c.d=1", "x = {a = 1, b: {c: {d = 1}}}\n");
    check("x = 1\n", "y.b.c=1", "x = 1\ny = {b: {c = 1}}\n");
    check("x = 1\n", "y:A {b = 1}", "x = 1\ny: A {b = 1}\n");
    check("x = 1\n", "y+=[1]", "x = 1\ny += [1]\n");
}

#[test]
fn configs_merge_and_lists_grow() {
    check("x = {a = {b = 1, c = 2}}\n", "x.a:{c = 3, d = 4}", "x = {a = {b = 1, c = 3, d = 4}}\n");
    check("x = A {b = 1}\n", "x:A {c = 2}", "x = A {b = 1, c = 2}\n");
    check("x = {a = [1]}\n", "x.a+=[2, 3]", "x = {a = [1, 2, 3]}\n");
}

#[test]
fn values_are_deleted() {
    check("x = {a = 1, b = 2}\n", "x.a-", "x = {b = 2}\n");
    check("x = 1\ny = 2\n", "x-", "y = 2\n");
    check("x = {a = 1}\n", "x.b-", "x = {a = 1}\n");
}

#[test]
fn several_targets_are_told_apart() {
    check("x = y = {a = 1}\n", "x.a=2", "x = {a = 2}\ny = {a = 1}\n");
}

#[test]
fn sums_and_signs_are_text() {
    check("x = 1\n", "x=1+2", "x = \"1+2\"\n");
    check("x = 1\n", "x=-5", "x = \"-5\"\n");
    check("x = 1\n", "x=lambda a { a + 1 }(2)", "x = lambda a { a + 1 }(2)\n");
}
