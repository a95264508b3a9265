//! Random axes and layers.

use fastrand::Rng;
use kusion_cells::{Axes, Axis, Layer, Node, Origin, Selector};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A configuration in plain form.
#[derive(Clone, Debug)]
pub(crate) struct Configuration {
    /// Names and values of axes, the most decisive first.
    pub(crate) axes: Vec<(String, Vec<String>)>,
    /// Orders of the paths that start with some keys.
    pub(crate) orders: Vec<(Vec<String>, Vec<String>)>,
    /// The first key of lists that are sets.
    pub(crate) sets: Vec<String>,
    /// The first key of lists with the key `k`.
    pub(crate) keyed: Vec<String>,
    pub(crate) layers: Vec<PlainLayer>,
}

/// A layer in plain form.
#[derive(Clone, Debug)]
pub(crate) struct PlainLayer {
    /// The values on each axis.
    pub(crate) when: Vec<BTreeSet<String>>,
    pub(crate) scope: u32,
    pub(crate) lock: Vec<Vec<String>>,
    /// What it says at each path.
    pub(crate) says: BTreeMap<Vec<String>, Said>,
}

/// What a layer says at a path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Said {
    Value(Value),
    Append(Vec<Value>),
    Unset,
    /// A map that is merged.
    Merge,
    /// A map that replaces what others say below it.
    Exact,
}

const KEYS: [&str; 4] = ["a", "b", "c", "d"];

pub(crate) fn configuration(rng: &mut Rng) -> Configuration {
    let axes: Vec<(String, Vec<String>)> = (0..rng.usize(1..=3))
        .map(|axis| {
            let values = (0..rng.usize(1..=4)).map(|value| format!("v{value}")).collect();
            (format!("x{axis}"), values)
        })
        .collect();
    let mut orders = Vec::new();
    if rng.u8(0..3) == 0 {
        let mut names: Vec<String> = axes.iter().map(|(name, _)| name.clone()).collect();
        rng.shuffle(&mut names);
        names.truncate(rng.usize(1..=names.len()));
        let path = (0..rng.usize(1..=2)).map(|_| key(rng)).collect();
        orders.push((path, names));
    }
    let layers = (0..rng.usize(1..=6)).map(|_| layer(rng, &axes)).collect();
    Configuration { axes, orders, sets: vec!["c".to_owned()], keyed: vec!["d".to_owned()], layers }
}

fn key(rng: &mut Rng) -> String {
    KEYS[rng.usize(..KEYS.len())].to_owned()
}

fn layer(rng: &mut Rng, axes: &[(String, Vec<String>)]) -> PlainLayer {
    let when = axes.iter().map(|(_, values)| {
        if rng.bool() {
            return values.iter().cloned().collect();
        }
        let mut set: BTreeSet<String> = values.iter().filter(|_| rng.bool()).cloned().collect();
        set.insert(values[rng.usize(..values.len())].clone());
        set
    });
    let when = when.collect();
    let mut says = BTreeMap::new();
    for _ in 0..rng.usize(1..=3) {
        let first = key(rng);
        entry(rng, vec![first], &mut says);
    }
    let lock = if rng.u8(0..5) == 0 {
        vec![(0..rng.usize(1..=2)).map(|_| key(rng)).collect()]
    } else {
        Vec::new()
    };
    PlainLayer { when, scope: rng.u32(0..2), lock, says }
}

/// Says something at a path, unless something is said there.
fn entry(rng: &mut Rng, path: Vec<String>, says: &mut BTreeMap<Vec<String>, Said>) {
    if says.contains_key(&path) {
        return;
    }
    let is_keyed = path[0] == "d";
    let said = match rng.u8(0..10) {
        0..=2 => Said::Value(json!(rng.u8(0..3))),
        3 => Said::Value(Value::Array(items(rng, is_keyed))),
        4 | 5 => Said::Append(items(rng, is_keyed)),
        6 => Said::Unset,
        _ if path.len() >= 3 => Said::Value(json!({})),
        kind => {
            let said = if kind == 7 { Said::Exact } else { Said::Merge };
            says.insert(path.clone(), said);
            let n_inner = rng.usize(0..=2);
            for _ in 0..n_inner {
                let mut inner = path.clone();
                inner.push(key(rng));
                entry(rng, inner, says);
            }
            return;
        }
    };
    says.insert(path, said);
}

fn items(rng: &mut Rng, is_keyed: bool) -> Vec<Value> {
    let item = |rng: &mut Rng| match rng.u8(0..12) {
        0 => json!({"v": 1}),
        _ if is_keyed => json!({"k": rng.u8(0..3), "v": rng.u8(0..2)}),
        _ => json!(rng.u8(0..3)),
    };
    (0..rng.usize(1..=2)).map(|_| item(rng)).collect()
}

impl Configuration {
    /// Returns the axes as the resolver reads them.
    pub(crate) fn real_axes(&self) -> Axes {
        let axis = |(name, values): &(String, Vec<String>)| Axis {
            name: name.clone(),
            values: values.clone(),
            groups: BTreeMap::new(),
        };
        let mut axes = Axes::new(self.axes.iter().map(axis).collect()).expect("valid axes");
        for (path, order) in &self.orders {
            let pattern = path.join(".").parse().expect("a pattern");
            axes = axes.with_order(pattern, order).expect("a valid order");
        }
        for key in &self.sets {
            axes = axes.with_set(key.parse().expect("a pattern"));
        }
        for key in &self.keyed {
            axes = axes.with_keyed(key.parse().expect("a pattern"), "k".to_owned());
        }
        axes
    }

    /// Returns the layers as the resolver reads them.
    pub(crate) fn real_layers(&self, axes: &Axes) -> Vec<Arc<Layer>> {
        let layers = self.layers.iter().enumerate();
        layers.map(|(at, layer)| Arc::new(self.real_layer(axes, at, layer))).collect()
    }

    fn real_layer(&self, axes: &Axes, at: usize, layer: &PlainLayer) -> Layer {
        let terms: Vec<String> = self
            .axes
            .iter()
            .zip(&layer.when)
            .map(|((name, _), set)| {
                format!("{name}={}", set.iter().cloned().collect::<Vec<_>>().join("|"))
            })
            .collect();
        let when = Selector::parse(axes, &terms.join(",")).expect("a valid selector");
        let origin = Origin { file: format!("layer{at}.k").into(), line: 1, column: 1 };
        let tops = layer.says.keys().filter(|path| path.len() == 1);
        let entries = tops.map(|path| (path[0].clone(), node(layer, path, &origin))).collect();
        let mut real = Layer::new(when, entries, origin);
        real.scope = layer.scope;
        real.lock = layer.lock.iter().map(|it| it.join(".").parse().expect("valid")).collect();
        real
    }
}

fn node(layer: &PlainLayer, path: &[String], origin: &Origin) -> Node {
    let origin = origin.clone();
    let (replaces, entries) = match &layer.says[path] {
        Said::Value(value) => return Node::Leaf(value.clone(), origin),
        Said::Append(items) => return Node::Append(items.clone(), origin),
        Said::Unset => return Node::Unset(origin),
        said => {
            let is_child = |it: &&Vec<String>| it.len() == path.len() + 1 && it.starts_with(path);
            let children = layer.says.keys().filter(is_child);
            let entries =
                children.map(|it| (it[path.len()].clone(), node(layer, it, &origin))).collect();
            (*said == Said::Exact, entries)
        }
    };
    Node::Map { entries, replaces, origin }
}
