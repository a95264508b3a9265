//! Imported packages that several programs share.

use crate::{load_fixture, place};
use kcl_types::{CheckOptions, Library, check_in};
use testkit::Fixture;

const PACKAGE: &str = "\
#- pkg/p.k
schema Base:
    a: int = 1
schema Derived(Base):
    b: int
size = 1
";

/// The findings of a program, with what earlier ones left in `library`.
fn found(library: &mut Library, package: &str, main: &str) -> Vec<String> {
    let program = load_fixture(&Fixture::parse(&format!("{package}#- main.k\n{main}")));
    let findings = check_in(&program, &CheckOptions::default(), library);
    let line = |(path, line, _, text): (String, u32, u32, String)| format!("{path}:{line} {text}");
    findings.iter().map(|finding| line(place(&program, finding))).collect()
}

const NOTHING: [&str; 0] = [];

#[test]
fn packages_are_checked_once() {
    let wrong = PACKAGE.replace("size = 1", "size: int = 'a'");
    let main = "import pkg\na = pkg.size\n";
    let error = ["pkg/p.k:5 E2G22: expected int, got str(a)"];
    assert_eq!(found(&mut Library::default(), &wrong, main), error);
    // A package that is known is taken to be what it was.
    let mut library = Library::default();
    assert_eq!(found(&mut library, PACKAGE, main), NOTHING);
    assert_eq!(found(&mut library, &wrong, main), NOTHING);
    assert_eq!(found(&mut library, &wrong, "import pkg\n\nb = pkg.Base {}\n"), NOTHING);
}

#[test]
fn a_program_with_errors_leaves_nothing() {
    let wrong = PACKAGE.replace("size = 1", "size: int = 'a'");
    let mut library = Library::default();
    assert_eq!(found(&mut library, PACKAGE, "import pkg\na = pkg.size\n"), NOTHING);
    let main = "import pkg\na: int = 'b'\nb = pkg.size\n";
    assert_eq!(found(&mut library, PACKAGE, main), ["main.k:2 E2G22: expected int, got str(b)"]);
    let again = found(&mut library, &wrong, "import pkg\na = pkg.size\n");
    assert_eq!(again, ["pkg/p.k:5 E2G22: expected int, got str(a)"]);
}

#[test]
fn names_and_schemas_of_a_program_are_its_own() {
    let mut library = Library::default();
    let first = "import pkg\nschema A(B):\n    x: int = 1\nschema B:\n    y: int = 2\na = A {}\n\
                 c = pkg.size\n";
    assert_eq!(found(&mut library, PACKAGE, first), NOTHING);
    // The other way round, which would be a circle together with the first one.
    let second = "import pkg\nschema B(A):\n    y: str = ''\nschema A:\n    x: str = ''\n\
                  b: B = B {x = 's'}\nc = pkg.size\n";
    assert_eq!(found(&mut library, PACKAGE, second), NOTHING);
    let third = "import pkg\nd = a\ne = A {}\nf = pkg.Derived {b = 's'}\n";
    let names = found(&mut library, PACKAGE, third);
    assert_eq!(names.len(), 3, "{names:?}");
    assert_eq!(names[0], "main.k:2 E2L23: name 'a' is not defined");
}

#[test]
fn schemas_of_packages_stay_known() {
    let mut library = Library::default();
    let own = "import pkg\nschema S(pkg.Base):\n    z: int = 1\ns = S {a = 2}\n";
    assert_eq!(found(&mut library, PACKAGE, own), NOTHING);
    let wrong = "import pkg\nschema T(pkg.Derived):\n    z: int = 1\nt = T {a = 's'}\n\
                 u: pkg.Base = T {}\nv: pkg.Derived = pkg.Base {}\n";
    let errors = found(&mut library, PACKAGE, wrong);
    let alone = found(&mut Library::default(), PACKAGE, wrong);
    assert_eq!(errors, alone);
    assert_eq!(errors.len(), 2, "{errors:?}");
}
