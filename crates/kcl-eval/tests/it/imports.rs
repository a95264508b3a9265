//! Packages that a program uses, and those that it only names.

use crate::support::{evaluates, fails};

const PACKAGE: &str = "
#- kcl.mod
#- pkg/p.k
y = 1
x: int = 's'
";

#[test]
fn a_package_that_is_not_used_is_not_checked() {
    evaluates(&format!("import pkg\na = {{pkg = 1}}\n{PACKAGE}"), "a:\n  pkg: 1");
    evaluates("import pkg\na = 1\n#- kcl.mod\n#- pkg/p.k\nassert False\n", "a: 1");
}

#[test]
fn any_file_of_a_package_may_use_its_imports() {
    fails(&format!("import pkg\na = pkg.y\n{PACKAGE}"), 2, "expected int, got str(s)");
    evaluates("import pkg\n#- b.k\nb = pkg.y\n#- kcl.mod\n#- pkg/p.k\ny = 1\n", "b: 1");
}

#[test]
fn a_package_that_is_not_used_and_imports_others_is_checked_and_they_run() {
    let rest = "#- kcl.mod\n#- pkg/p.k\nimport sub\n";
    fails(
        &format!("import pkg\na = 1\n{rest}x: int = 's'\n#- sub/s.k\n"),
        2,
        "expected int, got str(s)",
    );
    fails(&format!("import pkg\na = 1\n{rest}x = sub.y\n#- sub/s.k\ny = 1\nassert False\n"), 2, "");
    evaluates(
        &format!("import pkg\na = 1\n{rest}x = sub.y\nassert False\n#- sub/s.k\ny = 1\n"),
        "a: 1",
    );
}
