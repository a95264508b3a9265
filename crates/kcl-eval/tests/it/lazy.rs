//! What readers of a re-assigned name see.

use crate::support::{evaluates, fails};

#[test]
fn readers_before_an_update_see_the_final_value() {
    evaluates("_a = 3\na = _a\n_a *= 2\n", "a: 6");
    evaluates("_a = 1\na = _a\n_a = 2\nb = _a\n_a = 3\n", "a: 3\nb: 3");
}

#[test]
fn readers_after_an_update_see_the_value_so_far() {
    evaluates("_a = 3\n_a *= 2\na = _a\n_a **= 2\nb = _a\n", "a: 6\nb: 36");
    evaluates("_a = 3\n_a *= 2\na = _a\n_a = 7\nb = _a\n", "a: 6\nb: 7");
    evaluates("_a = 1\nif True:\n    _a += 5\n    a = _a\n    _a += 1\nb = _a\n", "a: 6\nb: 7");
}

#[test]
fn an_instance_sees_globals_as_they_are() {
    let schema = "schema S:\n    x: int = _a\n";
    evaluates(&format!("{schema}_a = 1\ns = S {{}}\n_a += 1\n"), "s:\n  x: 1");
    evaluates(&format!("{schema}_a = 1\n_a += 1\ns = S {{}}\n"), "s:\n  x: 2");
    evaluates(&format!("{schema}s = S {{}}\n_a = 1\n_a += 1\n"), "s:\n  x: 2");
}

#[test]
fn a_name_that_is_final_is_read_without_a_look_back() {
    for other in ["else:\n    _i = 7\n", "if not l:\n    _i = 7\n"] {
        let text = format!("l = [\"a\"]\nif l:\n    _i = 5\n{other}g = l[_i]\n");
        fails(&text, 6, "list index out of range: 5");
    }
    fails("l = [\"a\"]\ng = l[_i]\n\n_i = 5\n", 4, "list index out of range: 5");
}
