//! Values against the types of their places.

use crate::check_findings;

#[test]
fn an_annotated_variable_takes_its_type() {
    check_findings(
        r#"
a: int = "s"
# ^ error[E2G22]: expected int, got str(s)
b: [str] = [1]
# ^ error[E2G22]: expected [str], got [int(1)]
c: {str:int} = {k = "v"}
              # ^ error[E2G22]: expected int, got str(v)
# ^ error[E2G22]: expected {str:int}, got {str(k):str(v)}
d: "a" | "b" = "c"
# ^ error[E2G22]: expected str(a) | str(b), got str(c)
e: float = 1
f: int = 1.5
# ^ error[E2G22]: expected int, got float(1.5)
g: bool = True
h: any = [1]
i: int = None
"#,
    );
}

#[test]
fn a_private_variable_keeps_its_type() {
    check_findings(
        r#"
_a = 1
_a = "s"
# ^ error[E2G22]: expected int, got str(s)
b: str = _a
# ^ error[E2G22]: expected str, got int
"#,
    );
}

#[test]
fn the_annotation_of_a_variable_stays() {
    check_findings(
        r#"
_a: str = "s"
# ^ error[E2G22]: can not change the type of '_a' to int
# ^ error[E2G22]: can not change the type of '_a' to str
# ^ error[E2G22]: expected int, got str(s)
_a: int = 1
# ^ error[E2G22]: can not change the type of '_a' to str
"#,
    );
}

#[test]
fn an_attribute_default_takes_its_type() {
    check_findings(
        r#"
schema A:
    a: int = "s"
  # ^ error[E2G22]: expected int, got str(s)
    b: [int] = [1, "s"]
  # ^ error[E2G22]: expected [int], got [int(1) | str(s)]
    c: {str:str} = {k = 1}
                  # ^ error[E2G22]: expected str, got int(1)
  # ^ error[E2G22]: expected {str:str}, got {str(k):int(1)}
    d: "x" = "y"
  # ^ error[E2G22]: expected str(x), got str(y)
"#,
    );
}

#[test]
fn a_config_value_takes_the_type_of_its_attribute() {
    check_findings(
        r#"
schema A:
    a: int
    b?: [str]
x = A {
    a = "s"
  # ^ error[E2G22]: expected int, got str(s)
    b = [1]
  # ^ error[E2G22]: expected [str], got [int(1)]
}
y = A {a: "s"}
     # ^ error[E2G22]: expected int, got str(s)
"#,
    );
}

#[test]
fn nested_configs_are_checked_inside_out() {
    check_findings(
        r#"
schema B:
    c: int
schema A:
    b: B
    list: [B]
    dict: {str:B}
x = A {
    b = {c = "s"}
       # ^ error[E2G22]: expected int, got str(s)
  # ^ error[E2G22]: expected int, got str
    list = [{c = "s"}]
           # ^ error[E2G22]: expected int, got str(s)
  # ^ error[E2G22]: expected int, got str
    dict = {k = {c = "s"}}
               # ^ error[E2G22]: expected int, got str(s)
          # ^ error[E2G22]: expected int, got str
  # ^ error[E2G22]: expected int, got str
}
"#,
    );
}

#[test]
fn a_dict_becomes_a_schema() {
    check_findings(
        r#"
schema A:
    a: int
x: A = {a = 1}
y: A = {a = "s"}
      # ^ error[E2G22]: expected int, got str(s)
# ^ error[E2G22]: expected int, got str
z: [A] = [{b = 1}]
         # ^ error[E2L23]: Cannot add member 'b' to schema 'A'
"#,
    );
}

#[test]
fn an_instance_fits_its_base() {
    check_findings(
        r"
schema A:
    a: int = 1
schema B(A):
    b: int = 1
schema C:
    c: int = 1
x: A = B {}
y: B = A {}
# ^ error[E2G22]: expected B, got A
z: A = C {}
# ^ error[E2G22]: expected A, got C
",
    );
}

#[test]
fn a_union_holds_what_one_of_its_types_holds() {
    check_findings(
        r#"
schema A:
    a: int
schema B:
    b: str
x: A | B = {c = 1}
          # ^ error[E2L23]: Cannot add member 'c' to 'schemas ["A", "B"]'
y: int | str = 1.5
# ^ error[E2G22]: expected int | str, got float(1.5)
z: [int | str] = [1, "s", True]
# ^ error[E2G22]: expected [int | str], got [int(1) | str(s) | bool(True)]
"#,
    );
}

#[test]
fn an_alias_is_what_it_stands_for() {
    check_findings(
        r#"
type Color = "red" | "blue"
a: Color = "green"
# ^ error[E2G22]: expected str(red) | str(blue), got str(green)
type Colors = [Color]
b: Colors = ["green"]
# ^ error[E2G22]: expected [str(red) | str(blue)], got [str(green)]
"#,
    );
}

#[test]
fn the_types_of_items_are_joined() {
    check_findings(
        r#"
a: int = [1, 2.0, "a", 3]
# ^ error[E2G22]: expected int, got [str(a) | float(2)]
b: int = [None, 1, "x"]
# ^ error[E2G22]: expected int, got [str(x) | int(1)]
c: int = [1, 1, 2]
# ^ error[E2G22]: expected int, got [int(1) | int(2)]
d: int = {a = 1, b = "x", c = 1.0}
# ^ error[E2G22]: expected int, got {str(a) | str(b) | str(c):float(1) | str(x)}
e: int = [[1], [1.0]]
# ^ error[E2G22]: expected int, got [[float(1)]]
"#,
    );
}

#[test]
fn a_condition_gives_one_of_two_types() {
    check_findings(
        r#"
a = 1 if True else "s"
b: int = a
# ^ error[E2G22]: expected int, got int | str
"#,
    );
}

#[test]
fn a_number_with_unit_is_a_type_of_its_own() {
    check_findings(
        r"
import units
a: units.NumberMultiplier = 1Ki
b: units.NumberMultiplier = 1024
# ^ error[E2G22]: expected number_multiplier, got int(1024)
c: int = 1Ki
# ^ error[E2G22]: expected int, got number_multiplier(1Ki)
d: 1Ki = 2Ki
# ^ error[E2G22]: expected number_multiplier(1Ki), got number_multiplier(2Ki)
",
    );
}

#[test]
fn functions_are_compared_by_their_parts() {
    check_findings(
        r#"
f: (int) -> str = lambda x: int -> str { "s" }
g: (int) -> str = lambda x: int -> int { 1 }
# ^ error[E2G22]: expected (int) -> str, got (int) -> int
h: (int) -> str = lambda x: int, y: int -> str { "s" }
# ^ error[E2G22]: expected (int) -> str, got (int, int) -> str
"#,
    );
}

#[test]
fn an_assertion_message_is_a_string() {
    check_findings(
        r"
assert True, 1
           # ^ error[E2G22]: expected str, got int(1)
",
    );
}

#[test]
fn equal_types_are_one_member_of_a_union() {
    check_findings(
        r#"
a: bool = [[1], [1], "s"]
# ^ error[E2G22]: expected bool, got [[int(1)] | str(s)]
b: bool = [{}, {}, 1]
# ^ error[E2G22]: expected bool, got [{any:any} | int(1)]
c: bool = [{a = 1}, {a = 1}, 1]
# ^ error[E2G22]: expected bool, got [int(1) | {str(a):int(1)}]
"#,
    );
}
