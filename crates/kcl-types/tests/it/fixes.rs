//! Fixes settle the findings that they come with.

use crate::load_fixture;
use base_diag::{Applicability, Diagnostic, apply_edits};
use kcl_hir::Program;
use testkit::Fixture;

/// Applies the first fix of the first finding that has one, and checks that the finding is gone
/// afterwards. The fix must have that title, and the main file that text then.
fn check_fix(source: &str, title: &str, want: &str) {
    let mut fixture = Fixture::parse(source);
    let program = load_fixture(&fixture);
    let before = kcl_types::check(&program);
    let finding = before.iter().find(|it| !it.fixes.is_empty()).expect("there is a fix");
    let fix = &finding.fixes[0];
    assert_eq!(fix.title, title);
    for (at, source) in program.files.iter().enumerate() {
        let edits = fix.edits.iter().filter(|edit| edit.at.file.0 as usize == at);
        let text = apply_edits(&source.text, edits).expect("the edits fit");
        let is_same = |path: &str| source.path.ends_with(path);
        if let Some(file) = fixture.files.iter_mut().find(|file| is_same(&file.path)) {
            file.text = text;
        }
    }
    assert_eq!(fixture.file("main.k").map(|file| file.text.as_str()), Some(want));
    let after = load_fixture(&fixture);
    let found = kcl_types::check(&after);
    assert_eq!(count(&found, finding), count(&before, finding) - 1, "{found:#?}");
    if fix.applicability == Applicability::Safe {
        assert_eq!(errors(&after), Vec::<String>::new());
    }
}

/// How many findings say the same.
fn count(findings: &[Diagnostic], finding: &Diagnostic) -> usize {
    findings.iter().filter(|it| it.message() == finding.message()).count()
}

fn errors(program: &Program) -> Vec<String> {
    let found = kcl_types::check(program);
    found.iter().filter(|it| it.is_error()).map(|it| it.message().to_owned()).collect()
}

#[test]
fn unknown_names_become_similar_ones() {
    check_fix("name = 1\na = nam + 1\n", "replace `nam` with `name`", "name = 1\na = name + 1\n");
    check_fix(
        "name = {b = 1}\na = [1, nam.b]\n",
        "replace `nam` with `name`",
        "name = {b = 1}\na = [1, name.b]\n",
    );
    check_fix(
        "name = 1\na = \"ä ${nam}\"\n",
        "replace `nam` with `name`",
        "name = 1\na = \"ä ${name}\"\n",
    );
    check_fix(
        "schema Server:\n    a: int\nb: Servr = {a = 1}\n",
        "replace `Servr` with `Server`",
        "schema Server:\n    a: int\nb: Server = {a = 1}\n",
    );
}

#[test]
fn the_most_similar_name_comes_first() {
    let fixture = Fixture::parse("name1 = 1\nname22 = 1\na = name2\n");
    let found = kcl_types::check(&load_fixture(&fixture));
    let titles: Vec<&str> = found[0].fixes.iter().map(|fix| fix.title.as_str()).collect();
    assert_eq!(titles, ["replace `name2` with `name22`", "replace `name2` with `name1`"]);
}

#[test]
fn unknown_attributes_become_similar_ones() {
    let schema = "schema S:\n    name: str\n";
    check_fix(
        &format!("{schema}a = S {{nam = \"x\", name = \"y\"}}\n"),
        "replace `nam` with `name`",
        &format!("{schema}a = S {{name = \"x\", name = \"y\"}}\n"),
    );
    check_fix(
        &format!("{schema}a = S {{\"nam\" = \"x\", name = \"y\"}}\n"),
        "replace `nam` with `name`",
        &format!("{schema}a = S {{\"name\" = \"x\", name = \"y\"}}\n"),
    );
    check_fix(
        &format!("{schema}a = S {{name = \"x\"}}\nb = a.nam\n"),
        "replace `nam` with `name`",
        &format!("{schema}a = S {{name = \"x\"}}\nb = a.name\n"),
    );
    check_fix(
        &format!("{schema}f = lambda s: S {{ s.nam }}\n"),
        "replace `nam` with `name`",
        &format!("{schema}f = lambda s: S {{ s.name }}\n"),
    );
}

#[test]
fn unknown_arguments_become_similar_ones() {
    check_fix(
        "f = lambda name: int { name }\na = f(nam=1)\n",
        "replace `nam` with `name`",
        "f = lambda name: int { name }\na = f(name=1)\n",
    );
}

#[test]
fn what_is_not_written_here_is_not_changed() {
    let text = "schema S:\n    name: str\nnam = {nam = \"x\"}\na = S {name = \"y\", **nam}\n";
    let found = kcl_types::check(&load_fixture(&Fixture::parse(text)));
    assert!(found.iter().any(Diagnostic::is_error));
    assert!(found.iter().all(|it| it.fixes.is_empty()), "{found:#?}");
}

#[test]
fn unused_imports_go_with_their_lines() {
    check_fix(
        "import math\nimport regex  # for later\na = math.pow(2, 3)\n",
        "remove this import",
        "import math\na = math.pow(2, 3)\n",
    );
    check_fix(
        "import math\nimport math\na = math.pow(2, 3)\n",
        "remove this import",
        "import math\na = math.pow(2, 3)\n",
    );
}

#[test]
fn an_import_that_another_file_relies_on_stays() {
    let text = "#- main.k\nimport math\na = 1\n#- main2.k\nb = math.pow(2, 3)\n";
    let found = kcl_types::check(&load_fixture(&Fixture::parse(text)));
    let unused = found.iter().find(|it| it.kind == "UnusedImportWarning").expect("it is unused");
    assert_eq!(unused.fixes, []);
}

#[test]
fn imports_move_to_the_top() {
    check_fix(
        "@info(a=1)\nschema S:\n    a: int\nimport math\nb = math.pow(2, 3)\n",
        "move this import to the top",
        "import math\n@info(a=1)\nschema S:\n    a: int\nb = math.pow(2, 3)\n",
    );
}

#[test]
fn other_fixes() {
    check_fix(
        "import math\na = (math)?.pow(2, 3)\n",
        "replace `?.` with `.`",
        "import math\na = (math).pow(2, 3)\n",
    );
}

#[test]
fn names_that_must_look_otherwise_change_everywhere() {
    check_fix(
        "protocol P:\n    a: int\nmixin AMixin for P:\n    b: int = a\n",
        "rename `P` to `PProtocol`",
        "protocol PProtocol:\n    a: int\nmixin AMixin for PProtocol:\n    b: int = a\n",
    );
    check_fix(
        "mixin A:\n    a: int = 1\nschema S:\n    mixin [A]\n    b: int = 1\n",
        "rename `A` to `AMixin`",
        "mixin AMixin:\n    a: int = 1\nschema S:\n    mixin [AMixin]\n    b: int = 1\n",
    );
    check_fix("a = 1\nb = a + 1\na = 2\n", "rename `a` to `_a`", "_a = 1\nb = _a + 1\n_a = 2\n");
    check_fix("a = 1\na += 2\n", "rename `a` to `_a`", "_a = 1\n_a += 2\n");
}

#[test]
fn a_name_that_is_taken_is_not_proposed() {
    let found = kcl_types::check(&load_fixture(&Fixture::parse("a = 1\na = 2\n_a = 3\n")));
    assert!(found[0].message().contains("immutable") && found[0].fixes.is_empty(), "{found:#?}");
}
