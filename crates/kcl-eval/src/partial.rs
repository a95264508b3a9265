//! Partial instances: typed, but only what is written.
//!
//! With [`crate::Options::partial`] a schema literal is checked for names and types and keeps
//! its written leaves alone. Partial values merge by the operators of their entries; defaults,
//! required attributes and `check` blocks come when the merged value is completed
//! ([`combine`], [`crate::Options::complete`]).

use crate::error::{Eval, EvalError, fail};
use crate::evaluator::Evaluator;
use crate::instance::Instance;
use crate::layout::{Layout, SchemaId};
use crate::runtime_type::RuntimeType;
use crate::{Evaluated, Provenance, Request};
use base_system::System;
use base_text::Name;
use indexmap::IndexSet;
use kcl_hir::Program;
use kcl_syntax::ast::Stmt;
use kcl_value::{CallArgs, Dict, Entry, List, Origin, Str, Value};
use rustc_hash::FxBuildHasher;
use std::rc::Rc;

/// Merges the values of partial programs in the given order and, if asked to, completes the
/// result: defaults, required attributes and checks.
///
/// The schemas are found in `program` by package and name, so it must load those of all
/// layers. `provenance` is that of the program that was evaluated last; `program` is added to
/// it. Keys stand in the order of `layers`, whatever the order of the merge.
pub fn combine(
    program: &Program,
    system: &dyn System,
    request: &Request,
    provenance: Provenance,
    layers: &[Value],
    order: &[usize],
) -> Result<Evaluated, Box<EvalError>> {
    let mut evaluator = Evaluator::new(program, system, request, provenance);
    match evaluator.combined(layers, order) {
        Ok(value) => Ok(evaluator.into_evaluated(value)),
        Err(failure) => Err(evaluator.into_error(Some(&failure))),
    }
}

impl Evaluator<'_> {
    fn combined(&mut self, layers: &[Value], order: &[usize]) -> Eval<Value> {
        self.partial = true;
        let mut merged = Value::Undefined;
        for layer in order.iter().filter_map(|at| layers.get(*at)) {
            merged = self.bit_or(merged, layer.clone())?;
        }
        let layers: Vec<&Value> = layers.iter().collect();
        let merged = arranged(merged, &layers);
        if !self.options.complete {
            return Ok(merged);
        }
        self.partial = false;
        self.completed(&merged)
    }

    /// A partial value with defaults, checked.
    pub(crate) fn completed(&mut self, value: &Value) -> Eval<Value> {
        self.enter()?;
        let value = match value {
            Value::List(list) => {
                let items = list.items.iter().map(|item| self.completed(item));
                let items = items.collect::<Eval<Vec<_>>>()?;
                Value::List(Rc::new(List { items, origins: list.origins.clone() }))
            }
            Value::Dict(dict) => Value::dict(self.completed_entries(dict)?),
            Value::Schema(schema) => {
                // Inner instances are not the outermost ones: what they miss is reported by
                // the outermost, with everything else.
                self.schema_expr_depth += 1;
                let config = self.completed_entries(&schema.attrs)?;
                self.schema_expr_depth -= 1;
                match self.find_by_name(&schema.info) {
                    Some(id) => {
                        let args = schema.args.clone();
                        self.schema_expr_depth += 1;
                        let value = self.instantiate(id, Rc::new(config), schema.origin, args)?;
                        self.schema_expr_depth -= 1;
                        value
                    }
                    None => Value::dict(config),
                }
            }
            other => other.clone(),
        };
        self.leave();
        Ok(value)
    }

    fn completed_entries(&mut self, dict: &Dict) -> Eval<Dict> {
        let mut made = Dict::with_capacity(dict.len());
        for entry in dict {
            let value = self.completed(&entry.value)?;
            made.push_new(Entry { value, ..entry.clone() });
        }
        Ok(made)
    }

    fn find_by_name(&self, info: &kcl_value::SchemaInfo) -> Option<SchemaId> {
        let package = self.program.packages.iter().position(|p| p.path == *info.package)?;
        let package = kcl_hir::PackageId(package as u32);
        self.schema_ids.get(&(package, Name::new(&info.name))).copied()
    }

    /// Makes a partial instance: the config, whose values must fit their attributes.
    pub(crate) fn partial_instance(
        &mut self,
        id: SchemaId,
        layout: Rc<Layout>,
        config: Rc<Dict>,
        site: Origin,
        args: Rc<CallArgs>,
    ) -> Eval<Value> {
        let mut attrs = Dict::with_capacity(config.len());
        for entry in config.iter() {
            let ty = match layout.template.position(&entry.key) {
                Some(slot) => self.declared_type(&layout, slot),
                None => match &self.schema(id).decl.index_signature {
                    Some(signature) => {
                        let file = self.schema(id).file;
                        Some(self.type_of_annotation(file, signature.value_ty))
                    }
                    None => {
                        let schema = &self.schema(id).info.name;
                        return fail(format!(
                            "No attribute named '{}' in the schema '{schema}'",
                            entry.key
                        ));
                    }
                },
            };
            if let (Some(ty), None) = (ty, entry.slot.index()) {
                // A dict stays one: what it becomes is known when all layers are merged.
                self.cast(entry.value.clone(), &ty, false)?;
            }
            attrs.push_new(entry.clone());
        }
        let instance = Instance::new(id, layout, config, site, args);
        Ok(self.value_of(&instance, attrs))
    }

    /// The type of an attribute by its last declaration.
    fn declared_type(&mut self, layout: &Layout, slot: usize) -> Option<Rc<RuntimeType>> {
        for setter in layout.attrs[slot].setters.iter().rev() {
            let module = &self.program.file(setter.file).module;
            if let Stmt::SchemaAttr(attr) = &module[setter.stmt].kind {
                return Some(self.type_of_annotation(setter.file, attr.ty));
            }
        }
        None
    }
}

/// A value with its keys in the order in which the layers, one after the other, bring them.
fn arranged(value: Value, layers: &[&Value]) -> Value {
    match value {
        Value::Dict(mut dict) => {
            arrange(Rc::make_mut(&mut dict), layers);
            Value::Dict(dict)
        }
        Value::Schema(mut schema) => {
            arrange(&mut Rc::make_mut(&mut schema).attrs, layers);
            Value::Schema(schema)
        }
        other => other,
    }
}

fn arrange(dict: &mut Dict, layers: &[&Value]) {
    let layers: Vec<&Dict> = layers.iter().filter_map(|layer| layer.as_config()).collect();
    let keys = layers.iter().flat_map(|layer| layer.keys()).chain(dict.keys());
    let keys: IndexSet<Str, FxBuildHasher> = keys.cloned().collect();
    let mut made = Dict::with_capacity(dict.len());
    for key in keys {
        let Some(entry) = dict.entry(&key) else { continue };
        let within: Vec<&Value> = layers.iter().filter_map(|layer| layer.get(&key)).collect();
        let value = match within.len() {
            0 | 1 => entry.value.clone(),
            _ => arranged(entry.value.clone(), &within),
        };
        made.push_new(Entry { value, ..entry.clone() });
    }
    *dict = made;
}
