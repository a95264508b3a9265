//! What each leaf is from and what it replaced, in programs small enough to see it.

use base_system::MemorySystem;
use kcl_driver::{Origin, Place, RunOptions, Step, Tracking, run};
use std::fmt::Write as _;

/// Runs files and compares the leaves, one on each line:
/// `path => line:col text [beats line:col, …]`.
fn check_with(files: &[(&str, &str)], options: &RunOptions, wanted: &str) {
    let found = leaves(files, options);
    let wanted: Vec<&str> = wanted.lines().map(str::trim).collect();
    assert_eq!(found.trim(), wanted.join("\n").trim());
}

/// The leaves of a program that consists of some files, in the form of [`check_with`].
pub(crate) fn leaves(files: &[(&str, &str)], options: &RunOptions) -> String {
    let mut system = MemorySystem::new();
    for (name, text) in files {
        system = system.with_file(format!("/m/{name}"), *text);
    }
    let mut options = RunOptions { provenance: true, ..options.clone() };
    if options.inputs.is_empty() {
        options.inputs = RunOptions::files(["/m/main.k"]).inputs;
    }
    let output = run(&system, &options).expect("the program is valid");
    let text_of = |place: &Place| -> String {
        let path = place.file.trim_start_matches("/m/");
        let (_, text) = files.iter().find(|(name, _)| *name == path).expect("the file is known");
        let line = text.lines().nth(place.line as usize - 1).expect("the line is there");
        let is_one_line = place.end_line == place.line;
        let n_chars = if is_one_line { place.end_column - place.column } else { u32::MAX } as usize;
        line.chars().skip(place.column as usize - 1).take(n_chars).collect()
    };
    let position = |place: &Place| {
        let file = place.file.trim_start_matches("/m/");
        let file = if file == "main.k" { String::new() } else { format!("{file}:") };
        format!("{file}{}:{}", place.line, place.column)
    };
    let short = |origin: &Origin| match origin {
        Origin::Source(place) => position(place),
        Origin::Override { spec } => format!("-O {spec}"),
        Origin::Option { name, place } => format!("{} -D {name}", position(place)),
        Origin::Builtin => "builtin".to_owned(),
    };
    let mut found = String::new();
    for leaf in &output.provenance.expect("it was asked for").leaves {
        let step = |step: &Step| match step {
            Step::Key(key) => key.clone(),
            Step::Index(at) => at.to_string(),
        };
        let path: Vec<String> = leaf.path.iter().map(step).collect();
        let _ = write!(found, "{} => {}", path.join("."), short(&leaf.origin));
        if let Origin::Source(place) = &leaf.origin {
            let _ = write!(found, " {}", text_of(place));
        }
        if !leaf.beaten.is_empty() {
            let beaten: Vec<String> = leaf.beaten.iter().map(short).collect();
            let _ = write!(found, " [beats {}]", beaten.join(", "));
        }
        found.push('\n');
    }
    found
}

fn check(text: &str, wanted: &str) {
    check_with(&[("main.k", text)], &RunOptions::default(), wanted);
}

#[test]
fn globals() {
    check("a = 1\nb = a + 1\nc = None\n", "a => 1:5 1\nb => 2:5 a + 1\nc => 3:5 None");
}

#[test]
fn hidden_undefined_and_functions_are_no_leaves() {
    check(
        "_a = 1\nb = Undefined\nc = lambda { 1 }\nd = {_e = 1, f = Undefined, g = 2}\n",
        "d.g => 4:33 2",
    );
}

#[test]
fn empty_collections_are_leaves() {
    check("a = {}\nb = []\nc = {d = {_x = 1}}\n", "a => 1:5 {}\nb => 2:5 []\nc.d => 3:10 {_x = 1}");
}

#[test]
fn nested_literals() {
    check(
        "a = {b = {c = 1}, d = [2, {e = 3}]}\n",
        "a.b.c => 1:15 1\na.d.0 => 1:24 2\na.d.1.e => 1:32 3",
    );
}

