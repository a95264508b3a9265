//! Stacks with cells: axes, layers in their three forms, and what is refused.

use crate::support::files;
use base_system::MemorySystem;
use kusion_generate::{CompileOptions, Compiled, GenerateError, Work, compile, compile_each};
use kusion_model::FieldPath;
use std::fmt::Write as _;

const REPO: &str = r#"
#- /r/kcl.mod
#- /r/dims.k
axes = [
    {name = "zone", values = ["gz00a", "gz00b", "sh01a"], groups = {gz = ["gz00a", "gz00b"]}}
    {name = "env", values = ["dev", "gray", "prod"], groups = {online = ["gray", "prod"]}}
]
#- /r/models/app.k
schema App:
    name: str
    image: str
    replicas: int = 1
    labels: {str:str} = {}
    search: [str] = []
    sidecar?: str

    check:
        replicas < 50, "too many replicas"

render = lambda app: App {
    [{
        apiVersion = "v1"
        kind = "ConfigMap"
        metadata = {name = app.name, labels = app.labels}
        data = {
            image = app.image
            replicas = str(app.replicas)
            search = ",".join(app.search)
            sidecar = app.sidecar or "none"
        }
    }]
}
#- /r/shop/project.yaml
name: shop
#- /r/shop/prod/stack.yaml
name: prod
cells: {env: prod, zone: [gz, sh01a]}
clusters: {"": main, "zone=sh01a": sandbox/sh}
#- /r/shop/prod/main.k
import manifests
import models.app as m

app: m.App {
    name = "shop"
    replicas = 2
    labels: {team = "shop", tier = "silver"}
    search = ["svc"]
}
manifests.yaml_stream(m.render(app))
#- /r/shop/@env=prod.k
import models.app as m

app: m.App {
    image = "shop:1.0"
    replicas = 6
    labels.tier = "gold"
}
#- /r/shop/prod/@zone=gz.k
import models.app as m
_owner = "sre"

app: m.App {
    replicas = 10
    search += ["gz.local"]
}
#- /r/shop/prod/@layers.k
layers = [
    {when = {zone = "gz00b"}, why = "a test", set = {app.replicas = Undefined}}
]
#- /r/layers/mesh.yaml
when: {env: online}
set:
  app: {sidecar: 'mosn:1.2'}
  other: {x: 1}   # no program has it
---
when: {zone: sh01a}
set:
  app:
    labels: !replace {only: this}
    search: !append [sh.local]
"#;

fn run(system: &MemorySystem, cells: Option<&str>) -> Result<Vec<Compiled>, GenerateError> {
    let options = CompileOptions {
        work_dir: Some("/r".into()),
        cells: cells.map(str::to_owned),
        ..CompileOptions::default()
    };
    compile(system, &options)
}

fn shown(compiled: &[Compiled]) -> String {
    let mut text = String::new();
    for stack in compiled {
        let object = &stack.spec.resources[0].attributes;
        let (labels, data) = (object.pointer("/metadata/labels"), object.pointer("/data"));
        let cluster = stack.stack.cell.as_ref().and_then(|it| it.cluster.as_deref());
        let json = |value: Option<&serde_json::Value>| value.map(ToString::to_string);
        let _ = writeln!(
            text,
            "{} on {}: {} {}",
            stack.stack.full_name(),
            cluster.unwrap_or("-"),
            json(labels).unwrap_or_default(),
            json(data).unwrap_or_default()
        );
    }
    text
}

#[test]
fn every_cell_has_its_values_and_cluster() {
    let compiled = run(&files(REPO), None).expect("it compiles");
    assert_eq!(
        shown(&compiled),
        r#"shop/prod in zone=gz00a,env=prod on main: {"team":"shop","tier":"gold"} {"image":"shop:1.0","replicas":"10","search":"svc,gz.local","sidecar":"mosn:1.2"}
shop/prod in zone=gz00b,env=prod on main: {"team":"shop","tier":"gold"} {"image":"shop:1.0","replicas":"1","search":"svc,gz.local","sidecar":"mosn:1.2"}
shop/prod in zone=sh01a,env=prod on sandbox/sh: {"only":"this"} {"image":"shop:1.0","replicas":"6","search":"svc,sh.local","sidecar":"mosn:1.2"}
"#
    );
}

