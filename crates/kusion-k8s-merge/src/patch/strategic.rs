//! Strategic merge patch: a merge patch that knows how each list merges.

use std::collections::{HashMap, HashSet};

use kusion_k8s_schema::{Type, TypeId};
use serde_json::{Map, Value};

use super::PatchError;
use crate::go;
use crate::typed::Typed;

const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_LIST: &str = "$deleteFromPrimitiveList";
const ORDER: &str = "$setElementOrder";

/// Merges a patch into an object of a type.
pub fn strategic_merge(
    typed: Typed<'_>,
    current: &Value,
    patch: &Value,
) -> Result<Value, PatchError> {
    let Value::Object(patch) = patch else {
        return Err(PatchError::BadRequest("invalid JSON document".to_owned()));
    };
    let current = match current {
        Value::Object(map) => map.clone(),
        _ => Map::new(),
    };
    merge_map(Level::of(typed, typed.ty), current, patch.clone()).map(Value::Object)
}

/// The current position in a patch.
#[derive(Clone, Copy)]
struct Level<'t> {
    typed: Typed<'t>,
    ty: TypeId,
}

/// How a field merges.
struct Strategy<'t> {
    below: Level<'t>,
    merge: bool,
    replace: bool,
    key: &'t str,
}

impl<'t> Level<'t> {
    fn of(typed: Typed<'t>, ty: TypeId) -> Self {
        Self { typed, ty }
    }

    /// Returns how a field merges; for lists, `below` is the level of the items.
    fn field(self, name: &str, is_list: bool) -> Result<Strategy<'t>, PatchError> {
        let table = self.typed.table;
        let mut strategy = Strategy {
            below: Self::of(self.typed, TypeId::default()),
            merge: false,
            replace: false,
            key: "",
        };
        let ty = match table.get(self.ty) {
            Type::Struct(named) => match named.field(name) {
                Some(field) => {
                    let words = field.patch_strategy.split(',');
                    for word in words {
                        strategy.merge |= word == "merge";
                        strategy.replace |= word == "replace";
                    }
                    strategy.key = &field.patch_merge_key;
                    field.ty
                }
                None => match named.additional {
                    Some(ty) => ty,
                    None if named.preserve_unknown || named.fields.is_empty() => {
                        return Ok(strategy);
                    }
                    None => {
                        let kind = named.name.rsplit('.').next().unwrap_or_default();
                        return Err(PatchError::Internal(format!(
                            "unable to find api field in struct {kind} for the json field {}",
                            kusion_k8s_schema::quoted(name)
                        )));
                    }
                },
            },
            Type::Map(map) => map.element,
            _ => return Ok(strategy),
        };
        strategy.below.ty = match table.get(ty) {
            Type::List(list) if is_list => list.element,
            _ => ty,
        };
        Ok(strategy)
    }

    fn name(self) -> &'t str {
        match self.typed.table.get(self.ty) {
            Type::Struct(named) => named.name.rsplit('.').next().unwrap_or_default(),
            _ => "",
        }
    }
}

fn merge_map(
    level: Level<'_>,
    mut current: Map<String, Value>,
    mut patch: Map<String, Value>,
) -> Result<Map<String, Value>, PatchError> {
    if let Some(directive) = patch.get(DIRECTIVE) {
        return match directive.as_str() {
            Some("replace") => {
                patch.remove(DIRECTIVE);
                Ok(patch)
            }
            Some("delete") => Ok(Map::new()),
            _ => Err(unknown_directive(directive, &patch)),
        };
    }
    retain_keys(&mut current, &mut patch)?;
    set_orders(level, &mut current, &mut patch)?;
    for (key, change) in patch {
        let (key, deletes) = if key.starts_with(DELETE_LIST) {
            let bad =
                || PatchError::BadRequest("invalid patch format of primitive list".to_owned());
            (directive_key(&key, DELETE_LIST).ok_or_else(bad)?.to_owned(), true)
        } else {
            (key, false)
        };
        if change.is_null() {
            current.remove(&key);
            continue;
        }
        let merged = match (current.remove(&key), change) {
            (Some(Value::Object(below)), Value::Object(change)) => {
                let strategy = level.field(&key, false)?;
                if strategy.replace {
                    Some(Value::Object(change))
                } else {
                    Some(Value::Object(merge_map(strategy.below, below, change)?))
                }
            }
            (Some(Value::Array(below)), Value::Array(change)) => {
                let strategy = level.field(&key, true)?;
                if strategy.merge || deletes {
                    Some(Value::Array(merge_list(&strategy, below, change, deletes)?))
                } else {
                    Some(Value::Array(change))
                }
            }
            (found, _) if deletes => found,
            (_, change) => without_directives(change),
        };
        if let Some(merged) = merged {
            current.insert(key, merged);
        }
    }
    Ok(current)
}

