//! Types of the checker as types of documents.

use crate::TypeDoc;
use kcl_hir::Program;
use kcl_types::TypeTable;
use kcl_types::ty::{Param, Type};
use std::fmt;

/// Turns a type of the checker into one that stands alone.
pub(crate) fn type_doc(ty: &Type, types: &TypeTable, program: &Program) -> TypeDoc {
    let inner = |ty: &Type| Box::new(type_doc(ty, types, program));
    match ty {
        Type::Any | Type::None | Type::Void | Type::Module(_) => TypeDoc::Any,
        Type::Bool => TypeDoc::Bool,
        Type::Int => TypeDoc::Int,
        Type::Float => TypeDoc::Float,
        Type::Str => TypeDoc::Str,
        Type::BoolLit(flag) => TypeDoc::BoolLit(*flag),
        Type::IntLit(number) => TypeDoc::IntLit(*number),
        Type::FloatLit(number) => TypeDoc::FloatLit(*number),
        Type::StrLit(text) => TypeDoc::StrLit(text.to_string()),
        Type::List(item) => TypeDoc::List(inner(item)),
        Type::Dict(dict) => TypeDoc::Dict(inner(&dict.key), inner(&dict.value)),
        Type::Union(union) => {
            TypeDoc::Union(union.iter().map(|ty| type_doc(ty, types, program)).collect())
        }
        Type::Schema(schema) => {
            let package = types.schema(schema.id).map(|it| program.package(it.package));
            TypeDoc::Schema {
                package: package.map_or(String::new(), |package| package.path.clone()),
                name: schema.name.as_str().to_owned(),
            }
        }
        Type::Multiplier(None) => TypeDoc::Multiplier,
        Type::Multiplier(Some((number, unit))) => {
            TypeDoc::MultiplierLit(format!("{number}{}", unit.as_str()))
        }
        Type::Function(function) => {
            let param = |it: &Param| (it.name.as_str().to_owned(), *inner(&it.ty));
            TypeDoc::Function(function.params.iter().map(param).collect(), inner(&function.ret))
        }
    }
}

impl fmt::Display for TypeDoc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::Bool => f.write_str("bool"),
            Self::Int => f.write_str("int"),
            Self::Float => f.write_str("float"),
            Self::Str => f.write_str("str"),
            Self::BoolLit(true) => f.write_str("bool(True)"),
            Self::BoolLit(false) => f.write_str("bool(False)"),
            Self::IntLit(number) => write!(f, "int({number})"),
            Self::FloatLit(number) => write!(f, "float({number})"),
            Self::StrLit(text) => write!(f, "str({text})"),
            Self::List(item) => write!(f, "[{item}]"),
            Self::Dict(key, value) => write!(f, "{{{key}:{value}}}"),
            Self::Union(types) => {
                for (at, ty) in types.iter().enumerate() {
                    let separator = if at > 0 { " | " } else { "" };
                    write!(f, "{separator}{ty}")?;
                }
                Ok(())
            }
            Self::Schema { name, .. } => f.write_str(name),
            Self::Multiplier => f.write_str("number_multiplier"),
            Self::MultiplierLit(text) => write!(f, "number_multiplier({text})"),
            Self::Function(..) => f.write_str("function"),
        }
    }
}