#[test]
fn a_selector_picks_cells() {
    let system = files(REPO);
    let names = |cells: &str| match run(&system, Some(cells)) {
        Ok(compiled) => {
            compiled.iter().map(|it| it.stack.cell_name().to_owned()).collect::<Vec<_>>().join(" ")
        }
        Err(error) => error.to_string(),
    };
    assert_eq!(names("zone=!gz"), "zone=sh01a,env=prod");
    assert_eq!(names("zone=gz"), "zone=gz00a,env=prod zone=gz00b,env=prod");
    assert_eq!(
        names("env=dev"),
        "no cell of the stacks matches `env=dev`; `kusion cells ls` lists cells"
    );
    assert!(names("zone=xx").contains("unknown value of axis `zone` `xx`"));
}

#[test]
fn the_origin_of_a_value_is_the_line_of_its_layer() {
    let compiled = run(&files(REPO), None).expect("it compiles");
    let origin = |at: usize, path: &[&str]| {
        let path = path.iter().fold(FieldPath::default(), |path, key| path.key(key));
        let stack = &compiled[at];
        let found = stack.origins.find(&stack.spec.resources[0].id, &path).expect("an origin");
        format!("{}:{}", found.file, found.line)
    };
    assert_eq!(origin(0, &["metadata", "labels", "team"]), "shop/prod/main.k:7");
    assert_eq!(origin(0, &["metadata", "labels", "tier"]), "shop/@env=prod.k:6");
    assert_eq!(origin(0, &["data", "image"]), "shop/@env=prod.k:4");
    assert_eq!(origin(2, &["metadata", "labels", "only"]), "layers/mesh.yaml:9");
}

