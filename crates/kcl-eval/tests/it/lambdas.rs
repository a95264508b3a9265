//! Lambdas and their variables.

use crate::support::evaluates;

/// A program with one lambda `f`, called with the list `[0]`, whose results are joined.
fn applied(lambda: &str, result: &str) {
    let program = format!(
        "f = lambda l {{\n{lambda}}}\n_l = [0]\n\
         a = \" \".join([str(x) for x in f(_l)])\nb = str(_l)\n"
    );
    evaluates(&program, &format!("a: '{result}'\nb: '[0]'"));
}

#[test]
fn a_variable_keeps_its_value_until_its_last_use() {
    applied("    _m = l + [1]\n    _n = l + [2]\n    [_m, _n, l]\n", "[0, 1] [0, 2] [0]");
    applied("    [(l + [1] if l else l + [2]) + l]\n", "[0, 1, 0]");
    applied("    [l + [1], l + l]\n", "[0, 1] [0, 0]");
}

#[test]
fn a_captured_variable_keeps_its_value() {
    applied("    _g = lambda { l + [3] }\n    [l + [4], _g(), _g()]\n", "[0, 4] [0, 3] [0, 3]");
    applied("    [l + [i] for i in range(2)]\n", "[0, 0] [0, 1]");
}

#[test]
fn integers_that_overflow_or_are_none_take_the_usual_way() {
    evaluates("x = [a + b * 2 for a in [1, 1.5] for b in [1]]\n", "x:\n- 3\n- 3.5");
    evaluates("x = [1 < a for a in [0, 2, 1.5]]\n", "x:\n- false\n- true\n- true");
}
