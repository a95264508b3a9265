//! A schema instance while its schema's bodies run.

use crate::layout::{Layout, SchemaId};
use crate::lazy::Progress;
use crate::ordered::OrderedRuns;
use crate::runtime_type::RuntimeType;
use base_text::Name;
use kcl_value::{CallArgs, Dict, Entry, Origin, Slot, Str, Value};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// One attribute's state.
#[derive(Clone, Debug, Default)]
pub(crate) struct AttrState {
    pub(crate) progress: Progress,
    /// The type of the declaration that ran last.
    pub(crate) ty: Option<Rc<RuntimeType>>,
}

/// A schema instance in the making. Bodies of the schema, its bases and mixins share it.
#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) schema: SchemaId,
    pub(crate) layout: Rc<Layout>,
    /// The attributes: first those of the layout in order, then keys of index signatures.
    pub(crate) attrs: RefCell<Dict>,
    pub(crate) states: RefCell<Vec<AttrState>>,
    /// The config it is made from.
    pub(crate) config: Rc<Dict>,
    /// Where it is written: its schema expression, if there is one.
    pub(crate) site: Origin,
    pub(crate) args: Rc<CallArgs>,
    /// The parameters of the schemas whose bodies have started.
    pub(crate) params: RefCell<Vec<(SchemaId, Vec<Value>)>>,
    /// Whether it was found to lack nothing.
    pub(crate) is_whole: Cell<bool>,
    /// How far its ordered statements have come, if it has some.
    pub(crate) ordered_runs: RefCell<Option<Box<OrderedRuns>>>,
}

impl Instance {
    pub(crate) fn new(
        schema: SchemaId,
        layout: Rc<Layout>,
        config: Rc<Dict>,
        site: Origin,
        args: Rc<CallArgs>,
    ) -> Self {
        let n_attrs = layout.attrs.len();
        let attrs = layout.template.clone();
        Self {
            schema,
            layout,
            attrs: RefCell::new(attrs),
            states: RefCell::new(vec![AttrState::default(); n_attrs]),
            config,
            site,
            args,
            params: RefCell::new(Vec::new()),
            is_whole: Cell::new(false),
            ordered_runs: RefCell::new(None),
        }
    }

    /// The position of an attribute of the layout.
    #[inline]
    pub(crate) fn slot(&self, name: Name) -> Option<usize> {
        self.layout.index.get(&name).map(|slot| *slot as usize)
    }

    /// The current value of an attribute.
    pub(crate) fn get(&self, slot: usize) -> Value {
        self.attrs.borrow().at(slot).map_or(Value::Undefined, |entry| entry.value.clone())
    }

    /// The current value under any key.
    pub(crate) fn get_key(&self, key: &str) -> Option<Value> {
        self.attrs.borrow().get(key).cloned()
    }

    /// Sets an attribute, with the operator by which it meets others from now on.
    pub(crate) fn set(&self, slot: usize, value: Value, operator: Slot, origin: Origin) {
        if let Some(entry) = self.attrs.borrow_mut().at_mut(slot) {
            entry.value = value;
            entry.slot = operator;
            entry.origin = origin;
        }
    }

    /// Takes an attribute's entry out to be changed.
    pub(crate) fn take(&self, slot: usize) -> Value {
        let mut attrs = self.attrs.borrow_mut();
        attrs.at_mut(slot).map_or(Value::Undefined, |entry| std::mem::take(&mut entry.value))
    }

    /// The entry of an attribute as it is now.
    pub(crate) fn entry(&self, slot: usize) -> Option<Entry> {
        self.attrs.borrow().at(slot).cloned()
    }

    /// Puts an entry of an attribute back.
    pub(crate) fn put(&self, slot: usize, entry: Entry) {
        if let Some(place) = self.attrs.borrow_mut().at_mut(slot) {
            *place = entry;
        }
    }

    pub(crate) fn origin_of(&self, slot: usize) -> Origin {
        self.attrs.borrow().at(slot).map_or(Origin::default(), |entry| entry.origin)
    }

    /// Sets a key that need not be in the layout.
    pub(crate) fn set_key(&self, key: Str, value: Value, operator: Slot, origin: Origin) {
        let mut attrs = self.attrs.borrow_mut();
        match attrs.position_of(&key) {
            Some(at) => {
                if let Some(entry) = attrs.at_mut(at) {
                    entry.value = value;
                    entry.slot = operator;
                    entry.origin = origin;
                }
            }
            None => attrs.push_new(Entry { key, value, slot: operator, origin }),
        }
    }
}
