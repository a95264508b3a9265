//! Calls and arguments.

use crate::check_findings;

#[test]
fn arguments_fit_parameters() {
    check_findings(
        r#"
f = lambda x: int, y: str = "s" -> int { x }
a = f("s")
    # ^ error[E2G22]: expected int, got str(s)
b = f(1, 2)
       # ^ error[E2G22]: expected str, got int(2)
c = f(x=1, y=1)
           # ^ error[E2G22]: expected str, got int(1)
"#,
    );
}

#[test]
fn arguments_are_counted() {
    check_findings(
        r#"
f = lambda x { x }
a = f()
  # ^ error[E2L23]: expected 1 positional argument, found 0
b = f(1, 2)
       # ^ error[E2L23]: "f" takes 1 positional argument but 2 were given
c = f(y=1)
    # ^ error[E2L23]: "f" got an unexpected keyword argument 'y'
  # ^ error[E2L23]: expected 1 positional argument, found 0
d = f(x=1, x=2)
       # ^ error[E2L23]: "f" has duplicated keyword argument x
"#,
    );
}

#[test]
fn a_lambda_may_be_called_above_its_statement() {
    check_findings(
        r#"
a = f("s")
    # ^ error[E2G22]: expected int, got str(s)
f = lambda x: int { x }
"#,
    );
}

#[test]
fn built_in_functions_are_checked() {
    check_findings(
        r#"
a = len(1)
      # ^ error[E2G22]: expected str | {any:any} | [any], got int(1)
b = len()
  # ^ error[E2L23]: expected 1 positional argument, found 0
c = "abc".join("x", "y")
             # ^ error[E2G22]: expected [any], got str(x)
                  # ^ error[E2L23]: "join" takes 1 positional argument but 2 were given
d = "abc".nothing()
        # ^ error[E2G22]: attribute 'nothing' not found in 'str(abc)'
e = range(1.5)
        # ^ error[E2G22]: expected int, got float(1.5)
"#,
    );
}

#[test]
fn modules_are_checked() {
    check_findings(
        r#"
import math
a = math.pow("s", 1)
           # ^ error[E2G22]: expected int | float, got str(s)
b = math.gcd(1.5, 1)
           # ^ error[E2G22]: expected int, got float(1.5)
"#,
    );
}

#[test]
fn similar_parameters_are_named() {
    check_findings(
        r#"
schema A[_name: str]:
    name: str = _name
a = A(_naem="s") {}
    # ^ error[E2L23]: "A" got an unexpected keyword argument '_naem', did you mean '_name'?
  # ^ error[E2L23]: expected 1 positional argument, found 0
"#,
    );
}

#[test]
fn schema_arguments_are_checked() {
    check_findings(
        r#"
schema A[a: int, b: str = "s"]:
    x: int = a
x = A(b=1) {}
      # ^ error[E2G22]: expected str, got int(1)
  # ^ error[E2L23]: expected 1 positional argument, found 0
y = A("1", 2, 3) {}
    # ^ error[E2G22]: expected int, got str(1)
         # ^ error[E2G22]: expected str, got int(2)
            # ^ error[E2L23]: "A" takes 2 positional arguments but 3 were given
"#,
    );
}

#[test]
fn only_functions_and_schemas_are_called() {
    check_findings(
        r"
schema A:
    a: int = 1
a = 1
b = a()
  # ^ error[E2L23]: 'int' object is not callable
c = A {}
d = c()
  # ^ error[E2L23]: schema 'A' instance is not callable
e = A()
",
    );
}

#[test]
fn an_instance_takes_no_arguments() {
    check_findings(
        r"
schema A:
    a: int = 1
a = A {}
b = a(1) {a = 2}
  # ^ error[E2L23]: Arguments cannot be used in the schema modification expression
",
    );
}

#[test]
fn the_result_of_a_lambda_fits() {
    check_findings(
        r#"
f = lambda x -> int { "s" }
                    # ^ error[E2G22]: expected int, got str(s)
g = lambda x -> str {
    y = 1
    y
  # ^ error[E2G22]: expected str, got int
}
"#,
    );
}

#[test]
fn a_lambda_ends_with_a_value() {
    check_findings(
        r"
f = lambda x {
    if x:
  # ^ error[E2L23]: The last statement of the lambda body must be a expression e.g., x, 1, etc.
        1
}
",
    );
}

#[test]
fn defaults_come_last() {
    check_findings(
        r"
schema A[a = 1, b]:
           # ^ error[E1001]: non-default argument follows default argument
    x: int = 1
f = lambda a = 1, b { a }
             # ^ error[E1001]: non-default argument follows default argument
",
    );
}
