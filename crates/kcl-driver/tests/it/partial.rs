//! Programs whose schema literals keep only what is written.

use base_system::MemorySystem;
use kcl_driver::{EvalOptions, RunOptions, run};

fn options(files: &[(&str, &str)]) -> (MemorySystem, RunOptions) {
    let mut system = MemorySystem::new();
    for (name, text) in files {
        system = system.with_file(format!("/m/{name}"), *text);
    }
    let inputs = files.iter().filter(|(name, _)| !name.contains('/'));
    (system, RunOptions::files(inputs.map(|(name, _)| format!("/m/{name}"))))
}

fn outcome(files: &[(&str, &str)], partial: bool, complete: bool) -> String {
    let (system, options) = options(files);
    let eval = EvalOptions { partial, complete, ..EvalOptions::default() };
    match run(&system, &RunOptions { eval, ..options }) {
        Ok(output) => output.result,
        Err(error) => format!("error: {error}"),
    }
}

fn partial(text: &str) -> String {
    outcome(&[("main.k", text)], true, false)
}

/// Checks that a program gives the same whether its instances are made at once or at the end.
fn same_when_completed(text: &str) {
    let plain = outcome(&[("main.k", text)], false, false);
    assert!(!plain.starts_with("error"), "{plain}");
    assert_eq!(outcome(&[("main.k", text)], true, true), plain, "{text}");
}

const APP: &str = "\
schema Port:
    port: int
    protocol: str = \"TCP\"

schema Base:
    name: str
    labels: {str:str} = {app = name}

schema MeshMixin:
    mesh: bool = False

