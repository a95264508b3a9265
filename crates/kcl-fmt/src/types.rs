//! Type annotations.

use crate::literals::quoted;
use crate::printer::Printer;
use kcl_syntax::ast::{LiteralType, Type, TypeId};

impl Printer<'_> {
    pub(crate) fn ty(&mut self, id: TypeId) {
        let module = self.module;
        let node = &module[id];
        match &node.kind {
            Type::List(Some(item)) => {
                self.push("[");
                self.ty(*item);
                self.push("]");
            }
            Type::List(None) => self.push("[]"),
            Type::Dict { key, value } => {
                self.push("{");
                self.opt_ty(*key);
                self.push(":");
                self.opt_ty(*value);
                self.push("}");
            }
            Type::Union(members) => {
                for (at, member) in members.iter().enumerate() {
                    self.push(if at > 0 { " | " } else { "" });
                    self.ty(*member);
                }
            }
            Type::Literal(LiteralType::Str(value)) => {
                let literal = quoted(value);
                self.push(&literal);
            }
            Type::Literal(LiteralType::Int(value)) => self.int(*value, node.span),
            Type::Any | Type::Basic(_) | Type::Literal(_) => self.verbatim(node.span),
            Type::Named(path) => self.path(path),
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
}