/// Applies `$retainKeys`: only these keys are kept, and the patch may contain only these.
fn retain_keys(
    current: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
) -> Result<(), PatchError> {
    let Some(list) = patch.remove(RETAIN_KEYS) else { return Ok(()) };
    let bad = || PatchError::BadRequest("invalid patch format of retainKeys".to_owned());
    let kept: Vec<&str> =
        list.as_array().ok_or_else(bad)?.iter().filter_map(Value::as_str).collect();
    for (key, value) in &*patch {
        let directive = key.starts_with(DELETE_LIST) || key.starts_with(ORDER);
        if !value.is_null() && !directive && !kept.contains(&key.as_str()) {
            return Err(bad());
        }
    }
    current.retain(|key, _| kept.contains(&key.as_str()));
    Ok(())
}

/// Applies the `$setElementOrder/…` directives together with the lists that they are about.
fn set_orders(
    level: Level<'_>,
    current: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
) -> Result<(), PatchError> {
    let keys: Vec<String> = patch.keys().filter(|key| key.starts_with(ORDER)).cloned().collect();
    for directive in keys {
        let Some(order) = patch.remove(&directive) else { continue };
        let order = expect_list(order)?;
        let bad =
            || PatchError::BadRequest("invalid patch format of setElementOrder list".to_owned());
        let key = directive_key(&directive, ORDER).ok_or_else(bad)?;
        let live = current.get(key).cloned().map(expect_list).transpose()?;
        let change = patch.get(key).cloned().map(expect_list).transpose()?;
        let strategy = level.field(key, true)?;
        check_order(change.as_deref().unwrap_or_default(), &order, strategy.key)?;
        let before = live.clone().unwrap_or_default();
        let merged = match (live, change) {
            (None, None) => continue,
            (Some(live), None) => live,
            (None, Some(change)) => without_directives_in(change),
            (Some(live), Some(change)) if strategy.merge => {
                merge_list(&strategy, live, change, false)?
            }
            (Some(_), Some(change)) => change,
        };
        let keyed = if are_objects(&before, &merged)? { strategy.key } else { "" };
        let ordered = in_order(merged, &order, &before, keyed)?;
        current.insert(key.to_owned(), Value::Array(ordered));
        patch.remove(key);
    }
    Ok(())
}

fn expect_list(value: Value) -> Result<Vec<Value>, PatchError> {
    match value {
        Value::Array(items) => Ok(items),
        other => Err(PatchError::Internal(format!(
            "expected a []interface {{}}, but received a {}",
            go::type_name(&other)
        ))),
    }
}

/// Checks that the items of a patch come in the order that it sets.
fn check_order(change: &[Value], order: &[Value], merge_key: &str) -> Result<(), PatchError> {
    if change.is_empty() || order.is_empty() {
        return Ok(());
    }
    let directive = |item: &Value| item.get(DIRECTIVE).is_some();
    let mut wanted = change.iter().filter(|item| !directive(item)).peekable();
    for place in order {
        let Some(item) = wanted.peek() else { break };
        if key_of(item, merge_key)? == key_of(place, merge_key)? {
            wanted.next();
        }
    }
    if wanted.peek().is_none() {
        return Ok(());
    }
    let shown = |list: &[Value]| go::plain(&Value::Array(list.to_vec()));
    Err(PatchError::Internal(format!(
        "The order in patch list:\n{}\n doesn't match {ORDER} list:\n{}\n",
        shown(change),
        shown(order)
    )))
}

