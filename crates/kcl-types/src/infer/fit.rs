//! Whether values fit where they are put.

use crate::checker::{Checker, Expected};
use crate::diagnostics;
use crate::ty::{DictType, SchemaRef, Type};
use base_text::{FileSpan, Name};
use kcl_syntax::ast::ExprId;

impl Checker<'_> {
    /// Reports a value that does not fit; `declared` is where the expected type comes from.
    pub(crate) fn expect(
        &mut self,
        ty: &Type,
        expected: &Type,
        at: FileSpan,
        declared: Option<FileSpan>,
    ) {
        self.expect_attr(ty, expected, at, declared, None);
    }

    /// The same for a value that comes from an attribute defined elsewhere.
    pub(crate) fn expect_attr(
        &mut self,
        ty: &Type,
        expected: &Type,
        at: FileSpan,
        declared: Option<FileSpan>,
        attribute: Option<FileSpan>,
    ) {
        if !self.fits(ty, expected, at) {
            self.report(diagnostics::mismatch(expected, ty, at, declared, attribute));
        }
    }

    /// Whether a value fits. What is wrong inside a dict for a schema is reported at once.
    fn fits(&mut self, ty: &Type, expected: &Type, at: FileSpan) -> bool {
        match (ty, expected) {
            (Type::List(item), Type::List(expected)) => self.fits(item, expected, at),
            (Type::Dict(dict), Type::Dict(expected)) => {
                self.fits(&dict.key, &expected.key, at)
                    && self.fits(&dict.value, &expected.value, at)
            }
            (Type::Dict(dict), Type::Schema(schema)) => {
                self.fit_dict_to_schema(dict, *schema, at);
                true
            }
            (Type::Union(types), _) => types.iter().all(|ty| self.fits(ty, expected, at)),
            (_, Type::Union(_)) if ty.is_primitive() || ty.is_literal() => {
                self.types().is_assignable(ty, expected)
            }
            (_, Type::Union(types)) => types.iter().any(|expected| self.fits(ty, expected, at)),
            _ => self.types().is_assignable(ty, expected),
        }
    }

    fn fit_dict_to_schema(&mut self, dict: &DictType, schema: SchemaRef, at: FileSpan) {
        let ty = self.schema_type(schema.id);
        let Some(signature) = ty.index_signature.clone() else {
            // A single known key is compared with its attribute.
            if let Type::StrLit(key) = &dict.key {
                let name = Name::new(key);
                if let (Some(attr), Some(value)) = (ty.attrs.get(name), dict.attrs.get(name)) {
                    let (expected, declared) = (attr.ty.clone(), attr.at);
                    let value = self.types().attr_type(value);
                    self.expect(&value, &expected, at, Some(declared));
                }
            }
            return;
        };
        if dict.attrs.is_empty() {
            let value = self.other_values(dict, schema);
            if !self.fits(&value, &signature.value, at) {
                let expected = &signature.value;
                let message =
                    format!("expected schema index signature value type {expected}, got {value}");
                self.report(diagnostics::type_error(at, message));
            }
            return;
        }
        for (name, value) in dict.attrs.iter() {
            let attr = if signature.any_other {
                self.schema_type(schema.id).attrs.get(name)
            } else {
                None
            };
            let value_ty = self.types().attr_type(value);
            match attr {
                Some(attr) => {
                    let (expected, declared) = (attr.ty.clone(), attr.at);
                    self.expect(&value_ty, &expected, at, Some(declared));
                }
                None => self.expect(&value_ty, &signature.value, value.at, None),
            }
        }
    }

    /// The type of the values of a dict whose keys are no attributes of a schema.
    fn other_values(&self, dict: &DictType, schema: SchemaRef) -> Type {
        let (Type::Union(keys), Type::Union(values)) = (&dict.key, &dict.value) else {
            return dict.value.clone();
        };
        let attrs = &self.schema_type(schema.id).attrs;
        let others = keys.iter().zip(values.iter()).filter_map(|(key, value)| match key {
            Type::StrLit(key) if !attrs.contains(Name::new(key)) => Some(value.clone()),
            _ => None,
        });
        self.types().join(others)
    }

    /// The type of an expression that stands where a type is expected.
    pub(crate) fn expr_for(&mut self, expr: ExprId, expected: &Type) -> Type {
        let frame = match expected {
            Type::Schema(_) | Type::List(_) | Type::Dict(_) | Type::Union(_) => {
                let at = Some(self.at(self.module[expr].span));
                Some(Expected { ty: expected.clone(), at })
            }
            _ => None,
        };
        self.expected.push(frame);
        let ty = self.expr(expr);
        self.expected.pop();
        ty
    }

    /// The same, and reports a value that does not fit.
    pub(crate) fn expr_fitting(
        &mut self,
        expr: ExprId,
        expected: &Type,
        declared: Option<FileSpan>,
    ) -> Type {
        let ty = self.expr_for(expr, expected);
        self.expect(&ty, expected, self.at(self.module[expr].span), declared);
        ty
    }
}
