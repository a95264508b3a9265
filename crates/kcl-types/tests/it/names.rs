//! Names: unknown ones, repeated ones, imports.

use crate::check_findings;

#[test]
fn an_unknown_name_is_reported_with_similar_ones() {
    check_findings(
        r#"
replicas = 1
b = replica
  # ^ error[E2L23]: name 'replica' is not defined, did you mean '["replicas"]'?
c = somethingElse
  # ^ error[E2L23]: name 'somethingElse' is not defined
"#,
    );
}

#[test]
fn a_global_is_assigned_once() {
    check_findings(
        r"
a = 1
a = 2
# ^ error[E1001]: Can not change the value of 'a', because it was declared immutable
_b = 1
_b = 2
",
    );
}

#[test]
fn a_global_is_not_changed() {
    check_findings(
        r"
a = 1
a += 1
# ^ error[E1001]: Immutable variable 'a' is modified during compiling
_b = 1
_b += 1
",
    );
}

#[test]
fn a_path_into_a_global_changes_it() {
    check_findings(
        r"
a = {}
a.b = 1
# ^ error[E1001]: Can not change the value of 'a', because it was declared immutable
",
    );
}

#[test]
fn schemas_of_one_name_are_refused() {
    check_findings(
        r"
schema A:
    a: int
schema A:
# ^ error[E2L28]: Unique key error name 'A'
     # ^ error[E2L28]: Unique key error name 'A'
    b: int
",
    );
}

#[test]
fn a_schema_is_not_called_like_an_import() {
    check_findings(
        r"
import math
schema math:
# ^ error[E2L28]: Unique key error name 'math'
    a: int
",
    );
}

#[test]
fn an_alias_is_not_called_like_a_basic_type() {
    check_findings(
        r#"
type int = str
   # ^ error[E2G22]: type alias 'int' cannot be the same as the built-in types (["any", "int", "float", "str", "bool"])
"#,
    );
}

#[test]
fn a_schema_is_not_called_like_a_basic_type() {
    check_findings(
        r#"
schema str:
     # ^ error[E2L23]: schema name 'str' cannot be the same as the built-in types (["any", "int", "float", "str", "bool"])
    a: int
"#,
    );
}

#[test]
fn globals_may_be_used_before_their_statement() {
    check_findings(
        r"
a = b
b = C {x = 1}
schema C:
    x: int
",
    );
}

#[test]
fn names_of_a_config_are_seen_by_later_entries() {
    check_findings(
        r"
a = {
    x = 1
    y = x + 1
    z = later
      # ^ error[E2L23]: name 'later' is not defined
    later = 1
}
",
    );
}

#[test]
fn loop_variables_end_with_the_loop() {
    check_findings(
        r"
a = [x for x in [1]]
b = x
  # ^ error[E2L23]: name 'x' is not defined
",
    );
}

#[test]
fn a_lambda_sees_its_parameters() {
    check_findings(
        r"
f = lambda p, q = 1 {
    r = p + q
    r + s
      # ^ error[E2L23]: name 's' is not defined
}
",
    );
}

#[test]
fn a_schema_body_sees_its_attributes() {
    check_findings(
        r"
schema A[n: int]:
    x: int = n
    y: int = x + z
    z: int = w
           # ^ error[E2L23]: name 'w' is not defined
    t = 1
    u: int = t
",
    );
}

#[test]
fn a_member_of_a_module_must_be_there() {
    check_findings(
        r"
import math
a = math.nothing(1)
  # ^ error[E2G22]: attribute 'nothing' not found in 'module 'math''
",
    );
}

#[test]
fn a_module_needs_no_question_mark() {
    check_findings(
        r"
import math
a = math?.pow
      # ^ error[E2L23]: For the module type, the use of '?.pow' is unnecessary and it can be modified as '.pow'
",
    );
}

#[test]
fn a_loop_has_two_variables_at_most() {
    check_findings(
        r"
a = [1 for x, y, z in [1]]
             # ^ error[E2L23]: the number of loop variables is 3, which can only be 1 or 2
b = [1 for x.y in [1]]
         # ^ error[E2L23]: loop variables can only be ordinary identifiers
",
    );
}

#[test]
fn the_type_of_data_is_known_where_it_is_read() {
    check_findings(
        r"
data = {ports = [1, 2], name = 'a', inner = {on = True}}
_x = data.name - 1
   # ^ error[E2G22]: unsupported operand type(s) for -: 'str' and 'int(1)'
_y = lambda {
    data.inner.on.z
  # ^ error[E2G22]: attribute 'z' not found in 'bool'
}
",
    );
}