fn merge_list(
    strategy: &Strategy<'_>,
    current: Vec<Value>,
    patch: Vec<Value>,
    deletes: bool,
) -> Result<Vec<Value>, PatchError> {
    if current.is_empty() && patch.is_empty() {
        return Ok(current);
    }
    if !are_objects(&current, &patch)? {
        if deletes {
            let gone: HashSet<String> = patch.iter().map(ToString::to_string).collect();
            return Ok(current
                .into_iter()
                .filter(|item| !gone.contains(&item.to_string()))
                .collect());
        }
        let before = current.clone();
        let mut seen = HashSet::new();
        let both = current.into_iter().chain(patch.iter().cloned());
        let merged = both.filter(|item| seen.insert(item.to_string())).collect();
        return in_order(merged, &patch, &before, "");
    }
    if strategy.key.is_empty() {
        return Err(PatchError::Internal(format!(
            "cannot merge lists without merge key for {}",
            strategy.below.name()
        )));
    }
    let (current, patch) = special_items(strategy.key, current, patch)?;
    let before = current.clone();
    let merged = merge_items(strategy, current, &patch)?;
    in_order(merged, &patch, &before, strategy.key)
}

/// Applies the items that are directives; returns the two lists without them.
fn special_items(
    merge_key: &str,
    mut current: Vec<Value>,
    patch: Vec<Value>,
) -> Result<(Vec<Value>, Vec<Value>), PatchError> {
    let mut plain = Vec::with_capacity(patch.len());
    let mut replaces = false;
    let mut gone = HashSet::new();
    for item in patch {
        let Value::Object(map) = item else { continue };
        match map.get(DIRECTIVE).map(|directive| (directive, directive.as_str())) {
            None => plain.push(Value::Object(map)),
            Some((_, Some("delete"))) => {
                gone.insert(key_of_map(&map, merge_key)?.to_string());
            }
            Some((_, Some("replace"))) => replaces = true,
            Some((_, Some("merge"))) => {
                let text = "merging lists cannot yet be specified in the patch";
                return Err(PatchError::Internal(text.to_owned()));
            }
            Some((directive, _)) => return Err(unknown_directive(directive, &map)),
        }
    }
    if replaces {
        return Ok((plain, Vec::new()));
    }
    if !gone.is_empty() {
        current
            .retain(|item| item.get(merge_key).is_none_or(|key| !gone.contains(&key.to_string())));
    }
    Ok((current, plain))
}

fn merge_items(
    strategy: &Strategy<'_>,
    mut current: Vec<Value>,
    patch: &[Value],
) -> Result<Vec<Value>, PatchError> {
    let mut places: HashMap<String, usize> = HashMap::new();
    for (at, item) in current.iter().enumerate() {
        if let Some(key) = item.get(strategy.key) {
            places.entry(key.to_string()).or_insert(at);
        }
    }
    for change in patch {
        let key = key_of(change, strategy.key)?.to_string();
        let Value::Object(change) = change else { continue };
        match places.get(&key).copied() {
            Some(at) => {
                let Value::Object(below) = std::mem::take(&mut current[at]) else { continue };
                let merged = merge_map(strategy.below, below, change.clone())?;
                current[at] = Value::Object(merged);
            }
            None => {
                places.insert(key, current.len());
                current.push(Value::Object(change.clone()));
            }
        }
    }
    Ok(current)
}

