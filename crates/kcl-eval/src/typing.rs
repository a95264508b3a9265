//! Values against types: conversion of dicts to instances, and checks.

use crate::error::{Eval, Failure};
use crate::evaluator::Evaluator;
use crate::layout::SchemaId;
use crate::runtime_type::{RuntimeType, TypeKind};
use kcl_value::{Dict, Entry, List, Value};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

impl Evaluator<'_> {
    /// Makes a value fit a type, or says why it does not.
    pub(crate) fn cast(&mut self, value: Value, ty: &RuntimeType, strict: bool) -> Eval<Value> {
        if value.is_none_or_undefined() || is_plainly(&value, &ty.kind) {
            return Ok(value);
        }
        let converted = if matches!(value, Value::Schema(_)) {
            value.clone()
        } else {
            self.convert(&value, ty)?
        };
        if self.fits(&converted, ty, strict) && !self.is_empty_config(&value, ty)? {
            return Ok(converted);
        }
        Err(self.mismatch(&value, ty))
    }

    /// Nothing at all is no instance of a schema that wants something.
    fn is_empty_config(&mut self, value: &Value, ty: &RuntimeType) -> Eval<bool> {
        match (&ty.kind, value) {
            (TypeKind::Schema(id), Value::Dict(dict)) if dict.is_empty() => {
                Ok(!self.partial && self.layout(*id)?.wants_config)
            }
            _ => Ok(false),
        }
    }

    #[cold]
    fn mismatch(&mut self, value: &Value, ty: &RuntimeType) -> Failure {
        let mut message = format!("expect {}, got {}", ty.text, type_of(value));
        if let (TypeKind::Schema(id), Some(dict)) = (&ty.kind, value.as_config())
            && let Ok(layout) = self.layout(*id)
        {
            let mut details = Vec::new();
            for key in dict.keys() {
                let is_known = layout.declares(key) || key.starts_with('_');
                if !is_known && !layout.has_index_signature {
                    details.push(format!("Schema {} does not contain attribute {key}", ty.text));
                }
            }
            for (attr, is_optional) in layout.optional.iter() {
                if !is_optional && !dict.contains_key(attr) {
                    details.push(format!("Schema {}'s attribute {attr} is missing", ty.text));
                }
            }
            if !details.is_empty() {
                message.push_str(". For details:\n");
                message.push_str(&details.join("\n"));
            }
        }
        Failure::new(message)
    }

    /// Turns dicts into instances where the type wants instances.
    fn convert(&mut self, value: &Value, ty: &RuntimeType) -> Eval<Value> {
        match (&ty.kind, value) {
            (TypeKind::Union(union), Value::List(_) | Value::Dict(_)) => {
                for ty in &union.types {
                    let converted = self.convert(value, ty)?;
                    if self.fits(&converted, ty, false) {
                        return Ok(converted);
                    }
                }
                Ok(value.clone())
            }
            (TypeKind::Dict(item), Value::Dict(dict)) if converts(&item.kind) => {
                let mut made = Dict::with_capacity(dict.len());
                for entry in dict.iter() {
                    let value = self.convert(&entry.value, item)?;
                    made.push_new(Entry { value, ..entry.clone() });
                }
                Ok(Value::dict(made))
            }
            (TypeKind::List(item), Value::List(list)) if converts(&item.kind) => {
                let mut items = Vec::with_capacity(list.items.len());
                for value in &list.items {
                    items.push(self.convert(value, item)?);
                }
                Ok(Value::List(Rc::new(List { items, origins: list.origins.clone() })))
            }
            (TypeKind::Schema(id), Value::Dict(dict)) => {
                if !self.is_fit(*id, dict)? {
                    return Ok(value.clone());
                }
                let first = dict.iter().next().map(|entry| entry.origin);
                let site = match first {
                    Some(origin) if self.options.all_checks && origin.0 != 0 => origin,
                    _ => self.at,
                };
                self.instantiate(*id, dict.clone(), site, self.no_args.clone())
            }
            _ => Ok(value.clone()),
        }
    }

    /// Whether all keys of a dict are attributes of a schema.
    fn is_fit(&mut self, id: SchemaId, dict: &Dict) -> Eval<bool> {
        let layout = self.layout(id)?;
        Ok(layout.has_index_signature
            || dict.keys().all(|key| key.starts_with('_') || layout.declares(key)))
    }

    /// Whether a value fits a type as it is.
    fn fits(&self, value: &Value, ty: &RuntimeType, strict: bool) -> bool {
        if value.is_none_or_undefined() || is_plainly(value, &ty.kind) {
            return true;
        }
        match (&ty.kind, value) {
            (TypeKind::Union(union), _) => union.types.iter().any(|ty| self.fits(value, ty, false)),
            (TypeKind::List(item), Value::List(list)) => {
                self.checked.knows(list, item)
                    || (list.items.iter().all(|value| self.fits(value, item, false))
                        && self.checked.add(list, item))
            }
            (TypeKind::Dict(item), Value::Dict(dict)) => {
                dict.iter().all(|entry| self.fits(&entry.value, item, false))
            }
            (TypeKind::Schema(id), Value::Schema(schema)) => !strict || schema.info.id == id.0,
            (
                TypeKind::Other
                | TypeKind::Function
                | TypeKind::NumberMultiplier
                | TypeKind::LitUnit(..),
                Value::Schema(_),
            ) => !strict,
            _ => false,
        }
    }
}