/// Compiles the repository with other files; returns the error.
fn error(changed: &str) -> String {
    let text = format!("{REPO}{changed}");
    match run(&files(&text), None) {
        Ok(_) => "it compiles".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn conflicts_name_both_lines_and_what_settles_them() {
    let found = error(
        "#- /r/shop/layers/a.yaml\nwhen: {zone: [gz00b, sh01a]}\nset: {app: {search: [x]}}\n",
    );
    assert_eq!(
        found,
        "error[L002]: no order for the items of `app.search`: [\"x\"] (shop/layers/a.yaml:2) and \
         += [\"gz.local\"] (shop/prod/@zone=gz.k:6); both apply at zone=gz00b,env=prod; \
         zone=gz00b|sh01a and zone=gz00a|gz00b overlap, and neither is inside the other; settle it \
         with a layer for zone=gz00b; or declare the list as a set or with a key in dims.k"
    );
    let found = error(
        "#- /r/layers/lock.yaml\nlock: [app.sidecar]\nowner: sec\nset: {app: {sidecar: a}}\n",
    );
    assert!(
        found.contains("error[L005]: `app.sidecar` is locked by layers/lock.yaml:1 (owner sec)")
    );
}

#[test]
fn mistakes_in_layers_name_file_and_line() {
    for (files, expected) in [
        (
            "#- /r/shop/@evn=prod.k\na = 1\n",
            "shop/@evn=prod.k: unknown axis `evn` (did you mean `env`?)",
        ),
        (
            "#- /r/shop/prod/@env=prod.k\nap = {replicas = 1}\n",
            "shop/prod/@env=prod.k:1: the layer sets `ap`, but the program of the stack shop/prod \
             has no such variable (did you mean `app`?)",
        ),
        (
            "#- /r/layers/b.yaml\nwhen: {env: prod}\nwehn: 1\nset: {}\n",
            "layers/b.yaml:2: unknown key `wehn` of a layer (did you mean `when`?)",
        ),
        (
            "#- /r/layers/b.yaml\nset:\n  app: !merge {a: 1}\n",
            "layers/b.yaml:2: unknown tag `!merge`; expected `!replace`, `!append` or `!unset`",
        ),
        (
            "#- /r/layers/b.yaml\nexpires: tomorrow\nset: {}\n",
            "layers/b.yaml:1: `expires`: invalid date `tomorrow`: expected a form such as \
             `2026-12-01`",
        ),
        (
            "#- /r/shop/@list.k\nx = 1\n",
            "shop/@list.k: expected the variable `layers`, a list; a file for one selector is \
             named `@env=prod.k`",
        ),
        (
            "#- /r/shop/dev/stack.yaml\nname: dev\ncells: {env: dev}\n#- /r/shop/dev/main.k\na = 1\n",
            "/r/shop/dev/stack.yaml: `cells` does not name the axis `zone`; it has several values, \
             such as `gz00a`",
        ),
        (
            "#- /r/shop/project.yaml\nname: shop\nlayers: [../../etc]\n",
            "shop/project.yaml: `layers`: ../../etc is not a folder below .",
        ),
    ] {
        let found = error(files);
        assert_eq!(found, expected);
    }
    // A value that the schema refuses, from a file without types.
    let found =
        error("#- /r/layers/b.yaml\nwhen: {env: prod, zone: gz00a}\nset: {app: {replicas: 60}}\n");
    assert!(found.contains("too many replicas"), "{found}");
}

#[test]
fn a_project_takes_layers_of_shared_folders() {
    let shared = "#- /r/shop/project.yaml\nname: shop\nlayers: [../mesh]\n\
                  #- /r/mesh/layers/a.yaml\nwhen: {env: prod}\nset: {app: {labels: {mesh: 'on'}}}\n";
    let compiled = run(&files(&format!("{REPO}{shared}")), Some("zone=gz00a")).expect("valid");
    assert!(shown(&compiled).contains(r#""mesh":"on""#), "{}", shown(&compiled));
}

#[test]
fn axes_above_the_root_of_the_repository_do_not_count() {
    let run = |text: &str, work_dir: &str| {
        let options =
            CompileOptions { work_dir: Some(work_dir.into()), ..CompileOptions::default() };
        match compile(&files(text), &options) {
            Ok(compiled) => compiled[0].stack.cell_name().to_owned(),
            Err(error) => error.to_string(),
        }
    };
    let stack = |root: &str| {
        format!(
            "#- /tmp/dims.k\naxes = [{{name = \"env\", values = [\"evil\"]}}]\n\
             #- {root}/shop/prod/stack.yaml\nname: prod\ncells: {{env: evil}}\n\
             #- {root}/shop/prod/main.k\na = {{apiVersion = \"v1\", kind = \"ConfigMap\", metadata.name = \"a\"}}\n"
        )
    };
    // The work tree, the outermost folder with a file of a module or project, the working folder.
    let hint = "; if it belongs to the repository, put a kcl.mod beside it";
    for (marker, hint) in [
        ("#- /tmp/r/.git/HEAD\n", ""),
        ("#- /tmp/r/kcl.mod\n", hint),
        ("#- /tmp/r/project.yaml\nname: r\n", hint),
    ] {
        let found = run(&format!("{}{marker}", stack("/tmp/r")), "/tmp");
        let expected = format!(
            "/tmp/r/shop/prod/stack.yaml: `cells` needs a dims.k in the repository: /tmp/dims.k is \
             above its root /tmp/r, and does not count{hint}"
        );
        assert_eq!(found, expected, "{marker}");
    }
    assert!(run(&stack("/tmp/r"), "/tmp/r").contains("is above its root /tmp/r,"));
    assert_eq!(run(&stack("/tmp/r"), "/tmp"), "env=evil");
    assert_eq!(run(&format!("{}#- /tmp/kcl.mod\n", stack("/tmp/r")), "/tmp/r"), "env=evil");
}

/// Layers of the whole repository, of a project, of one stack; three stacks with four cells each,
/// of which two give the same result.
fn many_cells() -> String {
    let mut text = String::from(
        "#- /r/kcl.mod\n#- /r/dims.k\naxes = [{name = \"zone\", values = [\"a\", \"b\", \"c\", \"d\"]}]\n\
         #- /r/@zone=a.k\napp = {x = 1}\n#- /r/@zone=b.k\napp = {x = 2}\n\
         #- /r/shop/project.yaml\nname: shop\n#- /r/shop/@list.k\n\
         layers = [{when = {zone = \"a\"}, set = {app.y = 1}}, {when = {zone = \"c\"}, set = {app.x = 1}}]\n",
    );
    for stack in ["s1", "s2", "s3"] {
        let _ = write!(
            text,
            "#- /r/shop/{stack}/stack.yaml\nname: {stack}\ncells: {{zone: [a, b, c, d]}}\n\
             #- /r/shop/{stack}/@zone=d.k\napp = {{x = 2}}\n\
             #- /r/shop/{stack}/main.k\nschema App:\n    x: int = 0\n    y: int = 0\n\
             app: App {{}}\no = {{apiVersion = \"v1\", kind = \"ConfigMap\", metadata.name = \"c\", \
             data = {{x = str(app.x), y = str(app.y)}}}}\n"
        );
    }
    text
}

#[test]
fn layers_are_evaluated_once_and_equal_cells_once() {
    let options =
        CompileOptions { work_dir: Some("/r".into()), threads: 4, ..CompileOptions::default() };
    let outcome = compile_each(&files(&many_cells()), &options).expect("valid");
    assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
    assert_eq!(outcome.compiled.len(), 12);
    let data: Vec<String> = outcome.compiled[..4]
        .iter()
        .map(|it| it.spec.resources[0].attributes["data"].to_string())
        .collect();
    // The cells `b` and `d` get the same value from different layers, so they are apart.
    assert_eq!(
        data.join(" "),
        r#"{"x":"1","y":"1"} {"x":"2","y":"0"} {"x":"1","y":"0"} {"x":"2","y":"0"}"#
    );
    // 2 + 1 shared files with layers and 3 of stacks; the program of each stack once; and a run for
    // each distinct result.
    let expected = Work { n_layer_files: 6, n_partial_programs: 3, n_programs: 12 };
    assert_eq!(outcome.work, expected);
    // One layer for two cells: three distinct results of four cells.
    let same = many_cells()
        .replace("@zone=d.k", "@zone=b|d.k")
        .replace("#- /r/@zone=b.k\napp = {x = 2}\n", "");
    let outcome = compile_each(&files(&same), &options).expect("valid");
    let expected = Work { n_layer_files: 5, n_partial_programs: 3, n_programs: 9 };
    assert_eq!((outcome.compiled.len(), outcome.work), (12, expected));
}

const CLUSTERS: &str = r#"
#- /r/kcl.mod
#- /r/dims.k
axes = [
    {name = "cluster", from = "labels"}
    {name = "zone", from = "labels", label = "topology/zone", groups = {gz = ["gz00a", "gz00b"]}}
    {name = "env", values = ["dev", "prod"]}
]
clusters = {
    "gz-1" = {labels = {"topology/zone" = "gz00a"}}
    "gz-2" = {labels = {"topology/zone" = "gz00b"}, context = "admin@gz-2"}
    "sh-1" = {labels = {"topology/zone" = "sh01a"}, context = "sandbox/sh"}
}
#- /r/shop/project.yaml
name: shop
#- /r/shop/prod/stack.yaml
name: prod
cells: {zone: [gz, sh01a], env: prod}
clusters: {"zone=sh01a": other}
#- /r/shop/prod/@zone=gz.k
app = {x = 2}
#- /r/shop/prod/@cluster=gz-2.k
app = {x = 3}
#- /r/shop/prod/main.k
app = {x = 1}
o = {apiVersion = "v1", kind = "ConfigMap", metadata.name = "c", data.x = str(app.x)}
"#;

#[test]
fn axes_take_their_values_from_labels_of_clusters() {
    let compiled = run(&files(CLUSTERS), None).expect("it compiles");
    let line = |it: &Compiled| {
        let cell = it.stack.cell.as_ref().expect("a cell");
        let cluster = cell.cluster.as_deref().unwrap_or("-");
        format!("{} on {cluster}: {}", cell.name, it.spec.resources[0].attributes["data"]["x"])
    };
    assert_eq!(
        compiled.iter().map(line).collect::<Vec<_>>().join("\n"),
        "cluster=gz-1,zone=gz00a,env=prod on gz-1: \"2\"\n\
         cluster=gz-2,zone=gz00b,env=prod on admin@gz-2: \"3\"\n\
         cluster=sh-1,zone=sh01a,env=prod on other: \"1\""
    );
    let error = |from: &str, to: &str| {
        let text = CLUSTERS.replace(from, to);
        assert_ne!(text, CLUSTERS);
        run(&files(&text), None).map(|_| ()).expect_err("refused").to_string()
    };
    assert_eq!(
        error("\"topology/zone\" = \"gz00a\"", "zone = \"gz00a\""),
        "/r/dims.k: the cluster `gz-1` has no label `topology/zone`, from which the axis `zone` \
         takes its values"
    );
    assert_eq!(
        error("from = \"labels\"}", "from = \"network\"}"),
        "/r/dims.k: the axis `cluster` has `from = \"network\"`: expected `labels`"
    );
    assert_eq!(
        error("from = \"labels\"}", "from = \"labels\", values = [\"a\"]}"),
        "/r/dims.k: the axis `cluster` has `values`, and takes its values from labels"
    );
}
