//! Configs against what is expected of them.

use crate::checker::{Checker, Expected};
use crate::diagnostics;
use crate::suggest;
use crate::ty::{SchemaId, Type};
use base_diag::Diagnostic;
use base_text::{FileSpan, Name};
use kcl_syntax::ast::{Expr, ExprId, Ident, Module, SchemaExpr, Subscript};
use rustc_hash::FxHashSet;

impl<'p> Checker<'p> {
    /// What is expected of the entry `key` of the innermost config.
    fn expected_of(&self, key: Name) -> Option<Expected> {
        if key.as_str().is_empty() {
            return None;
        }
        let config = self.expected.last()?.as_ref()?;
        let here = |ty: Type| Some(Expected { ty, at: config.at });
        match &config.ty {
            Type::List(item) => here((**item).clone()),
            Type::Dict(dict) => here(dict.value.clone()),
            Type::Schema(schema) => {
                if let Some(attr) = self.attribute(schema.id, key) {
                    return Some(Expected { ty: attr.ty.clone(), at: Some(attr.at) });
                }
                let signature = self.schema_type(schema.id).index_signature.as_ref()?;
                here(signature.value.clone())
            }
            Type::Union(types) => {
                let possible = types.iter().filter_map(|ty| self.possible_value(ty, key));
                here(self.types().join(possible))
            }
            _ => None,
        }
    }

    fn possible_value(&self, ty: &Type, key: Name) -> Option<Type> {
        match ty {
            Type::Schema(schema) => {
                if let Some(attr) = self.attribute(schema.id, key) {
                    return Some(attr.ty.clone());
                }
                let signature = self.schema_type(schema.id).index_signature.as_ref()?;
                Some(signature.value.clone())
            }
            Type::Dict(dict) => Some(dict.value.clone()),
            _ => None,
        }
    }

    /// Enters the entry `key` of the innermost config.
    pub(super) fn push_name(&mut self, key: Name) {
        let expected = self.expected_of(key);
        self.expected.push(expected);
    }

    /// Enters the items of a list.
    pub(super) fn expect_item(&mut self) {
        let expected = match self.expected.last() {
            // Almost all lists stand where nothing is known.
            None | Some(None) => None,
            Some(Some(_)) => self.expected_of(Name::new("[]")),
        };
        self.expected.push(expected);
    }

    /// Enters the entry with such a key; returns how many steps were made.
    pub(super) fn push_key(&mut self, key: Option<ExprId>) -> usize {
        let Some(key) = key else { return 0 };
        if !matches!(self.expected.last(), Some(Some(_))) {
            // Nothing is known, so nothing is known of any entry.
            self.expected.push(None);
            return 1;
        }
        let name = match &self.module[key].kind {
            Expr::Joined(_) | Expr::Missing => Some(Name::new("")),
            Expr::Subscript(subscript) => item_name(self.module, subscript, false),
            kind => plain_name(kind),
        };
        match name {
            Some(name) => {
                self.push_name(name);
                1
            }
            None => 0,
        }
    }

    /// Leaves as many entries as were entered.
    pub(super) fn pop_expected(&mut self, depth: usize) {
        self.expected.truncate(self.expected.len().saturating_sub(depth));
    }

    /// Checks an entry against what is expected, and returns its type if it was walked.
    pub(super) fn check_entry(&mut self, key: Option<ExprId>, value: ExprId) -> Option<Type> {
        let Some(key) = key else {
            let ty = self.expr(value);
            let at = self.at(self.module[value].span);
            if matches!(self.expected.last(), Some(Some(_))) {
                self.check_unpacked(&ty, at, &mut Vec::new());
            }
            return Some(ty);
        };
        if !matches!(self.expected.last(), Some(Some(_))) {
            return None;
        }
        let name = match &self.module[key].kind {
            Expr::Subscript(subscript) => item_name(self.module, subscript, true)?,
            kind => plain_name(kind)?,
        };
        let at = self.at(self.module[key].span);
        if !name.as_str().is_empty() {
            self.check_member_of_expected(Ident { name, span: at.span }, at, None);
        }
        self.push_name(name);
        let ty = self.expr(value);
        if let Some(Some(expected)) = self.expected.last().cloned() {
            self.expect(&ty, &expected.ty, at, expected.at);
        }
        self.expected.pop();
        Some(ty)
    }

