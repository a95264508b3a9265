//! Identifiers and type annotations.

use crate::checker::Checker;
use crate::diagnostics;
use crate::ty::{FunctionType, Param, Text, Type};
use base_text::{FileSpan, Name, Span};
use kcl_hir::names::{DefinitionKind, Meaning};
use kcl_syntax::ast::{
    self, BasicType, ExprId, Ident, LiteralType, MemberOrIndex, Path, Target, TypeId,
};
use std::sync::Arc;

impl<'p> Checker<'p> {
    /// The type of a dotted name in a declaration: a type, a base, a mixin, a protocol.
    pub(crate) fn declared_path(&mut self, path: &'p Path, span: Span) -> Type {
        let at = self.at(span);
        let Some(first) = path.names.first() else { return self.report_no_name(at) };
        let meaning = self.program.global_meaning(self.file, first.name);
        let ty = match self.global(meaning, first.name) {
            Some(ty) => ty,
            None => self.report_unknown(*first, at),
        };
        if path.names.len() > 1 { self.members(path, meaning, ty, at) } else { ty }
    }

    /// The type of an identifier or of the name of a schema expression; findings are reported
    /// at `span`.
    pub(crate) fn read_path(&mut self, expr: ExprId, path: &'p Path, span: Span) -> Type {
        let at = self.at(span);
        let Some(first) = path.names.first() else { return self.report_no_name(at) };
        let meaning = self.meaning(expr, first.name);
        let ty = self.read(*first, meaning, at);
        if path.names.len() > 1 { self.members(path, meaning, ty, at) } else { ty }
    }

    /// The type of a dotted name that is assigned to.
    pub(super) fn store_path(&mut self, path: &'p Path) -> Type {
        let at = self.at(path.span);
        let Some((first, rest)) = path.names.split_first() else {
            return self.report_no_name(at);
        };
        let meaning = self.program.global_meaning(self.file, first.name);
        if !rest.is_empty() && self.may_be_import(meaning, first.name) {
            self.used_imports.insert((self.file, first.name));
            let message = "only schema and dict object can be updated attribute";
            self.report(diagnostics::compile_error(at, message));
        }
        let mut ty = self.store(*first, at);
        for ident in rest {
            self.check_member(*ident, &ty, at, None);
            ty = self.load_attr(&ty, *ident, at);
        }
        ty
    }

    fn report_no_name(&mut self, at: FileSpan) -> Type {
        self.report(diagnostics::compile_error(at, "missing variable"));
        Type::Any
    }

    /// The type of what stands behind the first name of a path.
    fn members(&mut self, path: &'p Path, meaning: Meaning, first: Type, at: FileSpan) -> Type {
        let [name, rest @ ..] = path.names.as_slice() else { return first };
        if self.may_be_import(meaning, name.name) {
            self.used_imports.insert((self.file, name.name));
        }
        rest.iter().fold(first, |ty, ident| self.load_attr(&ty, *ident, at))
    }

    /// Whether a name can stand for an import of the file.
    fn may_be_import(&self, meaning: Meaning, name: Name) -> bool {
        let names = &self.locals[self.file.0 as usize].names;
        let mut meaning = meaning;
        loop {
            meaning = match meaning {
                Meaning::LocalOr(local, _) if self.is_always_set(local) => return false,
                Meaning::LocalOr(_, next) | Meaning::Attr(next) => names.alternative(next),
                Meaning::Local(_) | Meaning::Global(_) | Meaning::Builtin(_) => return false,
                Meaning::Package(_)
                | Meaning::System(_)
                | Meaning::Plugin(_)
                | Meaning::Missing => {
                    return self.file_imports[self.file.0 as usize].contains_key(&name);
                }
            };
        }
    }

    /// Whether a local name has a value wherever it can be named.
    fn is_always_set(&self, local: u32) -> bool {
        let definition = self.locals[self.file.0 as usize].names.definition(local);
        definition.is_some_and(|definition| {
            matches!(definition.kind, DefinitionKind::Parameter | DefinitionKind::LoopVariable)
        })
    }

    /// Whether a local name is a key of an `if` that is finished. With nothing else of that name
    /// in sight, the reference reports it as unknown: it would be Undefined without a word.
    fn may_be_unset(&self, local: u32, name: Name) -> bool {
        let names = &self.locals[self.file.0 as usize].names;
        names.is_conditional(local)
            && names.definition(local).is_some_and(|key| !self.blocks.hold(name, key.at))
    }

