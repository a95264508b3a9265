//! The rules, written down as directly as possible: every cell is looked at, nothing is shared with
//! the resolver.

use crate::generate::{Configuration, PlainLayer, Said};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

type Path = Vec<String>;

/// What is known about a path at a cell.
#[derive(Clone, Debug, PartialEq)]
enum Meaning {
    Is(Value),
    Plus(Vec<Value>),
    Nothing,
    Map,
}

/// A cell: a value of each axis.
pub(crate) type ModelCell = Vec<String>;

/// The result at a cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ModelResult {
    pub(crate) values: BTreeMap<Path, Value>,
    pub(crate) problems: BTreeSet<Path>,
}

pub(crate) fn cells(configuration: &Configuration) -> Vec<ModelCell> {
    let mut cells: Vec<ModelCell> = vec![Vec::new()];
    for (_, values) in &configuration.axes {
        cells = cells
            .iter()
            .flat_map(|cell| {
                values.iter().map(|value| {
                    let mut cell = cell.clone();
                    cell.push(value.clone());
                    cell
                })
            })
            .collect();
    }
    cells
}

/// Every path that some layer names, and those above.
pub(crate) fn paths(configuration: &Configuration) -> BTreeSet<Path> {
    let all = configuration.layers.iter().flat_map(|layer| layer.says.keys());
    all.flat_map(|path| (1..=path.len()).map(|len| path[..len].to_vec())).collect()
}

fn meaning(layer: &PlainLayer, path: &[String]) -> Option<Meaning> {
    let has_children =
        |path: &[String]| layer.says.keys().any(|it| it.len() > path.len() && it.starts_with(path));
    if let Some(said) = layer.says.get(path) {
        return Some(match said {
            Said::Value(value) => Meaning::Is(value.clone()),
            Said::Append(items) => Meaning::Plus(items.clone()),
            Said::Unset => Meaning::Nothing,
            Said::Exact if !has_children(path) => Meaning::Is(json!({})),
            Said::Exact | Said::Merge => Meaning::Map,
        });
    }
    let covers = |len: usize| {
        let above = layer.says.get(&path[..len]);
        above.is_some_and(|said| *said != Said::Merge)
    };
    (1..path.len()).any(covers).then_some(Meaning::Nothing)
}

pub(crate) fn order(configuration: &Configuration, path: &[String]) -> Vec<usize> {
    let names: Vec<&String> = configuration.axes.iter().map(|(name, _)| name).collect();
    let place = |name: &String| names.iter().position(|it| *it == name).expect("known");
    let special = configuration.orders.iter().find(|(start, _)| path.starts_with(start));
    let mut order: Vec<usize> =
        special.map_or(Vec::new(), |(_, order)| order.iter().map(place).collect());
    for at in 0..names.len() {
        if !order.contains(&at) {
            order.push(at);
        }
    }
    order
}

/// Rule 3.
pub(crate) fn beats(order: &[usize], a: &PlainLayer, b: &PlainLayer) -> bool {
    let differing = order.iter().find(|axis| a.when[**axis] != b.when[**axis]);
    match differing {
        Some(&axis) => a.when[axis].is_subset(&b.when[axis]),
        None => a.scope > b.scope,
    }
}

fn applies(layer: &PlainLayer, cell: &ModelCell) -> bool {
    layer.when.iter().zip(cell).all(|(set, value)| set.contains(value))
}

/// Paths that are a value for one layer and a map for another one, with another order below.
pub(crate) fn mixed(configuration: &Configuration) -> BTreeSet<Path> {
    let all = paths(configuration);
    let is_mixed = |path: &&Path| {
        let meanings: Vec<Meaning> =
            configuration.layers.iter().filter_map(|layer| meaning(layer, path)).collect();
        let is_value = |it: &Meaning| matches!(it, Meaning::Is(_) | Meaning::Plus(_));
        meanings.iter().any(is_value)
            && meanings.contains(&Meaning::Map)
            && all.iter().any(|inner| {
                inner.len() > path.len()
                    && inner.starts_with(path)
                    && order(configuration, inner) != order(configuration, path)
            })
    };
    all.iter().filter(is_mixed).cloned().collect()
}

pub(crate) fn resolve(configuration: &Configuration, cell: &ModelCell) -> ModelResult {
    let mut result = ModelResult::default();
    let mixed = mixed(configuration);
    let mut maps = Vec::new();
    for path in paths(configuration) {
        if mixed.contains(&path) {
            result.problems.insert(path);
            continue;
        }
        match decide(configuration, &path, cell) {
            Ok(None | Some(Meaning::Nothing | Meaning::Plus(_))) => {}
            Ok(Some(Meaning::Is(value))) => {
                result.values.insert(path, value);
            }
            Ok(Some(Meaning::Map)) => maps.push(path),
            Err(()) => {
                result.problems.insert(path);
            }
        }
    }
    // The deepest first: a map without entries is empty.
    for path in maps.into_iter().rev() {
        if !result.values.keys().any(|it| it.starts_with(&path)) {
            result.values.insert(path, json!({}));
        }
    }
    result
}