    fn check_member_of_expected(
        &mut self,
        ident: Ident,
        at: FileSpan,
        attribute: Option<FileSpan>,
    ) {
        if let Some(Some(expected)) = self.expected.last() {
            let ty = expected.ty.clone();
            self.check_member(ident, &ty, at, attribute);
        }
    }

    /// Checks the known keys of a value that `**` puts into a config.
    ///
    /// `seen` holds the schemas around, which may hold each other.
    fn check_unpacked(&mut self, ty: &Type, at: FileSpan, seen: &mut Vec<SchemaId>) {
        match ty {
            Type::Dict(dict) => {
                for (name, attr) in dict.attrs.iter() {
                    let ty = self.types().attr_type(attr);
                    self.check_unpacked_attr(name, &ty, attr.at, at, seen);
                }
            }
            Type::Schema(schema) => {
                if seen.contains(&schema.id) {
                    return;
                }
                if let Some(Some(Expected { ty: Type::Schema(expected), .. })) =
                    self.expected.last()
                    && expected.id == schema.id
                {
                    return;
                }
                seen.push(schema.id);
                let attrs: Vec<(Name, Type, FileSpan)> = self
                    .schema_type(schema.id)
                    .attrs
                    .iter()
                    .map(|(name, attr)| (name, attr.ty.clone(), attr.at))
                    .collect();
                for (name, ty, attr_at) in attrs {
                    self.check_unpacked_attr(name, &ty, attr_at, at, seen);
                }
                seen.pop();
            }
            _ => {}
        }
    }

    fn check_unpacked_attr(
        &mut self,
        name: Name,
        ty: &Type,
        attr_at: FileSpan,
        at: FileSpan,
        seen: &mut Vec<SchemaId>,
    ) {
        if name.as_str().is_empty() {
            return;
        }
        self.check_member_of_expected(Ident { name, span: at.span }, at, Some(attr_at));
        self.push_name(name);
        if let Some(Some(expected)) = self.expected.last().cloned() {
            self.expect_attr(ty, &expected.ty, at, expected.at, Some(attr_at));
            self.check_unpacked(ty, at, seen);
        }
        self.expected.pop();
    }

    /// Reports a name that a schema does not have.
    pub(crate) fn check_member(
        &mut self,
        ident: Ident,
        ty: &Type,
        at: FileSpan,
        attribute: Option<FileSpan>,
    ) {
        match ty {
            Type::Schema(schema) => self.check_schema_member(ident, schema.id, at, attribute),
            Type::Union(types) => self.check_union_member(ident, types, at, attribute),
            _ => {}
        }
    }

    fn check_schema_member(
        &mut self,
        ident: Ident,
        id: SchemaId,
        at: FileSpan,
        attribute: Option<FileSpan>,
    ) {
        let name = ident.name;
        let schema = self.schema_type(id);
        let schema_name = schema.name.as_str();
        let Some(signature) = &schema.index_signature else {
            if !schema.is_mixin && self.attribute(id, name).is_none() {
                let attrs = schema.attrs.names().map(Name::as_str);
                let similar = suggest::similar(name.as_str(), attrs);
                let name = name.as_str();
                let finding =
                    diagnostics::cannot_add_member(at, name, schema_name, similar, attribute);
                self.report_member(finding, ident, attribute);
            }
            return;
        };
        if signature.any_other {
            return;
        }
        let keys: Vec<&str> = match &signature.key {
            Type::StrLit(key) => vec![key],
            Type::Union(types) => {
                let keys = types.iter().filter_map(|ty| match ty {
                    Type::StrLit(key) => Some(&**key),
                    _ => None,
                });
                keys.collect()
            }
            _ => return,
        };
        if !keys.contains(&name.as_str()) {
            let similar = suggest::similar(name.as_str(), keys);
            let name = name.as_str();
            let finding = diagnostics::cannot_add_member(at, name, schema_name, similar, attribute);
            self.report_member(finding, ident, attribute);
        }
    }

    /// Reports a name that a schema does not have; one that `**` brings in is not written here.
    fn report_member(&mut self, finding: Diagnostic, ident: Ident, attribute: Option<FileSpan>) {
        let similar = finding.labels.first().map_or(Vec::new(), |label| label.suggestions.clone());
        self.report(match attribute {
            None => self.misspelt(finding, ident, &similar),
            Some(_) => finding,
        });
    }