    /// The type of a name that is assigned to.
    fn store(&mut self, ident: Ident, at: FileSpan) -> Type {
        let name = ident.name;
        if let Some(local) = self.bound_at(ident) {
            return self.local(local).unwrap_or_else(|| {
                self.define_local(ident, Type::Any, at);
                Type::Any
            });
        }
        if self.schema.is_some() {
            return self.store_in_schema(name, at);
        }
        if self.own(name).is_none() {
            self.define(name, Type::Any, at);
            return Type::Any;
        }
        let meaning = self.program.global_meaning(self.file, name);
        self.global(meaning, name).unwrap_or(Type::Any)
    }

    /// The type of a name that is read.
    fn read(&mut self, ident: Ident, meaning: Meaning, at: FileSpan) -> Type {
        match self.meant(meaning, ident.name) {
            Some(ty) => ty,
            None if self.may_be_attribute() => Type::Any,
            None => self.report_unknown(ident, at),
        }
    }

    /// The type of what a name means; `None` if it means nothing.
    fn meant(&mut self, meaning: Meaning, name: Name) -> Option<Type> {
        match meaning {
            Meaning::Local(local) => Some(self.local_or_merged(local, name).unwrap_or(Type::Any)),
            Meaning::LocalOr(local, next) => {
                let ty = self.local_or_merged(local, name);
                if ty.is_some() && self.is_always_set(local) {
                    return ty;
                }
                let next = self.file_scope().names.alternative(next);
                let other = self.meant(next, name);
                match (ty, other) {
                    // Which of them it is shows only when the program runs.
                    (Some(ty), Some(other)) if ty != other => Some(Type::Any),
                    (Some(_), None) if self.may_be_unset(local, name) => None,
                    (ty, other) => ty.or(other),
                }
            }
            Meaning::Attr(next) => self.body_attribute(name).or_else(|| {
                let next = self.file_scope().names.alternative(next);
                self.meant(next, name)
            }),
            _ => self.global(meaning, name),
        }
    }

    /// The type of a local name, if its place was walked; that of a key of a merged config from
    /// whichever block it is.
    fn local_or_merged(&mut self, local: u32, name: Name) -> Option<Type> {
        if !self.file_scope().names.is_merged(local) {
            return self.local(local);
        }
        self.blocks.outermost()?.get(name).map(|object| object.ty.clone())
    }

    /// The type that the schema being walked gives to a name.
    fn own_attribute(&self, name: Name) -> Option<Type> {
        let body = self.schema.as_ref()?;
        if let Some(ty) = body.assigned.get(&name) {
            return Some(ty.clone());
        }
        self.attribute(body.id, name).map(|attr| attr.ty.clone())
    }

    /// The type of an attribute of the schema being walked or of its mixins.
    fn body_attribute(&self, name: Name) -> Option<Type> {
        if let Some(ty) = self.own_attribute(name) {
            return Some(ty);
        }
        let schema = self.schema_type(self.schema.as_ref()?.id);
        if schema.is_mixin {
            return None;
        }
        let mut attrs = schema.mixins.iter().filter_map(|mixin| self.attribute(*mixin, name));
        attrs.next().map(|attr| attr.ty.clone())
    }

    /// Whether instances of the schema being walked may have attributes that it does not know.
    fn may_be_attribute(&self) -> bool {
        let Some(body) = &self.schema else { return false };
        let schema = self.schema_type(body.id);
        schema.is_mixin || schema.is_rule
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
    pub(super) fn assigned_target(&mut self, target: &'p Target) -> Type {
        if target.paths.is_empty() {
            self.store(target.name, self.at(target.span))
        } else {
            self.updated_target(target)
        }
    }

    /// The type of what is updated, or what a path leads to.
    pub(super) fn updated_target(&mut self, target: &'p Target) -> Type {
        let at = self.at(target.span);
        let name = target.name;
        let local =
            if self.blocks.is_empty() { None } else { self.file_scope().names.start_of(name.span) };
        let start = local.unwrap_or_else(|| self.program.global_meaning(self.file, name.name));
        let mut ty = self.read(name, start, at);
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
            ast::Type::Named(path) => this.declared_path(path, span),
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
