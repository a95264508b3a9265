//! Partial instances: typed, but only what is written.
//!
//! With [`crate::Options::partial`] a schema literal is checked for names and types and keeps
//! its written leaves alone. Partial values merge by the operators of their entries
//! ([`merge`]); defaults, required attributes and `check` blocks come when the merged value is
//! completed ([`complete`]).

use crate::error::{Eval, EvalError};
use crate::evaluator::Evaluator;
use crate::instance::Instance;
use crate::layout::{Layout, SchemaId};
use crate::runtime_type::RuntimeType;
use crate::{Evaluated, Options};
use base_system::System;
use base_text::Name;
use kcl_hir::Program;
use kcl_syntax::ast::Stmt;
use kcl_value::{CallArgs, Dict, Entry, List, Origin, Value};
use std::rc::Rc;

/// Merges partial values in order by the operators of their entries.
pub fn merge(
    program: &Program,
    system: &dyn System,
    options: &Options,
    partials: Vec<Value>,
) -> Result<Value, Box<EvalError>> {
    let mut evaluator = Evaluator::new(program, system, options);
    evaluator.partial = true;
    let mut merged = Value::Undefined;
    for partial in partials {
        match evaluator.bit_or(merged, partial) {
            Ok(value) => merged = value,
            Err(failure) => return Err(evaluator.into_error(&failure)),
        }
    }
    Ok(merged)
}

/// Completes a partial value: defaults, required attributes and checks.
///
/// The schemas are found in `program` by package and name, so the value may come from another
/// program that shares them.
pub fn complete(
    program: &Program,
    system: &dyn System,
    options: &Options,
    partial: &Value,
) -> Result<Evaluated, Box<EvalError>> {
    let mut evaluator = Evaluator::new(program, system, options);
    evaluator.partial = false;
    match evaluator.completed(partial) {
        Ok(value) => Ok(evaluator.into_evaluated(value)),
        Err(failure) => Err(evaluator.into_error(&failure)),
    }
}

impl Evaluator<'_> {
    fn completed(&mut self, value: &Value) -> Eval<Value> {
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
                        let value =
                            self.instantiate(id, Rc::new(config), Origin::default(), args)?;
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

    /// Makes a partial instance: the config with its values made to fit their attributes.
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
                        return self.fail(format!(
                            "No attribute named '{}' in the schema '{schema}'",
                            entry.key
                        ));
                    }
                },
            };
            let value = match ty {
                Some(ty) if entry.slot.index().is_none() => {
                    self.cast(entry.value.clone(), &ty, false)?
                }
                _ => entry.value.clone(),
            };
            attrs.push_new(Entry { value, ..entry.clone() });
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