#[test]
fn undefined_items_take_no_place() {
    check("a = [1, Undefined, 2]\n", "a.0 => 1:6 1\na.1 => 1:20 2");
}

#[test]
fn a_scalar_program() {
    check("1 + 1\n", "=> 1:1 1 + 1");
}

#[test]
fn a_copy_keeps_the_places_inside() {
    check("_a = {x = 1}\nb = _a\nc = _a.x\n", "b.x => 1:11 1\nc => 3:5 _a.x");
}

#[test]
fn a_later_entry_with_equals_wins() {
    check("a = {x = 1, x = 2}\n", "a.x => 1:17 2 [beats 1:10]");
}

#[test]
fn equal_entries_meet() {
    check("a = {x: 1, x: 1}\n", "a.x => 1:15 1 [beats 1:9]");
}

#[test]
fn merged_dicts_keep_what_each_sets() {
    check("a = {x: {p = 1}, x: {q = 2}}\n", "a.x.p => 1:14 1\na.x.q => 1:26 2");
}

#[test]
fn a_replaced_dict_is_what_its_leaves_beat() {
    check("a = {x = {p = 1}, x = {q = 2}}\n", "a.x.q => 1:28 2 [beats 1:10]");
}

#[test]
fn insertion_into_a_list() {
    check("a = {x = [1], x += [2]}\n", "a.x.0 => 1:11 1\na.x.1 => 1:21 2");
}

#[test]
fn items_by_index() {
    check("a = {x = [1, 2], x[0] = 5}\n", "a.x.0 => 1:25 5 [beats 1:11]\na.x.1 => 1:14 2");
}

#[test]
fn index_into_a_list_of_dicts() {
    check("a = {x = [{y = 1}], x[0]: {z = 2}}\n", "a.x.0.y => 1:16 1\na.x.0.z => 1:32 2");
}

#[test]
fn a_removed_item() {
    check("a = {x = [1, 2, 3], x[0] = Undefined}\n", "a.x.0 => 1:14 2\na.x.1 => 1:17 3");
}

#[test]
fn concatenation() {
    check(
        "a = [1] + [2]\n_b = \"x y\".split(\" \")\nc = _b + [3]\n",
        "a.0 => 1:6 1\na.1 => 1:12 2\nc.0 => 3:5 _b\nc.1 => 3:5 _b\nc.2 => 3:11 3",
    );
}

#[test]
fn what_functions_give_is_from_the_call() {
    check(
        "import json\na = json.decode('{\"x\": [1, {}]}')\nb = \"x y\".split(\" \")\n",
        "a.x.0 => 2:5 json.decode('{\"x\": [1, {}]}')\na.x.1 => 2:5 json.decode('{\"x\": [1, {}]}')\n\
         b.0 => 3:5 \"x y\".split(\" \")\nb.1 => 3:5 \"x y\".split(\" \")",
    );
}

#[test]
fn comprehensions() {
    check(
        "a = [i * 2 for i in [1, 2]]\nb = {k = v for k, v in {x = 1}}\n",
        "a.0 => 1:6 i * 2\na.1 => 1:6 i * 2\nb.x => 2:10 v",
    );
}

#[test]
fn quantifiers() {
    check(
        "a = map x in [1] { x + 1 }\nb = filter x in [1, 2] { x > 1 }\nc = all x in [1] { x > 0 }\n",
        "a.0 => 1:20 x + 1\nb.0 => 2:21 2\nc => 3:5 all x in [1] { x > 0 }",
    );
}

#[test]
fn unpacking() {
    check(
        "_a = {x = 1, y = 2}\nb = {**_a, y = 3}\nc = [*[1], 2]\n",
        "b.x => 1:11 1\nb.y => 2:16 3 [beats 1:18]\nc.0 => 3:8 1\nc.1 => 3:12 2",
    );
}