/// Long lists that are known to fit an item type, so that passing them on costs nothing.
#[derive(Default)]
pub(crate) struct CheckedLists(RefCell<VecDeque<(Rc<List>, *const RuntimeType)>>);

impl CheckedLists {
    /// Shorter lists are checked quicker than remembered.
    const MIN_LEN: usize = 32;
    const N_KEPT: usize = 8;

    fn knows(&self, list: &Rc<List>, item: &RuntimeType) -> bool {
        list.items.len() >= Self::MIN_LEN
            && self
                .0
                .borrow()
                .iter()
                .any(|(known, ty)| Rc::ptr_eq(known, list) && std::ptr::eq(*ty, item))
    }

    /// Remembers a list; always true.
    fn add(&self, list: &Rc<List>, item: &RuntimeType) -> bool {
        // A list that nobody else holds can still be changed in place and is not kept.
        if list.items.len() >= Self::MIN_LEN && Rc::strong_count(list) > 1 {
            let mut known = self.0.borrow_mut();
            known.truncate(Self::N_KEPT - 1);
            known.push_front((list.clone(), std::ptr::from_ref(item)));
        }
        true
    }
}

/// Whether converting to this type can change anything.
fn converts(kind: &TypeKind) -> bool {
    matches!(kind, TypeKind::Schema(_) | TypeKind::Dict(_) | TypeKind::List(_) | TypeKind::Union(_))
}

/// Whether a value fits a simple type, without a look at anything else.
pub(crate) fn is_plainly(value: &Value, kind: &TypeKind) -> bool {
    match (kind, value) {
        (TypeKind::Any, _)
        | (TypeKind::Bool, Value::Bool(_))
        | (TypeKind::Int, Value::Int(_))
        | (TypeKind::Float, Value::Int(_) | Value::Float(_))
        | (TypeKind::Str, Value::Str(_))
        | (TypeKind::NumberMultiplier, Value::Unit(_))
        | (TypeKind::Function, Value::Func(_)) => true,
        (TypeKind::LitBool(want), Value::Bool(have)) => want == have,
        (TypeKind::LitInt(want), Value::Int(have)) => want == have,
        (TypeKind::LitFloat(want), Value::Float(have)) => want.total_cmp(have).is_eq(),
        (TypeKind::LitStr(want), Value::Str(have)) => **want == **have,
        (TypeKind::Union(union), Value::Str(have)) => union.strings.contains(have.as_str()),
        (TypeKind::LitUnit(raw, unit), Value::Unit(have)) => {
            have.raw == *raw && have.unit == unit.as_str()
        }
        _ => false,
    }
}

/// The name of a value's type with its package.
pub(crate) fn type_of(value: &Value) -> String {
    match value {
        Value::Schema(schema) => schema.info.full_name(),
        Value::Unit(number) => format!("number_multiplier({}{})", number.raw, number.unit),
        _ => value.type_name().to_owned(),
    }
}
