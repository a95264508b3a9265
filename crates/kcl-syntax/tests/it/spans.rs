//! Where nodes stand.

use kcl_syntax::ast::{Expr, Stmt};
use kcl_syntax::parse;
use kcl_syntax::walk::{Node, children, descendants};

#[test]
fn expressions_cover_their_text() {
    let text = "a = [f(x, k=1).b[0] + -y, {c.d: 1}, S {}, lambda z {z}, \"${v}\"]\n";
    let module = parse(text).module;
    let found: Vec<&str> = module.exprs.iter().map(|node| node.span.slice(text)).collect();
    for expected in [
        "f(x, k=1)",
        "f(x, k=1).b",
        "f(x, k=1).b[0]",
        "-y",
        "f(x, k=1).b[0] + -y",
        "{c.d: 1}",
        "d: 1",
        "S {}",
        "lambda z {z}",
        "v",
        "\"${v}\"",
    ] {
        assert!(found.contains(&expected), "{expected}: {found:?}");
    }
}

#[test]
fn statements_end_before_the_line_does() {
    let text = "a = 1 # c\n\nschema B:\n    c: int  # d\n\n\nif a:\n    e = 1\n\n";
    let module = parse(text).module;
    let found: Vec<&str> = module.body.iter().map(|stmt| module[*stmt].span.slice(text)).collect();
    assert_eq!(found, ["a = 1", "schema B:\n    c: int", "if a:\n    e = 1"]);
}

#[test]
fn the_value_of_a_unification_starts_at_its_target() {
    let text = "a: B {c = 1}";
    let module = parse(text).module;
    let Stmt::Unification(unification) = &module[module.body[0]].kind else {
        unreachable!("it is a unification")
    };
    assert_eq!(module[unification.value].span.slice(text), text);
}

#[test]
fn a_walk_meets_every_node_once() {
    let module = parse("a = {if b: c = [d for d in e]}\nschema F:\n    g?: [int] = [1]\n").module;
    let mut n_exprs = 0;
    let mut n_types = 0;
    descendants(&module, |node| match node {
        Node::Expr(_) => n_exprs += 1,
        Node::Type(_) => n_types += 1,
        Node::Stmt(_) => {}
    });
    assert_eq!((n_exprs, n_types), (9, 2));
    let mut firsts = Vec::new();
    children(&module, Node::Stmt(module.body[0]), |node| firsts.push(node));
    let [Node::Expr(value)] = firsts.as_slice() else { unreachable!("one value") };
    assert!(matches!(module[*value].kind, Expr::Config(_)));
}