#[test]
fn unions() {
    check(
        "a = {x = 1, y = {p = 1}} | {x = 2, z = 3}\nb = [1] | [2]\n",
        "a.x => 1:33 2 [beats 1:10]\na.y.p => 1:22 1\na.z => 1:40 3\nb.0 => 2:12 2 [beats 2:6]",
    );
}

#[test]
fn a_union_with_what_a_function_gives() {
    check(
        "import json\na = json.decode('{\"x\": 1}') | {x = 2}\nb = {x = 3} | json.decode('{\"y\": 4}')\n",
        "a.x => 2:36 2 [beats 2:5]\nb.x => 3:10 3\nb.y => 3:15 json.decode('{\"y\": 4}')",
    );
}

#[test]
fn lambda_results() {
    check(
        "f = lambda n { {v = n, w = [n]} }\na = f(4)\ng = lambda n { n + 1 }\nb = g(1)\n",
        "a.v => 1:21 n\na.w.0 => 1:29 n\nb => 4:5 g(1)",
    );
}

#[test]
fn branches() {
    check(
        "c = True\nif c:\n    _a = 1\nelse:\n    _a = 2\nb = 3 if c else 4\na = _a\nif c:\n    d = {x = 1}\n",
        "c => 1:5 True\nb => 6:5 3 if c else 4\na => 7:5 _a\nd.x => 9:14 1",
    );
}

#[test]
fn if_entries() {
    check(
        "a = {\n    if True:\n        x = 1\n    else:\n        x = 2\n    y = 3\n}\nb = [\n    if True: 7\n    8\n]\n",
        "a.x => 3:13 1\na.y => 6:9 3\nb.0 => 9:14 7\nb.1 => 10:5 8",
    );
}

#[test]
fn defaults_and_what_beats_them() {
    check(
        "schema S:\n    x: int = 1\n    y: int = 2\na = S {x = 3}\n",
        "a.x => 4:12 3 [beats 2:14]\na.y => 3:14 2",
    );
}

#[test]
fn a_literal_type_is_its_own_default() {
    check("schema S:\n    kind: \"K\"\na = S {}\n", "a.kind => 2:5 kind: \"K\"");
}

#[test]
fn none_leaves_the_default() {
    check("schema S:\n    x: int = 1\na = S {x: None}\n", "a.x => 2:14 1");
}

#[test]
fn default_collections() {
    check(
        "schema S:\n    x: {str:} = {p = 1}\n    y: {str:} = {p = 1}\n    z: [int] = [1]\na = S {x: {p = 2, q = 3}, y = {q = 4}, z += [5]}\n",
        "a.x.p => 5:16 2 [beats 2:22]\na.x.q => 5:23 3\na.y.q => 5:36 4 [beats 3:17]\na.z.0 => 4:17 1\na.z.1 => 5:46 5",
    );
}

#[test]
fn inheritance() {
    check(
        "schema B:\n    x: int = 1\n    y: int = 1\nschema D(B):\n    x = 2\na = D {}\nb = D {x = 3}\n",
        "a.x => 5:9 2 [beats 2:14]\na.y => 3:14 1\nb.x => 7:12 3 [beats 5:9, 2:14]\nb.y => 3:14 1",
    );
}

#[test]
fn mixins() {
    check(
        "schema FooMixin:\n    x: int = 1\nschema S:\n    mixin [FooMixin]\n    y: int = 2\na = S {}\nb = S {x = 5}\n",
        "a.y => 5:14 2\na.x => 2:14 1\nb.y => 5:14 2\nb.x => 7:12 5 [beats 2:14]",
    );
}

#[test]
fn index_signatures() {
    check("schema S:\n    [str]: int = 7\na = S {x = 1}\n", "a.x => 3:12 1 [beats 2:18]");
}

#[test]
fn computed_attributes() {
    check(
        "schema S:\n    x: int = 1\n    y: int = x + 1\na = S {x = 5}\n",
        "a.x => 4:12 5 [beats 2:14]\na.y => 3:14 x + 1",
    );
}

