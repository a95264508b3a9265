//! Programs of several files.

use crate::{check_findings, load_fixture};
use testkit::Fixture;

#[test]
fn imported_packages_are_checked_first() {
    let source = r#"
#- lib/lib.k
a: int = "s"
#- main.k
import lib
b: int = "t"
c = lib.a
"#;
    let program = load_fixture(&Fixture::parse(source));
    let found = kcl_types::check(&program);
    let messages: Vec<&str> = found.iter().map(base_diag::Diagnostic::message).collect();
    assert_eq!(messages, ["expected int, got str(s)", "expected int, got str(t)"]);
}

#[test]
fn members_of_packages_have_their_types() {
    check_findings(
        r#"
#- lib/lib.k
schema A:
    x: int
_hidden = 1
count = 1
#- main.k
import lib
a = lib.A {x = "s"}
         # ^ error[E2G22]: expected int, got str(s)
b = lib.nothing
  # ^ error[E2G22]: attribute 'nothing' not found in 'module 'lib''
c = lib._hidden
  # ^ error[E2L23]: cannot reference private member '_hidden' from module 'lib'
d: str = lib.count
# ^ error[E2G22]: expected str, got int
e: lib.A = {y = 1}
          # ^ error[E2L23]: Cannot add member 'y' to schema 'A'
"#,
    );
}

#[test]
fn files_of_a_package_share_their_imports() {
    check_findings(
        r#"
#- main1.k
import math
a = math.pow(1, 2)
#- main2.k
b = math.pow("s", 2)
           # ^ error[E2G22]: expected int | float, got str(s)
"#,
    );
}

#[test]
fn an_alias_belongs_to_its_file() {
    check_findings(
        r"
#- one/one.k
x = 1
#- two/two.k
y = 2
#- main1.k
import one as pkg
a = pkg.x
#- main2.k
import two as pkg
b = pkg.y
",
    );
}

#[test]
fn statements_of_several_files_are_one_config() {
    check_findings(
        r#"
#- main1.k
schema A:
    a: int
    b: int
x: A {a = "s"}
    # ^ error[E2G22]: expected int, got str(s)
#- main2.k
x: A {b = 1}
"#,
    );
}

#[test]
fn a_global_of_another_file_is_not_assigned_again() {
    check_findings(
        r"
#- main1.k
a = 1
#- main2.k
a = 2
# ^ error[E1001]: Can not change the value of 'a', because it was declared immutable
",
    );
}

#[test]
fn imports_are_used_once_and_at_the_top() {
    let source = r"
a = 1
import math
import regex
import regex as again
b = again.match
";
    let program = load_fixture(&Fixture::parse(source));
    let found = kcl_types::check(&program);
    let messages: Vec<String> =
        found.iter().map(|finding| format!("{}: {}", finding.kind, finding.message())).collect();
    let misplaced =
        "ImportPositionWarning: The import stmt should be placed at the top of the module";
    assert_eq!(
        messages,
        [
            misplaced,
            misplaced,
            misplaced,
            "ReimportWarning: Module 'again' is reimported multiple times",
            "UnusedImportWarning: Module 'math' imported but unused",
            "UnusedImportWarning: Module 'regex' imported but unused",
        ]
    );
}

#[test]
fn types_are_kept_for_tools() {
    let program = load_fixture(&Fixture::parse("a = [1, 2]\nb = a[0]\n"));
    let checked = kcl_types::check_with_types(&program);
    let globals: Vec<String> = checked
        .types
        .globals(kcl_hir::PackageId(0))
        .map(|(name, ty)| format!("{name}: {ty}"))
        .collect();
    assert_eq!(globals, ["a: [int]", "b: int"]);
    let file = program.packages[0].files[0];
    let first = kcl_syntax::ast::ExprId(0);
    assert_eq!(checked.types.expr(file, first).map(ToString::to_string).as_deref(), Some("int(1)"));
}

#[test]
fn a_lint_looks_at_each_statement_on_its_own() {
    let source = "schema A:\n    a: int\n    b: int\nx: A {a = 1}\nx: A {b = 1}\n";
    let program = load_fixture(&Fixture::parse(source));
    assert!(kcl_types::check(&program).is_empty());
    assert_eq!(kcl_types::lint(&program).len(), 2);
}