fn decide(
    configuration: &Configuration,
    path: &[String],
    cell: &ModelCell,
) -> Result<Option<Meaning>, ()> {
    let order = order(configuration, path);
    let all: Vec<(&PlainLayer, Meaning)> = configuration
        .layers
        .iter()
        .filter(|layer| applies(layer, cell))
        .filter_map(|layer| Some((layer, meaning(layer, path)?)))
        .collect();
    let beats = |a: &PlainLayer, b: &PlainLayer| beats(&order, a, b);
    let is_plus = |it: &Meaning| matches!(it, Meaning::Plus(_));
    let sets: Vec<&(&PlainLayer, Meaning)> = all.iter().filter(|it| !is_plus(&it.1)).collect();
    let top: Vec<&(&PlainLayer, Meaning)> =
        sets.iter().filter(|it| !sets.iter().any(|other| beats(other.0, it.0))).copied().collect();
    if top.iter().any(|it| it.1 != top[0].1) {
        return Err(());
    }
    let mut pluses: Vec<(&PlainLayer, &Vec<Value>)> = Vec::new();
    for (layer, meaning) in &all {
        if let Meaning::Plus(items) = meaning
            && !sets.iter().any(|set| beats(set.0, layer))
        {
            pluses.push((layer, items));
        }
    }
    let start = top.first().map(|it| it.1.clone());
    if pluses.is_empty() {
        return Ok(start);
    }
    if pluses.iter().any(|plus| top.iter().any(|base| !beats(plus.0, base.0))) {
        return Err(());
    }
    let start = match start {
        None | Some(Meaning::Nothing) => Vec::new(),
        Some(Meaning::Is(Value::Array(items))) => items,
        Some(_) => return Err(()),
    };
    append(configuration, path, start, pluses, &beats).map(|it| Some(Meaning::Is(Value::Array(it))))
}

fn append(
    configuration: &Configuration,
    path: &[String],
    start: Vec<Value>,
    pluses: Vec<(&PlainLayer, &Vec<Value>)>,
    beats: &dyn Fn(&PlainLayer, &PlainLayer) -> bool,
) -> Result<Vec<Value>, ()> {
    if configuration.keyed.contains(&path[0]) {
        return append_keyed(start, &pluses, beats);
    }
    if configuration.sets.contains(&path[0]) {
        let mut result: Vec<Value> = Vec::new();
        for item in start {
            if !result.contains(&item) {
                result.push(item);
            }
        }
        let mut new: Vec<Value> = Vec::new();
        for item in pluses.iter().flat_map(|(_, items)| items.iter()) {
            if !result.contains(item) && !new.contains(item) {
                new.push(item.clone());
            }
        }
        new.sort_by_key(Value::to_string);
        result.extend(new);
        return Ok(result);
    }
    // Only a chain has an order: take the least specific one out, again and again.
    let mut result = start;
    let mut rest = pluses;
    while !rest.is_empty() {
        let is_least = |at: usize| {
            (0..rest.len()).all(|other| other == at || beats(rest[other].0, rest[at].0))
        };
        let least = (0..rest.len()).find(|at| is_least(*at)).ok_or(())?;
        result.extend(rest.remove(least).1.iter().cloned());
    }
    Ok(result)
}

fn append_keyed(
    start: Vec<Value>,
    pluses: &[(&PlainLayer, &Vec<Value>)],
    beats: &dyn Fn(&PlainLayer, &PlainLayer) -> bool,
) -> Result<Vec<Value>, ()> {
    let key = |item: &Value| item.get("k").map(Value::to_string).ok_or(());
    let keys = |items: &[Value]| {
        let keys: Vec<String> = items.iter().map(key).collect::<Result<_, _>>()?;
        let different: BTreeSet<&String> = keys.iter().collect();
        if different.len() == keys.len() { Ok(keys) } else { Err(()) }
    };
    let mut result = start;
    keys(&result)?;
    let mut new: BTreeSet<String> = BTreeSet::new();
    for (_, items) in pluses {
        new.extend(keys(items)?);
    }
    for name in new {
        let with: Vec<(&PlainLayer, &Value)> = pluses
            .iter()
            .flat_map(|(layer, items)| items.iter().map(move |item| (*layer, item)))
            .filter(|(_, item)| key(item).as_deref() == Ok(&name))
            .collect();
        let top: Vec<&Value> = with
            .iter()
            .filter(|(layer, _)| !with.iter().any(|(other, _)| beats(other, layer)))
            .map(|(_, item)| *item)
            .collect();
        if top.iter().any(|item| *item != top[0]) {
            return Err(());
        }
        match result.iter_mut().find(|item| key(item).as_deref() == Ok(&name)) {
            Some(old) => *old = top[0].clone(),
            None => result.push(top[0].clone()),
        }
    }
    Ok(result)
}

/// Every violation of a lock: the path, the layer with the lock, the other one.
pub(crate) fn locked(configuration: &Configuration) -> BTreeSet<(Path, usize, usize)> {
    let mut found = BTreeSet::new();
    let layers = &configuration.layers;
    for cell in cells(configuration) {
        for path in paths(configuration) {
            let order = order(configuration, &path);
            for (at, layer) in layers.iter().enumerate() {
                for (other_at, other) in layers.iter().enumerate() {
                    let said = meaning(other, &path);
                    if at != other_at
                        && applies(layer, &cell)
                        && applies(other, &cell)
                        && layer.lock.iter().any(|lock| path.starts_with(lock))
                        && said.is_some_and(|it| it != Meaning::Map)
                        && beats(&order, other, layer)
                    {
                        found.insert((path.clone(), at, other_at));
                    }
                }
            }
        }
    }
    found
}
