//! Comprehensions and quantifiers.

use crate::error::{Eval, Failure};
use crate::evaluator::Evaluator;
use crate::names::NameRef;
use kcl_syntax::ast::{CompClause, ConfigEntry, ExprId, Quant, QuantOp};
use kcl_value::{Dict, Entry, List, Slot, Str, Value};
use std::rc::Rc;

/// What a loop collects.
enum Collected {
    List(List),
    Dict(Value),
}

/// Room for at most so many results is made ahead: rounds may give the same key.
const MAX_ROOM: usize = 1 << 12;

impl Collected {
    /// Makes room for the results of `n` rounds.
    fn reserve(&mut self, n: usize) {
        let n = n.min(MAX_ROOM);
        match self {
            Self::List(list) => list.items.reserve(n),
            Self::Dict(Value::Dict(dict)) => {
                if let Some(dict) = Rc::get_mut(dict) {
                    dict.reserve(n);
                }
            }
            Self::Dict(_) => {}
        }
    }
}

/// What a loop evaluates for each round.
#[derive(Clone, Copy)]
enum Body<'p> {
    Item(ExprId),
    Entry(&'p ConfigEntry),
}

/// Walks a list, a dict's keys or a string's characters by position.
struct Walk {
    over: Value,
    chars: Vec<Value>,
    at: usize,
}

impl Walk {
    fn new(over: Value) -> Eval<Self> {
        let chars = match &over {
            Value::Str(text) => text.chars().map(|c| Value::str(c.to_string())).collect(),
            Value::List(_) | Value::Dict(_) | Value::Schema(_) => Vec::new(),
            other => {
                let message = format!("'{}' object is not iterable", other.type_name());
                return Err(Failure::new(message));
            }
        };
        Ok(Self { over, chars, at: 0 })
    }

    /// The number of rounds.
    fn len(&self) -> usize {
        match &self.over {
            Value::List(list) => list.items.len(),
            Value::Str(_) => self.chars.len(),
            over => over.as_config().map_or(0, Dict::len),
        }
    }

    /// Puts the next item into one variable, or the next key (or position) and its value
    /// into two; false at the end.
    fn step(&mut self, vars: &mut [Value]) -> Eval<bool> {
        let at = self.at;
        self.at += 1;
        let (item, key) = match &self.over {
            Value::List(list) => match list.items.get(at) {
                Some(item) => (item, None),
                None => return Ok(false),
            },
            Value::Str(_) => match self.chars.get(at) {
                Some(item) => (item, None),
                None => return Ok(false),
            },
            over => match over.as_config().and_then(|dict| dict.at(at)) {
                Some(entry) => (&entry.value, Some(&entry.key)),
                None => return Ok(false),
            },
        };
        match (vars, key) {
            ([var], None) => *var = item.clone(),
            ([var], Some(key)) => *var = Value::Str(key.clone()),
            ([first, second], key) => {
                *first = match key {
                    Some(key) => Value::Str(key.clone()),
                    None => Value::Int(at as i64),
                };
                *second = item.clone();
            }
            (vars, _) => {
                return Err(Failure::new(format!(
                    "the number of loop variables is {}, which can only be 1 or 2",
                    vars.len()
                )));
            }
        }
        Ok(true)
    }
}

impl<'p> Evaluator<'p> {
    pub(crate) fn eval_list_comp(
        &mut self,
        id: ExprId,
        elt: ExprId,
        generators: &'p [CompClause],
    ) -> Eval<Value> {
        let mut collected = Collected::List(List::default());
        self.comprehend(id, generators, Body::Item(elt), &mut collected)?;
        match collected {
            Collected::List(list) => Ok(Value::List(Rc::new(list))),
            Collected::Dict(dict) => Ok(dict),
        }
    }

    pub(crate) fn eval_dict_comp(
        &mut self,
        id: ExprId,
        entry: &'p ConfigEntry,
        generators: &'p [CompClause],
    ) -> Eval<Value> {
        let mut collected = Collected::Dict(Value::dict(Dict::new()));
        self.comprehend(id, generators, Body::Entry(entry), &mut collected)?;
        match collected {
            Collected::List(list) => Ok(Value::List(Rc::new(list))),
            Collected::Dict(dict) => Ok(dict),
        }
    }

    fn first_slot(&self, id: ExprId) -> usize {
        match self.name_ref(id) {
            NameRef::Local(slot) => self.frame.base + slot as usize,
            _ => self.frame.base,
        }
    }

    fn comprehend(
        &mut self,
        id: ExprId,
        generators: &'p [CompClause],
        body: Body<'p>,
        collected: &mut Collected,
    ) -> Eval<()> {
        let slot = self.first_slot(id);
        self.loop_depth += 1;
        let result = self.generate(generators, slot, body, collected);
        self.loop_depth -= 1;
        result
    }

