//! Identifiers and type annotations.

use crate::checker::Checker;
use crate::diagnostics;
use crate::table::FoundName;
use crate::ty::{FunctionType, Param, Text, Type};
use base_text::{FileSpan, Name, Span};
use kcl_hir::names::{Layer, Place, order};
use kcl_syntax::ast::{
    self, BasicType, ExprId, Ident, LiteralType, MemberOrIndex, Path, Target, TypeId,
};
use std::sync::Arc;

impl<'p> Checker<'p> {
    /// The type of a dotted name, where it stands.
    pub(crate) fn path(&mut self, path: &'p Path) -> Type {
        self.resolve(path, path.span)
    }

    /// The type of a dotted name; findings are reported at `span`.
    pub(crate) fn resolve(&mut self, path: &'p Path, span: Span) -> Type {
        let at = self.at(span);
        let Some((first, rest)) = path.names.split_first() else {
            self.report(diagnostics::compile_error(at, "missing variable"));
            return Type::Any;
        };
        if rest.is_empty() {
            return self.variable(*first, at);
        }
        if self.is_import(first.name) {
            self.used_imports.insert((self.file, first.name));
            if self.is_store {
                let message = "only schema and dict object can be updated attribute";
                self.report(diagnostics::compile_error(at, message));
            }
        }
        let mut ty = self.variable(*first, at);
        for ident in rest {
            if self.is_store {
                self.check_member(*ident, &ty, at, None);
            }
            ty = self.load_attr(&ty, *ident, at);
        }
        ty
    }

    fn is_import(&self, name: Name) -> bool {
        self.file_imports[self.file.0 as usize].contains_key(&name)
            && !self.blocks.is_loop_variable(name)
    }

    /// The type of one name, read or assigned to.
    fn variable(&mut self, ident: Ident, at: FileSpan) -> Type {
        if !self.is_store {
            return self.read(ident, at);
        }
        let name = ident.name;
        if self.schema.is_some() {
            return self.store_in_schema(name, at);
        }
        if self.own(name).is_none() {
            self.define(name, Type::Any, at);
            return Type::Any;
        }
        self.look_up(ident, at)
    }

    /// The type of a name that is read: that of the first place that knows it.
    fn read(&mut self, ident: Ident, at: FileSpan) -> Type {
        let name = ident.name;
        let place = if self.schema.is_some() { Place::Schema } else { Place::TopLevel };
        for layer in order(place) {
            let found = match layer {
                Layer::Loops if self.blocks.is_loop_variable(name) => {
                    Some(self.find(name).unwrap_or(Type::Any))
                }
                Layer::Attributes => self.typed_attribute(name),
                Layer::Locals => self.local(name),
                Layer::Globals => self.global(name),
                Layer::Loops | Layer::Captured => None,
            };
            if let Some(ty) = found {
                self.layer = Some(*layer);
                return ty;
            }
        }
        self.layer = None;
        if self.may_be_attribute(name) { Type::Any } else { self.report_unknown(ident, at) }
    }

    /// Notes for tools where the first name of an identifier was found.
    pub(super) fn note_found(&mut self, id: ExprId, path: &Path) {
        let (Some(layer), Some(first)) = (self.layer.take(), path.names.first()) else { return };
        let is_local = matches!(layer, Layer::Loops | Layer::Locals);
        let object = if is_local { self.blocks.find(first.name) } else { None };
        let at = object.map(|object| object.at);
        if let Some(table) = &mut self.table {
            table.set_found(self.file, id, FoundName { layer, at });
        }
    }

    /// The type that the schema being walked gives to a name.
    fn own_attribute(&self, name: Name) -> Option<Type> {
        let body = self.schema.as_ref()?;
        if let Some(ty) = body.assigned.get(&name) {
            return Some(ty.clone());
        }
        self.attribute(body.id, name).map(|attr| attr.ty.clone())
    }

    /// The type of an attribute of the schema being walked or of its mixins. An attribute of
    /// any type comes behind all other names.
    fn typed_attribute(&self, name: Name) -> Option<Type> {
        if let Some(ty) = self.own_attribute(name) {
            return (!ty.is_any()).then_some(ty);
        }
        let schema = self.schema_type(self.schema.as_ref()?.id);
        if schema.is_mixin {
            return None;
        }
        let mut attrs = schema.mixins.iter().filter_map(|mixin| self.attribute(*mixin, name));
        attrs.next().map(|attr| attr.ty.clone())
    }