schema App(Base):
    mixin [MeshMixin]
    image: str
    replicas: int = 1
    ports: [Port] = []
    main?: Port
    args: [str] = [\"-v\"]

    check:
        replicas < 10, \"too many replicas\"

schema Env:
    [str]: str = \"unset\"
    home: str = \"/\"

schema Config[n]:
    size: int = n
    env: Env = Env {}
    inner?: App
";

#[test]
fn only_what_is_written_is_kept() {
    assert_eq!(partial(&format!("{APP}a = App {{replicas = 3}}\n")), "a:\n  replicas: 3");
    assert_eq!(partial(&format!("{APP}a = App {{}}\n")), "a: {}");
}

#[test]
fn nothing_is_required_at_any_depth() {
    let text = format!("{APP}a = App {{main: Port {{}}, ports = [Port {{protocol = \"UDP\"}}]}}\n");
    assert_eq!(partial(&text), "a:\n  main: {}\n  ports:\n  - protocol: UDP");
    let text = format!("{APP}a = App {{main: {{protocol = \"UDP\"}}}}\n");
    assert_eq!(partial(&text), "a:\n  main:\n    protocol: UDP");
}

#[test]
fn checks_do_not_run() {
    assert_eq!(partial(&format!("{APP}a = App {{replicas = 30}}\n")), "a:\n  replicas: 30");
    let whole = outcome(
        &[("main.k", &format!("{APP}a = App {{name = \"n\", image = \"i\", replicas = 30}}\n"))],
        true,
        true,
    );
    assert_eq!(whole, "error: Instance check failed");
}

#[test]
fn names_and_types_are_checked() {
    let wrong = partial(&format!("{APP}a = App {{replica = 3}}\n"));
    assert!(wrong.starts_with("error: Cannot add member 'replica' to schema 'App'"), "{wrong}");
    let wrong = partial(&format!("{APP}a = App {{replicas = \"3\"}}\n"));
    assert_eq!(wrong, "error: expected int, got str(3)");
    // What only evaluation can see.
    let wrong = partial(&format!("{APP}_x: any = \"3\"\na = App {{replicas = _x}}\n"));
    assert_eq!(wrong, "error: expect int, got str");
    let wrong = partial(&format!("{APP}_x: any = {{porto = 3}}\na = App {{main = _x}}\n"));
    assert!(wrong.starts_with("error: expect Port, got dict"), "{wrong}");
}

#[test]
fn what_is_missing_shows_when_completed() {
    let whole = outcome(&[("main.k", &format!("{APP}a = App {{name = \"n\"}}\n"))], true, true);
    assert_eq!(whole, "error: attribute 'image' of App is required and can't be None or Undefined");
}

#[test]
fn completed_programs_are_plain_programs() {
    for body in [
        "a = App {name = \"n\", image = \"i\"}",
        "a = App {name = \"n\", image = \"i\", labels: {x = \"1\"}, args += [\"-x\"]}",
        "a = App {name = \"n\", image = \"i\", labels = {x = \"1\"}, args = []}",
        "a = App {name = \"n\", image = \"i\", ports = [Port {port = 1}, {port = 2}]}",
        "a = App {name = \"n\", image = \"i\", main: {port = 1}, mesh = True}",
        "a = App {name = \"n\", image = \"i\", main = Port {port = 1, protocol = \"UDP\"}}",
        "a = Env {x = \"1\", y: \"2\"}",
        "a = Env {}",
        "a = Config(3) {}",
        "a = Config(3) {size = 4, env: {x = \"1\"}}",
        "a = Config(3) {inner: App {name = \"n\", image = \"i\"}}",
        "a = {b = [App {name = \"n\", image = \"i\"}], c = {d = Port {port = 1}}}",
        "a: App {name = \"n\"}\na: App {image = \"i\", labels.x = \"1\"}",
        "a = App {name = \"n\", image = \"i\"} | {replicas = 4}",
        "a = [App {name = n, image = \"i\"} for n in [\"x\", \"y\"]]",
        "_f = lambda n: str { App {name = n, image = \"i\"} }\na = _f(\"x\")\nb = _f(\"y\")",
        "a: App = {name = \"n\", image = \"i\"}",
        "if True:\n    a = App {name = \"n\", image = \"i\"}",
    ] {
        same_when_completed(&format!("{APP}{body}\n"));
    }
}

#[test]
fn files_merge_before_they_are_completed() {
    let files = [
        ("app.k", APP),
        (
            "base.k",
            "a: App {name = \"n\", image = \"i\", labels: {x = \"1\"}, main: Port {port = 1}}\n",
        ),
        (
            "prod.k",
            "a: App {replicas = 6, labels: {y = \"2\"}, main: Port {protocol = \"UDP\"}, args += [\"-q\"]}\n",
        ),
    ];
    assert_eq!(
        outcome(&files, true, false),
        "a:\n  name: 'n'\n  image: i\n  labels:\n    x: '1'\n    'y': '2'\n  main:\n    port: 1\n    protocol: UDP\n  replicas: 6\n  args:\n  - '-q'"
    );
    let single = "a = App {name = \"n\", image = \"i\", labels: {x = \"1\", y = \"2\"}, \
                  main: Port {port = 1, protocol = \"UDP\"}, replicas = 6, args += [\"-q\"]}\n";
    assert_eq!(
        outcome(&files, true, true),
        outcome(&[("app.k", APP), ("main.k", single)], false, false)
    );
}

#[test]
fn unset_entries_are_gone() {
    let files = [
        ("app.k", APP),
        ("base.k", "a: App {name = \"n\", image = \"i\", labels: {x = \"1\", z = \"3\"}}\n"),
        ("prod.k", "a: App {name = Undefined, labels: {x = Undefined}}\n"),
    ];
    assert_eq!(outcome(&files, true, false), "a:\n  image: i\n  labels:\n    z: '3'");
}

#[test]
fn leaves_know_their_files() {
    let files = [
        ("app.k", APP),
        ("base.k", "a: App {name = \"n\", image = \"i\", replicas = 2}\n"),
        ("prod.k", "a: App {replicas = 6}\n"),
    ];
    let (system, options) = options(&files);
    let shown = |complete| {
        let eval = EvalOptions { partial: true, complete, ..EvalOptions::default() };
        let options = RunOptions { eval, provenance: true, ..options.clone() };
        let output = run(&system, &options).expect("the program is valid");
        let mut found = Vec::new();
        for leaf in output.provenance.expect("it was asked for").leaves {
            let places = std::iter::once(&leaf.origin).chain(&leaf.beaten);
            let places: Vec<String> = places
                .filter_map(|origin| origin.place())
                .map(|place| format!("{}:{}", place.file.trim_start_matches("/m/"), place.line))
                .collect();
            found.push(format!("{:?} {}", leaf.path.last(), places.join(" > ")));
        }
        found.join("\n")
    };
    assert_eq!(
        shown(false),
        "Some(Key(\"name\")) base.k:1\nSome(Key(\"image\")) base.k:1\n\
         Some(Key(\"replicas\")) prod.k:1 > base.k:1"
    );
    let completed = shown(true);
    assert!(completed.contains("\"replicas\")) prod.k:1 > base.k:1 > app.k:15"), "{completed}");
    assert!(completed.contains("\"mesh\")) app.k:10"), "{completed}");
}