#[test]
fn schema_arguments() {
    check("schema S[n]:\n    x: int = n\na = S(4) {}\n", "a.x => 2:14 n");
}

#[test]
fn dicts_that_become_instances() {
    check(
        "schema T:\n    n: int\n    m: int = 2\nschema S:\n    t: T\n    l: [T]\na = S {t = {n = 1}, l = [{n = 3}]}\n",
        "a.t.n => 7:17 1\na.t.m => 3:14 2\na.l.0.n => 7:31 3\na.l.0.m => 3:14 2",
    );
}

#[test]
fn a_changed_instance() {
    check(
        "schema S:\n    x: int = 1\n    y: int = 2\n_a = S {x = 3}\nb = _a {y = 4}\nc = _a | {x = 5}\n",
        "b.x => 4:13 3 [beats 2:14]\nb.y => 5:13 4 [beats 3:14]\nc.x => 6:15 5 [beats 4:13, 2:14]\nc.y => 3:14 2",
    );
}

#[test]
fn merged_blocks() {
    check(
        "schema S:\n    x: int = 1\n    y: int = 2\na: S {x = 3}\na: S {x = 4, y = 5}\n",
        "a.x => 5:11 4 [beats 4:11, 2:14]\na.y => 5:18 5 [beats 3:14]",
    );
}

#[test]
fn merged_files() {
    let base = "schema S:\n    x: int\n    l: {str:} = {}\na: S {\n    x = 1\n    l: {p = 1}\n}\n";
    let main = "a: S {\n    x = 2\n    l: {q = 2}\n}\n";
    check_with(
        &[("base.k", base), ("main.k", main)],
        &RunOptions::files(["/m/base.k", "/m/main.k"]),
        "a.x => 2:9 2 [beats base.k:5:9]\na.l.p => base.k:6:13 1\na.l.q => 3:13 2",
    );
}

#[test]
fn values_of_imported_packages() {
    check_with(
        &[
            ("kcl.mod", ""),
            ("p/p.k", "x = {y = 1}\nz = 2\n"),
            ("main.k", "import p\na = p.x\nb = p.z\n"),
        ],
        &RunOptions::default(),
        "a.y => p/p.k:1:10 1\nb => 3:5 p.z",
    );
}

#[test]
fn assignments_into_private_variables() {
    check(
        "_a = {x = 1, y = [1]}\n_a.x = 2\n_a.y += [3]\nb = _a\n",
        "b.x => 2:8 2 [beats 1:11]\nb.y.0 => 1:19 1\nb.y.1 => 3:10 3",
    );
}

#[test]
fn overrides() {
    let options = RunOptions {
        overrides: ["a.x=5", "a.new=6", "b=7", "c+=[8]"].map(str::to_owned).to_vec(),
        ..RunOptions::default()
    };
    check_with(
        &[("main.k", "a = {x = 1, y = 2}\nb = 3\nc = [4]\n")],
        &options,
        "a.x => -O a.x=5 [beats 1:10]\na.y => 1:17 2\na.new => -O a.new=6\nb => -O b=7 [beats 2:5]\nc.0 => 3:6 4\nc.1 => -O c+=[8]",
    );
}

#[test]
fn the_last_override_wins() {
    let options = RunOptions {
        overrides: ["a.x=5", "a.x=6"].map(str::to_owned).to_vec(),
        ..RunOptions::default()
    };
    check_with(
        &[("main.k", "schema S:\n    x: int = 0\na = S {x = 1}\n")],
        &options,
        "a.x => -O a.x=6 [beats -O a.x=5, 3:12, 2:14]",
    );
}

