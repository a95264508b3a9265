//! The types of rules.

use crate::checker::Checker;
use crate::diagnostics;
use crate::ty::{FunctionType, Param, SchemaId, Type};
use kcl_syntax::ast::{Params, Path, Rule};
use std::sync::Arc;

/// Names that stand for built-in types.
pub(crate) const RESERVED: [&str; 5] = ["any", "int", "float", "str", "bool"];

impl<'p> Checker<'p> {
    /// Builds the type of a rule.
    pub(super) fn build_rule(&mut self, rule: &'p Rule, id: SchemaId) {
        let protocol = rule.for_host.as_ref().and_then(|host| self.protocol(host));
        let name = rule.name.name.as_str();
        if RESERVED.contains(&name) {
            let message = format!(
                "rule name '{name}' cannot be the same as the built-in types ({RESERVED:?})"
            );
            self.report(diagnostics::compile_error(self.at(rule.name.span), message));
        }
        let mut parents = Vec::new();
        for path in &rule.parents {
            match self.declared_path(path, path.span) {
                Type::Schema(schema)
                    if !schema.is_instance && self.schema_type(schema.id).is_rule =>
                {
                    parents.push(schema.id);
                }
                ty => {
                    let message = format!("illegal rule type '{ty}'");
                    self.report(diagnostics::illegal_inherit(self.at(path.span), message));
                }
            }
        }
        let mut params = rule.params.as_ref().map_or_else(Vec::new, |params| self.params(params));
        // Arguments of rules may be left out.
        for param in &mut params {
            param.has_default = true;
        }
        self.report_circular_rules(rule, id, &parents);
        self.decorators(&rule.decorators);
        let index_signature =
            protocol.and_then(|protocol| self.schema_type(protocol).index_signature.clone());
        let schema = &mut self.schemas[id.0 as usize];
        schema.protocol = protocol;
        schema.mixins = parents;
        schema.index_signature = index_signature;
        schema.func = Arc::new(FunctionType { params, ret: Type::Any, is_variadic: false });
    }

    fn report_circular_rules(&mut self, rule: &Rule, id: SchemaId, parents: &[SchemaId]) {
        let name = self.full_schema_name(id);
        for &parent in parents {
            let at = self.at(rule.name.span);
            let parent = self.full_schema_name(parent);
            self.schema_cycles.add(&name, &parent, at);
            if let Some((names, places)) = self.schema_cycles.circle(&name) {
                for place in places {
                    self.report(diagnostics::circular(place, "rules", &names));
                }
            }
        }
    }

    /// The protocol that a mixin or rule is for.
    pub(super) fn protocol(&mut self, host: &'p Path) -> Option<SchemaId> {
        match self.declared_path(host, host.span) {
            Type::Schema(schema)
                if !schema.is_instance && self.schema_type(schema.id).is_protocol =>
            {
                Some(schema.id)
            }
            ty => {
                let message =
                    format!("invalid schema inherit object type, expect protocol, got '{ty}'");
                self.report(diagnostics::illegal_inherit(self.at(host.span), message));
                None
            }
        }
    }

    /// The parameters of a schema or rule.
    pub(super) fn params(&mut self, params: &'p Params) -> Vec<Param> {
        let mut list = Vec::with_capacity(params.list.len());
        for param in &params.list {
            let ty = self.optional_annotation(param.ty, param.name.span);
            list.push(Param {
                name: param.name.name,
                ty,
                has_default: param.default.is_some(),
                at: Some(self.at(param.name.span)),
            });
        }
        list
    }
}
