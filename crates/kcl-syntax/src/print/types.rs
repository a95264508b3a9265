//! Printing of type annotations.

use super::Printer;
use crate::ast::{BasicType, LiteralType, Number, Path, Type, TypeId};

impl Printer<'_> {
    pub(super) fn ty(&mut self, id: TypeId) {
        let module = self.module;
        match &module[id].kind {
            Type::Any => self.push("any"),
            Type::Basic(basic) => self.push(match basic {
                BasicType::Bool => "bool",
                BasicType::Int => "int",
                BasicType::Float => "float",
                BasicType::Str => "str",
            }),
            Type::List(item) => {
                self.push("[");
                self.opt_ty(*item);
                self.push("]");
            }
            Type::Dict { key, value } => {
                self.push("{");
                self.opt_ty(*key);
                self.push(":");
                self.opt_ty(*value);
                self.push("}");
            }
            Type::Union(members) => {
                for (at, member) in members.iter().enumerate() {
                    if at > 0 {
                        self.push(" | ");
                    }
                    self.ty(*member);
                }
            }
            Type::Literal(literal) => self.literal_type(literal),
            Type::Named(path) => self.named_type(path),
            Type::Function { params, ret } => {
                self.push("(");
                self.commas(params.as_deref().unwrap_or_default(), |this, ty| this.ty(*ty));
                self.push(")");
                if let Some(ret) = ret {
                    self.push(" -> ");
                    self.ty(*ret);
                }
            }
            Type::Missing => {}
        }
    }

    fn opt_ty(&mut self, ty: Option<TypeId>) {
        if let Some(ty) = ty {
            self.ty(ty);
        }
    }

    /// A name that is spelled like a basic type is none only with `$`.
    fn named_type(&mut self, path: &Path) {
        if path
            .names
            .first()
            .is_some_and(|name| matches!(name.name.as_str(), "bool" | "int" | "float" | "str"))
        {
            self.push("$");
        }
        self.path(path);
    }

    fn literal_type(&mut self, literal: &LiteralType) {
        match literal {
            LiteralType::Bool(value) => self.push(if *value { "True" } else { "False" }),
            LiteralType::Int(value) => self.plain_number(Number::Int(*value)),
            LiteralType::Unit { value, unit } => {
                self.plain_number(Number::Unit { value: *value, unit: *unit });
            }
            LiteralType::Float(value) => self.plain_number(Number::Float(*value)),
            // `${` means nothing in a type.
            LiteralType::Str(value) => self.short_string(value),
        }
    }
}