#[test]
fn arguments() {
    let options = RunOptions {
        arguments: vec![("n".into(), "5".into()), ("zero".into(), "0".into())],
        ..RunOptions::default()
    };
    check_with(
        &[(
            "main.k",
            "a = option(\"n\")\nb = option(\"m\", default=3)\nc = option(\"n\") or 4\nd = option(\"m\") or 4\ne = option(\"zero\") or 4\n",
        )],
        &options,
        "a => 1:5 -D n\nb => 2:5 option(\"m\", default=3)\nc => 3:5 -D n\nd => 4:5 option(\"m\") or 4\ne => 5:5 option(\"zero\") or 4",
    );
}

#[test]
fn selected_parts_alone() {
    let options =
        RunOptions { selectors: vec!["a.x".into(), "a._h".into()], ..RunOptions::default() };
    check_with(
        &[("main.k", "a = {x = {p = 1, _q = 2}, y = 3, _h = 4}\nb = 5\n")],
        &options,
        "a.x.p => 1:15 1\na._h => 1:39 4",
    );
}

#[test]
fn what_is_shown_has_leaves() {
    let mut options = RunOptions::default();
    options.output.sort_keys = true;
    options.output.disable_none = true;
    options.output.show_hidden = true;
    check_with(&[("main.k", "b = 1\na = None\n_c = 2\n")], &options, "_c => 3:6 2\nb => 1:5 1");
}

fn check_givers(files: &[(&str, &str)], wanted: &str) {
    let mut options = RunOptions::default();
    options.eval.tracking = Tracking::Givers;
    check_with(files, &options, wanted);
}

#[test]
fn what_is_only_passed_on_is_from_its_giver() {
    check_givers(
        &[(
            "main.k",
            "_a = {x = 1, y = [2], z.w = 3}\n\
             b = {x = _a.x, y = _a.y[0], z = _a[\"z\"].w, s = _a.x + 0}\n\
             c = b.x\n\
             d = [c, (b.z)]\n\
             e = _a.none or b.x\n",
        )],
        "b.x => 1:11 1\nb.y => 1:19 2\nb.z => 1:29 3\nb.s => 2:48 _a.x + 0\nc => 1:11 1\n\
         d.0 => 1:11 1\nd.1 => 1:29 3\ne => 1:11 1",
    );
}

#[test]
fn a_back_end_shows_what_the_front_end_gave() {
    let back = "schema Server:\n    image: str\n    replicas: int = 1\n    env: {str:str} = {}\n\
        schema Backend[server: Server]:\n    _count = server.replicas\n    object: {str:} = {\n        \
        image = server.image\n        replicas = _count\n        \
        env = [_env(key, server.env[key]) for key in server.env]\n        kind = \"X\"\n    }\n\
        _env = lambda name: str, value: str {\n    {name = name, value = value}\n}\n";
    let main = "import back\n_server = back.Server {\n    image = \"a:1\"\n    env.K = \"v\"\n}\n\
        object = back.Backend(_server).object\n";
    check_givers(
        &[("main.k", main), ("back.k", back), ("kcl.mod", "")],
        "object.image => 3:13 \"a:1\"\nobject.replicas => back.k:3:21 1\n\
         object.env.0.name => back.k:14:13 name\nobject.env.0.value => 4:13 \"v\"\n\
         object.kind => back.k:11:16 \"X\"",
    );
}

#[test]
fn arguments_of_lambdas_are_their_own() {
    check_givers(
        &[(
            "main.k",
            "_f = lambda x, y {\n    _z = x\n    {x = x, y = y, z = _z}\n}\n\
             _a = {x = 1}\n\
             b = _f(_a.x, 1)\n\
             c = _f(1, _a.x)\n\
             d = _f(_f(_a.x, 2).x, 3)\n",
        )],
        "b.x => 5:11 1\nb.y => 3:17 y\nb.z => 3:24 _z\n\
         c.x => 3:10 x\nc.y => 5:11 1\nc.z => 3:24 _z\n\
         d.x => 8:8 _f(_a.x, 2).x\nd.y => 3:17 y\nd.z => 3:24 _z",
    );
}
