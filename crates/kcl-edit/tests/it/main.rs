//! Tests of changes of source text.

use base_diag::apply_edits;
use base_system::MemorySystem;
use kcl_edit::{EditError, RenameError, path_at, rename, set};
use kcl_hir::{Input, LoadOptions, PackageMap, Program, load, resolve_entries};
use std::path::Path;

const APP: &str = "\
# The application.
app = App {
    image = \"nginx:1\" # stable

    labels = {
        tier = \"web\"
    }
    d.e = 1
}
list = [1, 2]
";

fn changed(text: &str, spec: &str) -> String {
    set(text, &spec.parse().expect(spec)).expect(spec)
}

#[test]
fn only_the_value_changes() {
    let image = changed(APP, "app.image=\"nginx:2\"");
    assert_eq!(image, APP.replace("nginx:1", "nginx:2"));
    assert_eq!(changed(APP, "app.d.e=2"), APP.replace("d.e = 1", "d.e = 2"));
    let list = APP.replace("[1, 2]", "[\n    1\n    2\n    3\n]");
    assert_eq!(changed(APP, "list+=[3]"), list);
}

#[test]
fn what_is_missing_is_created() {
    let label = APP.replace("\"web\"\n", "\"web\"\n        env = \"dev\"\n");
    assert_eq!(changed(APP, "app.labels.env=\"dev\""), label);
    let port = APP.replace("d.e = 1\n", "d.e = 1\n    port: {\n        web = 80\n    }\n");
    assert_eq!(changed(APP, "app.port.web=80"), port);
    assert_eq!(changed(APP, "x.y=1"), format!("{APP}x = {{\n    y = 1\n}}\n"));
    assert_eq!(changed("a = {}\n", "a.b-c=1"), "a = {\n    \"b-c\" = 1\n}\n");
    assert_eq!(changed("a = {b = 1}\n", "a.c=2"), "a = {b = 1, c = 2}\n");
}

#[test]
fn values_are_deleted_with_their_lines() {
    let labels = "    labels = {\n        tier = \"web\"\n    }\n";
    assert_eq!(changed(APP, "app.labels-"), APP.replace(labels, ""));
    assert_eq!(changed("a = {b = 1, c = 2, d = 3}\n", "a.c-"), "a = {b = 1, d = 3}\n");
    assert_eq!(changed("a = {b = 1, c = 2}\n", "a.c-"), "a = {b = 1}\n");
    assert_eq!(changed("a = 1 # one\nb = 2\n", "a-"), "b = 2\n");
}

#[test]
fn configs_are_merged_entry_by_entry() {
    let merged = APP.replace("\"web\"\n", "\"db\"\n        env: \"dev\"\n");
    assert_eq!(changed(APP, "app.labels:{tier: \"db\", env: \"dev\"}"), merged);
}

#[test]
fn two_names_of_one_value_are_told_apart() {
    assert_eq!(changed("a = b = 1\n", "a=2"), "a = 2\nb = 1\n");
}

#[test]
fn the_path_of_a_value_is_found_by_its_place() {
    let found = |line, column| path_at(APP, line, column).map(|path| path.join("."));
    assert_eq!(found(3, 13).as_deref(), Some("app.image"));
    assert_eq!(found(6, 16).as_deref(), Some("app.labels.tier"));
    assert_eq!(found(8, 11).as_deref(), Some("app.d.e"));
    assert_eq!(found(10, 8).as_deref(), Some("list"));
    assert_eq!(found(3, 5), None);
    assert_eq!(found(99, 1), None);
    assert_eq!(path_at("a = (", 1, 1), None);
}

#[test]
fn what_cannot_be_written_is_refused() {
    let refused = |text: &str, spec: &str| set(text, &spec.parse().unwrap()).unwrap_err();
    assert_eq!(refused("a = 1\n", "b-"), EditError::NotSet("b".into()));
    assert!(matches!(refused("a = (\n", "a=1"), EditError::Syntax(_)));
    assert!(matches!(refused("a = 1\n", "a=("), EditError::Value(_)));
    assert!(matches!(refused("a = 1\n", "a=\"x"), EditError::Value(_)));
}

fn program(files: &[(&str, &str)]) -> Program {
    let mut system = MemorySystem::new().with_file("/app/kcl.mod", "");
    for (path, text) in files {
        system = system.with_file(format!("/app/{path}"), (*text).to_owned());
    }
    let inputs: Vec<Input> = files.iter().map(|(path, _)| Input::path(*path)).collect();
    let entries = resolve_entries(&system, &inputs, Path::new("/app"), &PackageMap::default())
        .expect("the files are there");
    load(&system, &entries, &LoadOptions::default()).expect("the files can be read").value
}

fn renamed(program: &Program, symbol: &str, new: &str) -> Vec<String> {
    let edits = rename(program, symbol, new).expect(symbol);
    let of = |file: u32| edits.iter().filter(move |edit| edit.at.file.0 == file);
    let files = program.files.iter().enumerate();
    files.map(|(at, file)| apply_edits(&file.text, of(at as u32)).expect("no overlap")).collect()
}

#[test]
fn names_change_in_all_files_and_in_types() {
    let program = program(&[
        ("main.k", "schema P:\n    n: int\np: P = P {n = 1}\n"),
        ("other.k", "q = [P {n = p.n}]\n"),
    ]);
    assert_eq!(
        renamed(&program, "P", "Person"),
        ["schema Person:\n    n: int\np: Person = Person {n = 1}\n", "q = [Person {n = p.n}]\n"]
    );
    assert_eq!(
        renamed(&program, "P.n", "number"),
        ["schema P:\n    number: int\np: P = P {number = 1}\n", "q = [P {number = p.number}]\n"]
    );
}

#[test]
fn bad_names_are_refused() {
    let program = program(&[("main.k", "a = 1\nb = a\n")]);
    let refused = |symbol: &str, new: &str| rename(&program, symbol, new).unwrap_err();
    assert_eq!(refused("c", "d"), RenameError::Unknown("c".into()));
    assert_eq!(refused("a", "b"), RenameError::Taken("b".into()));
    for name in ["if", "1a", "a b", "", "a.b"] {
        assert_eq!(refused("a", name), RenameError::Name(name.into()));
    }
}
