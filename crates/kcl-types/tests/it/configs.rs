//! Entries of configs against schemas.

use crate::check_findings;

#[test]
fn a_schema_has_only_its_members() {
    check_findings(
        r#"
schema A:
    name: str
    key1?: int
    key2?: int
x = A {
    name = "s"
    nam = "s"
  # ^ error[E2L23]: Cannot add member 'nam' to schema 'A', did you mean '["name"]'?
    key3 = 1
  # ^ error[E2L23]: Cannot add member 'key3' to schema 'A', did you mean '["key1", "key2"]'?
    other = 1
  # ^ error[E2L23]: Cannot add member 'other' to schema 'A'
}
"#,
    );
}

#[test]
fn a_required_attribute_must_be_set() {
    check_findings(
        r#"
schema A:
    a: int
    b?: int
    c: int = 1
    kind: "A"
x = A {}
    # ^ error[E2L23]: attribute 'a' of A is required and can't be None or Undefined
y = A {a = 1}
z = A {**{}}
"#,
    );
}

#[test]
fn configs_of_one_name_are_one() {
    check_findings(
        r"
schema A:
    a: int
    b: int
x: A {a = 1}
x: A {b = 1}
y: A {a = 1}
   # ^ error[E2L23]: attribute 'b' of A is required and can't be None or Undefined
",
    );
}

#[test]
fn entries_of_one_key_are_one() {
    check_findings(
        r"
schema B:
    x: int
    y: int
schema A:
    b: B
a = A {
    b: B {x = 1}
    b: B {y = 1}
}
",
    );
}

#[test]
fn members_of_a_union_are_looked_for_in_all() {
    check_findings(
        r#"
schema A:
    a: int
schema B:
    b: int
x: A | B = {c = 1}
          # ^ error[E2L23]: Cannot add member 'c' to 'schemas ["A", "B"]'
y: A | B = {b = 1}
"#,
    );
}

#[test]
fn unpacked_keys_are_checked() {
    check_findings(
        r#"
schema A:
    name: str
_x = {nam = "s", name = 1}
a = A {
    name = "s"
    **_x
    # ^ error[E2L23]: Cannot add member 'nam' to schema 'A', did you mean '["name"]'?
    # ^ error[E2G22]: expected str, got int
}
"#,
    );
}

#[test]
fn a_key_is_a_string() {
    check_findings(
        r#"
a = {1 = 1}
   # ^ error[E2A31]: A attribute must be string type, got 'int(1)'
b = {None = 1}
   # ^ error[E2A31]: A attribute must be string type, got 'NoneType'
c = {"x" = 1}
"#,
    );
}

#[test]
fn only_lists_are_inserted() {
    check_findings(
        r"
a = {x += 1}
        # ^ error[E2A31]: only list type can in inserted, got 'int(1)'
b = {x += [1]}
",
    );
}

#[test]
fn only_configs_are_unpacked() {
    check_findings(
        r"
a = {**1}
     # ^ error[E2L23]: only dict and schema can be used ** unpack, got 'int(1)'
b = [*1]
    # ^ error[E2L23]: only list, dict, schema object can be used * unpacked, got any
c = {**[1]}
     # ^ error[E2L23]: only dict and schema can be used ** unpack, got '[int(1)]'
",
    );
}

#[test]
fn an_index_signature_takes_other_keys() {
    check_findings(
        r#"
schema A:
    [str]: int
x = A {a = "s"}
     # ^ error[E2G22]: expected int, got str(s)
y: A = {b = "s"}
      # ^ error[E2G22]: expected int, got str(s)
      # ^ error[E2G22]: expected int, got str
"#,
    );
}

#[test]
fn an_index_signature_may_spare_attributes() {
    check_findings(
        r#"
schema A:
    a?: int
    [...str]: str
x = A {a = "s", b = 1}
     # ^ error[E2G22]: expected int, got str(s)
              # ^ error[E2G22]: expected str, got int(1)
"#,
    );
}

#[test]
fn an_index_signature_may_name_its_keys() {
    check_findings(
        r#"
schema A:
    [key: "first" | "second"]: int
x = A {first = 1, third = 1}
                # ^ error[E2L23]: Cannot add member 'third' to schema 'A'
"#,
    );
}

#[test]
fn conditional_entries_are_checked() {
    check_findings(
        r#"
schema A:
    a?: int
x = A {
    if True:
        b = 1
      # ^ error[E2L23]: Cannot add member 'b' to schema 'A'
    else:
        a = "s"
      # ^ error[E2G22]: expected int, got str(s)
}
"#,
    );
}
