//! `a.b` and `a[b]`.

use crate::builtins;
use crate::checker::Checker;
use crate::diagnostics;
use crate::suggest;
use crate::ty::{ModuleType, SchemaRef, Type};
use base_text::{FileSpan, Name};
use kcl_hir::ImportTarget;
use kcl_syntax::ast::{ExprId, Ident, Subscript};

impl<'p> Checker<'p> {
    /// The type of an attribute of a value.
    pub(crate) fn load_attr(&mut self, ty: &Type, ident: Ident, at: FileSpan) -> Type {
        let name = ident.name;
        let found = match ty {
            Type::Any | Type::Union(_) => Some(Type::Any),
            Type::Str | Type::StrLit(_) => self.builtins.method(name),
            Type::Dict(dict) => {
                let attr = dict.attrs.get(name).map(|attr| self.types().attr_type(attr));
                Some(attr.unwrap_or_else(|| dict.value.clone()))
            }
            Type::Schema(schema) => self.load_schema_attr(*schema, name),
            Type::Module(module) => self.load_member(module, name, at),
            _ => None,
        };
        found.unwrap_or_else(|| {
            let similar = self.similar_attrs(ty, name);
            let finding = diagnostics::no_attribute(at, name.as_str(), ty, &similar);
            self.report(self.misspelt(finding, ident, &similar));
            Type::Any
        })
    }

    fn similar_attrs(&self, ty: &Type, name: Name) -> Vec<String> {
        match ty {
            Type::Schema(schema) if schema.is_instance => {
                let attrs = self.schema_type(schema.id).attrs.names();
                suggest::similar(name.as_str(), attrs.map(Name::as_str))
            }
            Type::Schema(_) => suggest::similar(name.as_str(), ["instances"]),
            _ => Vec::new(),
        }
    }

    fn load_schema_attr(&mut self, schema: SchemaRef, name: Name) -> Option<Type> {
        if let Some(attr) = self.attribute(schema.id, name) {
            return Some(attr.ty.clone());
        }
        let ty = self.schema_type(schema.id);
        if ty.is_mixin || ty.index_signature.is_some() {
            return Some(Type::Any);
        }
        (!schema.is_instance && name.as_str() == "instances").then(builtins::instances)
    }

    fn load_member(&mut self, module: &ModuleType, name: Name, at: FileSpan) -> Option<Type> {
        match module.target {
            ImportTarget::Plugin => Some(Type::Any),
            ImportTarget::System => self.builtins.member(&module.path, name),
            ImportTarget::Missing => None,
            ImportTarget::Package(package) => {
                if !self.packages[package.0 as usize].is_open {
                    return Some(Type::Any);
                }
                let ty = self.global_type(package, name)?;
                let path = &module.path;
                if matches!(ty, Type::Module(_)) {
                    let message =
                        format!("can not import the attribute '{name}' from the module '{path}'");
                    self.report(diagnostics::compile_error(at, message));
                }
                if name.is_private() {
                    let message =
                        format!("cannot reference private member '{name}' from module '{path}'");
                    self.report(diagnostics::compile_error(at, message));
                    return Some(Type::Any);
                }
                Some(ty)
            }
        }
    }

    /// The type of an item of a value.
    pub(crate) fn index(&mut self, ty: &Type, index: ExprId, at: FileSpan) -> Type {
        match ty {
            Type::Any => Type::Any,
            Type::List(item) => {
                self.expect_int(index);
                (**item).clone()
            }
            Type::Str | Type::StrLit(_) => {
                self.expect_int(index);
                Type::Str
            }
            Type::Dict(dict) => {
                let value = dict.value.clone();
                self.key(ty, value, index, at)
            }
            Type::Schema(schema) => {
                let value = self.schema_value_type(*schema);
                self.key(ty, value, index, at)
            }
            _ => self.not_subscriptable(ty, at),
        }
    }

    /// The type of the values of a schema seen as a dict.
    pub(crate) fn schema_value_type(&self, schema: SchemaRef) -> Type {
        let signature = &self.schema_type(schema.id).index_signature;
        signature.as_ref().map_or(Type::Any, |signature| signature.value.clone())
    }

    fn key(&mut self, ty: &Type, value: Type, index: ExprId, at: FileSpan) -> Type {
        match self.expr(index) {
            Type::None | Type::Any => value,
            Type::StrLit(text) => {
                let span = self.module[index].span;
                self.load_attr(ty, Ident { name: Name::new(&text), span }, at)
            }
            key if key.is_key() => value,
            key => {
                let message = format!("invalid dict/schema key type: '{key}'");
                self.report(diagnostics::compile_error(at, message));
                Type::Any
            }
        }
    }

    fn expect_int(&mut self, index: ExprId) {
        let ty = self.expr(index);
        self.expect(&ty, &Type::Int, self.at(self.module[index].span), None);
    }

    fn not_subscriptable(&mut self, ty: &Type, at: FileSpan) -> Type {
        let message = format!("'{ty}' object is not subscriptable");
        self.report(diagnostics::compile_error(at, message));
        Type::Any
    }

    /// The type of `value[…]`.
    pub(super) fn subscript(&mut self, subscript: &'p Subscript) -> Type {
        let ty = self.expr(subscript.value);
        let at = self.at(self.module[subscript.value].span);
        if let Some(index) = subscript.index {
            return self.index(&ty, index, at);
        }
        match ty {
            Type::Any => Type::Any,
            Type::Str | Type::StrLit(_) | Type::List(_) => {
                let bounds = [subscript.lower, subscript.upper, subscript.step];
                for bound in bounds.into_iter().flatten() {
                    self.expect_int(bound);
                }
                if ty.is_list() { ty } else { Type::Str }
            }
            Type::Dict(_) | Type::Schema(_) => {
                self.report(diagnostics::compile_error(at, "unhashable type: 'slice'"));
                Type::Any
            }
            _ => self.not_subscriptable(&ty, at),
        }
    }
}
