//! The union of values: `|`, and how config entries meet what is there.

use crate::Tracking;
use crate::error::{Eval, Failure};
use crate::evaluator::Evaluator;
use crate::layout::SchemaId;
use kcl_value::{
    CallArgs, Dict, Entry, List, MergeOp, Origin, SchemaValue, Slot, Str, Value, Whole, ops,
};
use std::rc::Rc;

/// How to unite.
#[derive(Clone, Copy)]
pub(crate) struct UnionOptions {
    /// Whether unequal scalars under `:` are a conflict.
    pub(crate) check: bool,
    /// Whether a changed instance is made anew from its schema.
    pub(crate) resolve: bool,
}

/// `a | b`
const OPERATOR: UnionOptions = UnionOptions { check: true, resolve: true };
/// An entry into a config literal.
const ENTRY: UnionOptions = UnionOptions { check: true, resolve: false };
/// A config into an instance.
const CONFIG: UnionOptions = UnionOptions { check: false, resolve: true };

/// A config into the default of an index signature.
const RELAXED: UnionOptions = UnionOptions { check: false, resolve: false };

/// Two values that can't both be.
#[derive(Default)]
struct Conflict {
    /// The way to it, the innermost step first.
    path: Vec<String>,
    have: String,
    want: String,
}

/// What a step of a union can end with.
enum Stop {
    Failure(Failure),
    Conflict(Box<Conflict>),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl Stop {
    /// Adds an outer step to the way to a conflict.
    fn under(mut self, step: impl FnOnce() -> String) -> Self {
        if let Self::Conflict(conflict) = &mut self {
            conflict.path.push(step());
        }
        self
    }
}

impl Evaluator<'_> {
    /// `a | b`
    pub(crate) fn bit_or(&mut self, a: Value, b: Value) -> Eval<Value> {
        if let (Value::Int(a), Value::Int(b)) = (&a, &b) {
            return Ok(Value::Int(a | b));
        }
        self.unite(a, b, true, OPERATOR)
    }

    /// Merges an entry into a config literal (a dict).
    pub(crate) fn insert_entry(
        &mut self,
        dict: Value,
        key: Str,
        value: Value,
        op: kcl_syntax::ast::ConfigOp,
        index: Option<i32>,
        origin: Origin,
    ) -> Eval<Value> {
        let slot = Slot::new(merge_op(op), index);
        self.merge_entry(dict, Entry { key, value, slot, origin }, ENTRY)
    }

    /// Merges one entry into a dict or instance.
    pub(crate) fn merge_entry(
        &mut self,
        config: Value,
        entry: Entry,
        options: UnionOptions,
    ) -> Eval<Value> {
        if let Value::Dict(dict) = config {
            let mut dict = Rc::unwrap_or_clone(dict);
            return match self.put(&mut dict, entry, options) {
                Ok(()) => Ok(Value::dict(dict)),
                Err(stop) => Err(stop.into_failure()),
            };
        }
        let mut delta = Dict::with_capacity(1);
        delta.push_new(entry);
        self.unite(config, Value::dict(delta), true, options)
    }

    /// Unites two values.
    pub(crate) fn unite(
        &mut self,
        a: Value,
        b: Value,
        is_operator: bool,
        options: UnionOptions,
    ) -> Eval<Value> {
        self.union(a, b, is_operator, options).map_err(Stop::into_failure)
    }

    fn union(
        &mut self,
        a: Value,
        b: Value,
        is_operator: bool,
        options: UnionOptions,
    ) -> Result<Value, Stop> {
        match (a, b) {
            (Value::None | Value::Undefined, b) => Ok(b),
            (a, Value::None | Value::Undefined) => Ok(a),
            (Value::List(a), Value::List(b)) => self.union_lists(a, &b, options),
            (Value::Dict(a), Value::Dict(b)) => {
                if Rc::ptr_eq(&a, &b) {
                    return Ok(Value::Dict(a));
                }
                let mut dict = Rc::unwrap_or_clone(a);
                self.put_all(&mut dict, &b, options)?;
                Ok(Value::dict(dict))
            }
            (Value::Schema(a), Value::Dict(b)) => {
                let mut schema = Rc::unwrap_or_clone(a);
                let keys = joined_keys(schema.config_keys.iter(), b.keys());
                self.put_all(&mut schema.attrs, &b, options)?;
                schema.whole = Whole::default();
                schema.config_keys = keys;
                self.resolved(schema, options)
            }
            (Value::Schema(a), Value::Schema(b)) => {
                if Rc::ptr_eq(&a, &b) {
                    return Ok(Value::Schema(a));
                }
                let mut schema = Rc::unwrap_or_clone(a);
                schema.config_keys = joined_keys(schema.config_keys.iter(), b.config_keys.iter());
                schema.args = b.args.clone();
                self.put_all(&mut schema.attrs, &b.attrs, options)?;
                schema.whole = Whole::default();
                self.resolved(schema, options)
            }
            (Value::Dict(a), Value::Schema(b)) => {
                let mut attrs = Rc::unwrap_or_clone(a);
                self.put_all(&mut attrs, &b.attrs, options)?;
                let config_keys = joined_keys(b.config_keys.iter(), attrs.keys());
                let schema = SchemaValue {
                    info: b.info.clone(),
                    attrs,
                    config_keys,
                    optional: b.optional.clone(),
                    args: b.args.clone(),
                    origin: b.origin,
                    whole: Whole::default(),
                };
                self.resolved(schema, options)
            }
            (a, b) if is_collection(&a) && is_collection(&b) => Err(Failure::new(format!(
                "union failure, expect {:?}, got {:?}",
                a.type_name(),
                b.type_name()
            ))
            .into()),
            (a, b) if is_operator => Err(Failure::new(format!(
                "unsupported operand type(s) for |: '{:?}' and '{:?}'",
                operand_type(&a),
                operand_type(&b)
            ))
            .into()),
            (_, b) => Ok(b),
        }
    }

