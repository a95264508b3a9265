//! Each fixture marks with `«…»` all places that name one symbol.

use super::*;
use crate::{Input, LoadOptions, PackageMap, load, resolve_entries};
use base_diag::SourceMap as _;
use base_system::MemorySystem;
use std::path::Path;
use testkit::Fixture;

/// Takes the marks out of a text; returns where they stood.
fn unmark(marked: &str) -> (String, Vec<(u32, u32)>) {
    let (mut text, mut places) = (String::new(), Vec::new());
    for part in marked.split('«') {
        let start = text.len() as u32;
        match part.split_once('»') {
            Some((name, rest)) => {
                text.push_str(name);
                places.push((start, text.len() as u32));
                text.push_str(rest);
            }
            None => text.push_str(part),
        }
    }
    (text, places)
}

fn load_fixture(fixture: &Fixture) -> Program {
    let mut system = MemorySystem::new().with_file("/w/kcl.mod", "");
    for file in &fixture.files {
        system = system.with_file(format!("/w/{}", file.path), file.text.clone());
    }
    let inputs = [Input::path("/w/main.k")];
    let entries = resolve_entries(&system, &inputs, Path::new("/w"), &PackageMap::default());
    let entries = entries.expect("the fixture has a main file");
    load(&system, &entries, &LoadOptions::default()).expect("the fixture can be read").value
}

/// Checks that from each marked place the same places are found: all marked ones.
fn check(source: &str) {
    let mut fixture = Fixture::parse(source);
    let mut want = Vec::new();
    for file in &mut fixture.files {
        let (text, places) = unmark(&file.text);
        file.text = text;
        want.extend(places.into_iter().map(|place| (format!("/w/{}", file.path), place)));
    }
    want.sort();
    let program = load_fixture(&fixture);
    let file_of = |path: &str| {
        let at = program.files.iter().position(|file| file.path == path);
        FileId(at.expect("the file is loaded") as u32)
    };
    for (path, (start, end)) in &want {
        for offset in [*start, *end] {
            let found = occurrence_at(&program, file_of(path), offset)
                .unwrap_or_else(|| panic!("nothing at {path} {offset}"));
            let symbols = found.symbols.iter();
            let mut got: Vec<(String, (u32, u32))> = symbols
                .flat_map(|symbol| references(&program, *symbol))
                .map(|at| (program.path(at.file).to_owned(), (at.span.start, at.span.end)))
                .collect();
            got.sort();
            got.dedup();
            assert_eq!(got, want, "from {path} {offset}: {:?}", found.symbols);
        }
    }
}

#[test]
fn globals() {
    check("«n» = 1\na = [«n», {n = «n»}]\n");
    check("«_n» = 1\n«_n» += 2\nif True:\n    «_n» = 3\nb = \"${«_n»}\"\n");
    check("schema «App»:\n    a?: «App»\nschema Web(«App»):\n    b: int\nx: «App» = «App» {}\n");
    check("type «Id» = int | str\nx: [«Id»] = [1]\nf = lambda y: «Id» -> «Id» { y }\n");
}

#[test]
fn globals_of_imported_packages() {
    check(
        "#- lib/lib.k
schema «App»:
    a: int
x = «App» {a = 1}
#- main.k
import lib
y: lib.«App» = lib.«App» {a = 2}
App = 1
",
    );
}

#[test]
fn imports() {
    check("import «math»\na = «math».pow(2, 3) + «math».log(2)\n");
    check(
        "#- lib/lib.k
schema App:
    a: int
#- main.k
import lib as «l»
schema Web(«l».App):
    b: int
y: «l».App = «l».App {a = 2}
",
    );
}

#[test]
fn members_of_modules_and_functions() {
    check("import math\nimport math as m\na = math.«pow»(2, 3) + m.«pow»(1, 2) + math.log(2)\n");
    check("a = «len»([1])\nb = {c = «len»(\"x\")}\n");
}

#[test]
fn locals() {
    check("x = 1\nf = lambda «x» { lambda { «x» + [x for x in [«x»]][0] } }\n");
    check("a = [«i» + j for «i», j in [1] if «i» > 0]\nb = [i for i in [1]]\n");
    check("f = lambda {\n    «t» = 1\n    «t» += 2\n    «t»\n}\nt = 3\n");
    check("c = {\n    «k» = 1\n    l = «k»\n}\nk = 2\n");
    check("schema S[«p»: int]:\n    a: int = «p»\n    b = lambda p { p }\n");
}

#[test]
fn attributes() {
    check(
        "name = 1
schema Base:
    «name»: str
schema App(Base):
    «name» = \"x\"
    title: str = «name»
    f = lambda { «name» }
    check:
        len(«name») > 0
a = App {
    «name» = \"y\"
    if True:
        «name» = \"z\"
    title = \"name\"
}
",
    );
    check("mixin AMixin:\n    «x»: int = 1\nschema S:\n    mixin [AMixin]\n    y: int = «x»\n");
}

#[test]
fn definitions_are_told_from_uses() {
    let fixture = Fixture::parse("_a = 1\nif True:\n    _a = 2\nb = _a + len([])\n");
    let program = load_fixture(&fixture);
    let file = program.packages[0].files[0];
    let text = &program.file(file).text;
    let lines = |offset: usize| -> Vec<u32> {
        let found = definition_at(&program, file, offset as u32);
        found.iter().map(|at| program.line_col(file, at.span).line).collect()
    };
    assert_eq!(lines(text.rfind("_a").expect("it is used")), [1, 3]);
    assert_eq!(lines(text.find("len").expect("it is used")), Vec::<u32>::new());
    assert_eq!(lines(text.find("True").expect("it is there")), Vec::<u32>::new());
}

#[test]
fn broken_code_has_symbols_too() {
    check("«n» = 1\nb = [«n» + \nc = «n»\n");
}