/// Sorts a merged list: items of the patch in its order, the others where they were among them.
fn in_order(
    merged: Vec<Value>,
    patch_order: &[Value],
    live_order: &[Value],
    merge_key: &str,
) -> Result<Vec<Value>, PatchError> {
    let by_patch = places(patch_order, merge_key)?;
    let by_live = places(live_order, merge_key)?;
    let mut ours: Vec<(usize, usize, Value)> = Vec::new();
    let mut theirs: Vec<(usize, Value)> = Vec::new();
    for item in merged {
        let key = key_of(&item, merge_key)?.to_string();
        let live = by_live.get(&key).copied().unwrap_or(usize::MAX);
        match by_patch.get(&key) {
            Some(at) => ours.push((*at, live, item)),
            None => theirs.push((live, item)),
        }
    }
    ours.sort_by_key(|(at, _, _)| *at);
    theirs.sort_by_key(|(live, _)| *live);
    let mut out = Vec::with_capacity(ours.len() + theirs.len());
    let mut theirs = theirs.into_iter().peekable();
    for (_, place, item) in ours {
        while let Some((_, earlier)) =
            theirs.next_if(|(live, _)| place != usize::MAX && *live < place)
        {
            out.push(earlier);
        }
        out.push(item);
    }
    out.extend(theirs.map(|(_, item)| item));
    Ok(out)
}

fn places(list: &[Value], merge_key: &str) -> Result<HashMap<String, usize>, PatchError> {
    let mut out = HashMap::with_capacity(list.len());
    for (at, item) in list.iter().enumerate() {
        out.entry(key_of(item, merge_key)?.to_string()).or_insert(at);
    }
    Ok(out)
}

/// Returns the value that identifies an item: its key field, or itself.
fn key_of<'v>(item: &'v Value, merge_key: &str) -> Result<&'v Value, PatchError> {
    match item {
        _ if merge_key.is_empty() => Ok(item),
        Value::Object(map) => key_of_map(map, merge_key),
        other => Err(PatchError::Internal(format!(
            "expected a map[string]interface {{}}, but received a {}",
            go::type_name(other)
        ))),
    }
}

fn key_of_map<'v>(map: &'v Map<String, Value>, merge_key: &str) -> Result<&'v Value, PatchError> {
    map.get(merge_key).ok_or_else(|| {
        let shown = go::plain(&Value::Object(map.clone()));
        PatchError::Internal(format!(
            "map: {shown} does not contain declared merge key: {merge_key}"
        ))
    })
}

/// Returns whether all items are objects; they must be of one type.
fn are_objects(a: &[Value], b: &[Value]) -> Result<bool, PatchError> {
    let mut found: Option<&'static str> = None;
    for item in a.iter().chain(b) {
        let name = go::type_name(item);
        match found {
            None if item.is_array() => {
                let text = "lists of lists are not supported";
                return Err(PatchError::Unprocessable(text.to_owned()));
            }
            None => found = Some(name),
            Some(other) if other != name => {
                let shown = go::plain(&Value::Array(vec![
                    Value::Array(a.to_vec()),
                    Value::Array(b.to_vec()),
                ]));
                return Err(PatchError::Internal(format!(
                    "list element types are not identical: {shown}"
                )));
            }
            Some(_) => {}
        }
    }
    match found {
        Some(name) => Ok(name.starts_with("map")),
        None => Err(PatchError::Internal("no elements in any of the given slices".to_owned())),
    }
}

fn directive_key<'k>(key: &'k str, prefix: &str) -> Option<&'k str> {
    let (found, rest) = key.split_once('/')?;
    (found == prefix).then_some(rest)
}

fn unknown_directive(directive: &Value, map: &Map<String, Value>) -> PatchError {
    let shown = go::plain(&Value::Object(map.clone()));
    PatchError::Internal(format!("unknown patch type: {} in map: {shown}", go::plain(directive)))
}

/// Returns a value to be used unchanged: without `null` fields and without directives.
fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(map) if map.contains_key(DIRECTIVE) => None,
        Value::Object(map) => {
            let kept = map.into_iter().filter(|(_, value)| !value.is_null());
            Some(kept.filter_map(|(key, value)| Some((key, without_directives(value)?))).collect())
        }
        Value::Array(items) => Some(Value::Array(without_directives_in(items))),
        other => Some(other),
    }
}

fn without_directives_in(items: Vec<Value>) -> Vec<Value> {
    items.into_iter().filter_map(without_directives).collect()
}
