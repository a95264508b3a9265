//! Statements that set a private name, or stand in an `if`, count once each, in order.

use crate::support::evaluates;

/// Checks statements at the top level, as the body of a schema, and in an imported package.
#[track_caller]
fn everywhere(stmts: &str, yaml: &str) {
    evaluates(stmts, yaml);
    let yaml = yaml.trim();
    let (inside, nested) = (stmts.replace('\n', "\n    "), yaml.replace('\n', "\n  "));
    evaluates(&format!("schema S:\n    {inside}\ns = S {{}}\n"), &format!("s:\n  {nested}"));
    let mut reads = Vec::new();
    for (name, _) in yaml.lines().filter_map(|line| line.split_once(':')) {
        reads.push(format!("{name} = made.{name}"));
    }
    let main = format!("#- main.k\nimport made\n{}\n", reads.join("\n"));
    evaluates(&format!("{main}#- kcl.mod\n#- made/made.k\n{stmts}"), yaml);
}

#[test]
fn a_condition_sees_what_a_name_is_before_the_branch_changes_it() {
    everywhere(
        "_n = None\nif not _n:\n    _n = \"dflt\"\nelse:\n    _n = \"given-\" + _n\nname = _n\n",
        "name: dflt",
    );
    everywhere("_b = 0\nif _b < 2:\n    _b = 3\n    _a = 7\nx = _a\n", "x: 7");
    everywhere("_b = 3\nif _b < 2:\n    _b = 3\nelif _b == 3:\n    _b = 4\nx = _b\n", "x: 4");
}

#[test]
fn statements_behind_an_if_win() {
    everywhere("_n = 1\nif _n == 1:\n    _n = 2\n_n = _n + 5\nx = _n\n", "x: 7");
    everywhere("_n = 1\nif _n == 1:\n    _n = 2\n_n = 9\nx = _n\n", "x: 9");
    everywhere("_n = 1\nif _n == 1:\n    _n = 2\nif _n == 2:\n    _n = 3\nx = _n\n", "x: 3");
}

#[test]
fn an_elif_sees_no_statement_behind_its_if() {
    let stmts =
        "_n = 0\nif _n == 1:\n    _n = 2\nelif _n == 0:\n    _m = 5\n_n = 1\nx = _m\nz = _n\n";
    everywhere(stmts, "x: 5\nz: 1");
}

#[test]
fn other_reads_see_the_final_value() {
    everywhere("x = _n\n_n = 1\nif _n == 1:\n    _n = 2\n", "x: 2");
    everywhere("x = z\n_n = 1\nif _n == 1:\n    _n = 2\nz = _n\n", "x: 2\nz: 2");
}

#[test]
fn a_read_in_the_middle_of_an_if_that_needs_it_decides_nothing() {
    let schema = "schema S:\n    a: int = 1\n    b = a\n    if b == 1:\n        a = 2\ns = S {}\n";
    evaluates(schema, "s:\n  a: 2\n  b: 1");
    let two = "schema S:\n    a: int = 1\n    c: int = 5\n    if c == 5:\n        a = c + 1\n    \
               if a == 6:\n        c = 9\ns = S {}\n";
    evaluates(two, "s:\n  a: 6\n  c: 9");
}

#[test]
fn a_statement_that_a_later_one_overtook_changes_nothing() {
    evaluates("_a = x\nif True:\n    _a = 2\nx = _a\n", "x: 2");
}

#[test]
fn several_targets_are_set_in_order() {
    everywhere("f = p\n_a = 3\n_c = 0\n_a = _c = 5\n_c = 1\np = _a\nx = _c\n", "f: 5\np: 5\nx: 1");
}

#[test]
fn what_is_added_to_nothing_stays_what_it_is() {
    evaluates("f = lambda v: any { {x += v} }\na = f(1)\n", "a:\n  x: 1");
    evaluates("d = {} | {env += option(\"p\")}\n", "d:\n  env: null");
    evaluates("_u = option(\"p\") or Undefined\nd = {x = 1, env += _u}\n", "d:\n  x: 1");
    evaluates("d = {env += option(\"p\"), env += [1]}\n", "d:\n  env:\n  - 1");
}

#[test]
fn a_base_rule_reads_parameters_of_the_derived_one() {
    let rules = "rule R1:\n    age > 3\nrule R2[age](R1):\n    age > 1\n";
    evaluates(&format!("{rules}a = R2(5) {{}}\n"), "a: {}");
}

#[test]
fn conditions_that_wait_for_one_statement_are_not_asked_again_and_again() {
    // Each condition reads two names whose conditions do the same: 2 to the power of 100 ways.
    let n = 100;
    let mut text = String::from("schema S:\n    b = a0\n");
    for at in 0..n {
        let (next, other) = (at + 1, at + 2);
        let sets = format!("if a{next} + a{other} > 0:\n        a{at} = 2\n");
        text = format!("{text}    a{at}: int = 1\n    {sets}");
    }
    for at in [n, n + 1] {
        text = format!("{text}    a{at}: int = 1\n    if b == 1:\n        a{at} = 2\n");
    }
    let shown: String = (0..n + 2).map(|at| format!("\n  a{at}: 2")).collect::<Vec<_>>().concat();
    evaluates(&format!("{text}s = S {{}}\n"), &format!("s:\n  b: 1{shown}"));
}