    fn check_union_member(
        &mut self,
        ident: Ident,
        types: &[Type],
        at: FileSpan,
        attribute: Option<FileSpan>,
    ) {
        let name = ident.name;
        let mut schemas = Vec::new();
        let mut similar = Vec::new();
        for ty in types {
            match ty {
                Type::Schema(schema) => {
                    let ty = self.schema_type(schema.id);
                    if ty.is_mixin
                        || ty.index_signature.is_some()
                        || self.attribute(schema.id, name).is_some()
                    {
                        return;
                    }
                    let attrs = ty.attrs.names().map(Name::as_str);
                    similar.extend(suggest::similar(name.as_str(), attrs));
                    schemas.push(schema.name.as_str());
                }
                Type::Dict(_) => return,
                _ => {}
            }
        }
        if !schemas.is_empty() {
            let name = name.as_str();
            let finding =
                diagnostics::cannot_add_member_to_union(at, name, &schemas, similar, attribute);
            self.report_member(finding, ident, attribute);
        }
    }

    /// Reports a key that is no string.
    pub(super) fn check_key(&mut self, ty: &Type, at: FileSpan) {
        if !ty.is_any() && !ty.is_key() {
            self.report(diagnostics::not_a_key(at, ty));
        }
    }

    /// Reports required attributes that a schema expression does not set.
    pub(super) fn check_required(&mut self, expr: &'p SchemaExpr, id: SchemaId) {
        let schema = self.schema_type(id);
        if self.is_partial
            || schema.is_mixin
            || schema.index_signature.is_some()
            || !schema.mixins.is_empty()
            || schema.base.is_some()
            || schema.has_statements
            || self.schema.is_some()
        {
            return;
        }
        let is_missing = |attr: &crate::ty::SchemaAttr| !attr.is_optional && !attr.has_default;
        if !schema.attrs.values().any(is_missing) {
            return;
        }
        let Some(set) = self.attributes_set(expr, id) else { return };
        let schema = self.schema_type(id);
        let missing: Vec<Name> = schema
            .attrs
            .iter()
            .filter(|(name, attr)| is_missing(attr) && !set.contains(name))
            .filter(|(name, _)| self.set_beside.as_ref().is_none_or(|set| !set.contains(name)))
            .map(|(name, _)| name)
            .collect();
        let (at, schema_name) = (self.at(self.module[expr.config].span), schema.name.as_str());
        for name in missing {
            self.report(diagnostics::missing_attribute(at, name.as_str(), schema_name));
        }
    }

    /// The attributes that a schema expression sets; `None` if that can't be said.
    fn attributes_set(&self, expr: &SchemaExpr, id: SchemaId) -> Option<FxHashSet<Name>> {
        let Expr::Config(own) = &self.module[expr.config].kind else { return None };
        let mut set = FxHashSet::default();
        let params = &self.schema_type(id).func.params;
        set.extend(params.iter().take(expr.args.len()).map(|param| param.name));
        for keyword in &expr.kwargs {
            set.extend(keyword.arg.names.first().map(|ident| ident.name));
        }
        if let Some(entries) = self.merges.entries(self.file, expr.config) {
            for (file, entry) in entries {
                let module = &self.program.file(*file).module;
                set.insert(plain_name(&module[entry.key?].kind)?);
            }
        } else {
            for entry in own {
                set.insert(plain_name(&self.module[entry.key?].kind)?);
            }
        }
        Some(set)
    }
}

/// The name of a key written as identifier or string.
pub(super) fn plain_name(key: &Expr) -> Option<Name> {
    match key {
        Expr::Ident(path) => path.names.first().map(|ident| ident.name),
        Expr::String(text) => Some(Name::new(&text.value)),
        _ => None,
    }
}

/// The name in a key such as `name[0]`, or `name[-1]` if those count.
pub(super) fn item_name(
    module: &Module,
    subscript: &Subscript,
    takes_negative: bool,
) -> Option<Name> {
    let Expr::Ident(path) = &module[subscript.value].kind else { return None };
    let is_number = |expr: ExprId| matches!(module[expr].kind, Expr::Number(_));
    let index = subscript.index?;
    let is_constant = match &module[index].kind {
        Expr::Number(_) => true,
        Expr::Unary { operand, .. } => takes_negative && is_number(*operand),
        _ => false,
    };
    if is_constant { path.names.first().map(|ident| ident.name) } else { None }
}