    fn generate(
        &mut self,
        generators: &'p [CompClause],
        slot: usize,
        body: Body<'p>,
        collected: &mut Collected,
    ) -> Eval<()> {
        let Some((generator, inner)) = generators.split_first() else {
            return self.collect(body, collected);
        };
        let over = self.eval(generator.iter)?;
        let mut walk = Walk::new(over)?;
        if inner.is_empty() && generator.ifs.is_empty() {
            collected.reserve(walk.len());
        }
        let n_vars = generator.targets.len();
        while walk.step(&mut self.stack[slot..slot + n_vars])? {
            self.count_round()?;
            let mut skip = false;
            for &cond in &generator.ifs {
                skip |= !self.condition(cond)?;
            }
            if !skip {
                self.generate(inner, slot + n_vars, body, collected)?;
            }
        }
        Ok(())
    }

    /// Counts a round of a loop as a step: what is evaluated in it may count nothing.
    fn count_round(&mut self) -> Eval<()> {
        self.enter()?;
        self.leave();
        Ok(())
    }

    fn collect(&mut self, body: Body<'p>, collected: &mut Collected) -> Eval<()> {
        match (body, collected) {
            (Body::Item(elt), Collected::List(list)) => {
                let value = self.eval(elt)?;
                list.items.push(value);
                if self.options.tracks_items() {
                    self.push_origin(list, elt);
                }
                self.charge(size_of::<Value>())
            }
            (Body::Entry(entry), Collected::Dict(dict)) => {
                let value = self.eval(entry.value)?;
                let origin = self.origin_of(entry.value, &value);
                let key = match entry.key {
                    Some(key) => self.eval(key)?,
                    None => Value::Undefined,
                };
                let key = key_text(&key);
                self.charge(size_of::<Entry>())?;
                let slot = Slot::new(crate::union::merge_op(entry.op), None);
                self.place_entry(dict, Entry { key, value, slot, origin })
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn eval_quant(&mut self, id: ExprId, quant: &'p Quant) -> Eval<Value> {
        let over = self.eval(quant.target)?;
        self.loop_depth += 1;
        let result = self.quantify(id, quant, &over);
        self.loop_depth -= 1;
        result
    }

    fn quantify(&mut self, id: ExprId, quant: &'p Quant, over: &Value) -> Eval<Value> {
        let slot = self.first_slot(id);
        let mut mapped = Vec::new();
        let mut dropped = Vec::new();
        let mut walk = Walk::new(over.clone())?;
        let n_vars = quant.vars.len();
        while walk.step(&mut self.stack[slot..slot + n_vars])? {
            self.count_round()?;
            if let Some(cond) = quant.if_cond
                && !self.condition(cond)?
            {
                continue;
            }
            if quant.op == QuantOp::Map {
                mapped.push(self.eval(quant.test)?);
                self.charge(size_of::<Value>())?;
                continue;
            }
            match (quant.op, self.truth(quant.test)?) {
                (QuantOp::All, false) => return Ok(Value::Bool(false)),
                (QuantOp::Any, true) => return Ok(Value::Bool(true)),
                (QuantOp::Filter, false) => dropped.push(walk.at - 1),
                _ => {}
            }
        }
        match quant.op {
            QuantOp::All => Ok(Value::Bool(true)),
            QuantOp::Any => Ok(Value::Bool(false)),
            QuantOp::Map => Ok(self.stamped(Value::list(mapped), self.origin(quant.test))),
            QuantOp::Filter => without(over, &dropped),
        }
    }
}

/// A collection without the items at some positions (in ascending order).
fn without(over: &Value, dropped: &[usize]) -> Eval<Value> {
    let is_kept = |at: &usize| dropped.binary_search(at).is_err();
    Ok(match over {
        Value::List(list) => {
            let kept: Vec<usize> = (0..list.items.len()).filter(is_kept).collect();
            let items = kept.iter().map(|at| list.items[*at].clone()).collect();
            let origins = kept.iter().filter_map(|at| list.origins.get(*at).copied()).collect();
            Value::List(Rc::new(List { items, origins }))
        }
        Value::Dict(dict) => {
            let mut at = 0;
            let mut kept = (**dict).clone();
            kept.retain(|_| {
                at += 1;
                is_kept(&(at - 1))
            });
            Value::dict(kept)
        }
        Value::Schema(schema) => {
            let mut at = 0;
            let mut kept = (**schema).clone();
            kept.attrs.retain(|_| {
                at += 1;
                is_kept(&(at - 1))
            });
            Value::Schema(Rc::new(kept))
        }
        _ if dropped.is_empty() => over.clone(),
        _ => return Err(Failure::new("only list, dict and schema can be removed item")),
    })
}

/// The text of a computed key.
pub(crate) fn key_text(key: &Value) -> Str {
    match key {
        Value::Str(text) => text.clone(),
        other => Str::from(kcl_value::show(other)),
    }
}