    /// Whether instances of the schema being walked may have an attribute of that name.
    fn may_be_attribute(&self, name: Name) -> bool {
        let Some(body) = &self.schema else { return false };
        let schema = self.schema_type(body.id);
        schema.is_mixin || schema.is_rule || self.own_attribute(name).is_some()
    }

    fn store_in_schema(&mut self, name: Name, at: FileSpan) -> Type {
        let attr = self.own_attribute(name);
        match attr {
            Some(ty) if self.own(name).is_some() => ty,
            attr => {
                self.define(name, Type::Any, at);
                if attr.is_none() {
                    self.set_assigned(name, Type::Any);
                }
                Type::Any
            }
        }
    }

    /// Notes the type of a name that the body of a schema assigns to.
    pub(crate) fn set_assigned(&mut self, name: Name, ty: Type) {
        if let Some(body) = &mut self.schema {
            body.assigned.insert(name, ty);
        }
    }

    /// The type of what is assigned to.
    pub(crate) fn target(&mut self, target: &'p Target) -> Type {
        let at = self.at(target.span);
        let mut ty = self.variable(target.name, at);
        if target.paths.is_empty() {
            return ty;
        }
        let is_store = std::mem::replace(&mut self.is_store, false);
        for path in &target.paths {
            match path {
                MemberOrIndex::Member(member) => {
                    self.check_member(*member, &ty, at, None);
                    ty = self.load_attr(&ty, *member, at);
                }
                MemberOrIndex::Index(index) => {
                    if let ast::Expr::String(text) = &self.module[*index].kind {
                        let span = self.module[*index].span;
                        let ident = Ident { name: Name::new(&text.value), span };
                        self.check_member(ident, &ty, at, None);
                    }
                    ty = self.index(&ty, *index, at);
                }
            }
        }
        self.is_store = is_store;
        ty
    }

    /// The type that an annotation stands for; unknown names are reported at `span`.
    pub(crate) fn annotation(&mut self, id: TypeId, span: Span) -> Type {
        let module = self.module;
        self.nested(|this| match &module[id].kind {
            ast::Type::Any | ast::Type::Missing => Type::Any,
            ast::Type::Basic(basic) => basic_type(*basic),
            ast::Type::List(item) => Type::list(this.optional_annotation(*item, span)),
            ast::Type::Dict { key, value } => {
                let key = this.optional_annotation(*key, span);
                Type::dict(key, this.optional_annotation(*value, span))
            }
            ast::Type::Union(types) => {
                Type::union(types.iter().map(|ty| this.annotation(*ty, span)).collect())
            }
            ast::Type::Literal(literal) => literal_type(literal),
            ast::Type::Named(path) => {
                this.is_store = false;
                this.resolve(path, span)
            }
            ast::Type::Function { params, ret } => {
                let at = Some(this.at(module[id].span));
                let params = params.iter().flatten().map(|param| Param {
                    name: Name::new(""),
                    ty: this.annotation(*param, span),
                    has_default: false,
                    at,
                });
                let params = params.collect();
                let ret = this.optional_annotation(*ret, span);
                Type::Function(Arc::new(FunctionType { params, ret, is_variadic: false }))
            }
        })
    }

    /// The type that an annotation stands for; `any` without one.
    pub(crate) fn optional_annotation(&mut self, id: Option<TypeId>, span: Span) -> Type {
        id.map_or(Type::Any, |id| self.annotation(id, span))
    }
}

fn basic_type(basic: BasicType) -> Type {
    match basic {
        BasicType::Bool => Type::Bool,
        BasicType::Int => Type::Int,
        BasicType::Float => Type::Float,
        BasicType::Str => Type::Str,
    }
}

fn literal_type(literal: &LiteralType) -> Type {
    match literal {
        LiteralType::Bool(value) => Type::BoolLit(*value),
        LiteralType::Int(value) => Type::IntLit(*value),
        LiteralType::Unit { value, unit } => Type::Multiplier(Some((*value, *unit))),
        LiteralType::Float(value) => Type::FloatLit(*value),
        LiteralType::Str(value) => Type::StrLit(Text::Shared((&**value).into())),
    }
}