    fn union_lists(
        &mut self,
        a: Rc<List>,
        b: &Rc<List>,
        options: UnionOptions,
    ) -> Result<Value, Stop> {
        if Rc::ptr_eq(&a, b) {
            return Ok(Value::List(a));
        }
        let mut list = Rc::unwrap_or_clone(a);
        for (at, item) in b.items.iter().enumerate() {
            let origin = b.origins.get(at).copied();
            if let Some(have) = list.items.get_mut(at) {
                let is_leaf =
                    !(item.is_none_or_undefined() || (is_collection(have) && is_collection(item)));
                let before = std::mem::take(have);
                let after = self
                    .union(before, item.clone(), false, options)
                    .map_err(|stop| stop.under(|| format!("list[{at}]")))?;
                list.items[at] = after;
                if let (true, Some(have), Some(new)) = (is_leaf, list.origins.get_mut(at), origin) {
                    *have = self.outvote(*have, new);
                }
            } else {
                list.items.push(item.clone());
                list.origins.extend(origin);
            }
        }
        Ok(Value::List(Rc::new(list)))
    }

    /// Makes a changed instance anew, if asked to.
    fn resolved(&mut self, schema: SchemaValue, options: UnionOptions) -> Result<Value, Stop> {
        if !options.resolve || self.partial {
            return Ok(Value::Schema(Rc::new(schema)));
        }
        let keys = schema.config_keys.clone();
        Ok(self.resolve_schema(&schema, &keys)?)
    }

    /// Makes an instance anew from some of its attributes.
    pub(crate) fn resolve_schema(&mut self, schema: &SchemaValue, keys: &[Str]) -> Eval<Value> {
        let mut config = Dict::with_capacity(keys.len());
        for key in keys {
            if let Some(entry) = schema.attrs.entry(key) {
                let slot = Slot::new(MergeOp::Override, entry.slot.index());
                config.put(Entry { slot, ..entry.clone() });
            }
        }
        let args: Rc<CallArgs> = schema.args.clone();
        self.instantiate(SchemaId(schema.info.id), Rc::new(config), self.at, args)
    }

    fn put_all(
        &mut self,
        dict: &mut Dict,
        delta: &Dict,
        options: UnionOptions,
    ) -> Result<(), Stop> {
        for entry in delta {
            self.put(dict, entry.clone(), options)?;
        }
        Ok(())
    }

    /// Puts an entry into a dict by its operator.
    fn put(&mut self, dict: &mut Dict, entry: Entry, options: UnionOptions) -> Result<(), Stop> {
        let index = entry.slot.index();
        let Some(at) = dict.position_of(&entry.key) else {
            if index.is_none() && entry.slot.op() != MergeOp::Insert {
                dict.push_new(entry);
                return Ok(());
            }
            return put_into_missing(dict, entry);
        };
        let Some(have) = dict.at_mut(at) else { return Ok(()) };
        // A layer that replaces the default replaces it also if another one adds to it.
        let replaces = have.slot.op() == MergeOp::Override && have.slot.index().is_none();
        if !(self.partial && options.resolve && replaces) {
            have.slot = entry.slot;
        }
        let before = std::mem::take(&mut have.value);
        let was = have.origin;
        let (value, origin) = self.meet(before, was, entry, options)?;
        if let Some(have) = dict.at_mut(at) {
            have.value = value;
            have.origin = origin;
        }
        Ok(())
    }

    /// Merges an entry into an attribute of an instance.
    pub(crate) fn merge_attr(
        &mut self,
        before: Value,
        was: Origin,
        entry: Entry,
    ) -> Eval<(Value, Origin)> {
        self.meet(before, was, entry, CONFIG).map_err(Stop::into_failure)
    }

