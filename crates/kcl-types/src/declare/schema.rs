//! The types of schemas, mixins and protocols.

use super::rule::RESERVED;
use crate::builtins;
use crate::checker::Checker;
use crate::diagnostics;
use crate::ty::{FunctionType, IndexSignature, NameMap, SchemaAttr, SchemaId, Type};
use base_text::{FileSpan, Name};
use kcl_hir::names::names_set;
use kcl_syntax::ast::{self, Call, Expr, ExprId, Path, Schema, SchemaKind, Stmt, StmtId};
use std::sync::Arc;

/// One attribute as declared.
struct Declared {
    name: Name,
    ty: Type,
    is_optional: bool,
    has_default: bool,
    at: FileSpan,
}

impl<'p> Checker<'p> {
    /// Builds the type of a schema; `false` if something it needs is not built yet.
    pub(super) fn build_schema(
        &mut self,
        schema: &'p Schema,
        id: SchemaId,
        built: &[bool],
    ) -> bool {
        let base = schema.parent.as_ref().and_then(|parent| self.parent(parent));
        let protocol = schema.for_host.as_ref().and_then(|host| self.mixin_protocol(schema, host));
        self.check_schema_name(schema, base);
        let has_statements = !self.has_only_attributes(schema);
        let ty = &mut self.schemas[id.0 as usize];
        ty.base = base;
        ty.protocol = protocol;
        ty.has_statements = has_statements;

        let names = names_set(self.module, &schema.body);
        let index_signature = schema
            .index_signature
            .as_ref()
            .map(|signature| self.signature(schema, signature, &names));
        let mut attrs = self.attributes(schema, base, index_signature.as_ref());
        let mixins = self.mixins(schema, &mut attrs);
        if let Some(params) = &schema.params {
            for param in params.list.iter().filter(|param| names.contains(&param.name.name)) {
                let name = param.name.name;
                let message = format!(
                    "Unexpected parameter name '{name}' with the same name as the schema attribute"
                );
                self.report(diagnostics::compile_error(self.at(param.name.span), message));
            }
        }
        let params = schema.params.as_ref().map_or_else(Vec::new, |params| self.params(params));
        self.decorators(&schema.decorators);

        let is_built = |id: SchemaId| built.get(id.0 as usize).copied().unwrap_or(true);
        let is_complete = base.is_none_or(is_built) && mixins.iter().copied().all(is_built);
        let ty = &mut self.schemas[id.0 as usize];
        ty.mixins = mixins;
        ty.attrs = attrs;
        ty.index_signature = index_signature;
        ty.func = Arc::new(FunctionType { params, ret: Type::Any, is_variadic: false });
        is_complete
    }

    /// Whether a schema's body has nothing but attributes.
    fn has_only_attributes(&self, schema: &Schema) -> bool {
        let is_attr = |stmt: &StmtId| {
            matches!(self.module[*stmt].kind, Stmt::SchemaAttr(_) | Stmt::Unification(_))
        };
        schema.body.iter().all(is_attr)
    }

    fn parent(&mut self, path: &'p Path) -> Option<SchemaId> {
        let ty = self.declared_path(path, path.span);
        if let Type::Schema(schema) = &ty
            && !schema.is_instance
        {
            let parent = self.schema_type(schema.id);
            if !parent.is_protocol && !parent.is_mixin {
                return Some(schema.id);
            }
        }
        let message = format!("invalid schema inherit object type, expect schema, got '{ty}'");
        self.report(diagnostics::illegal_inherit(self.at(path.span), message));
        None
    }

    fn mixin_protocol(&mut self, schema: &'p Schema, host: &'p Path) -> Option<SchemaId> {
        if schema.kind == SchemaKind::Mixin {
            return self.protocol(host);
        }
        let message = "only schema mixin can inherit from protocol".to_owned();
        self.report(diagnostics::illegal_inherit(self.at(host.span), message));
        None
    }

    fn check_schema_name(&mut self, schema: &Schema, base: Option<SchemaId>) {
        let name = schema.name.name.as_str();
        let at = self.at(schema.name.span);
        if RESERVED.contains(&name) {
            let message = format!(
                "schema name '{name}' cannot be the same as the built-in types ({RESERVED:?})"
            );
            self.report(diagnostics::compile_error(at, message));
        }
        if schema.kind == SchemaKind::Protocol {
            if !name.ends_with("Protocol") {
                let end = self.at(base_text::Span::empty(schema.name.span.end));
                let message = "schema protocol name must end with 'Protocol'";
                let suggestions = vec!["Protocol".to_owned()];
                let finding = diagnostics::compile_error(end, message).suggest(suggestions);
                self.report_misnamed(finding, schema.name.name, &format!("{name}Protocol"));
            }
            let only_attributes = schema.params.is_none()
                && schema.mixins.is_empty()
                && schema.checks.is_empty()
                && self.has_only_attributes(schema);
            if !only_attributes {
                let message = "a protocol is only allowed to define attributes in it";
                self.report(diagnostics::compile_error(at, message));
            }
        }
        if let Some(base) = base {
            let base = self.schema_type(base).name.as_str();
            if base.ends_with("Mixin") {
                let message = format!("mixin inheritance {base} is prohibited");
                self.report(diagnostics::illegal_inherit(at, message));
            }
        }
    }

