//! Operators, attributes and subscripts.

use crate::check_findings;

#[test]
fn operands_fit_operators() {
    check_findings(
        r#"
a = 1 + "s"
  # ^ error[E2G22]: unsupported operand type(s) for +: 'int(1)' and 'str(s)'
b = [1] - [1]
  # ^ error[E2G22]: unsupported operand type(s) for -: '[int(1)]' and '[int(1)]'
c = {a = 1} + {b = 2}
  # ^ error[E2G22]: unsupported operand type(s) for +: '{str(a):int(1)}' and '{str(b):int(2)}'
d = 1 | 1.5
  # ^ error[E2G22]: unsupported operand type(s) for |: 'int(1)' and 'float(1.5)'
e = True & False
  # ^ error[E2G22]: unsupported operand type(s) for &: 'bool(True)' and 'bool(False)'
f = "s" * 2
g = [1] + ["s"]
h = {a = 1} | {b = 2}
i = None | 1
j = 1 + True
  # ^ error[E2G22]: unsupported operand type(s) for +: 'int(1)' and 'bool(True)'
k = "s" * "s"
  # ^ error[E2G22]: unsupported operand type(s) for *: 'str(s)' and 'str(s)'
"#,
    );
}

#[test]
fn division_by_zero_is_seen() {
    check_findings(
        r"
a = 1 / 0
  # ^ error[E2G22]: integer division or modulo by zero
b = 1 % 0
  # ^ error[E2G22]: integer division or modulo by zero
c = 1.0 // 0.0
  # ^ error[E2G22]: integer division or modulo by zero
",
    );
}

#[test]
fn comparisons_fit() {
    check_findings(
        r#"
a = 1 < "s"
  # ^ error[E2G22]: unsupported operand type(s) for <: 'int(1)' and 'str(s)'
b = [1] < [2]
  # ^ error[E2G22]: unsupported operand type(s) for <: '[int(1)]' and '[int(2)]'
c = [1] == 1
  # ^ error[E2G22]: unsupported operand type(s) for ==: '[int(1)]' and 'int(1)'
d = 1 in 2
  # ^ error[E2G22]: unsupported operand type(s) for in: 'int(1)' and 'int(2)'
e = "s" is "s"
  # ^ error[E2G22]: unsupported operand type(s) for is: 'str(s)' and 'str(s)'
f = [1] != [2]
g = {} == {}
h = 1 == None
i = 1 < True
"#,
    );
}

#[test]
fn unary_operands_fit() {
    check_findings(
        r#"
a = -"s"
   # ^ error[E2G22]: bad operand type for unary -: 'str(s)'
b = ~1.5
   # ^ error[E2G22]: bad operand type for unary ~: 'float(1.5)'
c = not "s"
d = +[1]
   # ^ error[E2G22]: bad operand type for unary +: '[int(1)]'
"#,
    );
}

#[test]
fn a_chain_of_operators_is_checked_from_the_left() {
    check_findings(
        r#"
a = "s" + "t" + 1 + "u"
  # ^ error[E2G22]: unsupported operand type(s) for +: 'str' and 'int(1)'
"#,
    );
}

#[test]
fn conversions_overlap() {
    check_findings(
        r#"
a = 1 as str
  # ^ error[E2G22]: Conversion of type 'int(1)' to type 'str' may be a mistake because neither type sufficiently overlaps with the other
b: int | str = 1
c = b as int
d = b as float
  # ^ error[E2G22]: Conversion of type 'int | str' to type 'float' may be a mistake because neither type sufficiently overlaps with the other
e = 1 as "x"
  # ^ error[E2L23]: keyword 'as' right operand must be a type
"#,
    );
}

#[test]
fn attributes_are_found() {
    check_findings(
        r#"
schema A:
    name: str = "s"
a = 1
b = a.x
  # ^ error[E2G22]: attribute 'x' not found in 'int'
c = {y = 1}.z
d = A {}.nam
       # ^ error[E2G22]: attribute 'nam' not found in 'A', did you mean '["name"]'?
e = A.instance
  # ^ error[E2G22]: attribute 'instance' not found in 'A', did you mean '["instances"]'?
f = None?.x
        # ^ error[E2G22]: attribute 'x' not found in 'NoneType'
"#,
    );
}

#[test]
fn subscripts_fit() {
    check_findings(
        r#"
a = [1][1.0]
      # ^ error[E2G22]: expected int, got float(1)
b = {a = 1}[1]
  # ^ error[E2L23]: invalid dict/schema key type: 'int(1)'
c = "s"["a"]
      # ^ error[E2G22]: expected int, got str(a)
d = {a = 1}[1:2]
  # ^ error[E2L23]: unhashable type: 'slice'
e = 1[0]
  # ^ error[E2L23]: 'int(1)' object is not subscriptable
f = [1]["a":]
      # ^ error[E2G22]: expected int, got str(a)
g = None?[0]
  # ^ error[E2L23]: 'NoneType' object is not subscriptable
"#,
    );
}

#[test]
fn only_iterables_are_walked() {
    check_findings(
        r#"
a = [x for x in 1]
              # ^ error[E2L23]: 'int(1)' object is not iterable
b = {k = v for k, v in 1.5}
                     # ^ error[E2L23]: 'float(1.5)' object is not iterable
c = all x in True { x }
           # ^ error[E2L23]: name 'True' is not defined
d = [x for x in "abc"]
"#,
    );
}

#[test]
fn format_specifications_are_known() {
    check_findings(
        r#"
a = "${1: #json}"
b = "${1: #xml}"
     # ^ error[E2L23]: #xml is a invalid format spec
"#,
    );
}