    /// Merges an entry into the default of an index signature.
    pub(crate) fn merge_relaxed(
        &mut self,
        default: Value,
        origin: Origin,
        entry: Entry,
    ) -> Eval<(Value, Origin)> {
        self.meet(default, origin, entry, RELAXED).map_err(Stop::into_failure)
    }

    /// What a value becomes when an entry of its key meets it, and where it is from then.
    fn meet(
        &mut self,
        before: Value,
        was: Origin,
        entry: Entry,
        options: UnionOptions,
    ) -> Result<(Value, Origin), Stop> {
        let (before, mut entry) = (self.stamped(before, was), entry);
        entry.value = self.stamped(entry.value, entry.origin);
        let key = entry.key;
        Ok(match (entry.slot.op(), entry.slot.index()) {
            (MergeOp::Override, None) => (entry.value, self.outvote(was, entry.origin)),
            (MergeOp::Union, None) => {
                if options.check && !subsumes(&entry.value, &before) {
                    return Err(conflict(key.to_string(), &before, &entry.value));
                }
                let keeps = entry.value.is_none_or_undefined()
                    || (is_collection(&before) && is_collection(&entry.value));
                let value = self
                    .union(before, entry.value, false, options)
                    .map_err(|stop| stop.under(|| key.to_string()))?;
                (value, if keeps { was } else { self.outvote(was, entry.origin) })
            }
            (MergeOp::Insert, index) => {
                let origin = if was.0 == 0 { entry.origin } else { was };
                (insert_items(before, &entry.value, index)?, origin)
            }
            (MergeOp::Override, Some(index)) => {
                (self.override_item(before, entry.value, index, entry.origin)?, was)
            }
            (MergeOp::Union, Some(index)) => {
                let item = Entry { key, ..entry };
                (self.union_item(before, item, index, options)?, was)
            }
        })
    }

    fn union_item(
        &mut self,
        have: Value,
        item: Entry,
        index: i32,
        options: UnionOptions,
    ) -> Result<Value, Stop> {
        let Entry { key, value, origin, .. } = item;
        let Value::List(list) = have else {
            return Err(Failure::new(format!(
                "only list attribute can be union value with the index {index}"
            ))
            .into());
        };
        let mut list = Rc::unwrap_or_clone(list);
        let Some(at) = normalize(index, list.items.len()) else {
            return Err(Failure::new(format!(
                "only non-empty list attribute can be union value with the index {index}"
            ))
            .into());
        };
        let before = std::mem::take(&mut list.items[at]);
        if options.check && !subsumes(&value, &before) {
            return Err(conflict(format!("{key}[{index}]"), &before, &value));
        }
        let is_leaf =
            !(value.is_none_or_undefined() || (is_collection(&before) && is_collection(&value)));
        list.items[at] = self
            .union(before, value, false, options)
            .map_err(|stop| stop.under(|| key.to_string()))?;
        if let (true, Some(have)) = (is_leaf, list.origins.get_mut(at)) {
            *have = self.outvote(*have, origin);
        }
        Ok(Value::List(Rc::new(list)))
    }

    fn override_item(
        &mut self,
        have: Value,
        value: Value,
        index: i32,
        origin: Origin,
    ) -> Eval<Value> {
        let Value::List(list) = have else {
            return Err(Failure::new(format!(
                "only list attribute can be override value with the index {index}"
            )));
        };
        let mut list = Rc::unwrap_or_clone(list);
        let Some(at) = normalize(index, list.items.len()) else {
            let len = list.items.len();
            return Err(Failure::new(format!(
                "index out of bounds: the len is {len} but the index is {index}"
            )));
        };
        if matches!(value, Value::Undefined) {
            list.items.remove(at);
            if at < list.origins.len() {
                list.origins.remove(at);
            }
        } else {
            list.items[at] = value;
            if let Some(have) = list.origins.get_mut(at) {
                *have = self.outvote(*have, origin);
            }
        }
        Ok(Value::List(Rc::new(list)))
    }

    /// The origin of a leaf whose value replaces another one.
    pub(crate) fn outvote(&mut self, old: Origin, new: Origin) -> Origin {
        match self.options.tracking {
            Tracking::Entries => new,
            Tracking::Givers => self.provenance.replace(old, new),
            Tracking::Contests => self.provenance.outvote(old, new),
        }
    }
}

impl Stop {
    fn into_failure(self) -> Failure {
        let mut conflict = match self {
            Self::Failure(failure) => return failure,
            Self::Conflict(conflict) => conflict,
        };
        conflict.path.reverse();
        let key = conflict.path.last().cloned().unwrap_or_default();
        let (have, want) = (&conflict.have, &conflict.want);
        if key.is_empty() {
            return Failure::new(format!("conflicting values between {want} and {have}"));
        }
        let path = conflict.path.join(".");
        Failure::new(format!(
            "conflicting values on the attribute '{key}' between :\n    {have}\nand\n    {want}\n\
             with union path :\n    {path}\n\
             try operator '=' to override the attribute, like:\n\
             \x20   {{...}} | {{\n            ...\n            {key} = {want}\n            ...\n    }}"
        ))
    }
}

