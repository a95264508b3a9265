//! Layers: programs that are evaluated on their own and merged in any order.

use base_system::MemorySystem;
use kcl_driver::{Format, LeafPlace, PathStep, RunError, RunOptions, RunOutput, run, with_layers};

const APP: &str = "\
schema Port:
    port: int
    protocol: str = \"TCP\"

schema Meta:
    name: str
    labels: {str:str} = {}

schema TraceMixin:
    trace: bool = False

schema App(Meta):
    mixin [TraceMixin]
    image: str
    replicas: int = 1
    ports: [Port] = []
    main?: Port
    env: {str:str} = {}
    args: [str] = [\"-v\"]

    check:
        replicas < 10

schema Open:
    [str]: int = 5
    fixed: int = 1
";

/// Merges layers once, in the given order.
fn merge_layers(
    system: &MemorySystem,
    layers: &[RunOptions],
    order: &[usize],
    options: &RunOptions,
) -> Result<RunOutput, Box<RunError>> {
    with_layers(system, layers, |layers| layers.merge(order, options))?
}

/// How a result is completed, or not.
fn completed(complete: bool) -> RunOptions {
    let mut options = RunOptions::default();
    options.eval.complete = complete;
    options
}

/// A module with the schemas and one file for each layer.
fn module(layers: &[&str]) -> (MemorySystem, Vec<RunOptions>) {
    let mut system = MemorySystem::new().with_file("/m/kcl.mod", "").with_file("/m/lib/lib.k", APP);
    let mut options = Vec::new();
    for (at, text) in layers.iter().enumerate() {
        let path = format!("/m/l{at}.k");
        system = system.with_file(&path, format!("import lib\n{text}\n"));
        options.push(RunOptions::files([path]));
    }
    (system, options)
}

fn merged(layers: &[&str], complete: bool) -> String {
    let (system, options) = module(layers);
    let order: Vec<usize> = (0..layers.len()).collect();
    let how = completed(complete);
    match merge_layers(&system, &options, &order, &how) {
        Ok(output) => output.result,
        Err(error) => format!("error: {error}"),
    }
}

/// What a program gives without any layers.
fn plain(text: &str) -> String {
    let (system, options) = module(&[text]);
    run(&system, &options[0]).expect("the program is valid").result
}

#[test]
fn different_leaves_merge_to_one_result_in_any_order() {
    let (system, layers) = module(&[
        "shop: lib.App {name = \"shop\", image = \"shop:1\", labels: {a = \"1\"}}\nx = {p = 1}",
        "shop: lib.App {replicas = 6, labels: {b = \"2\"}, main: lib.Port {port = 80}}",
        "shop: lib.App {main: lib.Port {protocol = \"UDP\"}, env: {c = \"3\"}}\ny = 2",
    ]);
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let results = with_layers(&system, &layers, |layers| {
        [false, true].map(|complete| {
            let options = completed(complete);
            orders.map(|order| layers.merge(&order, &options).expect("they go together").result)
        })
    });
    let [partial, complete] = results.expect("each layer is valid");
    assert_eq!(
        partial[0],
        "shop:\n  name: shop\n  image: shop:1\n  labels:\n    a: '1'\n    b: '2'\n  replicas: 6\n  \
         main:\n    port: 80\n    protocol: UDP\n  env:\n    c: '3'\nx:\n  p: 1\n'y': 2"
    );
    assert!(partial.iter().all(|result| *result == partial[0]), "{partial:#?}");
    let single = "shop = lib.App {name = \"shop\", image = \"shop:1\", labels: {a = \"1\", b = \"2\"}, \
                  replicas = 6, main: lib.Port {port = 80, protocol = \"UDP\"}, env: {c = \"3\"}}\n\
                  x = {p = 1}\ny = 2";
    assert_eq!(complete[0], plain(single));
    assert!(complete.iter().all(|result| *result == complete[0]), "{complete:#?}");
}

#[test]
fn an_unset_default_is_absent() {
    assert_eq!(merged(&["a: lib.App {image = \"i\"}"], false), "a:\n  image: i");
}

#[test]
fn a_completed_merge_is_the_single_literal() {
    for (layers, single) in [
        // Lists of instances, dicts that become instances.
        (
            [
                "a: lib.App {name = \"n\", ports = [lib.Port {port = 1}]}",
                "a: lib.App {image = \"i\", ports += [{port = 2, protocol = \"UDP\"}]}",
            ],
            "a = lib.App {name = \"n\", image = \"i\", ports = [lib.Port {port = 1}], \
             ports += [{port = 2, protocol = \"UDP\"}]}",
        ),
        // Index signatures.
        (["a: lib.Open {x = 1}", "a: lib.Open {y = 2}"], "a = lib.Open {x = 1, y = 2}"),
        // Mixins and bases.
        (
            ["a: lib.App {trace = True, image = \"i\"}", "a: lib.App {name = \"n\"}"],
            "a = lib.App {trace = True, image = \"i\", name = \"n\"}",
        ),
        // A dict in one layer, an instance in the other.
        (
            [
                "a: lib.App {name = \"n\", main: {port = 1}}",
                "a: lib.App {image = \"i\", main: lib.Port {protocol = \"UDP\"}}",
            ],
            "a = lib.App {name = \"n\", image = \"i\", main: lib.Port {port = 1, protocol = \"UDP\"}}",
        ),
    ] {
        assert_eq!(merged(&layers, true), plain(single));
    }
}

#[test]
fn a_replaced_default_does_not_come_back() {
    let layers = [
        "a: lib.App {name = \"x\", image = \"i\", args = [\"a\"]}",
        "a: lib.App {args += [\"b\"]}",
    ];
    let single = "a = lib.App {name = \"x\", image = \"i\", args = [\"a\", \"b\"]}";
    assert_eq!(merged(&layers, true), plain(single));
    let layers = ["a: lib.App {name = \"x\", image = \"i\"}", layers[1]];
    let single = "a = lib.App {name = \"x\", image = \"i\", args += [\"b\"]}";
    assert_eq!(merged(&layers, true), plain(single));
}

#[test]
fn unequal_values_are_a_conflict_that_names_the_attribute() {
    let found = merged(&["a: lib.App {replicas: 2}", "a: lib.App {replicas: 3}"], false);
    assert!(
        found.starts_with(
            "error: conflicting values on the attribute 'replicas' between :\n    2\nand\n    3"
        ),
        "{found}"
    );
    assert!(found.contains("with union path :\n    a.replicas\n"), "{found}");
    assert_eq!(
        merged(&["a: lib.App {replicas: 2}", "a: lib.App {replicas: 2}"], false),
        "a:\n  replicas: 2"
    );
}

#[test]
fn every_operator() {
    let base = "a: lib.App {replicas = 2, labels: {x = \"1\"}, args: [\"-a\"]}\nn = 1";
    let with = |layer| merged(&[base, layer], false);
    assert_eq!(
        with("a: lib.App {replicas = 3, labels = {y = \"2\"}}"),
        "a:\n  replicas: 3\n  labels:\n    'y': '2'\n  args:\n  - '-a'\n'n': 1"
    );
    assert_eq!(
        with("a: lib.App {args += [\"-b\"]}"),
        "a:\n  replicas: 2\n  labels:\n    x: '1'\n  args:\n  - '-a'\n  - '-b'\n'n': 1"
    );
    assert_eq!(
        with("a: lib.App {replicas = Undefined, labels: {x = Undefined}}"),
        "a:\n  labels: {}\n  args:\n  - '-a'\n'n': 1"
    );
    assert_eq!(
        with("a = lib.App {labels: {y = \"2\"}}\nn = 2"),
        "a:\n  replicas: 2\n  labels:\n    x: '1'\n    'y': '2'\n  args:\n  - '-a'\n'n': 2"
    );
}

#[test]
fn some_layers_alone() {
    let (system, layers) = module(&["a = 1", "b = 2", "c = 3"]);
    let output = merge_layers(&system, &layers, &[2, 0], &RunOptions::default());
    assert_eq!(output.expect("they go together").result, "a: 1\nc: 3");
}

#[test]
fn what_is_wrong_after_the_merge() {
    assert_eq!(
        merged(&["a: lib.App {name = \"n\"}", "a: lib.App {replicas = 2}"], true),
        "error: attribute 'image' of App is required and can't be None or Undefined"
    );
    assert_eq!(
        merged(&["a: lib.App {name = \"n\", image = \"i\"}", "a: lib.App {replicas = 20}"], true),
        "error: Check failed on the condition"
    );
}

#[test]
fn a_layer_that_is_wrong_by_itself() {
    let found = merged(&["a: lib.App {}", "a: lib.App {replicas = \"x\"}"], false);
    assert_eq!(found, "error: expected int, got str(x)");
}

#[test]
fn each_leaf_knows_its_layer() {
    let (system, layers) = module(&[
        "a: lib.App {name = \"n\", image = \"i\", replicas = 1}",
        "a: lib.App {replicas = 2, labels: {x = \"1\"}}",
        "a: lib.App {replicas = 3}",
    ]);
    let options = RunOptions { provenance: true, ..completed(true) };
    let output = merge_layers(&system, &layers, &[0, 2, 1], &options).expect("they go together");
    let mut found = Vec::new();
    for leaf in output.provenance.expect("it was asked for").leaves {
        let places = std::iter::once(&leaf.origin).chain(&leaf.beaten);
        let places = places.filter_map(|origin| origin.place());
        let places: Vec<String> = places
            .map(|place| {
                format!("{}:{}:{}", place.file.trim_start_matches("/m/"), place.line, place.column)
            })
            .collect();
        found.push(places.join(" > "));
    }
    assert_eq!(
        found,
        [
            "l0.k:2:20",
            "l1.k:2:40",
            "l0.k:2:33",
            "l1.k:2:24 > l2.k:2:24 > l0.k:2:49 > lib/lib.k:15:21",
            "lib/lib.k:16:21",
            "lib/lib.k:18:22",
            "lib/lib.k:19:20",
            "lib/lib.k:10:19",
        ]
    );
}

#[test]
fn data_of_layers_know_the_file_of_their_layer() {
    let (system, layers) = module(&[
        "\na: lib.App {name = \"a\", image = \"x\"}\n",
        "a: lib.App {\n    replicas = 3\n}\n",
    ]);
    let options = RunOptions { format: Some(Format::Data), ..completed(true) };
    let output = merge_layers(&system, &layers, &[0, 1], &options).expect("they go together");
    let documents = output.documents.expect("data were requested");
    assert_eq!(documents.values[0]["a"]["replicas"], 3);
    let find = |key| match documents.places.find([PathStep::Key("a"), PathStep::Key(key)]) {
        Some(LeafPlace::Text { file, at }) => format!("{file}:{}", at.line),
        other => format!("{other:?}"),
    };
    assert_eq!(find("image"), "/m/l0.k:3");
    assert_eq!(find("replicas"), "/m/l1.k:3");
    assert_eq!(find("trace"), "/m/lib/lib.k:10");
}
