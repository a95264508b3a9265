//! Every leaf of a Spec has an origin: the line that set it, its layer, and what it was computed
//! from.

use crate::support::{files, leaves};
use base_system::OsSystem;
use kusion_generate::{CompileOptions, Compiled, compile, compile_each};
use kusion_model::{FieldPath, Resource};

const REPO: &str = r#"
#- /r/kcl.mod
#- /r/dims.k
axes = [{name = "env", values = ["dev", "prod"]}]
#- /r/models/app.k
schema App:
    name: str
    image: str
    replicas: int = 1
    tag: str = "stable"
    debug: bool = False
    hosts: [str] = []

render = lambda app: App, suffix: str {
    [{
        apiVersion = "v1"
        kind = "ConfigMap"
        metadata = {name = app.name, labels = {owner = "platform"}}
        data = {
            image = "${app.image}:${app.tag}"
            replicas = str(app.replicas)
            double = str(app.replicas * 2)
            upper = app.name.upper()
            hosts = ",".join(app.hosts)
            level = "debug" if app.debug else app.tag
            suffix = suffix
            plain = "x"
        }
    }]
}
#- /r/shop/project.yaml
name: shop
extensions:
- kind: kubernetesMetadata
  kubernetesMetadata: {labels: {team: web}}
#- /r/shop/main/stack.yaml
name: main
cells: {env: [dev, prod]}
#- /r/shop/main/main.k
import manifests
import models.app as m

app: m.App {
    name = "shop"
    image = "shop"
    hosts = ["a", "b"]
}
_number = 3
manifests.yaml_stream(m.render(app, "n-" + str(_number)))
#- /r/shop/main/@env=prod.k
import models.app as m

app: m.App {
    replicas = 6
}
"#;

fn cells() -> Vec<Compiled> {
    let options = CompileOptions { work_dir: Some("/r".into()), ..CompileOptions::default() };
    compile(&files(REPO), &options).expect("it compiles")
}

/// Returns the origin of a leaf, for display.
fn origin(stack: &Compiled, path: &[&str]) -> String {
    let path = path.iter().fold(FieldPath::default(), |path, key| path.key(key));
    let found = stack.origins.find(&stack.spec.resources[0].id, &path);
    found.map_or_else(|| "unknown".to_owned(), |it| it.to_string())
}

#[test]
fn a_computed_leaf_names_the_line_of_the_model_and_what_went_into_it() {
    let cells = cells();
    let (dev, prod) = (&cells[0], &cells[1]);
    for (stack, key, expected) in [
        (dev, "image", "models/app.k:15 from shop/main/main.k:6, models/app.k:5"),
        (dev, "replicas", "models/app.k:16 from models/app.k:4"),
        (prod, "replicas", "models/app.k:16 from shop/main/@env=prod.k:4 (layer env=prod)"),
        (prod, "double", "models/app.k:17 from shop/main/@env=prod.k:4 (layer env=prod)"),
        (dev, "upper", "models/app.k:18 from shop/main/main.k:5"),
        (dev, "hosts", "models/app.k:19 from shop/main/main.k:7"),
        // The branch that was not taken did not go into it.
        (dev, "level", "models/app.k:20 from models/app.k:6, models/app.k:5"),
        (dev, "suffix", "shop/main/main.k:10 from shop/main/main.k:9"),
        (dev, "plain", "models/app.k:22"),
    ] {
        assert_eq!(origin(stack, &["data", key]), expected, "{key}");
    }
    assert_eq!(origin(dev, &["metadata", "name"]), "shop/main/main.k:5");
    assert_eq!(origin(dev, &["metadata", "labels", "owner"]), "models/app.k:13");
    assert_eq!(origin(dev, &["metadata", "labels", "team"]), "shop/project.yaml");
    assert_eq!(origin(dev, &["metadata", "namespace"]), "the default namespace");
}

/// Returns the leaves without an origin, and the number of all.
fn unknown(compiled: &[Compiled]) -> (Vec<String>, usize) {
    let mut found = Vec::new();
    let mut n_leaves = 0;
    for stack in compiled {
        for resource in &stack.spec.resources {
            let is_unknown = |path: &FieldPath| stack.origins.find(&resource.id, path).is_none();
            let paths: Vec<FieldPath> = leaves(resource);
            n_leaves += paths.len();
            let name = |path: FieldPath| shown(stack, resource, &path);
            found.extend(paths.into_iter().filter(is_unknown).map(name));
        }
    }
    (found, n_leaves)
}

fn shown(stack: &Compiled, resource: &Resource, path: &FieldPath) -> String {
    format!("{}: {} {path}", stack.shown.display(), resource.id)
}

#[test]
fn every_leaf_of_konfig_and_of_the_examples_has_an_origin() {
    assert_eq!(unknown(&cells()).0, Vec::<String>::new());
    let mut n_leaves = 0;
    for folder in ["konfig", "examples/webshop"] {
        let work_dir = Some(testkit::repository().join(folder));
        let options = CompileOptions { work_dir, ..CompileOptions::default() };
        let outcome = compile_each(&OsSystem, &options).expect("there are stacks");
        assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
        let (found, n_more) = unknown(&outcome.compiled);
        assert_eq!(found, Vec::<String>::new(), "of {n_more} leaves");
        n_leaves += n_more;
    }
    assert!(n_leaves > 500, "only {n_leaves}");
}
