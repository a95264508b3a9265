//! Examples with their messages.

use kusion_cells::{Axes, Axis, Layer, Node, Origin, Resolver, Selector};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

fn axes() -> Axes {
    let axis = |name: &str, values: &str| Axis {
        name: name.to_owned(),
        values: values.split(' ').map(str::to_owned).collect(),
        groups: if name == "zone" {
            [("gz".to_owned(), vec!["gz00a".to_owned(), "gz00b".to_owned()])].into()
        } else {
            BTreeMap::new()
        },
    };
    Axes::new(vec![axis("zone", "gz00a gz00b sh01a"), axis("env", "dev gray prod")])
        .expect("the axes are valid")
        .with_order("app.dns".parse().expect("a pattern"), &["env".to_owned()])
        .expect("the order is valid")
}

fn layer(axes: &Axes, file: &str, when: &str, entries: &[(&str, Value)]) -> Arc<Layer> {
    let origin = Origin { file: file.into(), line: 3, column: 5 };
    let entry = |(key, value): &(&str, Value)| {
        ((*key).to_owned(), Node::Leaf(value.clone(), origin.clone()))
    };
    let app = Node::Map {
        entries: entries.iter().map(entry).collect(),
        replaces: false,
        origin: origin.clone(),
    };
    let when = Selector::parse(axes, when).expect("the selector is valid");
    Arc::new(Layer::new(when, [("app".to_owned(), app)].into(), origin))
}

#[test]
fn an_explanation_names_winner_and_losers() {
    let axes = axes();
    let layers = [
        layer(&axes, "base.k", "", &[("replicas", json!(2)), ("dns", json!("a"))]),
        layer(&axes, "@env=prod.k", "env=prod", &[("replicas", json!(6)), ("dns", json!("b"))]),
        layer(&axes, "@zone=gz.k", "zone=gz", &[("replicas", json!(10)), ("dns", json!("c"))]),
    ];
    let resolver = Resolver::new(&axes, &layers);
    let cell = Selector::parse(&axes, "zone=gz00a,env=prod").expect("valid");
    let cell = cell.cells().next().expect("a cell");
    let explain = |path: &str| {
        let path = path.parse().expect("a path");
        let found = resolver.explain(&path, &cell).expect("it is set");
        let mut lines = vec![format!("{} {}", found.winners[0].says, found.winners[0].origin)];
        lines.extend(found.losses.iter().map(|it| format!("{} {}", it.candidate.says, it.because)));
        lines.join("\n")
    };
    assert_eq!(
        explain("app.replicas"),
        "10 @zone=gz.k:3\n\
         6 zone gz00a|gz00b is inside all values of zone, by axis order\n\
         2 zone gz00a|gz00b is inside all values of zone"
    );
    assert_eq!(
        explain("app.dns"),
        "\"b\" @env=prod.k:3\n\
         \"c\" env prod is inside all values of env, by axis order\n\
         \"a\" env prod is inside all values of env"
    );
    let crossings = resolver.crossings();
    assert_eq!(crossings.len(), 2);
    assert!(resolver.check().is_empty());
}

#[test]
fn a_tie_names_both_lines_a_cell_and_what_settles_it() {
    let axes = axes();
    let layers = [
        layer(&axes, "mesh.yaml", "zone=gz00b|sh01a", &[("sidecar", json!("mosn:1.3"))]),
        layer(&axes, "layers.k", "zone=gz", &[("sidecar", json!("mosn:1.2"))]),
    ];
    let problems = Resolver::new(&axes, &layers).check();
    let messages: Vec<String> = problems.iter().map(|it| it.message(&axes, &layers)).collect();
    assert_eq!(
        messages,
        ["no winner for `app.sidecar`: \"mosn:1.3\" (mesh.yaml:3) and \"mosn:1.2\" (layers.k:3); \
          both apply at zone=gz00b,env=dev; zone=gz00b|sh01a and zone=gz00a|gz00b overlap, and \
          neither is inside the other; settle it with a layer for zone=gz00b"]
    );
    let settled = [
        Arc::clone(&layers[0]),
        Arc::clone(&layers[1]),
        layer(&axes, "x.k", "zone=gz00b", &[("sidecar", json!("mosn:1.3"))]),
    ];
    assert!(Resolver::new(&axes, &settled).check().is_empty());
}

#[test]
fn a_lock_names_its_owner() {
    let axes = axes();
    let mut locking = (*layer(&axes, "mesh.yaml", "", &[("sidecar", json!("1"))])).clone();
    locking.lock = vec!["app.sidecar".parse().expect("a pattern")];
    locking.owner = Some("sre".to_owned());
    locking.why = Some("audited".to_owned());
    let narrow = layer(&axes, "@env=prod.k", "env=prod", &[("sidecar", json!("2"))]);
    let layers = [Arc::new(locking), narrow];
    let problems = Resolver::new(&axes, &layers).check();
    let messages: Vec<String> = problems.iter().map(|it| it.message(&axes, &layers)).collect();
    assert_eq!(
        messages,
        [
            "`app.sidecar` is locked by mesh.yaml:3 (owner sre: audited): \"2\" (@env=prod.k:3) must \
          not set it; both apply at zone=gz00a,env=prod"
        ]
    );
}