fn conflict(step: String, have: &Value, want: &Value) -> Stop {
    let brief = |value: &Value| match value {
        Value::Dict(_) | Value::Schema(_) => "{...}".to_owned(),
        Value::List(_) => "[...]".to_owned(),
        other => kcl_value::json::write(other),
    };
    Stop::Conflict(Box::new(Conflict { path: vec![step], have: brief(have), want: brief(want) }))
}

pub(crate) fn merge_op(op: kcl_syntax::ast::ConfigOp) -> MergeOp {
    match op {
        kcl_syntax::ast::ConfigOp::Union => MergeOp::Union,
        kcl_syntax::ast::ConfigOp::Override => MergeOp::Override,
        kcl_syntax::ast::ConfigOp::Insert => MergeOp::Insert,
    }
}

fn is_collection(value: &Value) -> bool {
    matches!(value, Value::List(_) | Value::Dict(_) | Value::Schema(_))
}

fn joined_keys<'k>(
    first: impl Iterator<Item = &'k Str>,
    second: impl Iterator<Item = &'k Str>,
) -> Rc<[Str]> {
    first.chain(second).cloned().collect()
}

/// An entry with `+=` or an index whose key is not there.
fn put_into_missing(dict: &mut Dict, mut entry: Entry) -> Result<(), Stop> {
    match (entry.slot.op(), entry.slot.index()) {
        (MergeOp::Insert, index) => {
            // What is added to nothing stays what it is, be it a list or not.
            if index.is_some() {
                entry.value = insert_items(Value::Undefined, &entry.value, index)?;
            }
            dict.push_new(entry);
            Ok(())
        }
        (MergeOp::Override, Some(index)) => Err(Failure::new(format!(
            "only list attribute can be override value with the index {index}"
        ))
        .into()),
        (_, index) => Err(Failure::new(format!(
            "only non-empty list attribute can be union value with the index {}",
            index.unwrap_or_default()
        ))
        .into()),
    }
}

/// Whether `new` may stand where `have` stands without a conflict.
fn subsumes(new: &Value, have: &Value) -> bool {
    match (new, have) {
        (Value::None | Value::Undefined, _) | (_, Value::None | Value::Undefined) => true,
        (Value::List(a), Value::List(b)) => {
            a.items.len() == b.items.len()
                && a.items.iter().zip(&b.items).all(|(a, b)| subsumes(a, b))
        }
        (a, b) if a.is_config() && b.is_config() => true,
        (a, b) => ops::equals(a, b),
    }
}

/// The position of a possibly negative index.
fn normalize(index: i32, len: usize) -> Option<usize> {
    let at = if index < 0 { i64::from(index) + len as i64 } else { i64::from(index) };
    usize::try_from(at).ok().filter(|at| *at < len)
}

fn insert_items(have: Value, items: &Value, index: Option<i32>) -> Eval<Value> {
    let have = match have {
        Value::None | Value::Undefined => Value::list(Vec::new()),
        other => other,
    };
    match (have, items) {
        (Value::List(have), Value::List(items)) => {
            let mut list = Rc::unwrap_or_clone(have);
            let at = match index {
                None => list.items.len(),
                Some(index) => insertion_index(index, list.items.len(), items.items.is_empty())?,
            };
            list.items.splice(at..at, items.items.iter().cloned());
            if list.origins.len() >= at {
                list.origins.splice(at..at, items.origins.iter().copied());
            }
            Ok(Value::List(Rc::new(list)))
        }
        (have, items) => Err(Failure::new(format!(
            "only list attribute can be inserted value, the origin value type is {} and got value type is {}",
            have.type_name(),
            items.type_name()
        ))),
    }
}

/// Where to insert; nothing may be inserted behind the end, too.
fn insertion_index(index: i32, len: usize, is_nothing: bool) -> Eval<usize> {
    let at = if index < 0 { i64::from(index) + len as i64 } else { i64::from(index) };
    match usize::try_from(at) {
        Ok(at) if at <= len || is_nothing => Ok(at.min(len)),
        Err(_) => Err(Failure::new(format!(
            "index out of bounds: the len is {len} but the index is {index}"
        ))),
        Ok(_) => {
            Err(Failure::new(format!("insertion index (is {at}) should be <= len (is {len})")))
        }
    }
}

/// The name of a type in messages of `|`.
fn operand_type(value: &Value) -> String {
    match value {
        Value::Unit(_) => crate::typing::type_of(value),
        _ => value.type_name().to_owned(),
    }
}