    fn signature(
        &mut self,
        schema: &Schema,
        signature: &'p ast::IndexSignature,
        names: &[Name],
    ) -> Arc<IndexSignature> {
        let key_name = signature.key_name.map(|ident| ident.name);
        if let Some(name) = key_name
            && names.contains(&name)
        {
            let at = self.at(signature.span);
            self.report(diagnostics::index_signature_name(at, name.as_str()));
        }
        let key = self.annotation(signature.key_ty, self.module[signature.key_ty].span);
        let value = self.annotation(signature.value_ty, self.module[signature.value_ty].span);
        if !key.all(Type::is_str) {
            self.report(diagnostics::index_signature_key(self.at(schema.name.span), &key));
        }
        Arc::new(IndexSignature { key_name, key, value, any_other: signature.any_other })
    }

    fn attributes(
        &mut self,
        schema: &'p Schema,
        base: Option<SchemaId>,
        signature: Option<&Arc<IndexSignature>>,
    ) -> NameMap<SchemaAttr> {
        let mut attrs: NameMap<SchemaAttr> = NameMap::with_capacity(schema.body.len());
        for &stmt in &schema.body {
            let Some(declared) = self.declared(stmt) else { continue };
            let Declared { name, ty, is_optional, has_default, at } = declared;
            let inherited = base.and_then(|base| self.attribute(base, name));
            if inherited.is_none() && signature.is_none() && !attrs.contains(name) {
                // There is nothing to compare it with.
                attrs.push(name, SchemaAttr { ty, is_optional, has_default, at });
                continue;
            }
            let base_ty = inherited.map_or(Type::Any, |attr| attr.ty.clone());
            let is_optional_here = inherited.map_or(is_optional, |attr| attr.is_optional);
            let attr = attrs.get_or_insert_with(name, || SchemaAttr {
                ty: ty.clone(),
                is_optional: is_optional_here,
                has_default,
                at,
            });
            let (first_ty, first_optional) = (attr.ty.clone(), attr.is_optional);
            let types = self.types();
            if !types.is_upper_bound(&first_ty, &ty) || !types.is_upper_bound(&base_ty, &ty) {
                let message =
                    format!("can't change schema field type of '{name}' from {first_ty} to {ty}");
                self.report(diagnostics::type_error(at, message));
            }
            if is_optional && !first_optional {
                let message =
                    format!("can't change the required schema attribute of '{name}' to optional");
                self.report(diagnostics::type_error(at, message));
            }
            if let Some(signature) = signature
                && !signature.any_other
                && !self.types().is_upper_bound(&signature.value, &ty)
            {
                let name = name.as_str();
                self.report(diagnostics::index_signature_attribute(at, &ty, name, signature));
            }
        }
        attrs
    }

    fn declared(&mut self, stmt: StmtId) -> Option<Declared> {
        let module = self.module;
        let node = &module[stmt];
        let at = self.at(node.span);
        match &node.kind {
            Stmt::Unification(unification) => {
                let name = unification.target.names.first()?.name;
                let Expr::Schema(value) = &module[unification.value].kind else { return None };
                let ty = self.declared_path(&value.name, node.span);
                Some(Declared { name, ty, is_optional: false, has_default: true, at })
            }
            Stmt::SchemaAttr(attr) => {
                let ty = self.annotation(attr.ty, module[attr.ty].span);
                self.decorators(&attr.decorators);
                // `kind: "Pod"` has its only value as default.
                let is_literal = matches!(module[attr.ty].kind, ast::Type::Literal(_));
                let has_default = attr.value.is_some() || is_literal && !attr.is_optional;
                let is_optional = attr.is_optional;
                Some(Declared { name: attr.name.name, ty, is_optional, has_default, at })
            }
            _ => None,
        }
    }

    /// Checks the mixins of a schema and takes over their attributes.
    fn mixins(&mut self, schema: &'p Schema, attrs: &mut NameMap<SchemaAttr>) -> Vec<SchemaId> {
        let mut mixins = Vec::new();
        for path in &schema.mixins {
            let at = self.at(path.span);
            if let Some(last) = path.names.last()
                && !last.name.as_str().ends_with("Mixin")
            {
                let finding = diagnostics::bad_mixin_name(at, last.name.as_str());
                if path.names.len() == 1 {
                    self.report_misnamed(finding, last.name, &format!("{}Mixin", last.name));
                } else {
                    self.report(finding);
                }
            }
            let ty = self.declared_path(path, path.span);
            match ty {
                Type::Schema(mixin)
                    if !mixin.is_instance && self.schema_type(mixin.id).is_mixin =>
                {
                    for (name, attr) in self.schema_type(mixin.id).attrs.iter() {
                        attrs.get_or_insert_with(name, || attr.clone());
                    }
                    mixins.push(mixin.id);
                }
                _ => {
                    let message =
                        format!("illegal schema mixin object type, expected mixin, got '{ty}'");
                    self.report(diagnostics::illegal_inherit(at, message));
                }
            }
        }
        mixins
    }

    /// Checks `@deprecated` and the like.
    pub(super) fn decorators(&mut self, decorators: &'p [ExprId]) {
        for &decorator in decorators {
            let module = self.module;
            let at = self.at(module[decorator].span);
            let Expr::Call(call) = &module[decorator].kind else { continue };
            let Call { func, args, kwargs } = &**call;
            let name = match &module[*func].kind {
                Expr::Ident(path) if path.names.len() == 1 => path.names[0].name.as_str(),
                _ => {
                    let message = "decorator name must be a single identifier";
                    self.report(diagnostics::type_error(at, message));
                    continue;
                }
            };
            if let Some(ty) = builtins::decorator(name) {
                self.arguments(self.callee(*func), module[*func].span, args, kwargs, &ty);
            } else {
                let message = format!("UnKnown decorator {name}");
                self.report(diagnostics::compile_error(at, message));
            }
        }
    }
}
