//! Declarations of schemas and rules.

use crate::check_findings;

#[test]
fn a_parent_is_a_schema() {
    check_findings(
        r"
a = 1
schema A(a):
       # ^ error[E2D34]: invalid schema inherit object type, expect schema, got 'any'
    x: int
schema B(Nothing):
       # ^ error[E2L23]: name 'Nothing' is not defined
       # ^ error[E2D34]: invalid schema inherit object type, expect schema, got 'any'
    x: int
mixin CMixin:
    x: int
schema D(CMixin):
       # ^ error[E2D34]: invalid schema inherit object type, expect schema, got 'CMixin'
    y: int
",
    );
}

#[test]
fn an_attribute_keeps_the_type_of_its_base() {
    check_findings(
        r"
schema A:
    x: int
    y: int | str
schema B(A):
    x: str
  # ^ error[E2G22]: can't change schema field type of 'x' from str to str
    y: int
schema C:
    z: int
    z: str
  # ^ error[E2G22]: can't change schema field type of 'z' from int to str
",
    );
}

#[test]
fn a_required_attribute_stays_required() {
    check_findings(
        r"
schema A:
    x: int
schema B(A):
    x?: int
  # ^ error[E2G22]: can't change the required schema attribute of 'x' to optional
",
    );
}

#[test]
fn schemas_do_not_inherit_in_a_circle() {
    check_findings(
        r"
schema A(B):
     # ^ error[E2L23]: There is a circular reference between schemas A, B
    x: int
schema B(A):
     # ^ error[E2L23]: There is a circular reference between schemas A, B
    y: int
",
    );
}

#[test]
fn mixins_have_their_suffix() {
    check_findings(
        r"
schema Extra:
    x: int
schema A:
    mixin [Extra]
         # ^ error[E1001]: a valid mixin name should end with 'Mixin', got 'Extra'
         # ^ error[E2D34]: illegal schema mixin object type, expected mixin, got 'Extra'
    y: int
",
    );
}

#[test]
fn protocols_have_only_attributes() {
    check_findings(
        r"
protocol A:
        # ^ error[E2L23]: schema protocol name must end with 'Protocol'
    x: int
protocol BProtocol:
       # ^ error[E2L23]: a protocol is only allowed to define attributes in it
    x: int
    y = 1
",
    );
}

#[test]
fn only_mixins_have_protocols() {
    check_findings(
        r"
protocol AProtocol:
    x: int
schema B for AProtocol:
           # ^ error[E2D34]: only schema mixin can inherit from protocol
    y: int
mixin CMixin for Nothing:
               # ^ error[E2L23]: name 'Nothing' is not defined
               # ^ error[E2D34]: invalid schema inherit object type, expect protocol, got 'any'
    y: int
",
    );
}

#[test]
fn attributes_fit_the_index_signature() {
    check_findings(
        r"
schema A:
    x: int
  # ^ error[E1001]: the type 'int' of schema attribute 'x' does not meet the index signature definition [str]: str
    [str]: str
schema B:
    name: str
    [name: str]: str
  # ^ error[E1001]: index signature attribute name 'name' cannot have the same name as schema attributes
schema C:
     # ^ error[E1001]: invalid index signature key type: 'int'
    [int]: str
",
    );
}

#[test]
fn a_parameter_is_not_an_attribute() {
    check_findings(
        r"
schema A[x: int]:
       # ^ error[E2L23]: Unexpected parameter name 'x' with the same name as the schema attribute
    x: int = 1
",
    );
}

#[test]
fn decorators_are_known() {
    check_findings(
        r#"
@unknown
# ^ error[E2L23]: UnKnown decorator unknown
schema A:
    @deprecated(version=1)
                      # ^ error[E2G22]: expected str, got int(1)
    x?: int
    @info(whatever="s")
    y?: int
"#,
    );
}

#[test]
fn rules_extend_rules() {
    check_findings(
        r"
schema A:
    x: int = 1
rule R(A):
     # ^ error[E2D34]: illegal rule type 'A'
    1 == 1
rule S(R):
    1 == 1
",
    );
}

#[test]
fn a_check_is_walked() {
    check_findings(
        r#"
schema A:
    x: int
    check:
        x > "s", "message"
      # ^ error[E2G22]: unsupported operand type(s) for >: 'int' and 'str(s)'
        len(x) > 1
          # ^ error[E2G22]: expected str | {any:any} | [any], got int
        y > 1
      # ^ error[E2L23]: name 'y' is not defined
        x > 1, 2
             # ^ error[E2G22]: expected str, got int(2)
"#,
    );
}

#[test]
fn assigned_names_have_types() {
    check_findings(
        r#"
schema A:
    a = 1
    b = a + "s"
      # ^ error[E2G22]: unsupported operand type(s) for +: 'int' and 'str(s)'
    if a:
        c = a.d
          # ^ error[E2G22]: attribute 'd' not found in 'int'
"#,
    );
}
